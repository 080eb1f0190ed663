"""Crawl the rendered site in _docs/: links, images, anchors, figures, sizes, searches, and phones; heights are told.

`make check-docs` renders the site first; what needs a browser is left out without chromium and playwright. What is found is printed, and the exit status is 1 if there is anything.
"""
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

import yaml
from bs4 import BeautifulSoup

PHONE, DESKTOP = 420, 1400 # pixels
LARGEST = 2_000_000        # bytes of a page
FIRST = 5                  # results of a search among which a page must be
QUERIES = yaml.safe_load((Path(__file__).resolve().parent.parent/"nbs/search.yml").read_text(encoding="utf-8"))["searches"]

class Page:
    "Links, anchors, images and text of a page"
    def __init__(self, path, root):
        self.path, self.name = path.resolve(), path.relative_to(root).as_posix()
        soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        self.ids = {o["id"] for o in soup.find_all(id=True)}
        self.links = [o["href"] for o in soup.find_all("a", href=True)] + [o["src"] for o in soup.find_all(["img", "script"], src=True)]
        self.images = soup.find_all("img")
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
    print(f"a median height of {heights[len(heights)//2][0]:,} pixels at {DESKTOP}; the highest: {', '.join(f'{name} {high:,}' for high, name in heights[-5:])}")

SECONDS = 20 # for a page to load
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

def main():
    root = Path(sys.argv[1] if sys.argv[1:] else "_docs")
    pages = [Page(o, root) for o in sorted(root.rglob("*.html"))]
    if not pages: sys.exit(f"no pages in {root}: run make docs first")
    found = [*broken_links(pages), *bad_pages(pages)]
    largest = max(pages, key=lambda p: p.path.stat().st_size)
    print(f"the largest page: {largest.name}, {largest.path.stat().st_size/1e6:.2f} MB")
    if BROWSER and find_spec("playwright"):
        with browser_at(root) as (browser, address):
            lost = [*not_found(browser, address)]
            print(f"{len(QUERIES) - len(lost)} of {len(QUERIES)} searches find their page among the first {FIRST} results")
            found += [*lost, *on_screens(browser, address, pages)]
    else: print("no chromium, or no playwright: searches, widths and heights are not checked")
    print(*found, sep="\n")
    sys.exit(bool(found))

if __name__ == "__main__": main()
