"""How the documentation shows code: signatures as users write them, sources and imports folded shut, links with page titles.

`settings.ini` names these for nbdev (`renderer`, `procs`); `make docs` puts this folder on the path.
"""
import ast
import inspect
import json
import re
from dataclasses import is_dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, get_args, get_origin

from fastcore.docments import docments
from nbdev import doclinks, processors
from nbdev.config import get_config
from nbdev.process import Processor
from nbdev.showdoc import BasicMarkdownRenderer

root = Path(__file__).resolve().parent.parent
nbs = root/"nbs"
empty = inspect.Parameter.empty


@cache
def exported(path):
    "Names that a module exports: the others are shown as code, which has no anchor"
    found = re.search(r"(?ms)^__all__ = (\[.*?\])", (root/path).read_text(encoding="utf-8"))
    return ast.literal_eval(found[1]) if found else []

def mend_links():
    """Links between pages stay on the site they are on, and lead to anchors that are there. A word such as `coverage` or `predict` is no link: it means
    an option, a column or a method as often as the function of that name."""
    if "conformal_ar" not in doclinks.NbdevLookup().entries: return # not installed: no links
    syms = doclinks.NbdevLookup().syms # the table that all lookups share
    site, seam = f"{get_config().doc_host}{get_config().doc_baseurl}/", "conformal_ar/search/autoregressive.py"
    for name in exported(seam): # nbdev skips a notebook whose name holds 'auto'
        syms[name] = doclinks._qual_sym((f"search/autoregressive.html#{name.lower()}", seam), doclinks.NbdevLookup().entries["conformal_ar"]["settings"])
    for name, found in [*syms.items()]:
        if not isinstance(found, tuple): continue
        anchor = found[0].partition("#")[2].split(".")[0]
        ours = found[1].startswith("conformal_ar/") and (root/found[1]).exists()
        if ours and anchor and anchor not in map(str.lower, exported(found[1])): del syms[name]
        else: syms[name] = (found[0].removeprefix(site), *found[1:])
    page, link = doclinks.NbdevLookup.doc, doclinks.NbdevLookup.link_line
    def doc(self, name): return None if re.fullmatch("[a-z]+|conformal_ar", name) else page(self, name)
    def link_line(self, line):
        parts = re.split(r"(\[[^\[\]]*\]\([^()\s]*\))", line) # links stay as they are
        return "".join(part if i % 2 else link(self, part) for i, part in enumerate(parts))
    doclinks.NbdevLookup.doc, doclinks.NbdevLookup.link_line = doc, link_line

mend_links()


def annotation(a):
    "An annotation as it is written: without modules, quotes or NoneType; of a command-line option, its type"
    if a is empty: return ""
    if get_origin(a) is Annotated: a = get_args(a)[0]
    text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", inspect.formatannotation(a)).strip("'")
    return re.sub(r"Optional\[([^\[\]]*)\]", r"\1|None", text).replace(" | ", "|")

def default(value):
    "A default as Python would read it; dots in place of one that is long"
    text = getattr(value, "__name__", repr(value)) if callable(value) else repr(value)
    return "..." if "<" in text or "\n" in text or len(text) > 60 else text

def parameter(name, p):
    "One parameter: its stars, name, annotation and default"
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + name
    if a := annotation(p.annotation): text += f":{a}"
    return text if p.default is empty else f"{text}={default(p.default)}"

def notes_on(symbol):
    "What is said about the parameters of a function, or the fields of a class as the package has it"
    found = doclinks.NbdevLookup()[symbol.__name__] if inspect.isclass(symbol) else None
    if found and (is_dataclass(symbol) or hasattr(symbol, "_fields")): # a notebook does not know its source
        symbol = getattr(import_module(found[1].removesuffix(".py").replace("/", ".")), symbol.__name__)
    return docments(symbol, returns=True)

def signature_text(symbol, name):
    "The signature of a function or class, one documented parameter a line, with the mark of keywords"
    is_class = inspect.isclass(symbol)
    try: sig = inspect.signature(symbol)
    except (TypeError, ValueError): sig = None
    if is_class and str(sig) in ("None", "(*args, **kwargs)"):
        return f"class {name}({', '.join(b.__name__ for b in symbol.__bases__ if b is not object)}):\n    ..."
    if sig is None: return None
    notes, lines, marked = notes_on(symbol), [], False
    for key, p in sig.parameters.items():
        if key in ("self", "cls", "ctx"): continue # ctx: the context of a command
        marked = marked or p.kind == p.VAR_POSITIONAL
        if p.kind == p.KEYWORD_ONLY and not marked:
            lines.append(("*", None))
            marked = True
        lines.append((parameter(key, p), "; ".join((notes.get(key) or option_help(p.annotation)).split("\n"))))
    returns = "" if is_class else annotation(sig.return_annotation)
    end = f"){'->' + returns if returns else ''}:" + (f" # {notes['return']}" if notes.get("return") else "")
    start = "class" if is_class else "def"
    if not any(note for _, note in lines):
        short = f"{start} {name}({', '.join(text for text, _ in lines)}{end}"
        if len(short.split(' # ')[0]) <= 88: return short
    body = "".join(f"    {text},{f' # {note}' if note else ''}\n" for text, note in lines)
    return f"{start} {name}(\n{body}{end}"

def option_help(a):
    "What `--help` says about an option of the command line"
    said = [getattr(o, "help", None) for o in get_args(a)[1:]] if get_origin(a) is Annotated else []
    return next((o.rstrip(".") for o in said if o), "")

class Renderer(BasicMarkdownRenderer):
    "What nbdev shows of a symbol, with a signature of ours; nothing of what is private or says nothing about itself"
    def __init__(self, sym, name=None, title_level=3):
        super().__init__(sym, name=name, title_level=title_level)
        if text := signature_text(self.sym, self.nm.rsplit(".")[-1]): self.dm = text
        ast.parse(re.sub(r":( #[^\n]*)?$", r": ...", self.dm.replace("class ", "def ", 1))) # a signature is Python
        if isinstance(sym, (property, cached_property)): self.dm = f"@property\n{self.dm}"

    def _repr_markdown_(self):
        private = any(part.startswith("_") for part in self.nm.split("."))
        return "" if private or not getattr(self.sym, "__doc__", None) else super()._repr_markdown_()

@cache
def title(name):
    "The title of a notebook"
    path, = nbs.rglob(f"{name}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return re.match("# (.*)", "".join(cells[0]["source"]))[1]

def page_titles(cell):
    "Links that show the name of a notebook show its title"
    if cell.cell_type != "markdown": return
    cell.source = re.sub(r"\[`?(\d\d_\w+)`?\]\(((?:[\w.]+/)*)\1\.ipynb(#[\w-]+)?\)",
                         lambda m: f"[{title(m[1])}]({m[2]}{m[1]}.ipynb{m[3] or ''})", cell.source)

class links_from_rooms(Processor):
    "Links to names begin at the root of the site: from a page in a room they lead up first"
    def up(self, text): return re.sub(r"\]\((?=[a-z]+/\w+\.html)", "](../", "".join(text))

    def cell(self, cell):
        if Path(self.nb.path_).name == "index.ipynb": return
        if cell.cell_type == "markdown": cell.source = self.up(cell.source)
        for out in cell.get("outputs", []):
            data = out.get("data", {})
            if "text/markdown" in data: data["text/markdown"] = self.up(data["text/markdown"])

processors._hide_dirs.discard("exporti") # fold_sources hides what is private alone

def fold_sources(cell):
    """Sources stand folded shut below their signatures, but for `#| open`; those without one say what they are. What is exported for its own page
    has no signature: its source alone, and nothing of private names"""
    if cell.cell_type != "code": return
    inner = "exporti" in (cell.directives_ or {})
    if not inner and 'code-summary: "Exported source"' not in cell.source: return
    if not inner and "open" in cell.directives_:
        cell.source = cell.source.split("\n", 2)[2] # without the two lines of a fold
        return
    body = ast.parse(cell.source).body
    own = [o.name for o in body if isinstance(o, (ast.FunctionDef, ast.ClassDef))]
    values = [t.id for o in body if isinstance(o, ast.Assign) for t in o.targets if isinstance(t, ast.Name)] # have no signature either
    names = [o for o in own + values if o[0] != "_"] if inner else own or values
    signed = not inner and (any(o[0] != "_" for o in own) or not 0 < len(names) < 4)
    said = "Source" if signed else f"Source of {', '.join(f'`{o}`' for o in names[:3])}"
    if not inner or names: cell.source = f'#| code-fold: true\n#| code-summary: "{said}"\n' + re.sub("^#[|] code-fold: show\n.*\n", "", cell.source)
    else: del cell["source"]

def drop_bars(cell):
    "No progress bars, and nothing that libraries say on stderr"
    said = [o for o in cell.get("outputs", []) if o.get("name") == "stderr"]
    for o in said: o["text"] = re.sub(r"[^\n\r]*\d%\|[^\n\r]*[\n\r]*|^\[\w+\] .*\n?|^\s*\r", "", "".join(o["text"]), flags=re.M)
    if said: cell.outputs = [o for o in cell.outputs if o not in said or o["text"].strip()]

def fold_imports(cell):
    "Cells that only import are folded shut"
    if cell.cell_type != "code" or cell.source.startswith("#| "): return
    try: lines = ast.parse(cell.source).body
    except SyntaxError: return
    if lines and all(isinstance(o, (ast.Import, ast.ImportFrom)) for o in lines):
        cell.source = f'#| code-fold: true\n#| code-summary: "Imports"\n{cell.source}'
