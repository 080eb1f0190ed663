"""Crawl the rendered site in _docs/: links, images, anchors, signatures, figures, sizes, searches, and phones; heights are told.

    python .ci/check_docs.py            all checks; those that need a browser are left out without chromium and playwright
    python .ci/check_docs.py --root X   another folder

`make check-docs` renders the site first. What is found is printed, and the exit status is 1 if there is anything.
"""
import argparse
import ast
import functools
import http.server
import re
import shutil
import sys
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

PHONE, DESKTOP = 420, 1400 # pixels
LARGEST = 2_000_000        # bytes of a page
FIRST = 5                  # results of a search among which a page must be
QUERIES = {                # what people type -> pages that answer; one has to be found
    "own llama": "guides/language_models", "own T5 model": "guides/own_model", "citation": "index", "how to cite": "index",
    "GPU": "index hf/precision hf/vllm jobs/scale experiments/benchmarks", "API reference": "guides/questions",
    "retrosynthesis": "chem/chemist", "coverage 0.9 reactions": "chem/chemist tasks/reactions_results tasks/shipped",
    "install": "index", "how many calibration pairs": "guides/level_sets theory/guarantee", "empty set": "guides/questions",
    "why is my set so large": "guides/questions", "vllm": "hf/vllm", "beam search": "search/beams procedures/subsets procedures/dynamic",
    "save calibration": "procedures/saving procedures/procedure", "load a shipped model": "procedures/procedure tasks/shipped",
    "hallucination": "decisions/selection", "false discovery rate": "decisions/selection",
    "distribution shift": "decisions/still_valid decisions/weighted", "drift alarm": "decisions/still_valid decisions/monitor",
    "max_lines": "search/lines procedures/levelsets", "top k": "procedures/subsets search/lines", "PAC confidence": "theory/guarantee",
    "p-value": "search/sets guides/questions chem/chemist", "SMILES": "chem/chemist chem/molecules tasks/smiles_spellings",
    "atom maps": "chem/edit_rows chem/chemist", "equivalent SMILES": "procedures/equivalence", "csv file": "cli/command_line cli/predict files/csv_jsonl",
    "jsonl": "cli/command_line cli/predict files/csv_jsonl", "web app": "cli/app", "speed benchmark": "experiments/benchmarks",
    "memory": "search/sets jobs/scale experiments/benchmarks", "reproduce the paper": "experiments/reproduce tasks/additions_results tasks/reactions_results",
    "bfloat16": "hf/precision", "chat template": "guides/language_models hf/texts", "constrained decoding": "hf/masks",
    "logits processor": "hf/masks", "several right answers": "guides/language_models",
    "conditional coverage groups": "theory/groups", "online labels": "decisions/adaptive decisions/still_valid decisions/monitor",
    "importance weights": "decisions/weighted", "ray cluster": "jobs/scale", "license": "index tasks/shipped", "FAQ": "guides/questions",
    "conformal prediction introduction": "theory/conformal", "exchangeability": "index theory/conformal theory/validity decisions/still_valid",
    "nothing reacts": "chem/chemist", "excel": "chem/chemist cli/predict", "xlsx": "chem/chemist cli/predict",
    "chemdraw": "chem/chemist chem/structures", "chirality": "chem/chemist chem/reaction_inputs", "enantiomer": "chem/chemist chem/reaction_inputs",
    "counterion": "chem/chemist", "counter-ion": "chem/chemist", "finetune": "guides/questions", "fine-tune": "guides/questions", "erratum": "theory/tolerance",
    "top-1 accuracy": "experiments/edit_evaluation chem/chemist", "custom model": "guides/any_model",
    "JAX model": "guides/any_model", "fine-tuning": "guides/questions", "resume after crash": "jobs/scale", "related work": "experiments/compared",
    "changelog": "index", "slips in the paper": "theory/tolerance", "repeated pairs": "procedures/pairs guides/questions", "why coverage exact": "theory/conformal theory/tolerance",
    "temperature": "guides/questions", "top-p": "guides/questions", "docker": "guides/questions", "CI": "guides/questions",
    "timeout": "guides/questions", "leakage": "tasks/reactions", "duplicates": "tasks/reactions tasks/additions procedures/pairs",
    "Chemformer": "chem/chemist tasks/smiles_spellings", "Molecular Transformer": "chem/chemist tasks/smiles_spellings",
    "what do I get": "chem/chemist search/sets", "how many reactions": "chem/chemist", "what does 90% mean": "guides/questions",
    "differences from the paper": "guides/questions", "ties": "theory/conformal theory/tolerance search/sets procedures/simulation",
    "canonical SMILES": "procedures/equivalence chem/molecules tasks/smiles_spellings", "python version": "index",
    "licence": "index", "data split": "tasks/reactions", "GPT-4": "guides/questions",
    "OpenAI API": "guides/questions hf/vllm", "list of candidates": "guides/questions procedures/procedure", "beam width": "guides/questions procedures/subsets",
    "data licence": "guides/questions", "exchangeable": "theory/conformal guides/questions", "iid": "theory/conformal",
    "privacy": "guides/questions cli/app", "confidential data": "guides/questions", "upload": "guides/questions cli/app",
    "thread safe": "guides/questions", "web service": "guides/questions", "REST API": "guides/questions cli/app_page", "deploy": "guides/questions",
    "production": "guides/questions", "LoRA": "guides/questions hf/accelerator", "PEFT": "guides/questions hf/accelerator",
    "side products": "chem/chemist guides/questions", "yield": "chem/chemist guides/questions", "missing reagent": "chem/chemist",
    "check a route": "chem/chemist", "route guarantee": "chem/chemist", "simulation coverage": "procedures/simulation", "Monte Carlo": "procedures/simulation",
    "post hoc": "theory/guarantee procedures/subsets", "out of memory": "guides/questions", "batch size": "guides/questions",
    "old calibrations": "guides/questions", "open-ended questions": "guides/questions", "hardware": "experiments/reproduce experiments/benchmarks",
    "held-out reactions": "experiments/edit_evaluation tasks/reactions_results chem/edit_training"}
MEDIAN, TALLEST = 8_000, 14_000 # pixels, at the width of a desktop

class Page:
    "Links, anchors, images and code of a page"
    def __init__(self, path, root):
        self.path, self.name = path.resolve(), path.relative_to(root).as_posix()
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        self.ids = {o["id"] for o in soup.find_all(id=True)}
        self.links = [o["href"] for o in soup.find_all("a", href=True)] + [o["src"] for o in soup.find_all(["img", "script"], src=True)]
        self.images, self.code = soup.find_all("img"), [o.get_text() for o in soup.find_all("pre")]
        for o in soup.find_all(["pre", "script", "style"]): o.extract()
        self.text = soup.get_text("\n")

def broken_links(pages):
    "Links to files or anchors that are not there"
    by_path = {p.path: p for p in pages}
    for p in pages:
        for link in p.links:
            u = urlsplit(link)
            if u.scheme or u.netloc or link.startswith(("#!", "javascript:")): continue
            target = (p.path.parent/unquote(u.path)).resolve() if u.path else p.path
            if target.is_dir(): target = target/"index.html"
            if not target.exists(): yield f"{p.name}: {link} leads nowhere"
            elif u.fragment and target in by_path and unquote(u.fragment) not in by_path[target].ids: yield f"{p.name}: {link} has no such anchor"

def bad_signatures(pages):
    "Signatures that are not Python, and raw Markdown in code"
    for p in pages:
        for text in p.code:
            text = re.sub(r"^class (?=\w+\(\n|\w+\(.*:.*\):$)", "def ", text.strip().removeprefix("@property\n"))
            if not re.match(r"(async )?def \w+\(", text) or "\n    \"" in text or "return" in text: continue
            if not re.search(r"\)(->[^\n]*)?:( #[^\n]*)?$", text): continue # a function with a body
            try: ast.parse(re.sub(r":( #[^\n]*)?$", r": ...\1", text))
            except SyntaxError: yield f"{p.name}: no Python: {text[:80]!r}"

def bad_pages(pages):
    "Links that stand as Markdown (a name in backticks in a link becomes one of its own), figures without an alternative text, too many bytes"
    for p in pages:
        for line in p.text.splitlines():
            if re.search(r"\]\((https?:|[\w#]+\.(html|ipynb))", line): yield f"{p.name}: a link within a link: {line.strip()[:80]!r}"
        for o in p.images:
            if not o.get("alt", "").strip(): yield f"{p.name}: no alternative text: {o.get('src', '')[:80]}"
        if (n := p.path.stat().st_size) > LARGEST: yield f"{p.name}: {n/1e6:.1f} MB"

@contextmanager
def browser_at(root):
    "A browser, and the address of the site, served to it; what other hosts would send is refused at once"
    from playwright.sync_api import sync_playwright
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    own = dict(executable_path=BROWSER, args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
    with sync_playwright() as p:
        browser = p.chromium.launch(**own)
        yield browser, f"http://127.0.0.1:{server.server_port}"
        browser.close()
    server.shutdown()

def not_found(browser, address):
    "Searches that do not find what they should"
    page = browser.new_page()
    page.goto(f"{address}/index.html")
    found = page.evaluate("""async ([queries, first]) => {
        const fuse = new window.Fuse(await (await fetch("/search.json")).json(), kFuseIndexOptions);
        return queries.map(query => fuse.search(query, {limit: first}).map(f => f.item.href.split("#")[0].replace(".html", "")));
    }""", [list(QUERIES), FIRST])
    for query, pages in zip(QUERIES, found):
        if not {*pages} & {*QUERIES[query].split()}: yield f"search: {query!r} finds {', '.join(pages) or 'nothing'}"

def wrong_colours(browser, address):
    "A front page that is not dark where the system is, or not as its toggle was set last"
    for dark in (True, False):
        page = browser.new_context(color_scheme="dark" if dark else "light").new_page()
        def is_dark(): return page.evaluate("document.body.classList.contains('quarto-dark')")
        page.goto(f"{address}/index.html")
        found = [is_dark()]
        page.evaluate("window.quartoToggleColorScheme()")
        found.append(is_dark())
        page.reload()
        found.append(is_dark())
        if found != [dark, not dark, not dark]: yield f"index.html: {found} in place of {[dark, not dark, not dark]}: dark, toggled, opened again"

def on_screens(browser, address, pages):
    "Pages that do not load, or that overflow a phone; how high they are is told, and nothing fails for it"
    heights = []
    for width in (PHONE, DESKTOP):
        page = browser.new_page(viewport=dict(width=width, height=1000))
        for p in pages:
            try: page.goto(f"{address}/{p.name}", timeout=1000*SECONDS)
            except Exception as e: yield f"{p.name}: not loaded within {SECONDS} seconds ({type(e).__name__})"; continue
            wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            if width == PHONE and wide > PHONE: yield f"{p.name}: {wide} pixels wide on a phone of {PHONE}"
            if width == DESKTOP: heights.append((high, p.name))
    heights.sort()
    high = [f"{name} {high:,}" for high, name in reversed(heights) if high > TALLEST]
    print(f"a median height of {heights[len(heights)//2][0]:,} pixels at {DESKTOP} (wanted: at most {MEDIAN:,}); higher than {TALLEST:,}: {', '.join(high) or 'none'}")

SECONDS = 20 # for a page to load
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent/"_docs")
    root = parser.parse_args().root
    pages = [Page(o, root) for o in sorted(root.rglob("*.html"))]
    if not pages: sys.exit(f"no pages in {root}: run make docs first")
    found = [*broken_links(pages), *bad_signatures(pages), *bad_pages(pages)]
    largest = max(pages, key=lambda p: p.path.stat().st_size)
    print(f"the largest page: {largest.name}, {largest.path.stat().st_size/1e6:.2f} MB")
    if BROWSER and find_spec("playwright"):
        with browser_at(root) as (browser, address):
            lost = [*not_found(browser, address)]
            print(f"{len(QUERIES) - len(lost)} of {len(QUERIES)} searches find their page among the first {FIRST} results")
            found += [*lost, *wrong_colours(browser, address), *on_screens(browser, address, pages)]
    else: print("no chromium, or no playwright: searches, colours, widths and heights are not checked")
    print(*found, sep="\n")
    sys.exit(bool(found))

if __name__ == "__main__": main()
