"""Make results again: run the notebooks that write them, then those that read them, then the README.

    python .ci/results.py                the numbers of the README's demo (what `make results` does)
    python .ci/results.py additions      all that depends on the model of a task: additions or reactions
    python .ci/results.py benchmarks     speed and memory on this machine (an hour, with nothing else running)
    python .ci/results.py all            everything
    python .ci/results.py runs conformal only these notebooks, by the beginnings of their folders or names
    python .ci/results.py --list all     name the notebooks and run none

Long runs come first, then the pages that read their files or load the task's model, then the README.
A notebook runs in its folder and is saved whole, cleaned, with its new outputs; one that fails is left as it was, and
ends the run.  Cells marked `#| eval: false`, `#| slow` or `#| gpu` keep their outputs.  A GPU is used where there is one.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import time

import house

root, nbs = house.root, house.nbs
DEMO = ["-m", "conformal_ar", "demo", "--results", "nbs/results/demo_additions.json"]
SHIPPED = ["-m", "conformal_ar.tasks.shipped"] # scores of a shipped model, for its calibration.json: an hour for reactions
SLOW = [".ci/test.py", "--flags", "slow", "precision"] # rounding
FIELD = [".ci/test.py", "--flags", "slow", "06_browser"] # scores of lines, for the field on the front page
HELD_OUT = ["-m", "conformal_ar.experiments.edit_evaluation", "held-out", "--reactions", "10000"]
BENCH = ["-m", "conformal_ar.experiments.bench", "--out"]
COMMANDS = { # of Python; they write nbs/results/*.json too, or what comes with the package
    "demo": [DEMO], "additions": [[*SHIPPED, "additions"], DEMO, FIELD], "reactions": [[*SHIPPED, "reactions"], [*SHIPPED, "reactions-smiles"], HELD_OUT, SLOW],
    "benchmarks": [[*BENCH, f"nbs/results/benchmarks{name}.json", *options] for name, options in (
        ("", ["--scale", "0.7"]), ("_single", ["--only", "single", "--only", "engine", "--only", "rows", "--only", "edits", "--only", "startup"]), ("_scale", ["--only", "ray", "--only", "file"]))]}
RUNS = {"demo": [], "additions": ["run_additions"], "reactions": ["run_reactions"], "benchmarks": []} # they write nbs/results/*.json; each reads the model and the data alone, but for the demo's file in run_additions
RAY = re.compile(r"\(raylet\)|core_worker\.cc|INFO util\.py") # what Ray says of its own

def name_of(path): return re.sub(r"^\d\d_", "", path.stem)

def written(task):
    "Files in nbs/results that a task writes, as patterns"
    runs = [o for o in house.pages() if name_of(o) in RUNS[task]]
    found = [f for o in runs for f in re.findall(r'write_results\(\s*f?"../results/([\w{}]+)\.json"', house.code(o))]
    return [re.sub(r"\{\w+\}", r"[\\w{}]+", f) for f in found + ["benchmarks{name}"]*(task == "benchmarks")]

def depending(task):
    "Pages whose outputs depend on a task and that are no long runs: they read its files, or use its shipped model"
    uses = re.compile(rf'(?m)(?:from_pretrained|load_task|\.task|load)\(\s*"{task}"|^(?:!|.*\b(?:run|main|invoke)\().*\b{task}\b')
    def reads(text): return any(re.fullmatch(f.replace(f"_{task}", r"_(\{\w+\}|\w+)"), o) for f in written(task) for o in re.findall(r"results/([\w{}]+)\.json", text))
    return [name_of(o) for o in house.pages() if o.parent.name != "runs" and (uses.search(house.code(o)) or reads(house.code(o)))]

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
    for c in (c for c in nb.cells if "outputs" in c): c.outputs = [o for o in c.outputs if not RAY.search(o.get("text", ""))]
    clean_nb(nb)
    whole = path.with_suffix(".new")
    whole.write_text(nbformat.writes(nb) + "\n", encoding="utf-8")
    whole.replace(path)
    print(f"{path.name}: done in {time.time() - start:.0f} s", flush=True)

def tasks_of(names): return [*RUNS][1:] if "all" in names else names if set(names) <= {*RUNS} else []

def chosen(names):
    "The notebooks of tasks, or those whose folders or names begin so"
    if tasks := tasks_of(names):
        runs = dict.fromkeys(o for t in tasks for o in RUNS[t])
        pages = sorted({o for t in tasks if t != "demo" for o in depending(t)} - {"index"})
        at = {name_of(o): o for o in house.pages()}
        return [at[o] for o in [*runs, *pages, "index"]]
    return house.named(names) or sys.exit(f"no notebook begins with {' or '.join(names)}; the tasks are {', '.join(RUNS)} and all")

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["demo"], help="tasks, or beginnings of names")
    parser.add_argument("--list", action="store_true", help="name the notebooks and run none")
    args = parser.parse_args()
    paths, commands = chosen(args.names), [o for t in tasks_of(args.names) for o in COMMANDS[t]]
    if args.list: return print(*("python " + shlex.join(o) for o in commands), *(o.stem for o in paths), sep="\n")
    os.environ |= {"PYTHONPATH": str(root), "PYTHONWARNINGS": "ignore:IProgress not found", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
                   "OMP_WAIT_POLICY": "PASSIVE"} # threads that spin are ruinous on busy cores
    for command in commands: subprocess.run([sys.executable, *command], cwd=root, check=True)
    for path in paths: run_notebook(path)
    if nbs/"index.ipynb" in paths: subprocess.run([sys.executable, root/".ci/readme.py"], check=True)

if __name__ == "__main__": main()
