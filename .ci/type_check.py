"""Check the types of the code that users read: the README and the guides, against the package as editors see it."""
import json, re, subprocess, sys, tempfile
from pathlib import Path

import house

PAGES = ["index", "guides/"]
CONFIG = """[mypy]
ignore_missing_imports = True
strict_optional = False
allow_redefinition = True
disable_error_code = assignment, union-attr
[mypy-conformal_ar.*]
ignore_errors = True
[mypy-torch.*,transformers.*,numpy.*,rdkit.*,datasets.*,matplotlib.*,IPython.*,pandas.*,scipy.*,fastcore.*]
follow_imports = skip
follow_imports_for_stubs = True
"""

def code(path):
    "The code of a page, without magics"
    texts = [house.source(c) for c in house.cells(path) if c["cell_type"] == "code"]
    return re.sub(r"(?m)^[%!].*$", "", "\n".join(texts))

def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder/"mypy.ini").write_text(CONFIG)
        files = [folder/f"{re.sub(r'^[0-9]+_', '', o.stem)}.py" for o in house.named(PAGES)]
        for file, path in zip(files, house.named(PAGES)): file.write_text(code(path), encoding="utf-8")
        options = ["--config-file", folder/"mypy.ini", "--cache-dir", folder/"cache", "--no-error-summary"]
        sys.exit(subprocess.run([sys.executable, "-m", "mypy", *options, *files], cwd=house.root).returncode)


if __name__ == "__main__": main()
