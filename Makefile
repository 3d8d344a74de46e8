# Every target builds .venv from python3 and pip by itself.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Compiled kernels are cached here, so a second run does not compile again.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/numba

.PHONY: demo test test-slow lint bench docs docs-images lock clean

demo: $(READY)
	$(BIN)/ldprl reproduce --out out/demo

test: lint
	$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow"

test-slow: $(READY)
	$(BIN)/pytest -q -n 2 --dist loadfile -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src tests benchmarks

# One core against one core: on a busy machine BLAS threads wait for each other.
# `make bench MARKDOWN=docs/benchmarks.md` writes the page too.
bench: export OPENBLAS_NUM_THREADS = 1
bench: $(READY)
	$(BIN)/python -m benchmarks $(MARKDOWN:%=--markdown %)

# The site of the pages, to read in a browser: site/index.html.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(READY)
	$(BIN)/mkdocs build --strict

docs-images: $(READY)
	$(BIN)/python docs/tools/draw.py

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Run it after a change of dependencies in pyproject.toml. LOCKED names the extras that go in.
# What is kept is names, versions and hashes: no index, no host, no path.
LOCKED := dev cluster
lock:
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/pip install -q --disable-pip-version-check pip-tools
	build/lock/bin/pip-compile -q --strip-extras --unsafe-package ldprl --generate-hashes \
		--no-header --no-annotate --no-emit-options --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host $(LOCKED:%=--extra %) -o build/lock/requirements.txt pyproject.toml
	grep -E '^([a-z0-9-]+==| +--hash=)' build/lock/requirements.txt > requirements.lock

clean:
	rm -rf .venv build dist out site .mypy_cache .ruff_cache .pytest_cache .hypothesis
