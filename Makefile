.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PAGES := server/pages/worker.html
PAGE_SOURCES := $(shell find frontend -path frontend/node_modules -prune -o -path frontend/.node -prune -o -type f -print)
TESTS_AT_ONCE ?= $(shell expr 2 + $$(nproc 2>/dev/null || echo 2))# two more than processors: many tests wait
# What is imported is compiled at its first import; to compile all that is installed takes a minute and a half.
# Not to keep it would compile it again for each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE
# Models of tests are tiny: threads that wait for each other take four times the processor time of one.
test soak: export OMP_NUM_THREADS = 1
PIP := $(BIN)/pip install --disable-pip-version-check --no-compile --constraint constraints.txt
# The pip of Python 3.11 itself takes three times as long to work out what belongs together.
NEW_VENV = @test -x $(BIN)/python || { scripts/need-python $(PYTHON) && $(PYTHON) -m venv --upgrade-deps $(VENV); }
# The distribution was called candor up to 0.2.0. Without this, its record of the same files would stay.
REMOVE_OLD_NAME = @$(BIN)/pip uninstall -qq --yes candor
# Of what pip says, one line a package: an installation takes a minute or more, and should be seen to go on.
SHOWN := awk '/^Collecting/ { print "  " $$2; fflush() } /^Installing collected/ { print "  Unpacking them ..."; fflush() }'

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(VENV)/run.stamp $(PAGES) ## install, build, and serve the demo study on http://127.0.0.1:8000
	@CANDOR_EXEMPT_ADDRESSES='["127.0.0.1"]' $(BIN)/python -m server

test: browser services ## everything that CI checks: real browsers, databases and models included
	@$(MAKE) --no-print-directory --jobs 2 install-models $(PAGES)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types lint contract pages-test docs compiled-tests
	$(BIN)/pytest -n $(TESTS_AT_ONCE) --dist loadfile

# Else each of the processes that run the tests, which load them at the same time, would compile all of them.
compiled-tests: install-models
	@$(BIN)/pytest --collect-only -qq | { grep -v '^tests/[^ ]*: [0-9]*$$' || true; }

check: install ## the quick loop: style, types, contract, unit tests of what differs from the last commit
	@$(MAKE) --no-print-directory --jobs 2 --output-sync types lint contract
	@tests="$$($(BIN)/python scripts/changed_tests.py)"; \
	if [ -n "$$tests" ]; then $(BIN)/pytest -q -n 2 --dist loadfile -m "not parlai and not hf and not browser and not services and not tex" $$tests; \
	else echo "Nothing has changed that has unit tests."; fi

soak: browser install-models services $(PAGES) ## the long run: a large crowd while everything is killed and every network is bad; prints figures
	CANDOR_SOAK=5 $(BIN)/pytest tests/crowd/test_crowd.py tests/test_wording.py tests/e2e/test_study_form.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -s tests/crowd/test_kills.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -s tests/crowd/test_network.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -s tests/crowd/test_behind_proxy.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest tests/crowd/test_languages.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest tests/property
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -s tests/server/live/test_socket_fuzzed.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -s tests/server/test_api_fuzzed.py
	CANDOR_SOAK=5 timeout 20m $(BIN)/pytest -m soak --deselect tests/crowd/test_behind_proxy.py --deselect tests/crowd/test_network.py
	CANDOR_SOAK=5 timeout 60m $(BIN)/pytest -n $(TESTS_AT_ONCE) -m hypothesis --deselect tests/property
	CANDOR_SOAK=5 timeout 60m $(BIN)/pytest -n $(TESTS_AT_ONCE) -m "services and not hypothesis" tests/server

pages: $(PAGES) ## build the worker's page and the desk

docs: install ## the documents as a site, in build/docs; a link that leads nowhere is an error
	$(BIN)/sphinx-build -W --keep-going -q -d build/doctrees docs build/docs

lint: install ## style of the Python code and the Dockerfiles, code that nothing uses, packages that are missing or not needed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@! grep -rnE --include='*.py' '^"""(What|Who|Whoever|Whose|How|Which|Whether|Where|When|Why)\b' server bots qc tests benchmarks scripts candor \
		|| { echo 'Begin each docstring above with a noun or a verb that names the module.'; exit 1; }
	$(BIN)/vulture
	$(BIN)/deptry .
	$(BIN)/hadolint Dockerfile deploy/huggingface-space/Dockerfile

types: install ## types of the Python code
	$(BIN)/mypy

contract: install ## who may import whom
	$(BIN)/lint-imports

pages-test: $(PAGES) ## style, types and unit tests of the pages, and whether the types of what the server sends have drifted
	cd frontend && ./with-node npm run --silent lint && ./with-node npm run --silent types:check && ./with-node npm test --silent

wheel: install $(PAGES) ## build a wheel with the pages and a bill of materials inside, into dist/
	rm -rf dist build/sbom && $(BIN)/python scripts/bill_of_materials.py
	$(BIN)/python -m build --wheel
	$(BIN)/python scripts/bill_of_materials.py dist/candor_eval-*.whl

install-wheel: ## install the wheel of dist/ into a new environment: make install-wheel VENV=/opt/candor
	@scripts/need-python $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(REMOVE_OLD_NAME)
	$(PIP) dist/candor_eval-*.whl | $(SHOWN)

bench: install-models ## how fast things are; results go into the docs
	$(BIN)/python benchmarks/turns.py --connections 50
	$(BIN)/python benchmarks/arrivals.py
	$(BIN)/python benchmarks/group_commit.py
	$(BIN)/python benchmarks/qc_scale.py
	$(BIN)/python benchmarks/bot_batching.py
	$(BIN)/python benchmarks/bot_batching.py --parlai
	$(BIN)/python benchmarks/static_cache.py

screenshots: install browser $(PAGES) ## take the pictures that the documents show again, into docs/screenshots
	$(BIN)/python tests/e2e/screenshots.py --width 1280 360 --shade light
	$(BIN)/python tests/e2e/screenshots.py --who desk --width 1280 360 --shade light
	$(BIN)/python tests/qc/screenshots.py

constraints: install-models ## write the versions in use to constraints.txt
	$(BIN)/pip freeze --exclude-editable | sed -E '/ @ /d; s/\+[a-z0-9.]+$$//' > constraints.txt

clean: ## remove what was built; keeps candor-data
	rm -rf $(VENV) dist build server/pages frontend/node_modules frontend/.node

install: $(VENV)/dev.stamp

install-models: $(VENV)/models.stamp ## what models of Hugging Face and of ParlAI need, torch among it (2 GB)

browser: ## make sure that there is a Chromium
	@tests/e2e/need-chromium

services: ## make sure that there are a PostgreSQL and a Redis, of which tests start their own, and a LaTeX
	@tests/support/need-services

run-lineup: install-models $(PAGES) ## train the paper's line-up (minutes, once), host it, open its study; OPTIONS="--help"
	@$(BIN)/python scripts/run_lineup.py $(OPTIONS)

$(VENV)/run.stamp: pyproject.toml constraints.txt
	@echo "Installing Python packages (about a minute, once) ..."
	$(NEW_VENV)
	$(REMOVE_OLD_NAME)
	@$(PIP) --editable . | $(SHOWN)
	@touch $@

$(VENV)/dev.stamp: pyproject.toml constraints.txt
	@echo "Installing Python packages for development (about a minute, once) ..."
	$(NEW_VENV)
	$(REMOVE_OLD_NAME)
	@$(PIP) --editable '.[dev]' | $(SHOWN)
	@touch $@ $(VENV)/run.stamp

$(VENV)/models.stamp: pyproject.toml constraints.txt
	@echo "Installing Python packages for development, and what models need (a few minutes, once) ..."
	$(NEW_VENV)
	$(REMOVE_OLD_NAME)
	@$(PIP) --editable '.[dev,hf,parlai]' | $(SHOWN)
	@$(PIP) --quiet --no-deps parlai  # the versions that it asks for are long obsolete, and it runs without them
	@touch $@ $(VENV)/dev.stamp $(VENV)/run.stamp

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	@echo "Installing the packages that build the pages ..."
	@cd frontend && VENV=$(abspath $(VENV)) PYTHON=$(PYTHON) ./with-node npm ci --silent --no-audit --no-fund

$(PAGES): frontend/node_modules/.package-lock.json $(PAGE_SOURCES)
	@echo "Building the pages ..."
	@cd frontend && VENV=$(abspath $(VENV)) PYTHON=$(PYTHON) ./with-node npm run --silent build -- --logLevel warn
	@touch $@

.PHONY: help run test check soak pages docs lint types contract pages-test wheel install-wheel bench screenshots constraints clean install browser
.PHONY: install-models services run-lineup compiled-tests
