"""Checks of the house: which notebook writes which module, what imports what, and how pages are built.

`.ci/test.py` runs them with the notebooks, `python .ci/house.py` alone.
"""
import ast
import json
import os
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

from nbdev.config import get_config
from nbdev.process import NBProcessor
from nbdev.processors import FilterDefaults

root = Path(__file__).resolve().parent.parent
nbs, package = root/"nbs", root/"conformal_ar"
ROOMS = "theory files search procedures decisions answers hf jobs tasks chem experiments cli".split() # in the order of .importlinter

def pages(): return sorted(o for o in nbs.rglob("*.ipynb") if not any(part[0] in "_." for part in o.relative_to(nbs).parts))

def named(names):
    "The pages whose path in nbs/, file name, or name after its digits begins so; all pages without names."
    def forms(o): return str(o.relative_to(nbs)), o.stem, re.sub(r"^\d\d_", "", o.stem)
    return [o for o in pages() if not names or any(form.startswith(tuple(names)) for form in forms(o))]

def cells(path): return json.loads(path.read_text(encoding="utf-8"))["cells"]

def source(cell): return "".join(cell["source"])

def modules():
    "Module name -> path, of all that notebooks export."
    paths = (o for o in package.rglob("*.py") if o.name not in ("__init__.py", "_modidx.py"))
    return {".".join(o.relative_to(package).with_suffix("").parts): o for o in sorted(paths)}

def tree_of(path): return ast.parse(path.read_text(encoding="utf-8"))

def python_of(cell): return re.sub(r"(?m)^[%!].*$", "", source(cell)) # without magics

def code_trees(path):
    "Number, text and syntax tree of each code cell"
    return [(i, text, ast.parse(text)) for i, c in enumerate(cells(path)) if c["cell_type"] == "code" for text in [python_of(c)]]

def processed(path):
    "A notebook after nbdev's processors that neither run nor link anything, and what they warn of"
    os.chdir(root) # where nbdev looks for its settings
    get_config.cache_clear()
    procs = [o for o in FilterDefaults().base_procs() if o.__name__ not in ("add_show_docs", "exec_show_docs", "add_links", "populate_language")]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        proc = NBProcessor(path, procs=procs)
        proc.process()
    return proc.nb, [str(w.message).splitlines()[0] for w in said if issubclass(w.category, UserWarning)]

def say(wrong, how):
    wrong = sorted(wrong)
    assert not wrong, "\n".join(wrong) + f"\n{how}"

# ------------------------------------------------------------------------------------------------ checks

def check_names():
    "Notebooks stand in rooms, with two digits each, no letters, and names that are unique after them."
    stems = [o for o in pages() if o.stem != "index"]
    wrong = [str(o.relative_to(nbs)) for o in stems if not re.fullmatch(r"[a-z]+/\d\d_[a-z0-9_]+.ipynb", str(o.relative_to(nbs)))]
    for of in (lambda o: f"{o.parent.name}/{o.stem[:2]}", lambda o: o.stem[3:]):
        count = Counter(map(of, stems))
        wrong += [str(o.relative_to(nbs)) for o in stems if count[of(o)] > 1]
    say(wrong, "rename them: the site strips the digits")

def check_modules():
    "Every module has its own notebook in the folder of the same name, and is named like it."
    writers = {}
    for path in pages():
        exports = [line for c in cells(path) for line in source(c).splitlines() if c["cell_type"] == "code" and line.startswith("#|")]
        own = [line.split()[2] for line in exports if line.startswith("#| default_exp ")]
        for name in own + [m[1] for line in exports if (m := re.match(r"#\| *exports?i? +(\S+)", line))]:
            writers.setdefault(name, []).append(f"{path.parent.name}.{path.stem[3:]}")
    wrong = [f"{name}: {', '.join(w)}" for name, w in writers.items() if w != [name]]
    wrong += [f"{name}: no notebook" for name in modules().keys() - writers.keys()]
    wrong += [f"{name}: no module" for name in writers.keys() - modules().keys()]
    say(wrong, "one notebook writes one module, both named alike")

def room(name): return name.split(".")[0]

def check_imported():
    "What pages import of the package is there: a module of that name, with such a name in it."
    def stored(n): return [n.id] if isinstance(n, ast.Name) else [n.name] if hasattr(n, "name") else [a.asname or a.name for a in getattr(n, "names", ()) if isinstance(a, ast.alias)]
    names = {name: {o for n in ast.walk(tree_of(path)) for o in stored(n)} for name, path in modules().items()}
    wrong = []
    for path in pages():
        for n in (n for *_, tree in code_trees(path) for n in ast.walk(tree)):
            if not isinstance(n, ast.ImportFrom) or not (n.module or "").startswith("conformal_ar."): continue
            module = n.module.removeprefix("conformal_ar.")
            there = names.get(module) or {o.rpartition(".")[2] for o in names if room(o) == module}
            wrong += [f"{path.name}: {n.module} has no {a.name}" for a in n.names if a.name not in there]
    say(wrong, "pages that were merged, or names that moved")

def check_patches():
    "A method is patched only in the module of its class, or methods depend on who imports what."
    wrong = []
    for name, path in modules().items():
        body = tree_of(path).body
        own = {n.name for n in body if isinstance(n, ast.ClassDef)}
        for n in body:
            if not isinstance(n, ast.FunctionDef) or not any(re.match(r"patch\b", ast.unparse(d)) for d in n.decorator_list): continue
            classes = {o.id for o in ast.walk(n.args.args[0].annotation or n.args.args[0]) if isinstance(o, ast.Name)}
            if not classes or classes - own: wrong.append(f"{name}: {n.name} of {', '.join(classes - own) or 'no class'}")
    say(wrong, "write functions instead")

def check_titles():
    "A title cell has the title, one line that describes the page, and front matter; prose there vanishes from the site."
    wrong = []
    for path in pages():
        lines = [o for o in source(cells(path)[0]).splitlines() if o.strip()]
        kinds = [next((k for k, p in dict(title=r"# ", line=r"> ", front=r"- [\w-]+: ?").items() if re.match(p, o)), "prose") for o in lines]
        if kinds[:2] != ["title", "line"] or set(kinds[2:]) - {"front"}: wrong.append(f"{path.name}: {' '.join(kinds)}")
    say(wrong, "prose goes into a cell of its own")

def check_links():
    "Every link between notebooks resolves, and no notebook is named that is not there."
    here, wrong = {o.name for o in pages()}, []
    for path in pages():
        for i, c in enumerate(cells(path)):
            if c["cell_type"] == "code": continue
            text = source(c)
            wrong += [f"{path.name}, cell {i}: {o}" for o in re.findall(r"\]\(([\w./-]+\.ipynb)(?:#[\w-]*)?\)", text) if not (path.parent/o).is_file()]
            found = [f"{o}.ipynb" for o in re.findall(r"(?<![\w./])\d\d_[a-z]\w{3,}(?=\]|`|\.ipynb)", text)]
            wrong += [f"{path.name}, cell {i}: {o}" for o in dict.fromkeys(found) if o not in here]
    say(wrong, "no such notebook")

def is_import(n): return isinstance(n, (ast.Import, ast.ImportFrom))

def check_imports_alone():
    "Imports stand in cells of their own: the documentation runs every cell that imports."
    wrong = []
    for path in pages():
        for i, text, tree in code_trees(path):
            if "nbdev_export(" in text or re.search(r"(?m)^#\| *eval: *false", text): continue
            shown = re.search(r"(?m)^#\| *export", text) # these run anyway, and may import in functions
            mixed = any(map(is_import, tree.body if shown else ast.walk(tree)))
            if mixed and not all(map(is_import, tree.body)): wrong.append(f"{path.name}, cell {i}: {text.splitlines()[0]}")
    say(wrong, "split these cells")

def check_processors():
    "nbdev's processors keep all that readers should see."
    wrong = []
    for path in pages():
        nb, said = processed(path)
        left = "\n".join(o.source for o in nb.cells)
        prose = [o for c in cells(path)[1:] if c["cell_type"] == "markdown" for o in source(c).splitlines() if o.strip() and not o.startswith(":::")]
        lost = [o[:60] for o in prose if o.strip()[:40].split("`")[0].split("[")[0].strip() not in left]
        wrong += [f"{path.name}: {o}" for o in said] + [f"{path.name}: prose is dropped: {o}" for o in lost]
    say(wrong, "see what nbdev's processors do with these cells")

def check_columns():
    "No line of code has more than 88 columns, which is what the site shows without scrolling; imports are folded."
    wrong = []
    for path in pages():
        for i, c in enumerate(cells(path)):
            lines = [o for o in source(c).splitlines() if not re.match(r"#\||from \S+ import|import ", o)] if c["cell_type"] == "code" else []
            wrong += [f"{path.name}, cell {i}: {len(o)} columns: {o.strip()[:60]}" for o in lines if len(o) > 88]
    say(wrong, "wrap these lines")

def shown(cell): return not re.search(r"(?m)^#\| *(hide|default_exp)\b", source(cell))

def sidebar():
    "The text of nbs/sidebar.yml up to the appendix, and that of the appendix"
    return (nbs/"sidebar.yml").read_text(encoding="utf-8").split("section: Appendix")

def listed_pages(text):
    "Pages that a part of the sidebar lists, each once"
    return [nbs/o for o in dict.fromkeys(re.findall(r"[\w/]+\.ipynb", text))]

def appendix():
    "Pages of the sidebar's appendix, which are looked up rather than read"
    return {*listed_pages(sidebar()[1])}

def open_cells(path):
    "What the site shows at first: no hidden cells, nothing in a callout that is folded"
    folded = False
    for c in cells(path):
        text = source(c) if c["cell_type"] != "code" else ""
        folded |= 'collapse="true"' in text
        if shown(c) and not folded: yield c
        folded &= not re.search(r"(?m)^:::$", text)

def minutes(path, every=False):
    "Of reading what the site shows of a page, or every cell but imports, at 220 words or 25 lines of code a minute"
    found = cells(path) if every else [*open_cells(path)]
    words = sum(len(source(c).split()) for c in found if c["cell_type"] != "code")
    return words/220 + sum(code_lines(c) for c in found if not only_imports(c))/25

def only_imports(cell): return cell["cell_type"] == "code" and all(map(is_import, ast.parse(python_of(cell)).body))

def code_lines(cell):
    if cell["cell_type"] != "code": return 0
    return sum(bool(o.strip()) and not o.startswith("#|") for o in source(cell).splitlines())

def check_lengths():
    "A page reads in 15 minutes, one of the appendix in 25; half of the cells have at most 6 lines, nine in ten at most 16."
    looked_up = appendix() # such pages keep what belongs together in one place
    wrong = [f"{path.name}: {minutes(path):.1f} minutes" for path in pages() if minutes(path) > (25 if path in looked_up else 15)]
    def code(cell): return dict(cell, source=re.sub(r'(?s)""".*?"""', '""', source(cell))) # a docstring is a line
    def idea(cell): return code_lines(cell) and not only_imports(cell) and "nbdev_export(" not in source(cell)
    all_lines = sorted(code_lines(code(c)) for path in pages() for c in cells(path) if idea(c))
    for share, most in ((0.5, 6), (0.9, 16)):
        if (found := all_lines[int(share*len(all_lines))]) > most: wrong.append(f"{share:.0%} of the cells have up to {found} lines, not {most}")
    say(wrong, "move what belongs elsewhere, delete what no page needs, split cells")

def check_docments():
    "Parameters are written `name:type=default, # Meaning`; docstrings have up to three lines, one alone no full stop; docments no backticks."
    wrong = []
    for name, path in modules().items():
        text = path.read_text(encoding="utf-8")
        for n in ast.walk(ast.parse(text)):
            if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and (doc := ast.get_docstring(n, clean=False)):
                if (more := doc.count("\n")) > 2 or doc.endswith(".") and not more: wrong.append(f"{path.relative_to(root)}:{n.lineno}: docstring of {n.name}")
        for i, line in enumerate(text.splitlines(), 1):
            if m := re.match(r"\s+(\w+)(\s*:\s*[\w\[\], .|]+?)?(\s*=\s*[^#]+)?,?\s+# (.*)$", line):
                if re.match(r"\w+: ", line.strip()) and ":" in (m[2] or "") or "`" in m[4] or m[4][:1].islower():
                    if line.rstrip().split("#")[0].rstrip().endswith(",") : wrong.append(f"{path.relative_to(root)}:{i}: {line.strip()[:60]}")
    say(wrong, "see the style in CONTRIBUTING.md")

def check_sidebar():
    "The documentation's sidebar lists every notebook, and nothing else."
    say(map(str, {*listed_pages("".join(sidebar()))} ^ {*pages()}), "edit nbs/sidebar.yml")

def check_relative():
    "Modules import each other by relative imports."
    def absolute(n): return isinstance(n, ast.ImportFrom) and not n.level and n.module.split(".")[0] == "conformal_ar"
    wrong = [name for name, path in modules().items() if any(map(absolute, tree_of(path).body))]
    say(wrong, "write each of their imports on one line, in a cell marked export")

CHECKS = {check.__doc__: check for name, check in dict(globals()).items() if name.startswith("check_")}


def failed(checks):
    "How many of the checks fail, by what each says; what a check tells is shown"
    wrong = 0
    for what, check in checks.items():
        try: told = check()
        except Exception as e:
            wrong += 1
            print(f"FAILED  {what}\n        " + str(e).strip().replace("\n", "\n        "), flush=True)
        else: print(f"ok      {what}\n{told or ''}".strip(), flush=True)
    return wrong


if __name__ == "__main__": sys.exit(bool(failed(CHECKS)))
