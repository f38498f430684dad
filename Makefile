# From a fresh copy of the sources, `make demo` and `make test` do all set-up themselves: a virtual
# environment in .venv with everything pinned by constraints.txt, and the native kernels built once. `make demo` installs
# what it needs only; `make test` adds the rest. PyTorch's CUDA build is installed only with TORCH=cuda.
# Needed beforehand: Python 3.10 or later and a C++20 compiler (tools/preflight.sh says so if not).

PYTHON ?= python3
PYTEST_ARGS ?= -n auto
BENCH_ARGS ?=
TORCH ?=
# Modules are compiled once, not again by every process that the tests start.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
# Tools installed in .venv come first, for this command only.
WITH_VENV := PATH="$(CURDIR)/.venv/bin:$$PATH"
# The package with a native module built in another way goes to build/<target> and hides the editable installation.
OTHER_MODULE = $(WITH_VENV) $(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	--target build/$@ . --upgrade --config-settings=build-dir=build/$(@:python=module)
HIDE_EDITABLE = echo 'import sys; sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]' \
	> build/$@/sitecustomize.py
NATIVE := $(wildcard $(foreach kind,cpp hpp inl,native/*/*.$(kind) native/*/*/*.$(kind)))

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-adapters test-fast lint format native-tests pytest bench docs results asan asan-python tsan hostile libcxx libcxx-python aarch64 fuzz clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-22s%s\n", $$1, $$2 }'

venv: .venv/.built ## set up .venv and build the native kernels

demo: .venv/.package ## five methods, one evolved program, evaluations saved, the report of a study of 500 runs
	@.venv/bin/flexicase demo

test: ## everything that must pass: lint, types, native tests, pytest
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory native-tests
	@$(MAKE) --no-print-directory pytest

test-adapters: .venv/.built ## every adapter against its real package; those whose pins collide in build/adapters
	$(PY) tools/test_adapters.py

test-fast: .venv/.built ## the Python tests that are not marked slow
	$(PY) -m pytest $(PYTEST_ARGS) -m "not slow"

lint: .venv/.built ## ruff, mypy and clang-format, changing nothing
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(WITH_VENV) clang-format --dry-run --Werror $(NATIVE)

format: .venv/.built ## put all sources into the project's format
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(WITH_VENV) clang-format -i $(NATIVE)

native-tests: .venv/.built ## the native test program, once per instruction set
	$(WITH_VENV) ctest --test-dir build/venv --output-on-failure

pytest: .venv/.built ## the Python tests
	$(PY) -m pytest $(PYTEST_ARGS)

bench: .venv/.built ## measure selection against its peers
	$(PY) benchmarks/selection $(BENCH_ARGS)

docs: .venv/.docs ## build the documentation into docs/_build/html
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

results: .venv/.built ## bring the pages of results up to date with results/
	$(PY) docs/make_results.py
	$(PY) docs/image_results.py

asan: .venv/.built ## the native tests under the address and undefined-behaviour sanitizers
	$(WITH_VENV) cmake --preset asan
	$(WITH_VENV) cmake --build --preset asan
	$(WITH_VENV) ctest --preset asan

asan-python: .venv/.built ## the Python tests of native code under the same sanitizers, with a module in build/asan-python
	$(OTHER_MODULE) --config-settings=cmake.build-type=Debug --config-settings=cmake.define.CMAKE_CXX_FLAGS_DEBUG="-O1 -g" \
		--config-settings=cmake.define.FLEXICASE_SANITIZE=ON --config-settings=install.strip=false
	@$(HIDE_EDITABLE)
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		PYTHONPATH=$(CURDIR)/build/$@ $(PY) -m pytest $(PYTEST_ARGS) tests/selection tests/push tests/gp \
		-k "not grows_by_a_byte and not deep_nesting and not without_memory and not fit_into_memory and not ctrl_c_ends_the"

libcxx-python: .venv/.built ## the Python tests of native code with clang and libc++, with a module in build/libcxx-python
	CXX=clang++ CXXFLAGS=-stdlib=libc++ $(OTHER_MODULE)
	@$(HIDE_EDITABLE)
	PYTHONPATH=$(CURDIR)/build/$@ $(PY) -m pytest $(PYTEST_ARGS) \
		tests/selection tests/evaluation tests/push tests/problems tests/gp tests/adapters \
		tests/contracts tests/properties tests/golden tests/hostile tests/test_rng.py tests/test_plot.py

libcxx: .venv/.built ## the native tests with clang and libc++
	$(WITH_VENV) cmake --preset libcxx
	$(WITH_VENV) cmake --build --preset libcxx
	$(WITH_VENV) ctest --preset libcxx

aarch64: .venv/.built ## the native tests compiled for 64-bit ARM; needs aarch64-linux-gnu-g++ and qemu-aarch64
	$(WITH_VENV) cmake --preset aarch64
	$(WITH_VENV) cmake --build --preset aarch64
	$(WITH_VENV) ctest --preset aarch64

tsan: .venv/.built ## the native tests of what threads share, under the thread sanitizer
	$(WITH_VENV) cmake --preset tsan
	$(WITH_VENV) cmake --build --preset tsan
	TSAN_OPTIONS=halt_on_error=1 build/tsan/flexicase_threads

hostile: .venv/.built ## all attacks at full length: fuzzers, kills, interrupts and half an hour of threads; about an hour and a half
	FLEXICASE_HOSTILE=10 $(PY) -m pytest tests/hostile tests/push/test_border.py \
		tests/selection/test_fast_events.py tests/selection/test_fast_lexicase.py --timeout 3600
	$(PY) -m tests.hostile.kills --studies 100 --trainings 25 --runs 25
	$(PY) -m tests.hostile.interrupts --repeat 5
	$(PY) -m tests.hostile.soak --minutes 30

fuzz: .venv/.built ## a million random Push programs under the sanitizers
	$(WITH_VENV) cmake --preset asan
	$(WITH_VENV) cmake --build --preset asan --target flexicase_fuzz_push
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 build/asan/flexicase_fuzz_push 1000000

clean: ## remove .venv and everything that was built
	rm -rf .venv build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# Stages of one environment: what a later one needs is added to it, and no kernel is compiled twice.
# The build runs without isolation, so that the pinned tools are used and a rebuild is incremental.
.venv/.tools: constraints.txt tools/preflight.sh
	@sh tools/preflight.sh "$(PYTHON)"
	@rm -rf build/venv
	@"$(PYTHON)" tools/set_up.py tools
	@touch $@

.venv/.package: .venv/.tools pyproject.toml CMakeLists.txt $(NATIVE)
	@$(PY) tools/set_up.py package
	@touch $@

.venv/.built: .venv/.package
	@TORCH="$(TORCH)" $(PY) tools/set_up.py complete
	@touch $@

.venv/.docs: .venv/.built
	@$(PY) tools/set_up.py docs
	@touch $@
