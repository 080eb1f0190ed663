"""Checks of the house: which notebook writes which module, and how pages are built.

`.ci/test.py` runs them with the notebooks, `python .ci/house.py` alone.
"""
import ast
import json
import re
import sys
from collections import Counter
from pathlib import Path

root = Path(__file__).resolve().parent.parent
nbs, package = root/"nbs", root/"conformal_ar"

def pages(): return sorted(o for o in nbs.rglob("*.ipynb") if not any(part[0] in "_." for part in o.relative_to(nbs).parts))

def named(names):
    "The pages whose path in nbs/, file name, or name after its digits begins so; all pages without names."
    def forms(o): return str(o.relative_to(nbs)), o.stem, re.sub(r"^\d\d_", "", o.stem)
    return [o for o in pages() if not names or any(form.startswith(tuple(names)) for form in forms(o))]

def cells(path): return json.loads(path.read_text(encoding="utf-8"))["cells"]

def source(cell): return "".join(cell["source"])

def code(path): return "\n".join(source(c) for c in cells(path) if c["cell_type"] == "code")

def every(kind):
    "Of every cell of a kind: its page, where it stands, its text"
    return [(path, f"{path.name}, cell {i}", source(c)) for path in pages() for i, c in enumerate(cells(path)) if c["cell_type"] == kind]

def modules():
    "Module name -> path, of all that notebooks export."
    paths = (o for o in package.rglob("*.py") if o.name not in ("__init__.py", "__main__.py", "_modidx.py"))
    return {".".join(o.relative_to(package).with_suffix("").parts): o for o in sorted(paths)}

def tree_of(path): return ast.parse(path.read_text(encoding="utf-8"))

def python_of(text): return re.sub(r"(?m)^[%!].*$", "", text) # without magics

def is_import(n): return isinstance(n, (ast.Import, ast.ImportFrom))

def imported():
    "Imports of the package in pages, as Python"
    found = (n for *_, text in every("code") for n in ast.walk(ast.parse(python_of(text))) if isinstance(n, ast.ImportFrom))
    return "\n".join(sorted({ast.unparse(n) for n in found if (n.module or "").startswith("conformal_ar.")}))

def say(wrong, how):
    wrong = sorted(wrong)
    assert not wrong, "\n".join(wrong) + f"\n{how}"

def check_names():
    "Notebooks stand in rooms, with two digits each, no letters, and names that are unique after them."
    stems = [o for o in pages() if o.stem != "index"]
    wrong = [str(o.relative_to(nbs)) for o in stems if not re.fullmatch(r"[a-z]+/\d\d_[a-z0-9_]+.ipynb", str(o.relative_to(nbs)))]
    for of in (lambda o: f"{o.parent.name}/{o.stem[:2]}", lambda o: o.stem[3:]):
        count = Counter(map(of, stems))
        wrong += [str(o.relative_to(nbs)) for o in stems if count[of(o)] > 1]
    say(wrong, "rename them: the site strips the digits")

def check_modules():
    "Every module has its own notebook in the folder of the same name, is named like it, and imports others by relative imports."
    written = {(path, name) for path in pages() for name in re.findall(r"(?m)^#\| *(?:default_exp|exports?i?) +(\S+)", code(path))}
    wrong = [f"{path.relative_to(nbs)} writes {name}" for path, name in written if name != f"{path.parent.name}.{path.stem[3:]}"]
    wrong += [f"{name}: no notebook" for name in modules().keys() - {name for _, name in written}]
    wrong += [f"{name}: {ast.unparse(n)}" for name, path in modules().items() for n in tree_of(path).body
              if isinstance(n, ast.ImportFrom) and not n.level and n.module.startswith("conformal_ar")]
    say(wrong, "one notebook writes one module, both named alike; each import stands on one line, in a cell marked export")

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
    here, wrong = {o.stem for o in pages()}, []
    for path, where, text in every("markdown"):
        wrong += [f"{where}: {o}" for o in re.findall(r"\]\(([\w./-]+\.ipynb)(?:#[\w-]*)?\)", text) if not (path.parent/o).is_file()]
        wrong += [f"{where}: {o}" for o in {*re.findall(r"(?<![\w./])\d\d_[a-z]\w{3,}(?=\]|`|\.ipynb)", text)} - here]
    say(wrong, "no such notebook")

def check_cells():
    "Imports stand in cells of their own, which the documentation runs; no other line has more than 88 columns, which is what it shows."
    wrong = []
    for _, where, text in every("code"):
        lines = [o for o in text.splitlines() if not re.match(r"#\||from \S+ import|import ", o)]
        wrong += [f"{where}: {len(o)} columns: {o.strip()[:60]}" for o in lines if len(o) > 88]
        if "nbdev_export(" in text or re.search(r"(?m)^#\| *eval: *false", text): continue
        tree = ast.parse(python_of(text))
        exported = re.search(r"(?m)^#\| *export", text) # these run anyway, and may import in functions
        mixed = any(map(is_import, tree.body if exported else ast.walk(tree)))
        if mixed and not all(map(is_import, tree.body)): wrong.append(f"{where}: imports {text.splitlines()[0]}")
    say(wrong, "split these cells, wrap these lines")

def check_outputs():
    "No error stands among the outputs."
    say({path.name for path in pages() for c in cells(path) for o in c.get("outputs", ()) if o["output_type"] == "error"}, "run these notebooks again")

def listed_pages(text):
    "Pages that a part of the sidebar lists, each once"
    return [nbs/o for o in dict.fromkeys(re.findall(r"[\w/]+\.ipynb", text))]

def parts():
    "Part of the book -> its pages, as nbs/sidebar.yml has them: the main part, of which the hour is one, and the appendix, which is looked up"
    main, appendix = (nbs/"sidebar.yml").read_text(encoding="utf-8").split("section: Appendix")
    hour = main.partition("One hour")[2].partition("- section")[0]
    return {name: listed_pages(text) for name, text in {"one hour": hour, "book": main, "appendix": appendix}.items()}

def check_sidebar():
    "The documentation's sidebar lists every notebook, and nothing else."
    say(map(str, {o for part in parts().values() for o in part} ^ {*pages()}), "edit nbs/sidebar.yml")

def open_cells(path):
    "What the site shows at first: no hidden cells, nothing in a callout that is folded"
    folded = False
    for c in cells(path):
        text = source(c) if c["cell_type"] != "code" else ""
        folded |= 'collapse="true"' in text
        if not folded and not re.search(r"(?m)^#\| *(hide|default_exp)\b", source(c)): yield c
        folded &= not re.search(r"(?m)^:::$", text)

def only_imports(cell): return cell["cell_type"] == "code" and all(map(is_import, ast.parse(python_of(source(cell))).body))

def code_lines(cell):
    "Lines of code, of which a docstring is one; none of a cell that only imports"
    if cell["cell_type"] != "code" or only_imports(cell): return 0
    return sum(bool(o.strip()) and not o.startswith("#|") for o in source(cell).splitlines())

def minutes(path, every=False):
    "Of reading what the site shows of a page, or every cell, at 220 words or 25 lines of code a minute"
    found = cells(path) if every else [*open_cells(path)]
    return sum(len(source(c).split()) for c in found if c["cell_type"] != "code")/220 + sum(map(code_lines, found))/25

def check_lengths():
    "A page reads in 15 minutes, one of the appendix in 25; half of the cells have at most 6 lines, nine in ten at most 16."
    looked_up = parts()["appendix"] # such pages keep what belongs together in one place
    wrong = [f"{path.name}: {minutes(path):.1f} minutes" for path in pages() if minutes(path) > (25 if path in looked_up else 15)]
    texts = (re.sub(r'(?s)""".*?"""', '""', text) for *_, text in every("code") if "nbdev_export(" not in text) # a docstring is a line
    lines = sorted(filter(None, (code_lines(dict(cell_type="code", source=text)) for text in texts)))
    for share, most in ((0.5, 6), (0.9, 16)):
        if (found := lines[int(share*len(lines))]) > most: wrong.append(f"{share:.0%} of the cells have up to {found} lines, not {most}")
    say(wrong, "move what belongs elsewhere, delete what no page needs, split cells")

def check_documents():
    "Parameters are written `name:type=default, # Meaning`; docstrings have up to three lines, one alone no full stop; docments no backticks."
    wrong = []
    for name, path in modules().items():
        for n in ast.walk(tree_of(path)):
            if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and (doc := ast.get_docstring(n, clean=False)):
                if (more := doc.count("\n")) > 2 or doc.endswith(".") and not more: wrong.append(f"{name}: docstring of {n.name}")
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            m = re.match(r"\s+\w+(:\s?[\w\[\], .|]+)?(?:=[^#]+)?,\s+# (.*)", line)
            if m and ((m[1] or "").startswith(": ") or m[2][:1].islower() or "`" in m[2]): wrong.append(f"{name}:{i}: {line.strip()[:60]}")
    say(wrong, "see the style in CONTRIBUTING.md")

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
