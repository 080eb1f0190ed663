"""Crawl the rendered site in _docs/: links, images, anchors, signatures, figures, sizes, and phones.

    python .ci/check_docs.py            all checks; those that need a browser are left out where there is no chromium
    python .ci/check_docs.py --root X   another folder

`make check-docs` renders the site first. What is found is printed, and the exit status is 1 if there is anything.
"""
import argparse, ast, functools, html, http.server, json, re, shutil, subprocess, sys, threading
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PHONE, DESKTOP = 420, 1400 # pixels
LARGEST = 2_000_000        # bytes of a page
TALLEST = 14_000           # pixels, at the width of a desktop

class Page(HTMLParser):
    "Links, anchors, images and code of a page"
    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.ids, self.images, self.code, self.inside = path, [], set(), [], [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if "id" in a: self.ids.add(a["id"])
        if tag == "a" and "href" in a: self.links.append(a["href"])
        if tag in ("img", "script") and "src" in a: self.links.append(a["src"])
        if tag == "img": self.images.append(a)
        if tag == "pre":
            self.inside += 1
            self.code.append("")

    def handle_endtag(self, tag):
        if tag == "pre": self.inside -= 1

    def handle_data(self, data):
        if self.inside: self.code[-1] += data

def broken_links(pages):
    "Links to files or anchors that are not there"
    by_path = {p.path.resolve(): p for p in pages}
    for p in pages:
        for link in p.links:
            u = urlsplit(link)
            if u.scheme or u.netloc or link.startswith(("#!", "javascript:")): continue
            target = (p.path.parent/unquote(u.path)).resolve() if u.path else p.path.resolve()
            if target.is_dir(): target = target/"index.html"
            if not target.exists(): yield f"{p.path.name}: {link} leads nowhere"
            elif u.fragment and target in by_path and unquote(u.fragment) not in by_path[target].ids:
                yield f"{p.path.name}: {link} has no such anchor"

def bad_signatures(pages):
    "Signatures that are not Python, and raw Markdown in code"
    for p in pages:
        for text in p.code:
            text = text.strip()
            if not re.match(r"(async )?def \w+\(", text) or "\n    \"" in text or "return" in text: continue
            if not re.search(r"\)(->[^\n]*)?:( #[^\n]*)?$", text): continue # a function with a body
            head = re.sub(r":( #[^\n]*)?$", r": ...\1", text)
            try: ast.parse(head)
            except SyntaxError: yield f"{p.path.name}: no Python: {text[:80]!r}"

def bad_figures(pages):
    "Figures without an alternative text"
    for p in pages:
        for a in p.images:
            if not a.get("alt", "").strip() and "_files" in a.get("src", ""): yield f"{p.path.name}: no alternative text: {a['src']}"

def too_large(pages):
    for p in pages:
        if (n := p.path.stat().st_size) > LARGEST: yield f"{p.path.name}: {n/1e6:.1f} MB"

CRAWL = """<body><script>
const pages = PAGES, found = [];
async function look(page, width) {
  const f = document.createElement("iframe");
  f.style.width = width + "px"; f.style.height = "1000px"; f.src = page;
  document.body.append(f);
  await new Promise(done => { f.onload = done; setTimeout(done, 20000); });
  const d = f.contentDocument.documentElement;
  found.push([page, width, d.scrollWidth, d.scrollHeight]);
  f.remove();
}
(async () => {
  for (const p of pages) for (const w of [PHONE, DESKTOP]) await look(p, w);
  document.body.innerHTML = "<pre id='found'>" + JSON.stringify(found) + "</pre>";
})();
</script></body>"""

def measured(root, names, browser):
    "[page, width, scroll width, height] of pages in a browser"
    crawl = CRAWL.replace("PAGES", json.dumps(names)).replace("[PHONE, DESKTOP]", str([PHONE, DESKTOP]))
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args): pass
        def do_GET(self):
            if self.path != "/crawl-the-site.html": return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(crawl.encode())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    out = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                          f"--virtual-time-budget={40_000*len(names)}",
                          f"http://127.0.0.1:{server.server_port}/crawl-the-site.html"], capture_output=True, text=True, timeout=1800)
    server.shutdown()
    text = re.search(r"<pre id=.found.>(.*?)</pre>", out.stdout, re.S)
    if not text: raise RuntimeError(f"the browser gave nothing: {out.stderr[-500:]}")
    return json.loads(html.unescape(text[1]))

def on_screens(rows):
    for page, width, wide, high in rows:
        if width == PHONE and wide > PHONE: yield f"{page}: {wide} pixels wide on a phone of {PHONE}"
        if width == DESKTOP and high > TALLEST: yield f"{page}: {high:,} pixels high"

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent/"_docs")
    root = parser.parse_args().root
    pages = [Page(p) for p in sorted(root.glob("*.html"))]
    if not pages: sys.exit(f"no pages in {root}: run make docs first")
    found = [*broken_links(pages), *bad_signatures(pages), *bad_figures(pages), *too_large(pages)]
    if browser := shutil.which("chromium") or shutil.which("google-chrome"):
        rows = measured(root, [p.path.name for p in pages], browser)
        found += on_screens(rows)
        heights = sorted(high for _, width, _, high in rows if width == DESKTOP)
        print(f"{len(pages)} pages, of a median height of {heights[len(heights)//2]:,} pixels at {DESKTOP}")
    else: print("no chromium: widths and heights are not checked")
    print(*found, sep="\n")
    sys.exit(bool(found))

if __name__ == "__main__": main()
