# Two commands on a fresh machine: `make demo` and `make test`. Each sets up .venv with what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# The sandbox's tests count what is left behind on the machine: they are alone on it.
PARALLEL := -q -n auto --maxprocesses 4 --dist worksteal
# A file of the service's tests shares a server and a browser: it stays with one worker.
# Threads of numerical libraries that wait for a processor which others use cost several times what they gain.
test test-slow: export OMP_NUM_THREADS = 1

.PHONY: demo test test-slow test-batteries lint types bench docs clean help

help:
	@echo "make demo       the whole loop on the built-in policy, about 5 minutes on 2 cores"
	@echo "make test       lint, types and the quick tests"
	@echo "make test-slow  the tests marked slow"
	@echo "make test-batteries  every attack on every back end of the sandbox, about an hour"
	@echo "make bench      the benchmarks whose table is in docs/benchmarks.md"
	@echo "make docs       build the documentation into site/"

demo: $(VENV)/.demo
	$(BIN)/lydite demo -o runs/demo

test: lint types
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow and not battery" --ignore=tests/sandbox --ignore=tests/server tests
	$(BIN)/python -m pytest $(PARALLEL) --dist loadfile -m "not slow and not battery" tests/server
	$(BIN)/python -m pytest -q -m "not slow and not battery" tests/sandbox

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest $(PARALLEL) --dist loadfile -m slow --ignore=tests/sandbox tests
	$(BIN)/python -m pytest -q -m slow tests/sandbox

test-batteries: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m battery

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

bench: $(VENV)/.dev
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: $(VENV)/.docs
	$(BIN)/zensical build --clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Installing is quick where nothing changed; the stamps make it quicker still.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[train]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[all,dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet zensical
	touch $@

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache
