# Everything a person or a machine does with a checkout. `make help` lists it.
#
# Only relative paths are used below: a checkout may live in a folder with a space in its name.
# The first target that needs Python makes .venv from requirements.lock, hashes checked; later ones
# find it ready. PYTHON=/path/to/python3 chooses the interpreter.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := requirements.lock
NPM := tests/interop/npm
JOBS ?= 3
PYTEST_ARGS ?=

# Newest first that has a build of everything in the lock; the plain name comes first, since it is
# what the person of this machine chose.
CANDIDATES := python3 python3.13 python3.12 python3.11
PYTHON ?= $(firstword $(foreach name,$(CANDIDATES),$(shell $(name) -c \
	'import sys, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 && echo $(name))))

PIP := "$(BIN)/python" -m pip --disable-pip-version-check --no-input

# A checkout that was moved is installed anew: its packages are found by their old path otherwise.
ifneq "$(shell cat $(READY) 2>/dev/null)" "$(CURDIR)"
$(shell rm -f $(READY))
endif

.PHONY: help
help: ## list what can be made
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | \
		while IFS='|' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

$(READY): $(LOCK) pyproject.toml
	@if [ -z '$(PYTHON)' ]; then \
		echo 'Memwarden needs Python 3.11, 3.12 or 3.13 with its venv module, and found none.' >&2; \
		echo 'On Debian and Ubuntu: apt install python3-venv. Or name one: make PYTHON=/path/to/python3.13' >&2; \
		exit 1; fi
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Memwarden needs Python 3.11 or later; $(PYTHON) is $$('$(PYTHON)' -V 2>&1)." >&2; exit 1; }
	@echo "Setting up $(VENV) with $$('$(PYTHON)' -V) from $(LOCK); a minute or two, once."
	@'$(PYTHON)' -m venv --clear $(VENV)
	@sed -n '/^setuptools==/,/[^\\]$$/p' $(LOCK) > $(VENV)/build.lock
	@$(PIP) install -q --require-hashes --no-deps -r $(VENV)/build.lock
	@$(PIP) install -q --require-hashes --no-deps --no-build-isolation --use-pep517 -r $(LOCK)
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@$(PIP) check
	@printf '%s\n' "$(CURDIR)" > $(READY)

.PHONY: demo
demo: $(READY) ## write, guard, recall and verify, end to end, on real engines
	@$(BIN)/python examples/demo.py

# A selection that holds no test yet is said, not hidden: pytest's exit 5.
define pytest
	@code=0; $(BIN)/python -m pytest $(1) $(PYTEST_ARGS) || code=$$?; \
	if [ $$code -eq 5 ]; then echo 'There is no test of this kind yet.'; exit 0; fi; exit $$code
endef

.PHONY: test
test: $(READY) ## the suite that needs Python alone
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup \
		-m 'not interop and not system and not long' $(PYTEST_ARGS)

.PHONY: test-interop
test-interop: $(READY) $(NPM)/node_modules/.package-lock.json ## npm clients, identity provider, MCP conformance
	$(call pytest,-m interop)

# Nothing of a package is run when it is installed; .npmrc says so.
$(NPM)/node_modules/.package-lock.json: $(NPM)/package-lock.json
	@command -v npm >/dev/null || { echo 'make test-interop needs npm: apt install npm' >&2; exit 1; }
	@npm ci --prefix $(NPM) --loglevel=error
	@touch $@

.PHONY: test-system
test-system: $(READY) system-tools ## pgbouncer, softhsm2, libfaketime
	$(call pytest,-m system)

.PHONY: test-long
test-long: $(READY) system-tools ## the large counts; takes hours
	$(call pytest,-m long)

# RUNLEVEL=1 keeps Debian from starting the services that these packages bring.
.PHONY: system-tools
system-tools:
	@missing=''; \
	for package in pgbouncer softhsm2 faketime; do \
		dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q ' installed$$' || \
			missing="$$missing $$package"; \
	done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
		echo "Not installed:$$missing. Their tests are skipped, or fail where CI is set."; exit 0; fi; \
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing >/dev/null

.PHONY: mutants-walls
mutants-walls: $(READY) ## take each wall away in a copy; a test must notice
	@$(BIN)/python -m tests.mutants.walls

.PHONY: bench
bench: $(READY) ## the numbers of docs/performance.md and docs/guard.md
	@$(BIN)/python benchmarks/paths.py
	@$(BIN)/python -m benchmarks.guard_speed
	@$(BIN)/python -m benchmarks.guard_quality
	@$(BIN)/python benchmarks/access.py

.PHONY: lint
lint: $(READY) ## ruff, mypy and the import arrows
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@$(BIN)/lint-imports

# `uv` is not part of the lock: it is what makes it. No index and no path of this machine is written.
.PHONY: lock
lock: ## remake requirements.lock, hashes for Linux and macOS (needs uv)
	@uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
		--extra dev --extra fastembed --no-config --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --upgrade --output-file $(LOCK) pyproject.toml

.PHONY: clean
clean: ## remove the environment, builds and caches
	@rm -rf $(VENV) dist build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
