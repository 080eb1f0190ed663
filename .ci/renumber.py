"""Number the notebooks: chapters one behind the other from 00, long runs last, up to 99.

Within a chapter they go in the order of nbs/sidebar.yml; chapters keep the order of their numbers, and readers see them
in another, by what they come for.

`python .ci/renumber.py` says what would change; with `--write` it renames the files and every mention of their names.
"""
import re, subprocess, sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
nbs = root/"nbs"

def new_names():
    "Old stem -> new stem, in the order of the sidebar within each chapter"
    chapters = [re.findall(r"^ +- (\d\d_\w+)\.ipynb$", o, re.M) for o in (nbs/"sidebar.yml").read_text().split("- section:")]
    stems = [stem for chapter in sorted(filter(None, chapters), key=min) for stem in chapter]
    missing = {o.stem for o in nbs.glob("[0-9]*.ipynb")} ^ set(stems)
    assert not missing, f"only in the folder or only in sidebar.yml: {', '.join(sorted(missing))}"
    runs = [s for s in stems if s[3:].startswith("run_")]
    pages = [s for s in stems if s not in runs]
    assert len(stems) <= 100, f"{len(pages)} pages, {len(runs)} runs: merge some"
    numbers = [*enumerate(pages), *enumerate(runs, 100 - len(runs))]
    return {old: f"{i:02}_{old[3:]}" for i, old in numbers}

def mentions():
    "Files that may name notebooks"
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    ends = (".ipynb", ".py", ".md", ".yml", ".ini", ".toml", ".json", "Makefile", ".ci/run")
    return [root/o for o in listed.stdout.splitlines() if o.endswith(ends) and (root/o).is_file()]

def main():
    names = {a: b for a, b in new_names().items() if a != b}
    for a, b in names.items(): print(f"{a} -> {b[:2]}")
    if "--write" not in sys.argv: return
    pattern = re.compile(r"\b(" + "|".join(names) + r")\b")
    for path in mentions():
        text = path.read_text(encoding="utf-8")
        new = pattern.sub(lambda m: names[m[1]], text)
        if new != text: path.write_text(new, encoding="utf-8")
    for a in names: (nbs/f"{a}.ipynb").rename(nbs/f"{a}.moving")
    for a, b in names.items(): (nbs/f"{a}.moving").rename(nbs/f"{b}.ipynb")

if __name__ == "__main__": main()
