"""Make results again: run the notebooks that write them, then those that read them, then the README.

    python .ci/results.py                the numbers of the README's demo (what `make results` does)
    python .ci/results.py additions      all that depends on the model of a task: additions, reactions, or all
    python .ci/results.py 92 95          only these notebooks, by the beginnings of their names
    python .ci/results.py --list all     name the notebooks and run none

A notebook runs in its folder and is saved whole, cleaned, with its new outputs; one that fails is left as it was, and
ends the run.  Cells marked `#| eval: false`, `#| slow` or `#| gpu` keep their outputs.  A GPU is used where there is one.
"""
import argparse, json, os, re, subprocess, sys, time
from pathlib import Path

root = Path(__file__).resolve().parent.parent
nbs = root/"nbs"
RUNS = { # they write nbs/results/*.json; each reads the model and the data alone, but for the demo's file in 92
    "demo": [],
    "additions": ["92_run_additions", "95_run_coverage_additions", "97_run_baselines"],
    "reactions": ["93_run_reactions", "94_run_masks", "96_run_coverage_reactions"]}
PAGES = { # they only read
    "demo": [],
    "additions": ["09_levelsets", "32_additions_results", "55_equal_coverage", "57_sampling"],
    "reactions": ["48_reactions_results", "55_equal_coverage"]}


def cells(path): return json.loads(path.read_text(encoding="utf-8"))["cells"]

def text_of(path): return "\n".join("".join(c["source"]) for c in cells(path) if c["cell_type"] == "code")

def check_order():
    "What a page reads is written by a run before it: the lists above agree with the notebooks."
    writes = {name: set(re.findall(r'write_results\(\s*f?"results/([\w{}]+)\.json"', text_of(nbs/f"{name}.ipynb"))) for names in RUNS.values() for name in names}
    idle = [name for name, files in writes.items() if not files]
    assert not idle, f"these runs write nothing: {', '.join(idle)}"
    listed = {name for names in (*RUNS.values(), *PAGES.values()) for name in names} | {"index"}
    for path in nbs.glob("[0-9i]*.ipynb"):
        read = set(re.findall(r'results/([\w{}]+)\.json', text_of(path)))
        mine = {f for o in writes.values() for f in o}
        found = {f for f in read for m in mine if re.fullmatch(re.sub(r"\{\w+\}", r"\\w+", f), m)}
        if found and path.stem not in listed: raise AssertionError(f"{path.name} reads {', '.join(sorted(found))} and is in neither list")

def run_notebook(path):
    "Run a notebook in its folder and save it whole."
    import nbformat
    from nbclient import NotebookClient
    from nbdev.clean import clean_nb
    os.environ.pop("MPLBACKEND", None)  # figures belong into the notebook
    nb = nbformat.read(path, 4)
    skipped = [c for c in nb.cells if c.cell_type == "code" and re.search(r"(?m)^#\| *(eval: *false|slow|gpu)\b", c.source)]
    skipped = [c for c in skipped if "skip-execution" not in c.metadata.get("tags", [])]  # nbclient's word for it
    for c in skipped: c.metadata.tags = [*c.metadata.get("tags", []), "skip-execution"]
    client = NotebookClient(nb, timeout=None, kernel_name="python3", resources=dict(metadata=dict(path=str(path.parent))))
    start = time.time()
    print(f"{path.name} ...", flush=True)
    client.execute()
    for c in skipped: c.metadata.tags.remove("skip-execution")
    clean_nb(nb)
    whole = path.with_suffix(".new")
    whole.write_text(nbformat.writes(nb) + "\n", encoding="utf-8")
    whole.replace(path)
    print(f"{path.name}: done in {time.time() - start:.0f} s", flush=True)

def chosen(names):
    "The notebooks of tasks, or those whose names begin so."
    if set(names) <= {*RUNS, "all"}:
        tasks = ["additions", "reactions"] if "all" in names else names
        runs = [o for t in tasks for o in RUNS[t]] + [o for t in tasks for o in PAGES[t]]
        return [nbs/f"{o}.ipynb" for o in dict.fromkeys(runs)] + [nbs/"index.ipynb"]
    paths = [o for o in sorted(nbs.glob("[!_]*.ipynb")) if o.name.startswith(tuple(names))]
    if not paths: sys.exit(f"no notebook begins with {' or '.join(names)}; the tasks are {', '.join(RUNS)} and all")
    return paths

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["demo"], help="tasks, or beginnings of names")
    parser.add_argument("--list", action="store_true", help="name the notebooks and run none")
    args = parser.parse_args()
    check_order()
    paths = chosen(args.names)
    if args.list: return print(*(o.stem for o in paths), sep="\n")
    env = dict(os.environ, PYTHONPATH=str(root))
    os.environ["PYTHONPATH"] = str(root)
    if "demo" in args.names:
        code = "from conformal_ar.cli.main import main; main()"
        subprocess.run([sys.executable, "-c", code, "demo", "--results", "nbs/results/demo_additions.json"], cwd=root, env=env, check=True)
    for path in paths: run_notebook(path)
    if nbs/"index.ipynb" in paths: subprocess.run([sys.executable, root/".ci/readme.py"], check=True)


if __name__ == "__main__": main()
