"""Check types by pyright in basic mode: of most rooms, and of the code that users read on the front page and in the guides.

Editors know the methods that come by `@patch` from stubs; pyright reads the modules themselves, as `.ci/stubs.py` sees them: each method in its class.
"""
import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import house
import stubs

ROOMS = "theory", "files", "search", "procedures", "decisions", "answers", "jobs", "tasks", "cli"
PAGES = "index", "guides/"
SETTINGS = dict(typeCheckingMode="basic", reportMissingImports=False, # of extras
                pythonVersion="3.10", include=[*(f"conformal_ar/{o}" for o in ROOMS), "pages"])
# whoever reads a page knows what is there, and may lack packages
SAYS = f"# pyright: {', '.join(f'report{o}=false' for o in ('MissingImports', 'OptionalMemberAccess', 'OptionalSubscript'))}\n"

def write(folder):
    "Modules and pages as pyright reads them, in a `folder`"
    found = {"pyrightconfig.json": json.dumps(SETTINGS), "conformal_ar/__init__.pyi": stubs.package_stub()}
    found |= {f"conformal_ar/{name.replace('.', '/')}.py": stubs.whole(path) for name, path in house.modules().items()}
    found |= {f"pages/{o.stem}.py": SAYS + house.python_of(house.code(o)) for o in house.named(PAGES)}
    for name, text in found.items():
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        (folder/name).write_text(text, encoding="utf-8")

def said(found, folder):
    "What pyright says of a line, and in which function that is; lines are not those of the notebook"
    path, line = Path(found["file"]), found["range"]["start"]["line"] + 1
    text = path.read_text(encoding="utf-8")
    inside = [n.name for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.lineno <= line <= n.end_lineno]
    return f"{path.relative_to(folder)}, {'.'.join(inside) or line}: {found['message']}\n    {text.splitlines()[line - 1].strip()}"

def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder).resolve()
        write(folder)
        run = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", folder],
                             capture_output=True, text=True, env=dict(os.environ, PYRIGHT_PYTHON_IGNORE_WARNINGS="1"))
        try: found = json.loads(run.stdout)["generalDiagnostics"]
        except ValueError: sys.exit(run.stdout + run.stderr)
        print(*(said(o, folder) for o in found if o["severity"] == "error"), sep="\n")
        sys.exit(run.returncode)

if __name__ == "__main__": main()
