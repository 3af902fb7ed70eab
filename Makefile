# Two commands: `make run` starts everything, `make test` proves it. Nothing outside this folder is
# written. An environment is as its stamp says: the stamp is older than what it was made of, or it holds.

PYTHON ?= python3
VENV := .venv
TOOLS := .tools
UV := $(TOOLS)/bin/uv
# Nothing to resolve: one package with its hash.
FIRST := Installing uv, which installs everything else of Python.
INSTALL_UV := install -q --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements/uv.txt
BIN := $(VENV)/bin
# What builds clients from our documents has an environment of its own: it pins what we do not.
CLIENTS := $(TOOLS)/clients
# What judges the files in deploy/, and what lists the parts of an image.
JUDGES := $(TOOLS)/deploy
SBOM := $(TOOLS)/sbom
# What makes the documentation site of our pages.
SITE := $(TOOLS)/site
# The newest aiohttp has one too: it must never get into .venv.
NEXT := $(TOOLS)/next-aiohttp
NPM := tests/proofs/clients
# A mock server in Node, kept away from the clients: `make prism` alone wants it.
PRISM := $(TOOLS)/clients/prism
# The panel's scripts and fonts of others, by the machine's npm or else by one from a Python package.
PANEL := $(TOOLS)/panel
NODE := $(TOOLS)/node
ifeq ($(shell command -v npm),)
PANEL_NPM := $(NODE)/bin/npm
PANEL_NEEDS := $(NODE)/.made
else
PANEL_NPM := npm
endif
PACKAGES := gateway policies provider_adapters
# Pages that repeat code: `pixgate <page> --markdown` writes docs/<page>.md, a test compares them.
PAGES := errors metrics
CORES := $(shell $(PYTHON) -c "import os; print(os.cpu_count() or 1)")
# One more than there are cores, for two: a test that waits for a server leaves its core to another.
WORKERS ?= $(shell echo $$(((3 * $(CORES) + 1) / 2)))
# Each file on one worker, so that what it sets up is set up once; in the order of the files, since
# the unit tests, which come last, are short.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder -q -p tests.report
# What `make quick` runs: `make quick TESTS=tests/unit/gateway/core`.
TESTS ?= tests/unit tests/clients tests/architecture tests/properties tests/mistakes
# What `make proofs` runs: `make proofs PROOFS=tests/proofs/operating`. The tables beside the folder
# are in `make test` too, in part.
PROOFS ?= tests/proofs tests/browser/test_screens.py tests/contract/adapters/test_verification.py \
  tests/contract/openapi
# What `make torture` does at least: smoke, ci, full or release; `make event-kills`: small, full or release.
SCALE ?= full
# What `make image` builds with, and what it calls the image.
DOCKER ?= docker
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# `make lock UPGRADE=--upgrade` takes what is new; without it only what pyproject.toml asks for.
UPGRADE ?=
# Arguments for what is needed beyond some locks: of their versions, and without their pins.
LOCKS = $(foreach name,$(1),requirements/$(name).txt)
beyond = $(addprefix -c ,$(LOCKS)) $$(sed -nE 's/^([a-z0-9-]+)==.*/--no-emit-package \1/p' $(LOCKS))
LOCK := pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

# uv would otherwise fetch an interpreter of its own when it does not like the one named
export UV_PYTHON_DOWNLOADS := never
export UV_CACHE_DIR := $(CURDIR)/$(TOOLS)/cache
# npm would otherwise keep its cache and its logs in the home folder.
export npm_config_cache := $(CURDIR)/$(TOOLS)/npm
# Tests start some hundred processes: compiling every module anew in each takes half of the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup panel-files docs-site wheel image sbom judges clients client-types client-package prism run banks check types shape quick test test-random proofs proofs-part simulate torture event-kills bench bench-payouts bench-pages bench-lists bench-overload scale screens next-aiohttp races enumeration mistakes docs architecture lint lock clean

# `make help` lists these first.
DAILY := run check quick test
LISTED := grep -hE '^[a-z-]+:.*\#\#' $(MAKEFILE_LIST) | sed -E 's/:[^\#]*\#\# /\t/' | expand -t 15

help: ## this list
	@for target in $(DAILY); do $(LISTED) | grep "^$$target "; done; echo
	@$(LISTED) | grep -vE '^($(subst $() ,|,$(DAILY))) '

# That of the path; else the one of requirements/uv.txt, by the pip of this Python if it has one.
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	@mkdir -p $(@D)
	@case "$$(uv --version 2>/dev/null)" in "uv "0.[0-4].*|"") ;; *) ln -sf "$$(command -v uv)" $@ ;; esac
	@if test -x $@; then :; \
	elif $(PYTHON) -m pip --version 2>/dev/null | grep -qE '^pip (2[3-9]|[3-9][0-9])'; then \
	  echo "$(FIRST)"; $(PYTHON) -m venv --without-pip $(TOOLS) && $(PYTHON) -m pip --python $(TOOLS)/bin/python $(INSTALL_UV); \
	elif $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	  echo "$(FIRST)"; $(PYTHON) -m venv $(TOOLS) && $(TOOLS)/bin/python -m pip $(INSTALL_UV); \
	else \
	  echo "This Python has no venv module: on Debian or Ubuntu, apt-get install python3-venv"; exit 1; \
	fi

$(VENV)/.run: requirements/production.txt requirements/run.txt pyproject.toml | $(UV)
	@echo "Installing the service's Python packages: about ten seconds, once."
	@test -x $(BIN)/python \
	  || $(UV) venv -q --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
	@$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/run.txt
	@$(UV) pip install -q --python $(BIN)/python --no-deps -e .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.run
	@$(UV) pip install -q --python $(BIN)/python --require-hashes -r requirements/test.txt
	@touch $@

$(CLIENTS)/.made: requirements/clients.txt $(NPM)/package-lock.json | $(UV)
	@$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(CLIENTS)
	@$(UV) pip install -q --python $(CLIENTS)/bin/python --require-hashes -r requirements/clients.txt
	@cp $(NPM)/package.json $(NPM)/package-lock.json $(NPM)/.npmrc $(CLIENTS)
	@npm ci --prefix $(CLIENTS) --silent --no-audit --no-fund --ignore-scripts
	@touch $@

$(PRISM)/.made: tests/contract/prism/package-lock.json
	@mkdir -p $(PRISM)
	@cp tests/contract/prism/package.json tests/contract/prism/package-lock.json tests/contract/prism/.npmrc $(PRISM)
	@npm ci --prefix $(PRISM) --silent --no-audit --no-fund --ignore-scripts
	@touch $@

# Programs alone, each group in an environment of its own.
$(NODE)/.made $(JUDGES)/.made $(SBOM)/.made $(SITE)/.made: $(TOOLS)/%/.made: requirements/%.txt | $(UV)
	@$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(TOOLS)/$*
	@$(UV) pip install -q --python $(TOOLS)/$*/bin/python --require-hashes -r requirements/$*.txt
	@touch $@

# Without npm's registry everything else still works: the panel's pages are plainer.
$(PANEL)/.made: package.json package-lock.json .npmrc gateway/panel/vendor.toml gateway/panel/vendor.py $(PANEL_NEEDS)
	@echo "Installing the panel's scripts and fonts, with npm: a few seconds, once."
	@$(MAKE) -s --no-print-directory panel-files \
	  || echo "They are not installed: the panel works without them, plainer. Try again: make panel-files"

panel-files: $(PANEL_NEEDS) ## the panel's scripts and fonts alone, from npm; fails where run and setup go on without
	@mkdir -p $(PANEL)
	@cp package.json package-lock.json .npmrc $(PANEL)
	@PATH="$(abspath $(NODE))/bin:$$PATH" $(PANEL_NPM) ci --prefix $(PANEL) --silent --no-audit --no-fund --ignore-scripts \
	  --fetch-retries 1 --fetch-retry-mintimeout 1000 --fetch-timeout 20000
	@$(PYTHON) gateway/panel/vendor.py $(PANEL)/node_modules
	@touch $(PANEL)/.made

docs-site: $(VENV)/.run $(SITE)/.made ## the documentation site into dist/site, and for `/docs` of this checkout and the wheel
	@$(BIN)/python docs/site/stage.py dist/pages
	@NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict --clean -f dist/pages/mkdocs.yml
	@$(BIN)/python docs/site/pack.py dist/pages/markdown dist/site gateway/reference/site

wheel: $(UV) panel-files docs-site ## the wheel into dist/, with the panel's files and the documentation site, and that of the Python client
	@$(UV) build -q --wheel --out-dir dist
	@$(UV) build -q --wheel --out-dir dist clients/python

image: $(VENV)/.run wheel sbom ## the container image, built by docker from dist/image: [DOCKER=podman]; its parts in dist/sbom.json
	@rm -rf dist/image
	@$(BIN)/pixgate assets dist/image > /dev/null
	@cp dist/pixgate-$(VERSION)-*.whl dist/image
	@$(DOCKER) build -t pixgate:$(VERSION) dist/image

sbom: $(SBOM)/.made ## the packages that an image is made of, as CycloneDX, into dist/sbom.json
	@mkdir -p dist
	@$(SBOM)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
	  -o dist/sbom.json requirements/production.txt

judges: $(JUDGES)/.made ## programs that judge the image, Compose and the chart, for tests

clients: $(CLIENTS)/.made ## programs that build clients, ours and those of our OpenAPI documents, for tests; they want Java and Node

client-types: $(CLIENTS)/.made $(VENV)/.test ## write the types of the TypeScript client anew, from the OpenAPI documents
	@$(BIN)/python -m tests.proofs.clients.schemas

client-package: $(CLIENTS)/.made ## the TypeScript client into dist/, as npm publishes it
	@mkdir -p dist
	@rm -rf dist/typescript
	@cp -r clients/typescript dist/typescript && cp LICENSE dist/typescript
	@$(CLIENTS)/node_modules/.bin/tsc --project dist/typescript
	@npm pack --silent --pack-destination dist ./dist/typescript > /dev/null

setup: ## everything to work on the code: service, tests, checks
	@$(MAKE) -s --no-print-directory -j2 $(VENV)/.test $(PANEL)/.made

# Python's packages and npm's come at once.
run: ## gateway, operations listener and sandbox bank on an embedded database; prints the calls
	@$(MAKE) -s --no-print-directory -j2 $(VENV)/.run $(PANEL)/.made
	@$(BIN)/pixgate serve

check: lint $(VENV)/.test ## what a change must pass: lint, format, types, import direction, shape
	@$(MAKE) -s --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j2) --output-sync=target types shape

# Each keeps one core busy.
types: $(VENV)/.test ## mypy alone
	@$(BIN)/mypy

shape: $(VENV)/.test ## who imports whom, and what holds of the whole tree
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -q tests/architecture

lint: $(VENV)/.test ## ruff alone: the quick part of check
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

quick: $(VENV)/.test ## the inner loop: units, shape, properties; no server, no process: [TESTS=path]
	@HYPOTHESIS_PROFILE=few $(PYTEST) -m "not (server or process or slow)" $(TESTS)

test: $(VENV)/.test $(PANEL)/.made ## what the README promises, [WORKERS=n] at once; what needs a server or a browser skips where it is absent
	@$(PYTEST) --ignore tests/proofs

test-random: $(VENV)/.test $(PANEL)/.made ## the same in random order, with fresh seeds and another part of long tables: [SEED=n]
	@seed=$(or $(SEED),$$(date +%s)); echo "make test-random SEED=$$seed"; \
	  HYPOTHESIS_PROFILE=random TEST_SEED=$$seed TEST_DAY=$$((seed / 86400)) \
	  $(PYTEST) -p randomly --randomly-seed=$$seed --hypothesis-seed=$$seed --ignore tests/proofs

proofs: $(VENV)/.test $(PANEL)/.made ## everything that takes long, before a release: [PROOFS=path]
	@TEST_EXTENT=whole $(PYTEST) --timeout 3600 $(PROOFS)

proofs-part: $(VENV)/.test ## the fixed small part of the proofs that `.ci/run` runs
	@$(PYTEST) tests/proofs

simulate: $(VENV)/.test ## payouts under a seeded scheduler: [SEEDS=n] [FIRST=n] [JOBS=n], or replay [SEED=n]
	@$(BIN)/python -m tests.proofs.simulation $(if $(SEED),--seed $(SEED)) $(if $(BANK),--bank $(BANK)) $(if $(SEEDS),--seeds $(SEEDS)) \
	  $(if $(FIRST),--first $(FIRST)) $(if $(JOBS),--jobs $(JOBS))

banks: $(VENV)/.run ## every simulated bank, from port PIXGATE_BANKS_PORT (8100) on; 0 takes free ones
	@$(BIN)/pixgate bank

torture: $(VENV)/.test ## kill -9, faults, lost acknowledgements: [BANK=name] [SCALE=release] [SECONDS=n] [SEED=n]
	@$(BIN)/python -m tests.proofs.torture --scale $(SCALE) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(if $(BANK),--bank $(BANK))

event-kills: $(VENV)/.test ## kill -9 while events are told and delivered: [SCALE=release] [CHANGES=n] [SECONDS=n] [SEED=n]
	@$(BIN)/python -m tests.proofs.events --scale $(SCALE) $(if $(CHANGES),--changes $(CHANGES)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

screens: $(VENV)/.test $(PANEL)/.made ## photographs of every screen of the panel into var/screens: [ONLY=name]
	@$(BIN)/python -m tests.browser.photographs $(ONLY) > /dev/null

prism: $(VENV)/.test $(PRISM)/.made ## every request of an adapter, judged by Prism on the bank's official document; wants Node
	@PRISM_FOLDER=$(PRISM) $(BIN)/python -m tests.contract.prism

next-aiohttp: | $(UV) ## the tests on the newest aiohttp, pre-releases too; may fail
	@$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(NEXT)
	@$(UV) pip install -q --python $(NEXT)/bin/python --require-hashes -r requirements/test.txt
	@$(UV) pip install -q --python $(NEXT)/bin/python --no-deps -e .
	@$(UV) pip install -q --python $(NEXT)/bin/python --upgrade --prerelease allow aiohttp
	@$(NEXT)/bin/python -c 'import aiohttp; print("aiohttp", aiohttp.__version__)'
	@$(NEXT)/bin/python -m pytest --ignore tests/proofs

races: $(VENV)/.test ## ten thousand races for one refresh token, on two nodes
	@$(BIN)/python -m tests.identity.races

enumeration: $(VENV)/.test ## sign-ins, forgotten passwords and codes, for people and for nobody: [PAIRS=n]
	@$(BIN)/python -m tests.identity.enumeration $(PAIRS)

mistakes: $(VENV)/.test ## mistakes planted in copies of the tree, each caught: [ONLY=name] [JOBS=n] [RECORD=1]
	@$(BIN)/python -m tests.mistakes $(if $(ONLY),--only $(ONLY)) $(if $(JOBS),--jobs $(JOBS)) $(if $(RECORD),--record)

bench: $(VENV)/.test ## CPU, latency, memory of a request, beside a bare proxy and other gateways: [BENCH="--only cpu --rounds 3"]
	@$(BIN)/python -m bench.run $(BENCH)

bench-payouts: $(VENV)/.test ## payouts created and followed up: [BENCH="--before COMMIT"]
	@$(BIN)/python -m bench.payouts $(BENCH)

scale: $(VENV)/.test ## a payout and a balance at one and two server processes, and a day of many payouts: [BENCH="--rounds 3"]
	@$(BIN)/python -m bench.scale $(BENCH)

bench-pages: $(VENV)/.test ## every page of the panel at 10,000 and 1,000,000 payouts: [BENCH="--payouts 10000 --database sqlite"]
	@$(BIN)/python -m bench.pages $(BENCH) > /dev/null

bench-overload: $(VENV)/.test ## payouts while people of every role ask for every page: [BENCH="--before COMMIT --database sqlite"]
	@$(BIN)/python -m bench.overload $(BENCH) > /dev/null

bench-lists: $(VENV)/.test ## lists of payouts by filter beside the plain list, at a million: [BENCH="--payouts 300000 --database sqlite"]
	@$(BIN)/python -m bench.lists $(BENCH)

docs: $(VENV)/.run ## write the generated pages anew
	@for page in $(PAGES); do \
	  $(BIN)/pixgate $$page --markdown > docs/$$page.md.new && mv docs/$$page.md.new docs/$$page.md \
	    || { rm -f docs/$$page.md.new; exit 1; }; \
	done
	@$(BIN)/pixgate providers --markdown > docs/matrix.new && mv docs/matrix.new docs/providers/matrix.md \
	  || { rm -f docs/matrix.new; exit 1; }

architecture: $(VENV)/.test ## write the measured parts of docs/architecture.md anew
	@$(BIN)/python -m tests.architecture.page > /dev/null 2>&1

lock: | $(UV) ## resolve the requirements anew
	@$(UV) $(LOCK) $(UPGRADE) pyproject.toml --extra panel --extra redis -o requirements/production.txt
	@$(UV) $(LOCK) $(UPGRADE) pyproject.toml --extra sandbox --extra redis --extra otel $(call beyond,production) -o requirements/run.txt
	@echo '-r production.txt' | cat - requirements/run.txt > requirements/.new && mv requirements/.new requirements/run.txt
	@$(UV) $(LOCK) $(UPGRADE) pyproject.toml --extra sandbox --extra redis --extra otel --group test $(call beyond,production run) -o requirements/test.txt
	@echo '-r run.txt' | cat - requirements/test.txt > requirements/.new && mv requirements/.new requirements/test.txt
	@for group in uv clients node deploy sbom site; do \
	  $(UV) $(LOCK) $(UPGRADE) --group $$group -o requirements/$$group.txt || exit 1; \
	done

clean: ## remove what was made, the embedded databases included
	@rm -rf $(VENV) $(TOOLS) var gateway/panel/static/vendor gateway/reference/site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	@find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
