"""Measure what a newcomer waits for, on a fresh clone of HEAD, and write nbs/results/setup.json.

The clone has nothing installed; packages come from pip's cache or the index, so the time depends on the network.
It runs `make demo`, `make demo` again, `make test`, and last a wheel in an empty environment away from the repository,
with a first reaction's set of products drawn.
Memory is the largest sum of resident memory over all processes of a command, sampled twice a second.

    python .ci/measure.py
"""
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root))
TRY = """from conformal_ar import HFSeq2Seq, beam_search
ar = HFSeq2Seq.from_pretrained("additions")
print(ar.decode(beam_search(ar, ["112+17="], width=5, max_len=9).tokens))"""
ESTER = "'CC(=O)Cl.OCc1ccccc1'"


def tree_memory(pid):
    "Resident memory of a process and its descendants, in bytes"
    try:
        process = psutil.Process(pid)
        return sum(o.memory_info().rss for o in (process, *process.children(recursive=True)))
    except psutil.NoSuchProcess: return 0

def measure(what, command, folder):
    "Run a command in a folder; its seconds, largest memory and last line"
    print(f"{what} ...", flush=True)
    start, peak = time.time(), 0
    run = subprocess.Popen(command, cwd=folder, shell=True, text=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(run.stdout))
    reader.start()
    while run.poll() is None:
        peak = max(peak, tree_memory(run.pid))
        time.sleep(.5)
    reader.join()
    if run.returncode: sys.exit(f"{command} failed:\n{''.join(lines[-30:])}")
    row = dict(what=what, seconds=round(time.time() - start, 1), gigabytes=round(peak/1e9, 2), last_line=lines[-1].strip())
    print(row, flush=True)
    return row

def main():
    from conformal_ar.files.whole_files import write_results
    with tempfile.TemporaryDirectory() as place:
        clone, away = Path(place)/"conformal_ar", Path(place)/"away"
        subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
        away.mkdir()
        pip = f"{sys.executable} -m venv v && v/bin/python -m pip install -q -c {clone}/constraints.txt"
        rows = [measure("fresh clone to the end of `make demo`", "make demo", clone),
                measure("`make demo` the second time", "make demo", clone),
                measure("`make test`, development requirements installed on the way", "make test", clone),
                measure("the wheel in an empty environment: install, load, predict",
                        f"(cd {clone} && make build) && {pip} $(ls {clone}/dist/*.whl)[chem] && v/bin/python -c '{TRY}'", away),
                measure("installed there: `conformal-ar predict reactions`, one reaction, the set drawn",
                        f"v/bin/conformal-ar predict reactions {ESTER} --pictures drawn", away)]
    write_results(root/"nbs/results/setup.json", rows, command="python .ci/measure.py")


if __name__ == "__main__": main()
