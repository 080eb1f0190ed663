"""Count what tells whether the house is clear: names that nobody else uses, modules that a call runs through, class names that mean
two things, parameters of the command line, minutes of reading, private names that cross. Lines of code are information.

`make test` prints the figures and fails above a limit; `python .ci/counts.py` alone does the same; `--names` lists what is counted.
"""
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter

import house
import stubs

# What is reached; these only go down.
LIMITS = {"exported names that nobody else uses": 4, "class names that mean two things": 0, "parameters of the command line": 45,
          "parameters annotated object": 2, "words of chemistry outside its rooms": 0, "pages": 100, "modules of a predict": 12, "modules of a calibrate": 16,
          "modules of a reaction": 17, "files from calibrate to its threshold": 2, "methods of a procedure": 31, "of its seven former switches": 2}
LINES = {"tasks": 1300, "answers": 1000, ".ci": 1300} # of code; of .ci all
BOOK = dict(pages=43, hours=8.0, hour=30) # the main part, whose aim was 45 pages and 9 hours; minutes of the one-hour path, hidden cells counted; its aim was 45

def code_lines(text):
    "Numbers of the lines that hold code: no blank ones, comments or docstrings"
    tree, skip = ast.parse(text), set()
    for n in ast.walk(tree):
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(n, clean=False) is not None:
            skip |= {*range(n.body[0].lineno, n.body[0].end_lineno + 1)}
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = (t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in quiet)
    return {line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - skip

def listed(tree):
    "What a module exports"
    return next((ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"), [])

def unused_names():
    "Exported names that stand in no code but that of their own page"
    def words(text): return {*re.findall(r"\w+", text)}
    pages = {f"{o.parent.name}.{o.stem[3:]}": words(house.code(o)) for o in house.pages()}
    more = map(house.root.joinpath, ("README.md", "CONTRIBUTING.md", "setup.py", "conformal_ar/__init__.py"))
    others = words("\n".join(o.read_text(encoding="utf-8") for o in more))
    return [f"{module}.{name}" for module, path in house.modules().items() for name in listed(house.tree_of(path))
            if name not in others and not any(name in found for page, found in pages.items() if page != module)]

def doubled_classes():
    "Names that classes, or types of options, have in several modules"
    found = {}
    for module, path in house.modules().items():
        tree = house.tree_of(path)
        own = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        own |= {n.targets[0].id for n in tree.body if isinstance(n, ast.Assign) and re.match(r"Annotated\b", ast.unparse(n.value))}
        for name in own: found.setdefault(name, []).append(module)
    return [f"{name}: {', '.join(where)}" for name, where in found.items() if len(where) > 1]

def command_parameters():
    "Parameters of commands, each that several share once; those that tasks bring are theirs"
    shared = next(n.value.keywords for n in ast.walk(house.tree_of(house.package/"cli/command_line.py"))
                  if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "SHARED")
    return [f"shared {o.arg}" for o in shared] + [f"{n.name} {a.arg}" for module, path in house.modules().items() if module.split(".")[0] == "cli" for n in ast.walk(house.tree_of(path))
            if isinstance(n, ast.FunctionDef) and any(re.match(r"app\.(command|callback)\b", ast.unparse(d)) for d in n.decorator_list)
            for a in n.args.args if a.arg not in ("ctx", "asked", "given")]

PASSED = """if True:
    import inspect, json, sys
    from conformal_ar import ConformalLevelSets, HFSeq2Seq, load
    from conformal_ar.procedures import procedure as base
    road, split, parts = set(), base.split_threshold, base.Procedure.__mro__[:-1]
    def thresholded(*args): # who waits for the k-th smallest score
        road.update({split.__module__, *(o.frame.f_globals["__name__"] for o in inspect.stack())})
        return split(*args)
    base.split_threshold = thresholded
    def passed(run):
        found = set()
        def enter(frame, event, _):
            package, _, module = frame.f_globals.get("__name__", "").partition(".")
            if event == "call" and package == "conformal_ar": found.add(module)
        sys.setprofile(enter)
        try: run()
        finally: sys.setprofile(None)
        return sorted(found)
    model = HFSeq2Seq.from_pretrained("additions", device="cpu")
    pairs = [f"{i}+{i}=" for i in range(11, 41)], [str(2*i) for i in range(11, 41)]
    sets = ConformalLevelSets(model, coverage=0.8).calibrate(*pairs)
    files, chemistry = sorted(o for o in road if o.startswith("conformal_ar.")), load("reactions", coverage=0.9)
    for other in sets, chemistry: other.predict("112+17=" if other is sets else "CC(=O)Cl.NCc1ccccc1") # what is made once
    found = [passed(f) for f in (lambda: sets.predict("112+17="), lambda: ConformalLevelSets(model, coverage=0.8).calibrate(*pairs),
                                 lambda: chemistry.predict("CC(=O)Cl.NCCc1ccccc1"))]
    print(json.dumps([*found, files,
        sorted({name for c in parts for name, v in vars(c).items()
                if not name.startswith("__annot") and (inspect.isfunction(v) or isinstance(v, (classmethod, property)))}),
        [o for o in "normalize nested conditional by_class missed max_candidates max_lines".split() if hasattr(base.Procedure, o)]]))"""

def modules_passed():
    "Modules whose functions a predict of one text, a calibrate and a reaction call; and the last three of LIMITS; in a process of its own"
    run = subprocess.run([sys.executable, "-c", PASSED], cwd=house.root, capture_output=True, text=True)
    if run.returncode: sys.exit(run.stderr)
    return json.loads(run.stdout.splitlines()[-1])

def crossing():
    "Private names that one module takes from another"
    return [(name, a.name) for name, path in house.modules().items() for n in ast.walk(house.tree_of(path))
            if isinstance(n, ast.ImportFrom) and (n.level or n.module.startswith("conformal_ar")) for a in n.names
            if a.name.startswith("_") and not a.name.startswith("__")]

def public_functions(tree):
    "Functions in `__all__`, and public methods of classes there or of those that `@patch` extends"
    exported = {*listed(tree)}
    for n in tree.body:
        if isinstance(n, ast.FunctionDef) and not n.name.startswith("_") and (n.name in exported or "patch" in map(ast.unparse, n.decorator_list)): yield n
        if isinstance(n, ast.ClassDef) and n.name in exported:
            yield from (m for m in n.body if isinstance(m, ast.FunctionDef) and (not m.name.startswith("_") or m.name == "__init__"))

def parameters():
    "Public parameters: how many, annotated, and which are not described; both may stand where another class has the same method"
    found, known = [], set()
    for module, path in house.modules().items():
        tree, comments = house.tree_of(path), stubs.comments(path.read_text(encoding="utf-8"))
        of_class = {m: ast.get_docstring(c) or "" for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for m in c.body}
        for n in public_functions(tree):
            command = any(".command(" in ast.unparse(d) for d in n.decorator_list) # its options have a help
            said = (ast.get_docstring(n) or "") + (of_class.get(n, "") if n.name == "__init__" else "")
            args = [*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs]
            last = {a.end_lineno: a for a in args} | {n.returns.lineno: n.returns for _ in [0] if n.returns} # has the line's comment
            for a in args:
                if a.arg in ("self", "cls"): continue
                own = a.end_lineno in comments and last[a.end_lineno] is a
                has = a.annotation is not None, command or own or f"`{a.arg}`" in said
                found.append((f"{module}.{n.name}", n.name, a.arg, has))
                if n.name != "__init__": known |= {(n.name, a.arg, k) for k in (0, 1) if has[k]}
    missing = [[f"{where}({arg})" for where, name, arg, has in found if not (has[k] or (name, arg, k) in known)] for k in (0, 1)]
    return len(found), *missing

def main():
    objects = [f"{name} {n.arg}" for name, path in house.modules().items() for n in ast.walk(house.tree_of(path))
               if isinstance(n, ast.arg) and n.annotation and ast.unparse(n.annotation) == "object"]
    wrong, names, its = [], [o.name for o in house.pages()], ("chem", "tasks", "experiments")
    chemistry = [f"{name}: {o}" for name, path in house.modules().items() if name.split(".")[0] not in its
                 for o in re.findall("(?i)smiles|rdkit|molecul|reaction", path.read_text(encoding="utf-8"))]
    counted = dict(zip(LIMITS, (unused_names(), doubled_classes(), command_parameters(), objects, chemistry, names, *modules_passed())))
    for what, found in counted.items():
        print(f"{what}: {len(found)}, at most {LIMITS[what]}")
        if len(found) > LIMITS[what]: wrong.append(what)
        if sys.argv[1:] == ["--names"]: print(*found, sep="\n")
    rooms = Counter()
    for name, path in house.modules().items(): rooms[name.split(".")[0]] += len(code_lines(path.read_text(encoding="utf-8")))
    print("lines of code: " + ", ".join(f"{room} {n:,}" for room, n in rooms.items()) + f"; {rooms.total():,} in all")
    rooms[".ci"] = sum(o.read_bytes().count(b"\n") for o in (house.root/".ci").iterdir() if o.is_file())
    print("lines: " + ", ".join(f"{o} {rooms[o]:,}, at most {most:,}" for o, most in LINES.items()))
    wrong += [f"lines of {o}" for o, most in LINES.items() if rooms[o] > most]
    for part, paths in house.parts().items():
        n = sum(house.minutes(o, every=part == "one hour") for o in paths) # of the hour hidden cells, too
        print(f"{part}: {len(paths)} pages, {n:.0f} minutes ({n/60:.1f} hours)")
        if part == "one hour" and n > BOOK["hour"] or part == "book" and (len(paths) > BOOK["pages"] or n > 60*BOOK["hours"]): wrong.append(part)
    private = crossing()
    every, untyped, undescribed = parameters()
    print(f"private names used in other modules: {len(private)}; public parameters: {every}, without a type {len(untyped)}, "
          f"not described {len(undescribed)}")
    if sys.argv[1:] == ["--names"]: print(*untyped, *undescribed, sep="\n")
    found = {"private names": private, "public parameters without a type": untyped, "public parameters that are not described": undescribed}
    wrong += [what for what in found if found[what]]
    if wrong: print(f"above a limit: {', '.join(wrong)}")
    sys.exit(bool(wrong))

if __name__ == "__main__": main()
