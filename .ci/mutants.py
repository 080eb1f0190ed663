"""Break the code in small ways, one at a time, and say which ways no test notices.

    python .ci/mutants.py -n 100 --seed 1 conformal search    100 mutants of two modules
    python .ci/mutants.py -n 50 conformal_ar/hf                50 of a folder
    python .ci/mutants.py --list conformal                     all of one module, by number, without running any

Each mutant is run by the notebook of its module and, where it lives, by some that import the module, in a copy of the
working tree.  A survivor is a missing assertion, unless it changes no result.
"""
import argparse
import ast
import copy
import difflib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import test
from house import cells, source

root, package = test.root, test.package
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
            ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
PAIRS = ("min max", "minimum maximum", "argmin argmax", "any all", "floor ceil", "cumsum cumprod", "logical_and logical_or")
NAMES = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}
SILENT = ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert  # messages and imports are left alone


def changes(node):
    "What a node of a syntax tree may become: nodes, or None for a statement that goes"
    def new(**fields): return ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), **fields}), node)
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops): yield new(ops=[*node.ops[:i], COMPARED[type(op)](), *node.ops[i + 1:]])
    elif isinstance(node, ast.BoolOp): yield new(op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.BinOp):
        if type(node.op) in COMPUTED: yield new(op=COMPUTED[type(node.op)]())
        if isinstance(node.op, ast.Sub) and ast.unparse(node.left) == "1": yield node.right
    elif isinstance(node, ast.UnaryOp): yield node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool): yield ast.Constant(not node.value)
        elif isinstance(node.value, int): yield from (ast.Constant(node.value + 1), ast.Constant(node.value - 1))
        elif isinstance(node.value, float): yield ast.Constant(2*node.value or 1.)
    elif isinstance(node, ast.Name) and node.id in NAMES: yield ast.Name(NAMES[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in NAMES: yield new(attr=NAMES[node.attr])
    elif isinstance(node, ast.Slice):
        for side in ("lower", "upper"):
            if end := getattr(node, side): yield new(**{side: ast.BinOp(end, ast.Add(), ast.Constant(1))})
    elif isinstance(node, (ast.If, ast.IfExp)): yield ast.UnaryOp(ast.Not(), node.test)  # stands where the test stood
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None": yield ast.Return(ast.Constant(None))
    elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)): yield None
    elif isinstance(node, ast.Assign) and not any(isinstance(o, (ast.Name, ast.Tuple)) for o in node.targets): yield None

def nodes(tree):
    "Nodes that make a difference: no docstrings, annotations, decorators, messages"
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "exc", "cause", "ctx"): continue
        for o in field if isinstance(field, list) else [field]:
            dull = isinstance(o, SILENT) or isinstance(o, ast.Expr) and isinstance(o.value, ast.Constant)
            if not isinstance(o, ast.AST) or dull or isinstance(o, ast.Assign) and ast.unparse(o.targets[0]) == "__all__": continue
            yield o
            yield from nodes(o)

def mutants(path):
    "The texts of a module, each with one change"
    text = path.read_text(encoding="utf-8").encode()
    starts = [0, *(m.end() for m in re.finditer(b"\n", text))]
    tree, seen = ast.parse(text), {ast.dump(ast.parse(text))}
    for node in nodes(tree):
        for other in changes(node):
            at = node.test if isinstance(node, (ast.If, ast.IfExp)) else node
            begin, end = starts[at.lineno - 1] + at.col_offset, starts[at.end_lineno - 1] + at.end_col_offset
            found = "pass" if other is None else ast.unparse(ast.fix_missing_locations(copy.deepcopy(other)))
            if isinstance(at, ast.expr) and not isinstance(other, (ast.Name, ast.Constant, ast.Attribute)): found = f"({found})"
            new = (text[:begin] + found.encode() + text[end:]).decode()
            try: dump = ast.dump(ast.parse(new))
            except SyntaxError: continue
            if dump not in seen: seen.add(dump); yield path, at.lineno, new

class Tree:
    "A copy of the working tree, in which one module at a time is broken"
    def __init__(self, folder, importers):
        self.root, self.importers, self.times = Path(folder)/"tree", importers, {}
        shutil.copytree(root, self.root, ignore=shutil.ignore_patterns(".git", ".venv", "_docs", "_proc", "__pycache__"), symlinks=True)
        self.books, self.uses = {}, {}
        for path in sorted((self.root/"nbs").rglob("*.ipynb")):
            text = "\n".join(source(c) for c in cells(path) if c["cell_type"] == "code")
            if m := re.search(r"(?m)^#\| *default_exp (\S+)", text): self.books[m[1]] = path
            if not any("skip_exec: true" in source(c) for c in cells(path)[:2]): self.uses[path] = text

    def name(self, path): return ".".join(path.relative_to(root/package).with_suffix("").parts)

    def pages(self, name):
        "The notebook of a module, then some that import it"
        using = re.compile(rf"(?m)^from {package}\.{re.escape(name)} import")
        book = self.books[name]
        also = [o for o in self.uses if using.search(self.uses[o]) and o != book]
        also.sort(key=lambda o: o.parent != book.parent)  # of the same folder first: they test it most
        return [book, *also[:self.importers]]

    def run(self, path, limit):
        "Does a notebook pass?"
        cmd = [sys.executable, self.root/".ci/test.py", "--here", "--flags", "", path]
        env = dict(test.environment(1), PYTHONPATH=str(self.root), OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try: return subprocess.run(cmd, env=env, timeout=limit, **quiet).returncode in (test.PASS, test.SKIP)
        except subprocess.TimeoutExpired: return False

    def limit(self, path, most):
        "Seconds for a notebook: ten times what it takes unbroken, at most `most`; None where it fails unbroken"
        if path not in self.times:
            start = time.time()
            self.times[path] = min(most, 30 + 10*(time.time() - start)) if self.run(path, most) else None
        return self.times[path]

    def survives(self, path, new, most):
        "Does a mutant live? The notebooks that it passed"
        name = self.name(path)
        module, book = self.root/path.relative_to(root), self.books[name]
        pages = [(o, limit) for o in self.pages(name) if (limit := self.limit(o, most))]
        before = {o: o.read_text(encoding="utf-8") for o in (module, book)} # of the copy: the working tree may go on
        try:
            module.write_text(new, encoding="utf-8")
            subprocess.run([*test.command("nbdev_update"), "--fname", module], cwd=self.root, check=True) # notebooks run their own cells, not the module
            return all(self.run(*o) for o in pages), [o.stem for o, _ in pages]
        finally:
            for o, text in before.items(): o.write_text(text, encoding="utf-8")


def files(names):
    "The modules of these names, files and folders"
    for name in names:
        path = next((o for o in (root/name, root/package/name, root/package/f"{name.replace('.', '/')}.py") if o.exists()), None)
        if path is None: sys.exit(f"no module, file or folder {name!r}")
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        yield from (o for o in found if o.name not in ("__init__.py", "_modidx.py"))

def difference(path, new):
    lines = [o.read_text(encoding="utf-8").splitlines() if isinstance(o, Path) else o.splitlines() for o in (path, new)]
    return "\n".join("    " + o for o in list(difflib.unified_diff(*lines, n=0, lineterm=""))[3:])

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", help="modules such as search or hf.vllm, files, or folders")
    parser.add_argument("-n", type=int, default=100, help="mutants to try")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument("--importers", type=int, default=2, help="further notebooks that a mutant must pass, which import the module")
    parser.add_argument("--limit", type=float, default=300, help="most seconds for a notebook")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants, as printed, instead of a sample")
    parser.add_argument("--list", action="store_true", help="show the mutants, and run none")
    args = parser.parse_args()
    every = list(enumerate(m for path in dict.fromkeys(files(args.names)) for m in mutants(path)))
    chosen = random.Random(args.seed).sample(every, min(args.n, len(every))) if not args.list else every
    if args.only is not None: chosen = [every[i] for i in args.only]
    killed, lived = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(folder, args.importers)
        for i, (path, line, new) in sorted(chosen, key=lambda o: o[0]):
            alive, tried = (False, []) if args.list else tree.survives(path, new, args.limit)
            lived, killed = lived + alive, killed + (not alive)
            where = f"{path.relative_to(root)}:{line}  ({i})"
            if args.list or alive: print(f"{where}" + f"  lives in {', '.join(tried)}"*alive, difference(tree.root/path.relative_to(root), new), sep="\n", flush=True)
            if not tried and not args.list: print(f"{where}: no notebook passes without it", flush=True)
        broken = [o.stem for o, limit in tree.times.items() if limit is None]
        if broken: print(f"fail without any change: {', '.join(broken)}")
    if not args.list: print(f"{killed} killed, {lived} lived, of {len(every)} mutants")


if __name__ == "__main__": main()
