# Two commands do all the set-up on a machine with Python 3.11+, git and make:
#   make demo   makes .venv, installs distml, checks examples/ and shows the findings
#   make test   installs what the tests need, then lint, types, floors and all tests
#
# DISTML_VENV puts the environment elsewhere, for instance in a cache that outlives the checkout. DISTML_LOCKED=1 installs
# what the tests need from .ci/requirements/test.txt, by hash.

DISTML_VENV ?= .venv
VENV := $(DISTML_VENV)
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
JOBS ?= $(shell $(PYTHON) -c 'import os; print(max(2, min(4, os.cpu_count() or 2)))')
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := $(wildcard checker transforms tests benchmarks)

# Tests start distml hundreds of times; compiling it anew each time takes a fifth of the run.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test lint types floors quick unit docs site cases format clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "distml needs Python 3.11 or newer; set PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The editable install points at this checkout: a cached environment made for another one is installed anew.
$(VENV)/.installed: pyproject.toml $(BIN)/python
	$(PIP) install --editable .
	@pwd > $@

$(VENV)/.tested: pyproject.toml $(BIN)/python
	@test -z "$(DISTML_LOCKED)" || $(PIP) install --require-hashes --requirement .ci/requirements/test.txt
	$(PIP) install $(if $(DISTML_LOCKED),--no-index --no-build-isolation) --editable '.[test]'
	@pwd > $@ && cp $@ $(VENV)/.installed

.PHONY: same-checkout
same-checkout:
	@for stamp in $(VENV)/.installed $(VENV)/.tested; do \
		if [ -f $$stamp ] && [ "$$(cat $$stamp)" != "$$(pwd)" ]; then rm $$stamp; fi; done

demo: same-checkout ## Make .venv, install, check examples/ and show the findings
	@$(MAKE) --no-print-directory $(VENV)/.installed
	$(BIN)/distml check examples --exit-zero

.PHONY: tested
tested: same-checkout
	@$(MAKE) --no-print-directory $(VENV)/.tested

test: tested ## Install what the tests need; lint, types, floors, all tests
	@$(MAKE) --no-print-directory -j2 horovod lint types floors
	@$(MAKE) --no-print-directory unit

# Minutes the first time, nothing later. Without it, tests that train in several processes fail by name.
.PHONY: horovod
horovod:
	-@test -z "$(DISTML_REQUIRE)" || $(BIN)/python .ci/horovod >/dev/null
	-@test -z "$(DISTML_REQUIRE)" || $(BIN)/python .ci/jax >/dev/null

lint: ## Style, with ruff
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: ## Strict types, with mypy
	$(BIN)/mypy

floors: ## Imports between the rooms, with import-linter
	$(BIN)/lint-imports --no-cache

quick: ## Tests of the checker in less than a minute: cases, solver, files, reports, the house
	$(BIN)/python -m pytest -n $(JOBS) -q tests/cases tests/solver tests/source tests/report tests/test_house.py

unit: ## The tests alone
	$(BIN)/python -m pytest -n $(JOBS) -q

docs: ## Write docs/rules and docs/ops anew from the source
	$(BIN)/python -m pytest -q tests/docs --update-docs

$(VENV)/.site: .ci/requirements/site.txt $(BIN)/python
	$(PIP) install --require-hashes --requirement $<
	@touch $@

.ci/site/node_modules/.package-lock.json: .ci/site/package-lock.json
	npm ci --silent --prefix .ci/site
	@touch $@

site: $(VENV)/.site .ci/site/node_modules/.package-lock.json ## Build the documentation site in build/site; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict

cases: ## Write the expectations of tests/cases anew
	$(BIN)/python -m pytest -q tests/cases --update-cases

format: ## Format the source
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

clean: ## Remove caches and builds
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
