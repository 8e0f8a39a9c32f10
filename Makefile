# Every target sets up what it needs; a second call spends no time on it.
#   make eval PIP_FLAGS="--extra-index-url ..."   extra words for pip (README: Linux without a GPU)
#   make eval PYTHON=python3.12                   another interpreter
PYTHON ?= python3
PIP_FLAGS ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers
STRIP := --keep-id --extra-keys "metadata.papermill cell.metadata.papermill metadata.language_info.version"

.DEFAULT_GOAL := help
.PHONY: help setup eval test proof lint format bench corpus dataset-card clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ragkit needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_FLAGS) --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(PEERS): $(READY)
	$(BIN)/python -m pip install $(PIP_FLAGS) --constraint constraints.txt --editable '.[dev,bench]'
	@touch $@

setup: $(READY) ## make .venv from constraints.txt

eval: $(READY) ## prepare the model once, evaluate the v1.4 configuration, print the summary
	$(BIN)/ragkit prepare
	$(BIN)/ragkit eval

test: $(READY) ## run the whole test suite (prepares the model once)
	$(BIN)/ragkit prepare
	$(BIN)/python -m pytest -n auto

proof: $(READY) ## faults, no network, hostile input: each injected for real
	$(BIN)/ragkit prepare
	$(BIN)/python -m pytest -n auto -m proof
	$(BIN)/python -m pytest -n auto tests/fuzz tests/ingest/test_limits.py

lint: $(READY) ## style, types, import floors, stripped notebooks
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/nbstripout --verify $(STRIP) notebooks/*.ipynb

format: $(READY) ## put the code into its one form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/nbstripout $(STRIP) notebooks/*.ipynb

bench: $(PEERS) ## measure speed against peers (takes long), into benchmarks/RESULTS.md
	$(BIN)/ragkit prepare
	$(BIN)/python benchmarks/run.py

corpus: $(READY) ## build the PDFs of eval/corpus from their sources, byte for byte
	$(BIN)/python eval/sources/build.py

dataset-card: $(READY) ## measure some systems on the question set, into eval/README.md
	$(BIN)/ragkit prepare
	$(BIN)/python eval/card.py

clean: ## remove the environment and build products, not the model cache
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis eval/runs
