# Conductor Studio. `make help` lists the commands; CI uses `make test` and nothing else.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install models run test test-models check bench lock browser clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Conductor Studio needs Python 3.11 or newer with venv; none was found on PATH." \
		"Install it, or say where it is: make run PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Creating $(VENV) with $(PYTHON) failed. On Debian: apt install python3-venv"; exit 1; }

$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing what Conductor Studio runs on (about 600 MB on disk, once) ..."
	@$(PIP) install --quiet --require-hashes -r requirements.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	@echo "Installing what the tests need ..."
	@$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

install: $(VENV)/.dev ## create .venv with everything but models

models: $(VENV)/.runtime ## fetch the local models (0.6 GB; MODELS="qwen-1.5b" for others)
	@$(BIN)/python -m conductor models fetch $(MODELS)

run: $(VENV)/.runtime ## install, fetch the local models, start everything, print the address
	@$(BIN)/python -m conductor models fetch --start || true
	@exec $(BIN)/python -m conductor serve --models-behind $(ARGS)

browser:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Debian's Chromium for the browser tests ..."; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			chromium fonts-dejavu-core fonts-noto-color-emoji; } >/dev/null 2>&1 \
		|| echo "!! Chromium could not be installed: the browser tests will be SKIPPED"; \
	else echo "!! No Chromium and no right to install it: the browser tests will be SKIPPED"; fi

check: $(VENV)/.dev ## format, lint, types, import rules, JavaScript tests
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -q tests/test_house.py tests/components -m "not browser"

test: check browser ## everything: check, then all tests
	@$(BIN)/python -m conductor models fetch smollm2-135m \
		|| echo "!! The smallest model could not be fetched: tests that run a real model will be SKIPPED"
	@$(BIN)/python -m pytest $(ARGS)

test-models: $(VENV)/.dev ## the tests that need the larger local models, where they are
	@$(BIN)/python -m pytest -m model $(ARGS)

bench: $(VENV)/.dev ## measure the bars of the design (minutes)
	@$(BIN)/python -m benchmarks $(ARGS)

lock: $(VENV)/.dev ## write the hashed locks anew from pyproject.toml
	@$(PIP) install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group build pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--group build --group dev pyproject.toml -c requirements.lock -o requirements-dev.lock

clean: ## remove the environment and caches (models and runs stay)
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
