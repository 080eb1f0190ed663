"""How the documentation shows code: signatures as users write them, sources and imports folded shut, links with page titles.

`settings.ini` names these for nbdev (`renderer`, `procs`); `make docs` puts this folder on the path.
"""
import ast, inspect, json, re
from functools import cache
from pathlib import Path
from typing import Annotated, get_args, get_origin

from fastcore.docments import docments
from nbdev.showdoc import BasicMarkdownRenderer

nbs = Path(__file__).resolve().parent.parent/"nbs"
empty = inspect.Parameter.empty


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

def signature_text(symbol, name):
    "The signature of a function or class, one documented parameter a line, with the mark of keywords"
    try: sig = inspect.signature(symbol)
    except (TypeError, ValueError): return None
    notes, lines, marked = docments(symbol, returns=True), [], False
    for key, p in sig.parameters.items():
        if key in ("self", "cls"): continue
        marked = marked or p.kind == p.VAR_POSITIONAL
        if p.kind == p.KEYWORD_ONLY and not marked:
            lines.append(("*", None))
            marked = True
        lines.append((parameter(key, p), "; ".join((notes.get(key) or "").split("\n"))))
    returns = annotation(sig.return_annotation)
    end = f"){'->' + returns if returns else ''}:" + (f" # {notes['return']}" if notes.get("return") else "")
    if not any(note for _, note in lines):
        short = f"def {name}({', '.join(text for text, _ in lines)}{end}"
        if len(short.split(' # ')[0]) <= 88: return short
    body = "".join(f"    {text},{f' # {note}' if note else ''}\n" for text, note in lines)
    return f"def {name}(\n{body}{end}"

class Renderer(BasicMarkdownRenderer):
    "What nbdev shows of a symbol, with a signature of ours"
    def __init__(self, sym, name=None, title_level=3):
        super().__init__(sym, name=name, title_level=title_level)
        if text := signature_text(self.sym, self.nm.rsplit(".")[-1]): self.dm = text

@cache
def title(stem):
    "The title of a notebook"
    cells = json.loads((nbs/f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    return re.match("# (.*)", "".join(cells[0]["source"]))[1]

def page_titles(cell):
    "Links that show the name of a notebook show its title"
    if cell.cell_type != "markdown": return
    cell.source = re.sub(r"\[`?(\d\d_\w+)`?\]\(\1\.ipynb(#[\w-]+)?\)",
                         lambda m: f"[{title(m[1])}]({m[1]}.ipynb{m[2] or ''})", cell.source)

def fold_sources(cell):
    "Sources stand folded shut below their signatures"
    if cell.cell_type == "code": cell.source = cell.source.replace(
        '#| code-fold: show\n#| code-summary: "Exported source"', '#| code-fold: true\n#| code-summary: "Source"')

def fold_imports(cell):
    "Cells that only import are folded shut"
    if cell.cell_type != "code" or cell.source.startswith("#| "): return
    try: lines = ast.parse(cell.source).body
    except SyntaxError: return
    if lines and all(isinstance(o, (ast.Import, ast.ImportFrom)) for o in lines):
        cell.source = f'#| code-fold: true\n#| code-summary: "Imports"\n{cell.source}'
