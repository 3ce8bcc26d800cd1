# carom: two commands for everybody (make demo, make test), two for developers (make verify, make bench).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test verify bench format clean

demo: $(VENV)/ready
	$(BIN)/python examples/arm_repeated_impact.py

test: $(VENV)/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) src tests README.md docs

# Slow proofs: engines that nobody here wrote, long integrations.
verify: $(VENV)/verify-ready
	$(BIN)/pytest -n $(WORKERS) tests verify

bench: $(VENV)/verify-ready
	$(BIN)/python benchmarks/forward_dynamics.py
	$(BIN)/python benchmarks/engine.py

format: $(VENV)/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The environment lives in the tree and is rebuilt when its recipe changes.
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "carom needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; run: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

$(VENV)/verify-ready: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[verify]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
