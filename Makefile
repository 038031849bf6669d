# `make run` opens scaletui on a live training job; `make test` runs every test. Both set up .venv first.

VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
PYTHONS := sh .ci/pythons
CONSTRAINTS := .ci/constraints.txt
BENCHES := $(filter-out bench/screenshots.py bench/recorded_demo.py bench/%_job.py,$(wildcard bench/*.py))

.PHONY: run test check format matrix bench screenshots recording clean

run: $(VENV)/run.stamp
	$(VENV)/bin/scaletui demo fsdp --ranks 2

# Two at a time: many tests wait for a terminal or for ranks. A file stays in one process.
test: $(VENV)/dev.stamp
	$(PY) -m pytest -n 2 --dist loadfile $(ARGS)

check: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/pyright --pythonpath $(PY)
	if [ -x $(VENV)/bin/lint-imports ]; then $(VENV)/bin/lint-imports; fi

format: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

# The tests that need no torch, on one interpreter of each version that is found.
matrix:
	@$(PYTHONS) --all | while read -r python; do \
		version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "== Python $$version"; \
		$(MAKE) --no-print-directory matrix-one VENV=.venv-matrix/$$version PYTHON=$$python || exit 1; \
	done

matrix-one: $(VENV)/plain.stamp
	$(PY) -m pytest -q -m "not torch and not install" $(ARGS)

bench: $(VENV)/dev.stamp
	for script in $(BENCHES); do echo "== $$script"; $(PY) $$script || exit 1; done

screenshots: $(VENV)/dev.stamp
	$(PY) bench/screenshots.py

# The job that `scaletui replay` plays without a file, recorded anew: it takes a minute or two.
recording: $(VENV)/dev.stamp
	$(PY) bench/recorded_demo.py

clean:
	rm -rf .venv .venv-matrix dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python:
	@echo "Setting up $(VENV): a minute or two, the first time only"
	python=$$($(PYTHONS)) && "$$python" -m venv $(VENV)

# scaletui without torch, and what its tests need.
$(VENV)/plain.stamp: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP) --constraint $(CONSTRAINTS) --editable ".[dev]"
	touch $@

$(VENV)/run.stamp: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	$(PIP) torch==2.13.0
	$(PIP) --constraint $(CONSTRAINTS) --editable ".[torch]"
	touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	$(PIP) --constraint $(CONSTRAINTS) --editable ".[torch,dev]"
	touch $@
