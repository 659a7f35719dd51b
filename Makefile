# SPDX-License-Identifier: Apache-2.0
# Every target installs what it misses and builds what it needs; `make` alone lists them.

JOBS ?= $(shell nproc)
export JOBS

CTEST := ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS)
SOURCES = $(shell find $(wildcard src include demo fuzz bench sim tests examples) -name '*.h' -o -name '*.cc')

.PHONY: help setup run demo test build everything check format-check sanitize fuzz bench soak deb format clean

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

run: build ## build, and serve a world to try things with, on 127.0.0.1:7411, until interrupted; with a PostgreSQL, if one is installed
	scripts/run --live 5 --supervise --open

demo: build ## build, and show what there is; ends by itself
	scripts/demo

test: everything ## build, and run the tests (under 15 minutes on two cores)
	$(CTEST)
	@test -d "$${HOLDFAST_VECTORS:-../shared/vectors}" || echo "skipped: the published vectors are not here (HOLDFAST_VECTORS names their folder)"

build: build/build.ninja ## build the program, build/holdfast
	cmake --build build -j $(JOBS) --target holdfast survivor

check: format-check everything build-single/build.ninja build-whole/build.ninja ## format, layers, purity, headers alone, sources alone and folders as one, clang-tidy, then the tests
	tools/check_layers.py
	xargs tools/check_purity.py < build/pure_archives.txt
	tools/check_headers.py
	tools/check_compiles.py build-single
	tools/check_compiles.py build-whole
	tools/check_tidy.py
	$(CTEST)

format-check: setup
	clang-format --dry-run -Werror $(SOURCES)

sanitize: setup ## run the tests under ASan+UBSan and TSan; SANITIZE_SHORT=1 for the quick part
	scripts/sanitize

fuzz: setup ## run each fuzz target for FUZZ_SECONDS (60)
	scripts/fuzz

bench: build/build.ninja ## run the benchmarks
	scripts/bench

soak: build/build.ninja ## the long set: many more cases per property, crashed disks, planted bugs, long fuzzing
	scripts/soak

deb: everything ## make the Debian packages, in build/deb
	scripts/deb

format: setup ## format all sources in place
	clang-format -i $(SOURCES)

clean: ## remove everything that was built
	rm -rf build build-*

# The program and all tests.
everything: build/build.ninja
	cmake --build build -j $(JOBS)

# Ninja watches the CMake files by itself, but not the presets.
build/build.ninja: CMakePresets.json | setup
	cmake --preset release

# Only configured, for the checks: every source alone, and all sources of a folder as one. Configured anew each
# time, since nothing builds there and so nothing sees that a file is new.
.PHONY: build-single/build.ninja build-whole/build.ninja
build-single/build.ninja: | setup
	cmake --preset release -B build-single -DHOLDFAST_UNITY=OFF >/dev/null
build-whole/build.ninja: | setup
	cmake --preset release -B build-whole -DHOLDFAST_UNITY_BATCH=0 >/dev/null

setup:
	@scripts/setup
