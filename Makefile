# The front door. `make` builds everything for the CPU, optimised; `make demo` shows it; `make test` proves it.
BUILD ?= build
JOBS ?= $(shell nproc)
VENV := .venv
PYTHON := $(VENV)/bin/python
ROMS = $(firstword $(DIFFVCS_ROMS) $(wildcard $(VENV)/lib/python3*/site-packages/ale_py/roms))
CMAKE_FLAGS ?=

.PHONY: all help setup roms build check test test-nightly test-sanitize test-golden test-ale test-builds test-python test-python-asan lint format demo \
        paper bench bench-full bench-grad bench-python install clean

all: build

help:
	@echo "Build"
	@echo "  make              the library and build/diffvcs"
	@echo "  make cuda         libdiffvcs_cuda, for batches on a GPU (needs nvcc); make cuda-library only compiles it"
	@echo "  make install      PREFIX=/usr/local"
	@echo "  make wheels       the Python package for several platforms, into out/wheels (WHEELS=\"manylinux-x86_64 sdist\": some)"
	@echo "  make clean        removes every build folder and out/"
	@echo "Show"
	@echo "  make demo         sets up, builds, runs our own cartridge (and a real game if ROMs are there), pictures in out/"
	@echo "  make paper        every table and figure of the paper again, into out/paper (minutes)"
	@echo "  make web          the explorer, one page for any browser, into out/web (WebAssembly by emscripten)"
	@echo "  make site         the documentation with the explorer on its front page, into out/site"
	@echo "Test"
	@echo "  make check        the quick unit tests, while you work"
	@echo "  make test         everything: unit tests, sanitizers, golden records, ale-py live, two compilers, Python, style"
	@echo "  make test-nightly what takes longer than make test may: mutants, long fuzzing, long runs beside ale-py, TSan"
	@echo "  make test-sanitize, test-golden, test-ale, test-builds, test-python (FULL=1: with PyTorch)   parts of make test"
	@echo "  make test-web     the explorer in Chromium (TESTS=\"-k axe\": some of it)"
	@echo "  make test-python-asan   the Python tests on a library with the sanitizers (TESTS=\"-k careless\": some of them)"
	@echo "  make test-platforms   other processors and C libraries by cross compilers and emulators (PLATFORMS=\"aarch64 musl\": some)"
	@echo "  make fuzz         SECONDS=60: every parser under libFuzzer and the sanitizers (needs clang), coverage at the end"
	@echo "  make test-cuda    on a GPU; make test-ptx  the PTX of one of its kernels on the CPU (needs nvcc)"
	@echo "  make lint         clang-format, clang-tidy, ruff, mypy, shellcheck, workflow files;  make format  rewrites"
	@echo "  DIFFVCS_REQUIRE=roms,torch,...   what must not be skipped (CONTRIBUTING.md)"
	@echo "Measure"
	@echo "  make bench        beside ale-py and EnvPool, a minute or two;  make bench-full  all games, more rounds, callgrind"
	@echo "  make bench-grad   what derivatives cost, in frames of ale-py"
	@echo "  make bench-python what Python costs on top of C;  make bench-cuda  on a GPU;  make bench-web  the explorer"
	@echo "  make bench-learn  batches over numbers of environments and threads, and on a GPU"

# ---- set-up: Debian packages if they are missing, ale-py (for its ROM images and as a reference) in a local venv ------
setup:
	@tests/setup.sh

roms:
	@tests/setup.sh --roms

# ---- building -----------------------------------------------------------------------------------------------------
build: setup
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DDIFFVCS_TESTS=ON -DDIFFVCS_CLI=ON $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@mv -f $(BUILD).log $(BUILD)/configure.log
	@cmake --build $(BUILD) -j $(JOBS) -- --no-print-directory -s

# ---- testing ------------------------------------------------------------------------------------------------------
check: build
	@tests/unit.sh $(BUILD) -L quick

test:
	@tests/run_all.sh

test-nightly:
	@tests/nightly.sh

test-golden: build roms
	$(BUILD)/diffvcs verify --roms "$(ROMS)" tests/golden/xitari/*.tsv.gz tests/golden/xitari-cpu/*.tsv.gz

test-ale: build roms
	$(PYTHON) tests/ale_live.py --library $(BUILD)/libdiffvcs.so --frames 5000 --episodes 3

# -Og: with -O1 compiling the core takes three times as long, and checked code runs no faster. Tests that only repeat
# other tests on every game run in the plain build alone.
test-sanitize: setup
	@cmake -S . -B build-sanitize -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-Og -g1" -DDIFFVCS_SANITIZE=ON > /dev/null
	@cmake --build build-sanitize -j $(JOBS) -- --no-print-directory -s
	@DIFFVCS_BRIEF=1 tests/unit.sh build-sanitize -LE long -E 'test_grad_(third_of_games|every_game|episode)|^(cli|edit|steer|paper|docs_.*|make_test_counts_skips|test_(allocation|annotate|exact|relax|relax_chips_bound))$$'

test-builds: setup
	@tests/builds.sh

test-python: setup roms
	@tests/python.sh $(if $(FULL),--full)

# The Python tests on a library that notices every byte that is read or written out of place. TESTS="-k careless" runs some.
test-python-asan: setup roms
	@tests/python_asan.sh $(TESTS)

.PHONY: test-platforms wheels
test-platforms: build roms
	@tests/platforms.sh $(PLATFORMS)

wheels: setup
	@wheels/make.sh $(WHEELS)

# New inputs are kept in build-fuzz/corpus; HARNESS="save png" runs some.
.PHONY: fuzz
fuzz: setup
	@fuzz/fuzz.sh $(or $(SECONDS),60) $(HARNESS)

lint: setup
	@tests/lint.sh

format: setup
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' | grep -v xla_ffi_c_api.h)
	$(VENV)/bin/ruff format --quiet .

# ---- showing ------------------------------------------------------------------------------------------------------
# Only what it needs is installed and built: the program, not the tests.
demo:
	@tests/setup.sh --build
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release -DDIFFVCS_TESTS=OFF $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target diffvcs -- --no-print-directory -s
	@-tests/setup.sh --build --roms
	@tests/demo.sh $(BUILD)/diffvcs

paper: build roms
	$(BUILD)/diffvcs paper --out out/paper

# ---- measuring: peers and us in one run; the last line is for scripts. PYTHON=... takes another environment ----------
bench bench-full: build
	@bench/setup.sh "$(PYTHON)"
	@mkdir -p $(BUILD)/bench
	@$(CC) -std=c11 -O2 -Wall -Wextra $(if $(STRICT),-Werror) -Iinclude -shared -fPIC -o $(BUILD)/bench/loop.so bench/loop.c -L$(BUILD) \
	  -ldiffvcs '-Wl,-rpath,$$ORIGIN/..'
	@$(PYTHON) bench/bench.py --build $(BUILD) $(if $(filter bench-full,$@),--full) $(BENCH_FLAGS)

# What derivatives cost, in frames of ale-py. BENCH_FLAGS="--count" adds host instructions by callgrind.
bench-grad: build
	@bench/setup.sh "$(PYTHON)"
	@mkdir -p $(BUILD)/bench
	@for output in "grad.so -shared" grad; do \
	  $(CC) -std=c11 -O2 -Wall -Wextra $(if $(STRICT),-Werror) -fPIC -Iinclude -Isrc -o $(BUILD)/bench/$$output bench/grad.c \
	    $(BUILD)/libdiffvcs.a -lz -lpng -lpthread -lm || exit 1; \
	done
	@$(PYTHON) bench/grad.py --build $(BUILD) $(BENCH_FLAGS)

# What Python costs on top of C. Measures the package that is installed in PYTHON.
bench-python: build
	@$(PYTHON) bench/python.py

# Answers of the explorer in a browser, in milliseconds.
.PHONY: bench-web
bench-web: web roms
	@tests/web.sh --setup
	@DIFFVCS_ROMS="$(ROMS)" build-web/venv/bin/python bench/web.py $(BENCH_FLAGS)

install: build
	cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

# ---- the explorer and the site ------------------------------------------------------------------------------------
.PHONY: web site test-web
web:
	@web/build.sh

site: build web
	@web/site.sh

test-web: build roms
	@DIFFVCS_ROMS="$(ROMS)" tests/web.sh $(TESTS)

# ---- GPU: needs nvcc to build, a GPU to test and to measure ------------------------------------------------------------
.PHONY: cuda cuda-library test-cuda test-ptx bench-cuda
NVCC ?= $(firstword $(shell command -v nvcc) /usr/local/cuda/bin/nvcc)
RECORDS := tests/golden/xitari
ON_GPU = DIFFVCS_DEVICE=0 DIFFVCS_CUDA=$(BUILD)/libdiffvcs_cuda.so DIFFVCS_ROMS="$(ROMS)"

cuda:
	@test -x "$(NVCC)" || { echo "make cuda: there is no nvcc; install the CUDA toolkit or set NVCC=path/to/nvcc"; exit 1; }
	@CUDACXX="$(NVCC)" $(MAKE) -s build CMAKE_FLAGS="-DDIFFVCS_CUDA=ON $(CMAKE_FLAGS)"

cuda-library: # alone, and not assembled for any GPU, which takes most of the time: whether it compiles
	@CUDACXX="$(NVCC)" cmake -S . -B $(BUILD) -DDIFFVCS_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-virtual -DDIFFVCS_TESTS=OFF \
	  -DDIFFVCS_CLI=OFF > /dev/null
	@cmake --build $(BUILD) --target diffvcs_cuda -- --no-print-directory -s

test-cuda: cuda roms
	$(ON_GPU) $(BUILD)/tests/test_device_batch
	$(ON_GPU) $(BUILD)/tests/test_device_batch truth
	$(ON_GPU) $(BUILD)/tests/test_device_batch many 4096 600
	$(ON_GPU) $(BUILD)/tests/test_device_batch many 16384 60
	$(ON_GPU) $(BUILD)/tests/test_device_batch million
	$(ON_GPU) $(BUILD)/tests/test_device_batch_grad
	$(ON_GPU) $(BUILD)/tests/test_device
	$(ON_GPU) $(BUILD)/tests/test_device_objects
	$(ON_GPU) $(BUILD)/tests/test_device_batch golden $(RECORDS)

test-ptx: build roms # what nvcc makes of the code that lists objects on a GPU, without a GPU (tests/ptx_to_c.py)
	@cmake --build $(BUILD) --target test_ptx_objects -- --no-print-directory -s
	@DIFFVCS_ROMS="$(ROMS)" MALLOC_PERTURB_=90 $(BUILD)/tests/test_ptx_objects

bench-cuda: cuda roms
	@mkdir -p $(BUILD)/bench
	@$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra $(if $(STRICT),-Werror) -Iinclude -Isrc -o $(BUILD)/bench/cuda bench/cuda.c \
	  $(BUILD)/libdiffvcs.a -lz -lpng -lpthread -lm
	@$(ON_GPU) $(BUILD)/bench/cuda "$(ROMS)" $(BENCH_FLAGS)

.PHONY: bench-learn
bench-learn: build roms
	@mkdir -p $(BUILD)/bench
	@$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra $(if $(STRICT),-Werror) -Iinclude -o $(BUILD)/bench/learn bench/learn.c \
	  $(BUILD)/libdiffvcs.a -lz -lpng -lpthread -lm
	@DIFFVCS_CUDA="$(BUILD)/libdiffvcs_cuda.so" $(BUILD)/bench/learn "$(ROMS)" $(BENCH_FLAGS)

clean:
	rm -rf build build-* out
