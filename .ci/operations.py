"""Count operations of PyTorch in a step: `extend` of an adapter beside a step of beam search by `generate` of transformers.

    python .ci/operations.py

Six layers, four inputs, twenty prefixes; operations that others call within them are not counted, and neither are those of `generate`'s first step.
"""
import copy, os, warnings
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")
import torch
from torch.profiler import ProfilerActivity, profile
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration
from conformal_ar import HFCausal, HFSeq2Seq
from conformal_ar.hf.texts import Ids, PlainTokenizer

V, SPECIAL = 100, dict(pad_token_id=0, eos_token_id=1, bos_token_id=None)
WORDS = PlainTokenizer(["<pad>", "</s>", "<unk>", *(f"w{i}" for i in range(3, V))], " ".join, 10**9, str.split)
MODELS = dict(
    t5=T5ForConditionalGeneration(T5Config(vocab_size=V, d_model=64, d_kv=16, d_ff=128, num_layers=6, num_heads=4, decoder_start_token_id=0, **SPECIAL)),
    llama=LlamaForCausalLM(LlamaConfig(vocab_size=V, hidden_size=64, intermediate_size=128, num_hidden_layers=6, num_attention_heads=4,
                                       num_key_value_heads=2, max_position_embeddings=64, **SPECIAL)),
    gpt2=GPT2LMHeadModel(GPT2Config(vocab_size=V, n_positions=64, n_embd=64, n_layer=6, n_head=4, **SPECIAL)))

def count(f):
    "Outermost operations of a call"
    with profile(activities=[ProfilerActivity.CPU]) as seen: f()
    def outermost(e): return e.cpu_parent is None or not e.cpu_parent.name.startswith("aten::")
    return sum(e.name.startswith("aten::") and outermost(e) for e in seen.events())

def step(ar):
    "One of a frontier of twenty prefixes"
    rows, tokens = torch.arange(4).repeat_interleave(5), torch.arange(10, 30)
    state, _ = ar.start([Ids(range(5, 5 + n)) for n in (6, 4, 3, 2)])
    for rows in (rows, torch.arange(20)): state, _ = ar.extend(state, rows, tokens)
    ar.extend(state, rows, tokens)
    return count(lambda: ar.extend(state, rows, tokens))

def generate_step(model):
    "What one step more of five beams for each of four inputs costs"
    ids = torch.arange(5, 11).repeat(4, 1)
    def run(n): model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=5, num_return_sequences=5, max_new_tokens=n,
                               min_new_tokens=n, do_sample=False)
    run(4)
    return count(lambda: run(7)) - count(lambda: run(6))

def main():
    torch.manual_seed(0)
    for name, model in MODELS.items():
        theirs = generate_step(copy.deepcopy(model.eval()))
        ours = step((HFSeq2Seq if name == "t5" else HFCausal)(model, WORDS, device="cpu"))
        print(f"{name:5} {ours} operations in a step of a search, {theirs} in one of generate: {ours/theirs:.2f}")
        assert ours < theirs, f"a step of {name} takes more operations than one of generate"

if __name__ == "__main__": main()
