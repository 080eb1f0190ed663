"""Count what the house has to stay below: lines of code, lines of refusals, minutes of reading, private names that cross.

`make test` prints the tables and fails above a limit; `python .ci/counts.py` alone does the same; `--names` lists what is not described.
"""
import ast, io, re, sys, tokenize

import house

# Lines of code. These only go down: who adds lines pays with others. The aim was 3,900 and 9,000, set before the rooms for ONNX
# Runtime, lines, probe pairs, edits, structure files and planners.
LIMITS = {"theory + search + procedures + hf": 5433, "package without experiments": 12600} # with risks, and answers from anywhere
REFUSALS = 0.1 # of a file in theory and procedures that is no room of checks
BOOK = dict(pages=60, hours=12, hour=60) # the main part; minutes of the one-hour path


def code_lines(text):
    "Numbers of the lines that hold code: no blank ones, comments or docstrings"
    tree, skip = ast.parse(text), set()
    for n in ast.walk(tree):
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(n, clean=False) is not None:
            skip |= {*range(n.body[0].lineno, n.body[0].end_lineno + 1)}
    quiet = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = (t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in quiet)
    return {line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - skip

def refusal_lines(text):
    "Numbers of the lines that raise or warn, with the conditions for that alone, and of functions that only check"
    found = set()
    def only(body): return all(isinstance(o, ast.Raise) or isinstance(o, ast.Expr) and ast.unparse(o).startswith("warnings.warn") for o in body)
    for n in ast.walk(ast.parse(text)):
        if isinstance(n, ast.FunctionDef) and re.match(r"_?check", n.name): whole = True
        elif isinstance(n, (ast.If, ast.For, ast.ExceptHandler)): whole = only(n.body) and not getattr(n, "orelse", None)
        else: whole = isinstance(n, ast.stmt) and only([n])
        if whole: found |= {*range(n.lineno, n.end_lineno + 1)}
    return found & code_lines(text)

def parts():
    "Name of a part of the book -> its pages, as nbs/sidebar.yml has them: what is not in the appendix is the main part"
    text = (house.nbs/"sidebar.yml").read_text(encoding="utf-8")
    main, _, appendix = text.partition("text: Appendix")
    hour = main.partition("One hour")[2].partition("- section")[0]
    def listed(text): return [house.nbs/o for o in dict.fromkeys(re.findall(r"[\w/]+\.ipynb", text))]
    return {"one hour": listed(hour), "book": listed(main), "appendix": listed(appendix)}

def crossing():
    "Private names that one module takes from another"
    return [(name, a.name) for name, path in house.modules().items() for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.ImportFrom) and (n.level or n.module.startswith("conformal_ar")) for a in n.names
            if a.name.startswith("_") and not a.name.startswith("__")]

def public_functions(tree):
    "Functions in `__all__`, and public methods of classes there or of those that `@patch` extends"
    listed = next((set(ast.literal_eval(n.value)) for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"), set())
    for n in tree.body:
        if isinstance(n, ast.FunctionDef) and not n.name.startswith("_") and (n.name in listed or "patch" in map(ast.unparse, n.decorator_list)): yield n
        if isinstance(n, ast.ClassDef) and n.name in listed:
            yield from (m for m in n.body if isinstance(m, ast.FunctionDef) and (not m.name.startswith("_") or m.name == "__init__"))

def parameters():
    "Public parameters: how many, annotated, and which are not described; both may stand where another class has the same method"
    found, known = [], set()
    for module, path in house.modules().items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        comments = {t.start[0] for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT}
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
    texts, wrong = {name: path.read_text(encoding="utf-8") for name, path in house.modules().items()}, []
    lines = {name: len(code_lines(t)) for name, t in texts.items()}
    rooms = {room: sum(n for name, n in lines.items() if house.room(name) == room) for room in house.ROOMS}
    print("lines of code: " + ", ".join(f"{room} {n:,}" for room, n in rooms.items()))
    sums = {"theory + search + procedures + hf": sum(rooms[o] for o in ("theory", "search", "procedures", "hf")),
            "package without experiments": sum(rooms.values()) - rooms["experiments"]}
    for what, n in sums.items():
        print(f"{what}: {n:,} lines, at most {LIMITS[what]:,}")
        if n > LIMITS[what]: wrong.append(what)
    shares = {name: len(refusal_lines(texts[name]))/lines[name] for name in lines if house.room(name) in ("theory", "procedures")}
    print("refusals: " + ", ".join(f"{name} {share:.0%}" for name, share in shares.items()))
    wrong += [f"refusals in {name}" for name, share in shares.items() if share > REFUSALS and not name.endswith("checks")]
    for part, paths in parts().items():
        n = sum(map(house.minutes, paths))
        print(f"{part}: {len(paths)} pages, {n:.0f} minutes ({n/60:.1f} hours)")
        if part == "one hour" and n > BOOK["hour"] or part == "book" and (len(paths) > BOOK["pages"] or n > 60*BOOK["hours"]): wrong.append(part)
    private = crossing()
    every, untyped, undescribed = parameters()
    print(f"private names used in other modules: {len(private)}; public parameters: {every}, without a type {len(untyped)}, "
          f"not described {len(undescribed)}")
    if sys.argv[1:] == ["--names"]: print(*untyped, *undescribed, sep="\n")
    if private: wrong.append("private names")
    if untyped: wrong.append("public parameters without a type")
    if undescribed: wrong.append("public parameters that are not described")
    if wrong: print(f"above a limit: {', '.join(wrong)}")
    sys.exit(bool(wrong))


if __name__ == "__main__": main()
