"""What Quarto runs after the site is rendered: the models for the field on the front page, and words for its search.

`nbs/_quarto.yml` names it. The models of the field come from the package, so that the repository has them once; the
search index gets the words that people type, from `nbs/search.yml`.
"""
import json
import os
import re
import shutil
from pathlib import Path

import yaml

root = Path(__file__).resolve().parent.parent
site = Path(os.environ.get("QUARTO_PROJECT_OUTPUT_DIR", root/"_docs"))

FIELD = {"additions": ("config.json", "model.safetensors", "tokenizer_config.json"),
         "reactions": ("edits.json", "model.safetensors", "calibration.json")}

def field(target):
    "The shipped models in a folder `try`, for the field on the front page, and RDKit where npm has brought it"
    for task, names in FIELD.items():
        folder = Path(target, task)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names: shutil.copy(root/"conformal_ar/models"/task/name, folder)
    library = root/"node_modules/@rdkit/rdkit/dist"
    if not library.exists(): print("without RDKit from npm, the field on the front page answers no reactions")
    else:
        for ending in ("js", "wasm"): shutil.copy(library/f"RDKit_minimal.{ending}", Path(target, "reactions"))

def search_index():
    "The words that people type, with each page and section"
    path = site/"search.json"
    docs = json.loads(path.read_text(encoding="utf-8"))
    words = yaml.safe_load((root/"nbs/search.yml").read_text(encoding="utf-8"))["words"]
    gone = {*words} - {doc["href"] for doc in docs}
    assert not (gone and os.environ.get("QUARTO_PROJECT_RENDER_ALL")), f"no such page or section: {', '.join(sorted(gone))}"
    for doc in docs: doc["words"] = words.get(doc["href"], "")
    path.write_text(json.dumps(docs, ensure_ascii=False, indent=1), encoding="utf-8")

def search_script():
    """Quarto's search looks at these words too, and for words apart: of the 116 searches in check_docs.py it finds 68 as it is, 81 with
    words apart, 95 with the table, 116 with both; names and roles for screen readers stand at the end of the script"""
    path, = site.glob("site_libs/quarto-search/quarto-search.js")
    code, mark = path.read_text(encoding="utf-8"), "\n// of this site\n"
    changes = {'{ name: "text", weight: 10 },': '{ name: "text", weight: 10 }, { name: "words", weight: 60 },',
               "ignoreLocation: true,": "ignoreLocation: true, useExtendedSearch: true,"}
    code = code.partition(mark)[0]
    for theirs, ours in changes.items():
        if ours not in code: code = code.replace(theirs, ours)
        assert code.count(ours) == 1, f"Quarto's search has changed: it lacks {theirs!r}"
    path.write_text(code + mark + (root/".ci/page.js").read_text(encoding="utf-8"), encoding="utf-8")

PICTURE = "https://conformal-ar.github.io/conformal_ar/figures/index-social.png"
CHANGES = { # in each page
    r'(<meta (?:property|name)="(?:og|twitter):image" content=")[^"]*': rf"\g<1>{PICTURE}", # Quarto takes the first of the page, or a path beside it
    r'<script src="https://cdnjs[^>]*></script>\n?': "", # for widgets, which no page has
    r'<script type="application/javascript">define\(.jquery.[^<]*</script>\n?': ""}

def pages():
    "Links to any page show the one picture, and it loads nothing from other hosts"
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for theirs, ours in CHANGES.items(): text = re.sub(theirs, ours, text)
        path.write_text(text, encoding="utf-8")

if __name__ == "__main__":
    field(site/"try")
    if (site/"search.json").exists(): search_index()
    search_script()
    pages()
