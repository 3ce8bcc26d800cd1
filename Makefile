# carom: two commands for everybody (make demo, make test), two for developers (make verify, make bench).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORKERS ?= 2

# Python keeps what it made of the sources for the next process, whatever the shell says: every command starts sooner.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test browser verify validate bench docs wheel format clean

demo: $(VENV)/ready
	$(BIN)/carom run arm-repeated-impact --out runs/demo --replace

test: $(VENV)/ready browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not slow' src tests README.md docs

# The report is tested in a real browser. Where it is missing and can be installed, it is; elsewhere those tests say so.
browser:
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium chromium-driver; } \
	  > /dev/null 2>&1; } || echo "no Chromium here: the report's browser tests are skipped"

# Slow proofs: engines that nobody here wrote, long integrations.
verify: $(VENV)/verify-ready
	$(BIN)/pytest -n $(WORKERS) tests verify

# Laws against public records of impacts, clones of which are in DATA; the page docs/measured.md.
DATA ?= ..
validate: $(VENV)/verify-ready
	$(BIN)/carom validate --data $(DATA) --out docs

bench: $(VENV)/verify-ready
	$(BIN)/python benchmarks/forward_dynamics.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/laws.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/elastic.py
	$(BIN)/python benchmarks/size.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/studio.py

# The documentation as a site, in build/site: no network is asked, and every link is followed.
docs: $(VENV)/docs-ready
	$(BIN)/python tools/site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site: build/site/index.html"

# A wheel in an empty environment: it must list, run and report.
wheel: $(VENV)/ready
	$(BIN)/pytest tests/cli/test_wheel.py

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

$(VENV)/docs-ready: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
