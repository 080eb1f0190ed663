"""Crawl the rendered site in _docs/: links, images, anchors, signatures, figures, sizes, searches, and phones; heights are told.

    python .ci/check_docs.py            all checks; those that need a browser are left out where there is no chromium
    python .ci/check_docs.py --root X   another folder

`make check-docs` renders the site first. What is found is printed, and the exit status is 1 if there is anything.
"""
import argparse, ast, functools, http.server, json, queue, re, shutil, subprocess, sys, tempfile, threading
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
    "max_lines": "search/lines procedures/levelsets", "top k": "procedures/subsets search/lines", "PAC confidence": "theory/guarantee theory/guarantee",
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

class Page(HTMLParser):
    "Links, anchors, images and code of a page"
    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.ids, self.images, self.code, self.inside, self.formula = path, [], set(), [], [], 0, None
        self.formulas = [] # as shown, and in TeX
        self.raw = [] # Markdown that stands as text
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if "id" in a: self.ids.add(a["id"])
        if tag == "a" and "href" in a: self.links.append(a["href"])
        if tag in ("img", "script") and "src" in a: self.links.append(a["src"])
        if tag == "img": self.images.append(a)
        if tag == "math": self.formulas.append(["", ""])
        self.formula = {"math": 0, "annotation": 1}.get(tag, self.formula)
        if tag == "pre":
            self.inside += 1
            self.code.append("")

    def handle_endtag(self, tag):
        if tag == "math": self.formula = None
        if tag == "pre": self.inside -= 1

    def handle_data(self, data):
        if self.formula is not None: self.formulas[-1][self.formula] += data
        if self.inside: self.code[-1] += data
        elif re.search(r"\]\((https?:|[\w#]+\.(html|ipynb))", data) and self.cdata_elem is None: self.raw.append(data.strip())

def broken_links(pages):
    "Links to files or anchors that are not there"
    by_path = {p.path.resolve(): p for p in pages}
    for p in pages:
        for link in p.links:
            u = urlsplit(link)
            if u.scheme or u.netloc or link.startswith(("#!", "javascript:")): continue
            target = (p.path.parent/unquote(u.path)).resolve() if u.path else p.path.resolve()
            if target.is_dir(): target = target/"index.html"
            if not target.exists(): yield f"{p.path.parent.name}/{p.path.name}: {link} leads nowhere"
            elif u.fragment and target in by_path and unquote(u.fragment) not in by_path[target].ids:
                yield f"{p.path.parent.name}/{p.path.name}: {link} has no such anchor"

def bad_signatures(pages):
    "Signatures that are not Python, and raw Markdown in code"
    for p in pages:
        for text in p.code:
            text = text.strip()
            text = re.sub(r"^class (?=\w+\(\n|\w+\(.*:.*\):$)", "def ", text.removeprefix("@property\n"))
            if not re.match(r"(async )?def \w+\(", text) or "\n    \"" in text or "return" in text: continue
            if not re.search(r"\)(->[^\n]*)?:( #[^\n]*)?$", text): continue # a function with a body
            head = re.sub(r":( #[^\n]*)?$", r": ...\1", text)
            try: ast.parse(head)
            except SyntaxError: yield f"{p.path.parent.name}/{p.path.name}: no Python: {text[:80]!r}"

def raw_links(pages):
    "Links that stand as Markdown: a name in backticks inside a link becomes a link of its own"
    for p in pages:
        for text in p.raw: yield f"{p.path.parent.name}/{p.path.name}: a link within a link: {text[:80]!r}"

def bad_figures(pages):
    "Figures without an alternative text"
    for p in pages:
        for a in p.images:
            if not (a.get("alt") or "").strip(): yield f"{p.path.parent.name}/{p.path.name}: no alternative text: {a.get('src', '')[:80]}"

def too_large(pages):
    "Pages of too many bytes"
    for p in pages:
        if (n := p.path.stat().st_size) > LARGEST: yield f"{p.path.parent.name}/{p.path.name}: {n/1e6:.1f} MB"

CRAWL = """<body><script>
async function look(page, width) {
  const f = document.createElement("iframe");
  f.style.width = width + "px"; f.style.height = "1000px"; f.src = page;
  document.body.append(f);
  const loaded = await new Promise(done => { f.onload = () => done(true); setTimeout(() => done(false), SECONDS*1000); });
  await new Promise(done => setTimeout(done, 100)); // for the scripts of the page
  const d = f.contentDocument.documentElement;
  await fetch("/found", {method: "POST", body: JSON.stringify([page, width, loaded, d.scrollWidth, d.scrollHeight])});
  f.remove();
}
(async () => { for (const p of PAGES) for (const w of WIDTHS) await look(p, w); })();
</script></body>"""
SEARCH = """<body><script>
SCRIPT
(async () => {
  const docs = await (await fetch("/search.json")).json();
  for (const query of QUERIES) {
    const found = rankedSearch(docs, query, FIRST).map(f => f.item.href);
    await fetch("/found", {method: "POST", body: JSON.stringify([query, found])});
  }
})();
</script></body>"""
DARK = """<body><script>
async function look(change) { // the front page, opened anew
  const f = document.createElement("iframe");
  f.src = "/index.html";
  document.body.append(f);
  await new Promise(done => f.onload = done);
  change(f.contentWindow);
  const found = f.contentDocument.body.classList.contains("quarto-dark");
  f.remove();
  return found;
}
(async () => {
  const found = [await look(w => {}), await look(w => w.quartoToggleColorScheme()), await look(w => {})];
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script></body>"""
SECONDS = 20 # for a page to load

class Crawl(http.server.SimpleHTTPRequestHandler):
    "The site, a page that opens each of its pages in a frame, and what that page reports"
    def log_message(self, *args): pass

    def do_GET(self):
        if self.path != "/crawl-the-site.html": return super().do_GET()
        self.answer(self.server.crawl.encode())

    def do_POST(self):
        self.server.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(b"")

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

def reports(root, page, n, browser, *flags):
    "What a page, served with the site, sends from a browser: `n` values, each as it comes"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Crawl, directory=str(root)))
    server.found, server.crawl = queue.Queue(), page
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/crawl-the-site.html"
    # what other hosts would send is refused at once: where these hang, no page ends loading
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen([browser, *quiet, *flags, f"--user-data-dir={folder}", "--remote-debugging-port=0", url],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(n): yield server.found.get(timeout=3*SECONDS + 60)
        except queue.Empty: raise RuntimeError("the browser has stopped to report") from None
        finally:
            process.terminate()
            process.wait(30)
            server.shutdown()

def filled(page, **values):
    "A page with values in place of words"
    for word, value in values.items(): page = page.replace(word, json.dumps(value))
    return page

def not_found(root, browser):
    "Searches that do not find what they should"
    own = (Path(__file__).resolve().parent/"search.js").read_text(encoding="utf-8")
    page = filled(SEARCH, QUERIES=list(QUERIES), FIRST=FIRST).replace("SCRIPT", own)
    for query, found in reports(root, page, len(QUERIES), browser):
        pages = [o.split("#")[0].removesuffix(".html") for o in found]
        if not {*pages} & {*QUERIES[query].split()}: yield f"search: {query!r} finds {', '.join(pages) or 'nothing'}"

def wrong_colours(root, browser):
    "A front page that is not dark where the system is, or not as its toggle was set last"
    for system, flags in (("dark", ["--blink-settings=preferredColorScheme=0"]), ("light", ["--blink-settings=preferredColorScheme=1"])):
        dark = system == "dark"
        found, = reports(root, DARK, 1, browser, *flags)
        if found != [dark, not dark, not dark]: yield f"index.html: on a {system} system {found} in place of {[dark, not dark, not dark]}: dark, toggled, opened again"

def doubled_formulas(root, pages):
    "Formulas that stand twice in what a search shows, the second time in TeX"
    docs = json.loads((root/"search.json").read_text(encoding="utf-8"))
    for p in pages:
        name = p.path.relative_to(root).as_posix()
        text = unescape("\n".join(doc["text"] for doc in docs if doc["href"].partition("#")[0] == name))
        for shown, tex in p.formulas:
            if "\\" in tex and shown + tex.strip() in text: yield f"{name}: {tex} stands in the search beside its formula"

def on_screens(rows):
    "Pages that do not load, or that overflow a phone"
    for page, width, loaded, wide, high in rows:
        if not loaded: yield f"{page}: not loaded within {SECONDS} seconds"
        if width == PHONE and wide > PHONE: yield f"{page}: {wide} pixels wide on a phone of {PHONE}"

def in_height(heights):
    "A line on how high pages are; nothing fails for it"
    heights = sorted(heights)
    said = (f"{len(heights)} pages, of a median height of {heights[len(heights)//2][0]:,} pixels at {DESKTOP}"
            f" (wanted: at most {MEDIAN:,})")
    high = [f"{page} {high:,}" for high, page in reversed(heights) if high > TALLEST]
    return said + f"; higher than {TALLEST:,}: {', '.join(high) or 'none'}"

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent/"_docs")
    root = parser.parse_args().root
    pages = [Page(p) for p in sorted(root.rglob("*.html"))]
    if not pages: sys.exit(f"no pages in {root}: run make docs first")
    found = [*broken_links(pages), *bad_signatures(pages), *raw_links(pages), *bad_figures(pages), *too_large(pages),
             *doubled_formulas(root, pages)]
    largest = max(pages, key=lambda p: p.path.stat().st_size).path
    print(f"the largest page: {largest.relative_to(root)}, {largest.stat().st_size/1e6:.2f} MB")
    if browser := shutil.which("chromium") or shutil.which("google-chrome"):
        names = [p.path.relative_to(root).as_posix() for p in pages]
        page = filled(CRAWL, PAGES=names, WIDTHS=[PHONE, DESKTOP], SECONDS=SECONDS)
        rows = [*reports(root, page, 2*len(names), browser)]
        lost = [*not_found(root, browser)]
        print(f"{len(QUERIES) - len(lost)} of {len(QUERIES)} searches find their page among the first {FIRST} results")
        found += [*lost, *wrong_colours(root, browser)]
        found += on_screens(rows)
        print(in_height([(high, page) for page, width, _, _, high in rows if width == DESKTOP]))
    else: print("no chromium: widths and heights are not checked")
    print(*found, sep="\n")
    sys.exit(bool(found))

if __name__ == "__main__": main()
