# The whole working day of this project. `make` alone lists what there is.
# Recipes are POSIX sh and need nothing but make and a Python >= 3.11.

.DEFAULT_GOAL := help
SHELL := /bin/sh
.SUFFIXES:

# Compiled modules are kept, also where the environment says otherwise: without them each worker of
# the tests, and each command that they call, compiles hundreds of modules anew.
export PYTHONDONTWRITEBYTECODE :=

# Any Python >= 3.11; `make setup PYTHON=python3.12` asks for a certain one.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# More arguments for the tool behind a target: make test ARGS="-k walk -x"
ARGS ?=
# Tests that run side by side; most of them wait for servers that they started. 0: one by one.
WORKERS ?= 3
# The engine of judgement of the demo: recorded, or openai.
ENGINE ?= recorded
# The distributions beside the product, each in a folder of its own; `make demo` leaves them out.
BESIDE := evaluation recorder
# What the tests install beside the package.
EXTRAS := $(patsubst %,--extra %,tokens langchain llamaindex haystack opentelemetry nli)

# What an installation needs, and what a clone needs beside it: the embedded engine, which the image
# leaves out, and what builds the package, here, in the image and for a release.
RUNTIME := requirements-runtime.lock requirements-clone.lock requirements-build.lock
CLONE := arcadedb
BUILD := build hatchling packaging pathspec pluggy pyproject-hooks tomlkit trove-classifiers

.PHONY: help setup runtime demo model env test quick screenshots docs lint bench bench-large soak clean lock

help: ## List the targets
	@bold=; plain=; \
	if [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; then bold=$$(printf '\033[1;36m'); plain=$$(printf '\033[0m'); fi; \
	awk -v bold="$$bold" -v plain="$$plain" 'BEGIN { FS = ":.*## " } \
		/^[a-z][a-z-]*:.*## / { printf "  %smake %-11s%s %s\n", bold, $$1, plain, $$2 }' $(firstword $(MAKEFILE_LIST))

# Marks say what is done already. `.made-at`: the folder that the scripts of the environment point to
# (a clone that was moved gets a new environment). `.installed`, and `.installed-runtime` after
# `make demo` alone: the checksums of the locks and of every pyproject.toml.
define ENVIRONMENT
	if [ -f $(VENV)/.made-at ] && [ "$$(cat $(VENV)/.made-at)" != "$$PWD" ]; then \
		echo "$(CALLED): the folder has moved, making $(VENV) again"; rm -rf $(VENV); fi; \
	if [ -e $(VENV) ] && ! $(PY) -m pip --version >/dev/null 2>&1; then \
		echo "$(CALLED): $(VENV) is not whole, making it again"; rm -rf $(VENV); fi; \
	full=$$(cksum requirements.lock pyproject.toml $(patsubst %,%/pyproject.toml,$(BESIDE))); \
	runtime=$$(cksum $(RUNTIME) pyproject.toml); \
	if [ -f $(VENV)/.installed ] && [ "$$(cat $(VENV)/.installed)" = "$$full" ]; then exit 0; fi
endef

define INSTALL
	if [ ! -x $(PY) ]; then \
		found=; \
		for python in $(PYTHON) python3.13 python3.12 python3.11; do \
			if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
				found=$$python; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "$(CALLED): $(PYTHON) is not a Python >= 3.11 and no other was found." >&2; \
			echo "       Install one, or name it: make $(CALLED) PYTHON=/path/to/python3.12" >&2; exit 1; fi; \
		if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
			echo "$(CALLED): $$found cannot make environments (on Debian: apt-get install python3-venv)." >&2; exit 1; fi; \
		echo "$(CALLED): making $(VENV) with $$("$$found" --version)"; \
		"$$found" -m venv $(VENV); \
	fi; \
	printf '%s\n' "$$PWD" >$(VENV)/.made-at; \
	pip="$(PY) -m pip install --quiet --disable-pip-version-check"
endef

setup: CALLED := setup
setup: ## Make .venv and install the locked dependencies (nothing to do: no-op)
	@set -eu; $(ENVIRONMENT); $(INSTALL); \
	echo "setup: installing the packages of requirements.lock (the first time this downloads about 600 MB)"; \
	$$pip --require-hashes -r requirements.lock; \
	$$pip --no-deps --no-build-isolation -e . $(patsubst %,-e %,$(BESIDE)); \
	printf '%s\n' "$$full" >$(VENV)/.installed; \
	echo "setup: done"

# What the demo needs, without the tools of development; nothing to do after `make setup`.
runtime: CALLED := demo
runtime:
	@set -eu; $(ENVIRONMENT); \
	if [ -f $(VENV)/.installed-runtime ] && [ "$$(cat $(VENV)/.installed-runtime)" = "$$runtime" ]; then exit 0; fi; \
	$(INSTALL); \
	echo "demo: installing the packages that the product needs (the first time this downloads about 180 MB)"; \
	$$pip --require-hashes $(patsubst %,-r %,$(RUNTIME)); \
	$$pip --no-deps --no-build-isolation -e .; \
	rm -f $(VENV)/.installed; \
	printf '%s\n' "$$runtime" >$(VENV)/.installed-runtime

demo: runtime ## Show the product on a small example (ENGINE=openai: with a language model)
	@$(PY) examples/demo.py --engine $(ENGINE) $(ARGS)

model: setup ## Serve a very small language model on this machine, for trials
	@$(PY) examples/local_model.py $(ARGS)

env: ## Write .env with random passwords for docker compose (an old one stays)
	@$(PYTHON) examples/env_file.py $(ARGS)

# Files are spread over the workers, what takes long first (`conftest.py`).
PYTEST = $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# A busy machine of others can cost a test with real processes its time. Where CI asks, a test that
# fails is run once more; the summary names it (RERUN), and it is to be mended all the same.
RERUNS ?= $(if $(CI),1)
# What `make quick` takes of the contract suite, on the embedded engine alone.
SAMPLE := $(patsubst %,tests/contract/test_%.py,processes claims trails statements lineage)

test: setup ## Run the tests, without the long loops (ARGS="-k walk -x", WORKERS=0)
	@$(PYTEST) -m "not soak" $(if $(RERUNS),--reruns $(RERUNS) --reruns-delay 2 -raR) $(ARGS)

quick: setup ## Run unit tests, goldens and a sample of the contract (two minutes)
	@$(PYTEST) -m "not soak and not slow" -k "not neo4j" tests/golden $(SAMPLE) tests/unit evaluation/tests/unit recorder/tests $(ARGS)

screenshots: setup ## Take the pictures of the documentation anew (needs a chromium)
	@$(PY) examples/screenshots.py $(ARGS)

docs: setup ## Build the documentation as a site into build/site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "docs: build/site/index.html"

lint: setup ## Check style, types, layers and the rules of the source
	@echo "lint: ruff check"; $(BIN)/ruff check --quiet .
	@echo "lint: ruff format"; $(BIN)/ruff format --check --quiet . || { \
		echo "lint: not formatted; run $(BIN)/ruff format ." >&2; exit 1; }
	@echo "lint: mypy"; $(BIN)/mypy --no-error-summary
	@echo "lint: import layers"; out=$$($(BIN)/lint-imports 2>&1) || { printf '%s\n' "$$out"; exit 1; }
	@echo "lint: headers of the Cypher files"; $(PY) -c 'from veritrail_graph import cypher; [cypher.load(n) for n in cypher.names()]'
	@echo "lint: rules of the project"; out=$$($(PY) -m pytest -q tests/unit/test_project.py 2>&1) \
		|| { printf '%s\n' "$$out"; exit 1; }
	@echo "lint: fine"

bench: setup ## Run the benchmarks
	@$(PY) -m benchmarks $(ARGS)

bench-large: setup ## Growth up to a million nodes (long; needs 6 GB of memory)
	@$(PY) -m benchmarks --only growth --nodes 10000 100000 1000000 $(ARGS)

soak: setup ## Run the long loops of faults, made-up input and load
	@$(PY) -m pytest -m soak $(ARGS)
	@$(PYTEST) -m "hypothesis and not soak" --hypothesis-profile long tests/unit evaluation/tests/unit $(ARGS)
	@VERITRAIL_TEST_NEO4J=current $(PYTEST) -m "not soak" -k neo4j tests/contract $(ARGS)

# Lines of requirements.lock, of the packages that are named.
define LINES
{ printf '# Lines of requirements.lock, copied by:\n#    make lock\n'; \
	awk -v names="$(1)" 'BEGIN { split(names, list, " "); for (i in list) wanted[list[i]] = 1 } \
		/^[a-z0-9]/ { split($$0, part, "=="); on = part[1] in wanted } on && !/^ *#/' requirements.lock; }
endef

lock: setup ## Resolve the dependencies anew into requirements.lock (ARGS=--upgrade)
	@$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links $(EXTRAS) --group dev --no-emit-package veritrail-graph \
		--custom-compile-command "make lock" --output-file requirements.lock $(ARGS) \
		pyproject.toml $(patsubst %,%/pyproject.toml,$(BESIDE))
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --extra tokens --no-emit-package arcadedb \
		--custom-compile-command "make lock" --constraint requirements.lock \
		--output-file requirements-runtime.lock $(ARGS) pyproject.toml
	@$(call LINES,$(CLONE)) >requirements-clone.lock
	@$(call LINES,$(BUILD)) >requirements-build.lock
	@echo "lock: requirements.lock holds $$(grep -c '^[a-z0-9]' requirements.lock) packages"

clean: ## Remove build products and caches; .venv, downloads and your data stay
	@rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	@find . \( -name .git -o -name $(VENV) -o -name .cache \) -prune -o \
		\( -name __pycache__ -o -name '*.egg-info' \) -type d -prune -exec rm -rf {} +
	@echo "clean: done"
