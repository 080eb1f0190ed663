"""Run the notebooks with other versions than those of constraints.txt, in environments of their own below .venv.

    python .ci/versions.py lowest        with the lowest versions that settings.ini declares
    python .ci/versions.py newest        with the newest that pip finds
    python .ci/versions.py transformers  the page with a small model of each family, in each minor version of the library
    python .ci/versions.py lowest hf     only these notebooks, by the beginnings of their folders or names

uv installs them, from its cache where it can.  UV_TORCH_BACKEND=cpu saves the gigabytes of torch for GPUs.
"""
import os
import re
import shutil
import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import distributions
from pathlib import Path

root = Path(__file__).resolve().parent.parent
WALKED = "hf/02_supported"

def run(*command, **kwargs): return subprocess.run([*map(str, command)], check=True, cwd=root, **kwargs)

def pip(python, *arguments): run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)

def lowest():
    "Lines of constraints: each requirement with a lower bound at that bound"
    config = ConfigParser(interpolation=None)
    config.read(root/"settings.ini")
    asked = " ".join(v for k, v in config["DEFAULT"].items() if re.fullmatch("((app|onnx|validity)_)?requirements", k))
    return "".join(f"{name}=={least}\n" for name, least in re.findall(r"(\S+?)>=([\d.]+)", asked))

def whole(name, pages):
    "The package and all that the tests need, installed anew: the demo and the notebooks run with them"
    folder, least = root/".venv"/name, lowest() if name == "lowest" else ""
    programs = folder/("Scripts" if sys.platform == "win32" else "bin")
    run(sys.executable, "-m", "venv", "--clear", folder)
    pip(programs/"python", "uv")
    limits = folder/"limits.txt"
    for extras, more in (("onnx", least), ("all,dev", re.sub("fastcore.*", "", least))): # nbdev wants a later fastcore
        limits.write_text(more)
        shutil.rmtree(root/"build", ignore_errors=True) # of an earlier build
        run(programs/"uv", "pip", "install", "--quiet", "--python", programs/"python", "--reinstall-package", "conformal_ar",
            "--constraint", limits, f".[{extras}]")
        if extras == "onnx": run(programs/"conformal-ar", "demo")
    return subprocess.run([programs/"python", root/".ci/test.py", "--setting", "native", *pages]).returncode

def walk(pages):
    "Each minor version of transformers, beside the other packages of this environment"
    said = run(sys.executable, "-m", "pip", "index", "versions", "transformers", capture_output=True, text=True).stdout
    newest = {minor: version for version, minor in reversed(re.findall(r"\b((5\.[1-9]\d*)\.\d+)\b", said))}
    failed = []
    for version in newest.values():
        folder = root/".venv/transformers"/version
        into = "--target", folder, "--no-deps"
        if not folder.exists(): pip(sys.executable, *into, f"transformers=={version}")
        own, = (d for d in distributions(path=[str(folder)]) if d.name == "transformers")
        needs = [r for r in own.requires if re.match("(huggingface-hub|tokenizers)[^;]*$", r)]
        if not (folder/"tokenizers").exists(): pip(sys.executable, *into, *needs)
        print(f"transformers {version}", flush=True)
        env = dict(os.environ, PYTHONPATH=str(folder))
        if subprocess.run([sys.executable, root/".ci/test.py", *(pages or [WALKED])], env=env).returncode: failed.append(version)
    print(f"{len(newest) - len(failed)} passed, {len(failed)} failed", *failed)
    return len(failed)

if __name__ == "__main__":
    what, *pages = sys.argv[1:] or ["--help"]
    if what not in ("lowest", "newest", "transformers"): sys.exit(__doc__)
    sys.exit(bool(walk(pages) if what == "transformers" else whole(what, pages)))
