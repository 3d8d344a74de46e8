# Every target builds .venv from python3 and pip by itself: the demo what it runs, the others the
# rest on top of it.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install -q --disable-pip-version-check --no-compile
DEMO := .venv/.demo
READY := .venv/.ready

# Compiled kernels are cached here, so a second run does not compile again.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/numba
# Bytecode is kept too, whatever the environment says: tests start hundreds of processes, and each
# would compile every package that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo install test suite quick test-slow lint bench docs docs-images lock release clean

demo: $(DEMO)
	$(BIN)/ldprl reproduce --out out/demo
	$(BIN)/python -m studies.suite --quick --out out/demo/suite

# The command line and what `make demo` runs, without running it.
install: $(DEMO)

# Side by side, as mypy runs on one core.
test: $(READY)
	@$(MAKE) --no-print-directory -j 2 lint suite

# Four workers on two cores: tests of the service wait for disks and other processes. In the order of
# their names, as files with few tests take longest and would otherwise be left to the end.
suite: $(READY)
	$(BIN)/pytest -q -n 4 --dist loadfile --no-loadscope-reorder -m "not slow"

# A developer's loop: ruff, and the fast tests of what a researcher imports.
CORE := worlds policies mechanisms accounting learning simulation bounds protocol test_paper.py \
	test_arrows.py
quick: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pytest -q -n 2 --dist loadfile -m "not slow" $(addprefix tests/,$(CORE))

test-slow: $(READY)
	$(BIN)/pytest -q -n 2 --dist loadfile -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict src studies tests benchmarks deploy

# One core against one core: on a busy machine BLAS threads wait for each other.
# `make bench MARKDOWN=docs/benchmarks.md` writes the page too.
bench: export OPENBLAS_NUM_THREADS = 1
bench: $(READY)
	$(BIN)/python -m benchmarks $(MARKDOWN:%=--markdown %)

# The site of the pages, to read in a browser: site/index.html; checked for dead links, spelling and
# what keeps people from reading it.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(READY)
	$(BIN)/mkdocs build --strict
	$(BIN)/python docs/tools/check_site.py

docs-images: $(READY)
	$(BIN)/python docs/tools/draw.py

$(DEMO): requirements-demo.lock pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) --require-hashes -r requirements-demo.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

$(READY): requirements.lock $(DEMO)
	$(INSTALL) --require-hashes -r requirements.lock
	touch $@

# Run it after a change of dependencies in pyproject.toml. The second lock has the extras that the
# demo needs, the last two have what the image in deploy/ needs, in the versions of the first one.
# Only names, versions and hashes are kept: no index, no host, no path.
COMPILE := build/lock/bin/pip-compile -q --strip-extras --unsafe-package ldprl --generate-hashes \
	--no-header --no-annotate --no-emit-options --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host
PINS := grep -E '^([a-z0-9-]+==| +--hash=)'
lock:
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/pip install -q --disable-pip-version-check pip-tools
	$(COMPILE) --extra dev --extra cluster -o build/lock/all.txt pyproject.toml
	$(PINS) build/lock/all.txt > requirements.lock
	$(COMPILE) --extra figures --extra build -c requirements.lock -o build/lock/demo.txt \
		pyproject.toml
	$(PINS) build/lock/demo.txt > requirements-demo.lock
	$(COMPILE) --extra relay --extra service -c requirements.lock -o build/lock/service.txt pyproject.toml
	$(PINS) build/lock/service.txt > deploy/service.lock
	$(COMPILE) --build-deps-for wheel --only-build-deps -c requirements.lock \
		-o build/lock/build.txt pyproject.toml
	$(PINS) build/lock/build.txt > deploy/build.lock

# What a release consists of, to dist/: wheel, browser client, bills of materials, hashes.
release: $(READY)
	$(BIN)/python deploy/release.py

clean:
	rm -rf .venv build dist out site .mypy_cache .ruff_cache .pytest_cache .hypothesis
