"Installs `conformal_ar`. Everything that changes is in settings.ini."
import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

config = ConfigParser(delimiters=["="], comment_prefixes=["#"])
config.read("settings.ini", encoding="utf-8")
cfg = config["DEFAULT"]
statuses = {"1": "1 - Planning", "2": "2 - Pre-Alpha", "3": "3 - Alpha", "4": "4 - Beta",
            "5": "5 - Production/Stable"}
extras = {name.removesuffix("_requirements"): value.split()
          for name, value in cfg.items() if name.endswith("_requirements")}
extras["all"] = sorted({o for name, reqs in extras.items() if name not in ("dev", "planners", "ray", "vllm") for o in reqs})
minor = int(cfg["min_python"].split(".")[1])

# On PyPI the links and figures of the README must be absolute.
raw = cfg["git_url"].replace("github.com", "raw.githubusercontent.com") + f"/{cfg['branch']}/"
readme = Path("README.md").read_text(encoding="utf-8")
readme = re.sub(r"(!\[[^\]]*\]\()(nbs/)", rf"\1{raw}\2", readme)
readme = re.sub(r"(\]\()(?=nbs/|[A-Z]+(\.md|\.cff|\)))", rf"\1{cfg['git_url']}/blob/{cfg['branch']}/", readme)

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=readme,
    long_description_content_type="text/markdown",
    author=cfg["author"],
    author_email=cfg["author_email"],
    license="Apache-2.0",
    license_files=["LICENSE"],
    url=cfg["git_url"],
    project_urls={"Documentation": cfg["doc_host"] + cfg["doc_baseurl"] + "/"},
    keywords=cfg["keywords"].split(),
    classifiers=[
        "Development Status :: " + statuses[cfg["status"]],
        "Intended Audience :: " + cfg["audience"],
        "Natural Language :: " + cfg["language"],
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        *(f"Programming Language :: Python :: 3.{o}" for o in range(minor, 15)),
    ],
    python_requires=">=" + cfg["min_python"],
    install_requires=cfg["requirements"].split(),
    extras_require=extras,
    packages=find_packages(include=["conformal_ar", "conformal_ar.*"], exclude=["conformal_ar.experiments*"]),
    package_data={"conformal_ar": [
        "py.typed", "**/*.pyi", "chem/*.txt", "chem/page/**/*", "cli/page/**/*",
        *(f"models/**/*.{o}" for o in ("json", "md")), "models/additions/*", "models/reactions/*"]},
    exclude_package_data={"conformal_ar": ["experiments/*"]}, # stays in the repository
    include_package_data=False,
    zip_safe=False,
    entry_points={
        "console_scripts": cfg["console_scripts"].split(),
        "nbdev": [f"{cfg['lib_name']}={cfg['lib_path']}._modidx:d"],
    },
)
