# Quandary: every target sets up what it needs, in .venv, and is quick the second time.
#   make run    the main job: a table on the terminal and an HTML report
#   make test   the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
ROOMS := engine_ext games solvers experiments

.PHONY: all setup build run test lint bench hot soak debug coverage dist clean help
all: build

help:
	@grep -E '^#   make' Makefile; echo "    also: lint bench hot soak debug coverage dist clean"

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Quandary needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")'
	@echo "Setting up $(VENV): fetching packages and compiling, about four minutes on two cores, once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q "setuptools>=77" "cython>=3.1,<4"
	$(BIN)/python -m pip install -q --no-build-isolation --config-settings editable_mode=compat -e ".[dev,web]"
	touch $@

setup: $(VENV)/.installed

# Compiled when a source or the flavour of the build changed; setup.py finds out itself.
build: setup
	@$(BIN)/python setup.py -q build_ext --inplace

run: build
	$(BIN)/quandary run experiments/configs/quickstart.toml --out runs/quickstart $(if $(wildcard runs/quickstart/manifest.json),--resume)

test: build
	$(BIN)/python -m pytest -n auto -m "not soak"

lint: build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint $(ROOMS)
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: build
	$(BIN)/python -m pytest tests/benchmarks --benchmark-enable --benchmark-only

# Where the time goes, by function, file and line: make hot GAME=quarz, or with SPEC='mcts(simulations=100000)'.
GAME ?= quarriors
hot: build
	@sh .ci/hot '$(GAME)' $(if $(SPEC),'$(SPEC)')

# Long runs: millions of random steps, thousands of games. Hours, not minutes.
soak: build
	$(BIN)/python -m pytest -n auto -m soak

# The whole suite of rules under state assertions and the sanitizers, in a copy.
debug: setup
	sh .ci/debug

coverage: setup
	sh .ci/coverage

dist: setup
	$(BIN)/python -m build

clean:
	rm -rf build dist *.egg-info
	find $(ROOMS) \( -name '*.so' -o -name '*.c' \) -delete
