# ddpbench's Makefile. `make TARGET VARIABLE=value ...` does the following.
#
# Use it:
#   all             Builds the program, build/ddpbench; this is the default.
#   bench           Compares the strategies on this machine in a few minutes.
#   pack            Packs program, libraries and tests for another machine.
#   dist            Archives the sources of the last commit, as packages use.
#   install         Copies program, scripts and manual pages below PREFIX.
#   uninstall       Removes what `make install` has copied.
#   setup           Installs with apt what the build needs, or prints it.
#   clean           Removes everything that was built.
#   help            Prints this list.
#
# Test it:
#   test            Runs all tests.
#   test-gpu        Runs the tests of the GPU backend; fails without a GPU.
#   test-mpi        Runs the tests that depend on the MPI.
#   test-faults     Runs the tests of full disks, signals and other faults.
#   test-memcheck   Runs two ranks of each kind of run under valgrind.
#   test-consumers  Compares the traces with what other tools read in them.
#   test-packages   Builds, checks, installs and removes packages; as root.
#   sanitize        Runs the tests of the CPU under three sanitizers of gcc.
#   fuzz            Feeds random files and command lines to the program.
#
# Measure ddpbench itself (bench/selfbench/README.md):
#   bench-step      Measures the steps of training, and their parts.
#   bench-kernels   Measures the operations of a step, one by one.
#   bench-isolate   Compares the search of `ddpbench isolate` with two others.
#   bench-allreduce Compares all-reduces with a plain loop around MPI's.
#   bench-profile   Measures how much tracing slows a step.
#   bench-peer      Compares ddpbench with PyTorch; takes half an hour.
#   bench-gpu       Measures the GPU backend, in parts of ten minutes or less.
#
# Develop it:
#   format          Formats the C and CUDA sources with clang-format.
#   lint            Checks the sources with four tools, such as clang-tidy.
#   program         Builds the program without a check of what it needs.
#   tests           Builds the program and the tests, and runs none.
#
# Variables, with their defaults in brackets:
#   ARGS=options    More options for the program of a bench target.
#   RANKS=n         The ranks of `make bench`. [the number of GPUs, or 2]
#   CORPUS=file     The text of `make bench`. [the compiler's header files]
#   TEST_ARGS=...   Options of tests/run.sh for `make test`.
#   FUZZ_SECONDS=s  The time of each target of `make fuzz`. [60]
#   PYTHON=path     A Python with PyTorch, for comparisons. [python3]
#   PREFIX=dir      Where `make install` copies to. [/usr/local]
#   DESTDIR=dir     A directory before PREFIX, for packages.
#   PORTABLE=1      Builds for any CPU of this architecture. [this CPU]
#   BLAS=name       A CBLAS that pkg-config or the linker knows. [openblas]
#   MPI=name        The MPI: mpich or openmpi. [mpich]
#   MPICC=path      The compiler wrapper of an MPI that is elsewhere.
#   MPIRUN=command  Starts ranks; it may have options. [mpirun beside MPICC]
#   CUDA=1          Builds the CUDA parts. CUDA=0 does not. [1 with a GPU]
#   CUDA_HOME=dir   The CUDA toolkit. [the one of nvcc, or /usr/local/cuda]
#   CUDA_ARCHITECTURES="80 90"  The GPUs to build for. [80 90 100]
#   CC=compiler     The C compiler. [cc]
#   CFLAGS=options  More of its options; also from the environment. [-g]
#   CPPFLAGS=options  More options for the preprocessor.
#   LDFLAGS=options   More options for the linker.
#   WERROR=1        Makes warnings of the compilers errors.
#   V=1             Prints whole commands.

CC = cc
BLAS = openblas
MPI = mpich
PREFIX = /usr/local
RANKS = $(or $(filter-out 0,$(GPUS)),2)
ARGS =
SETTING = native
ifeq ($(PORTABLE),1)
SETTING = portable
endif
ifneq ($(BLAS),openblas)
SETTING := $(SETTING)-$(BLAS)
endif
ifneq ($(MPI),mpich)
SETTING := $(SETTING)-$(MPI)
endif
OUT := build$(if $(filter-out native,$(SETTING)),/$(SETTING))

# If several MPIs are installed, Debian names their tools mpicc.mpich, mpicc.openmpi and so on. Unless options change it, Open MPI
# refuses root, refuses more ranks than cores, and binds a rank with all of its threads to one core.
MPICC := $(or $(shell command -v mpicc.$(MPI)),$(shell command -v mpicc))
$(if $(and $(word 2,$(MPICC)),$(filter-out clean help uninstall,$(or $(MAKECMDGOALS),all))),$(error MPICC=$(MPICC): expected a path without blanks; make a link to its folder))
MPIRUN_OPTIONS_openmpi = --allow-run-as-root --oversubscribe --bind-to none
MPIRUN = $(strip $(firstword $(wildcard $(addprefix $(dir $(shell command -v $(MPICC))),mpirun.$(MPI) mpirun)) mpirun) \
	$(MPIRUN_OPTIONS_$(MPI)))
export MPIRUN # for the scripts; expanded when a recipe starts, because `setup` may have installed an MPI by then
LAUNCH = $(if $(and $(word 2,$(MPIRUN)),$(shell command -v $(call quote,$(MPIRUN)))),$(call quote,$(MPIRUN)),$(MPIRUN))
quote = '$(subst ','\'',$(1))'
LEAKS_openmpi = detect_leaks=0 # Open MPI leaks memory itself, so leaks are searched with MPICH only
MPI_FLAGS := $(if $(MPICC),$(shell $(MPICC) -show 2>/dev/null))
MPI_CFLAGS := $(filter -I% -D%,$(MPI_FLAGS))
MPI_LIBS := $(filter -L% -l% -Wl%,$(MPI_FLAGS))
PACKAGES = hwloc libcjson zlib
BLAS_CFLAGS := $(shell pkg-config --cflags $(BLAS) 2>/dev/null)
BLAS_LIBS := $(or $(shell pkg-config --libs $(BLAS) 2>/dev/null),-l$(BLAS))

# The program opens its CUDA parts, a shared object beside it, when it needs them (kernels/cuda_parts.h). They are built with CUDA=1,
# and by default on a machine with nvcc and an NVIDIA driver, or where they were built before. CUDA=0 removes them.
CUDA_PARTS := $(OUT)/libddpbench_cuda.so
NVCC := $(firstword $(realpath $(if $(CUDA_HOME),$(CUDA_HOME)/bin/nvcc,$(shell command -v nvcc) /usr/local/cuda/bin/nvcc)))
ifndef CUDA
CUDA := $(if $(and $(NVCC),$(wildcard /dev/nvidia* /dev/dxg $(CUDA_PARTS))),1)
endif
ifeq ($(CUDA),1)
$(if $(NVCC),,$(error CUDA=1: there is no nvcc on the PATH or in /usr/local/cuda; install the CUDA toolkit, or give its folder by CUDA_HOME))
CUDA_ROOT := $(patsubst %/bin/nvcc,%,$(NVCC))
CUDA_LIB := $(firstword $(wildcard $(CUDA_ROOT)/lib64 $(CUDA_ROOT)/targets/*/lib $(CUDA_ROOT)/lib))
CUDA_ARCHITECTURES := $(filter $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code)),80 90 100)
CUDA_VERSION := $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
CUDA_BUILT := CUDA $(CUDA_VERSION) for $(CUDA_ARCHITECTURES:%=sm_%)
NCCL := $(wildcard $(CUDA_ROOT)/include/nccl.h /usr/include/nccl.h)
CUPTI := $(wildcard $(CUDA_ROOT)/include/cupti.h $(CUDA_ROOT)/extras/CUPTI/include/cupti.h)
CUDA_SOURCES := $(wildcard kernels/cuda/*.cu) $(filter-out $(if $(CUPTI),,%/activity_cupti.c %/cupti_buffers.c %/cupti_library.c %/cupti_names.c),$(wildcard kernels/cuda/*.c)) $(if $(NCCL),ddp/comm_nccl.c)
CUDA_CFLAGS := -isystem $(CUDA_ROOT)/include $(if $(CUPTI),-isystem $(CUDA_ROOT)/extras/CUPTI/include)
CUDA_LIBS = -L$(CUDA_LIB) -Wl,-rpath,$(CUDA_LIB) $(patsubst %,-Xlinker -rpath -Xlinker %,$(wildcard $(CUDA_ROOT)/extras/CUPTI/lib64)) -lcublas -lcublasLt -lcudart_static -lrt -ldl -lm -lpthread -lstdc++
NVCC_FLAGS = -std=c++17 -O3 -g -lineinfo -I. -DCUDA_BUILT='"$(CUDA_BUILT)"' -Xcompiler -Wall,-Wextra,-fPIC \
	$(if $(WERROR),-Werror all-warnings -Xcompiler -Werror) $(foreach a,$(CUDA_ARCHITECTURES),-gencode arch=compute_$a,code=sm_$a) \
	-gencode arch=compute_$(lastword $(CUDA_ARCHITECTURES)),code=compute_$(lastword $(CUDA_ARCHITECTURES))
endif
# The version, and `git describe` of the sources; in an archive by git, even inside another repository, the commit, which
# git wrote into bench/VERSION.
VERSION := $(firstword $(shell cat bench/VERSION))
DESCRIPTION := $(if $(wildcard .git),$(shell git describe --always --dirty --tags 2>/dev/null),$(shell sed -n 's/^commit \([0-9a-f]*\)$$/\1/p' bench/VERSION))

# On x86-64 a portable program runs on CPUs from 2009 on, and uses wider vectors on newer CPUs if the compiler has target_clones (kernels/cpu/cpu.h).
ifeq ($(filter portable%,$(SETTING)),)
MARCH = -march=native
else ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
MARCH = -march=x86-64-v2
CLONES := $(shell echo '__attribute__((target_clones("default", "arch=x86-64-v4"))) void f(void) {}' | $(CC) -x c -c -o /dev/null - 2>/dev/null && echo x86_64)
$(if $(CLONES),,$(warning $(CC) knows no target_clones for x86-64-v4: the portable program will use the vectors of x86-64-v2 alone))
endif

OPTIMISE = -O3 $(MARCH) -fno-math-errno -fno-trapping-math -ffp-contract=fast
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror)
CFLAGS ?= -g
$(OUT)/obj/tests/%: private OPTIMISE = -O1 $(MARCH) # the speed of the tests' own code does not matter
INCLUDES = -I. -Ibench -Ibench/measure -Ibench/read # an include line names folder and header, without bench/, measure/ or read/
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) $(OPTIMISE) -fopenmp $(SANITIZE) $(INCLUDES) \
	$(foreach name,CPU_CLONES CPU_VECTOR_BYTES,-D$(name)=$(name)_$(or $(CLONES),none)) $(MPI_CFLAGS) $(BLAS_CFLAGS) $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null) \
	$(CPPFLAGS) $(CFLAGS)
PLACE = $(call quote,-ffile-prefix-map=$(CURDIR)=.) # leaves the folder out of the objects, which are then equal in all folders
CHECK_LIBS = -Wl,--wrap=_mark_point $(shell pkg-config --libs check 2>/dev/null) # see tests/support/suite.c
LIBS = $(MPI_LIBS) $(BLAS_LIBS) $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -ldl -lm -lpthread

# Programs that measure ddpbench itself are bench/selfbench/NAME.c, built as bench_NAME; BENCH_HELP lists the objects that they share.
SELFBENCH = step kernels allreduce isolate
BENCH_HELP_SOURCES = kernels/device_null.c $(filter-out $(SELFBENCH:%=bench/selfbench/%.c),$(wildcard bench/selfbench/*.c))
BENCH_HELP = $(BENCH_HELP_SOURCES:%.c=$(OUT)/obj/%.o)
SOURCES_OF_ALL := $(filter-out ddp/comm_nccl.c kernels/device_null.c bench/main.c bench/selfbench/%, \
	$(wildcard kernels/*.c kernels/cpu/*.c ddp/*.c bench/*.c bench/*/*.c bench/*/*/*.c))
LIBRARY := $(SOURCES_OF_ALL:%.c=$(OUT)/obj/%.o)
TEST_HELP := $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard tests/support/*.c) bench/selfbench/members.c)
ifeq ($(SETTING),tsan) # only what the tests of threads need
LIBRARY := $(filter $(OUT)/obj/kernels/% $(OUT)/obj/ddp/% $(OUT)/obj/bench/base/% $(OUT)/obj/bench/measure/machine/%,$(LIBRARY))
TEST_HELP := $(addprefix $(OUT)/obj/tests/support/,scratch.o suite.o)
endif
TESTS := $(patsubst %.c,$(OUT)/%,$(wildcard tests/unit/*/*.c tests/mpi/*.c tests/support/programs/*.c))

CORES = $(shell env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # nproc would obey these variables if they were set
# Options of a make that builds: as many jobs as there are cores, unless the caller gave -j.
PARALLEL = --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(CORES) --output-sync)

all: setup
	@$(MAKE) $(PARALLEL) program
	$(if $(CUDA)$(filter-out all,$(MAKECMDGOALS)),,$(if $(NVCC),@echo 'Built for CPUs only: this machine has no NVIDIA driver. For the GPUs of other machines: make CUDA=1'))

# ---- what users call ----
# `make bench` takes the sizes of a preset. GPUS, the number of GPUs, is computed when it is first used.
GPUS = $(eval GPUS := $(if $(filter 1,$(CUDA)),$(shell nvidia-smi -L 2>/dev/null | grep -c '^GPU '),0))$(GPUS)
# On a CPU `make bench` uses a model with short steps, because many short blocks give more precise results than a few
# long ones on a machine that also does other work.
SIZES_cpu = --preset=laptop
SIZES_gpu = --preset=default --dtype=bf16 --batch-size-per-rank=16
BUCKETS_cpu = 0.5,1,4,16
BUCKETS_gpu = 1,5,25,100
BENCH_ON = $(if $(filter-out 0,$(GPUS)),gpu,cpu)
SIZES = $(SIZES_$(BENCH_ON))
BENCH = $(SIZES) --implementations=none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed \
	--bucket-size-mb=$(BUCKETS_$(BENCH_ON)) --resolve=2% --max-minutes=2 --steps-per-block=3 --label=bench
# Leaves out options that ARGS also has, because the program accepts each option only once.
usual = $(foreach option,$(1),$(if $(filter $(firstword $(subst =, ,$(option))) $(firstword $(subst =, ,$(option)))=%,$(ARGS)),,$(option)))
TEXT = $(if $(CORPUS),$(call quote,$(CORPUS)),$(OUT)/corpus.txt)
bench: all
	@launch/corpus.sh $(OUT)/corpus.txt
	$(LAUNCH) -n $(RANKS) $(OUT)/ddpbench $(call usual,$(BENCH)) $(if $(filter --data --data=%,$(ARGS)),,--data $(TEXT)) $(ARGS)
	$(if $(ARGS)$(filter 1,$(RANKS)),,@echo $(call quote,To search for the bucket size: $(LAUNCH) -n $(RANKS) $(OUT)/ddpbench tune $(SIZES) --data $(TEXT)))

test: all
	@$(MAKE) $(PARALLEL) tests emulated
	@tests/run.sh $(TEST_ARGS) $(OUT)

test-gpu: all
	@$(MAKE) $(PARALLEL) tests
	@tests/run.sh --gpu $(OUT)

# See the last line of the table of controls.
bench-profile: SIZES_cpu += --batch-size-per-rank=4
bench-profile: all
	@launch/corpus.sh $(OUT)/corpus.txt
	rm -rf $(OUT)/bench-profile
	$(LAUNCH) -n $(RANKS) $(OUT)/ddpbench $(call usual,$(SIZES) --profile-implementation=ddp_bucketed --bucket-size-mb=4 --rounds=60) \
		--data $(TEXT) --profile --profile-output-dir $(OUT)/bench-profile $(ARGS)

bench-kernels bench-step bench-isolate: bench-%: all
	@$(MAKE) $(PARALLEL) $(OUT)/bench_$*
	$(OUT)/bench_$* $(ARGS)

bench-gpu: all
	@$(MAKE) $(PARALLEL) $(OUT)/bench_kernels $(OUT)/bench_step tests
	launch/bench_gpu.sh --python $(call quote,$(PYTHON)) $(ARGS)

bench-allreduce: RANKS = 2
bench-allreduce: all
	@$(MAKE) $(PARALLEL) $(OUT)/bench_allreduce
	$(LAUNCH) -n $(RANKS) $(OUT)/bench_allreduce

# Compares two ranks over 100 Mbit/s (needs root), each program at its best bucket size, and a step of the default model on
# one thread and on two.
PYTHON = python3
PEER = bench/peers/compare.sh --program $(OUT)/ddpbench --python $(call quote,$(PYTHON)) $(ARGS) --implementations none
PEER_STEP = --d-model 768 --num-layers 12 --num-heads 12 --d-ff 3072 --context-length 512 --vocab-size 10000 \
	--batch-size 1 --rounds 2 --steps-per-block 2
# over this link, sending the gradients takes about as long as backward, as in tests/long/overlap.sh
PEER_LINK = --d-model 128 --num-layers 4 --num-heads 4 --d-ff 512 --context-length 128 --batch-size 128 --data build/corpus.txt \
	--bucket-size-mb 0.25,0.5,1,25 --rounds 2 --steps-per-block 3
bench-peer: all
	rm -rf $(OUT)/bench-peer
	$(PEER) --ranks 2 --threads 1 --link 100mbit --output $(OUT)/bench-peer/100mbit -- $(PEER_LINK)
	$(PEER) --ranks 1 --threads 1 --output $(OUT)/bench-peer/one-thread -- $(PEER_STEP)
	$(PEER) --ranks 1 --threads 2 --output $(OUT)/bench-peer/two-threads -- $(PEER_STEP)

PACKED = ddpbench bench_kernels bench_step tests/unit/kernels/test_device tests/unit/ddp/test_model tests/mpi/comm tests/mpi/parity
pack: setup
	@$(MAKE) $(PARALLEL) PORTABLE=1 $(if $(filter file,$(origin CUDA)),$(if $(NVCC),CUDA=1)) packed
packed: program $(PACKED:%=$(OUT)/%)
	launch/pack.sh $(OUT) $(PACKED)

dist:
	$(if $(wildcard .git),,$(error make dist archives a commit, and there is no repository of git here))
	@git diff --quiet HEAD || echo 'Changes that are not committed stay out of the archive.'
	@mkdir -p build
	git archive --prefix=ddpbench-$(VERSION)/ -o build/ddpbench-$(VERSION).tar.gz HEAD

# Builds nothing, because root may have another environment, with which everything might be built again.
install:
	launch/install.sh $(addprefix --mpirun ,$(filter /%,$(firstword $(MPIRUN)))) $(OUT)/ddpbench $(call quote,$(PREFIX)) $(call quote,$(DESTDIR))
uninstall:
	launch/install.sh --uninstall $(call quote,$(PREFIX)) $(call quote,$(DESTDIR))

setup:
	@launch/setup.sh --blas $(BLAS) --mpi $(MPI) $(if $(filter command%,$(origin MPICC)),--mpicc '$(MPICC)')

help: # the comment at the top of this file
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

clean:
	rm -rf build

# ---- how it is built ----
program: $(OUT)/ddpbench $(if $(filter 1,$(CUDA)),$(CUDA_PARTS))
	$(if $(filter 0,$(CUDA)),@rm -f $(CUDA_PARTS))
PRELOADED = $(patsubst %.c,$(OUT)/%.so,$(wildcard tests/support/preload/*.c))
# A program looks for the CUDA parts beside itself: folders of tests that open a GPU have a link to them.
PARTS_OF_TESTS = $(addsuffix /libddpbench_cuda.so,tests/unit/kernels tests/unit/ddp tests/mpi)
tests: program $(TESTS) $(PRELOADED) $(PARTS_OF_TESTS:%=$(OUT)/%)

# A command is shown as one short line, such as CC bench/main.c; V=1 shows it whole.
Q = $(if $(V),,@)
say = $(if $(V),@:,@echo '$(1)')

$(OUT)/ddpbench: $(OUT)/obj/bench/main.o $(LIBRARY)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(OUT)/bench_%: $(OUT)/obj/bench/selfbench/%.o $(BENCH_HELP) $(LIBRARY)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The CUDA parts call the program only through tables of functions that it gives them. They have copies of these files.
COPIED = kernels/activity kernels/timeline kernels/library ddp/comm
LINK_PARTS = -shared -Wl,--version-script=kernels/cuda/exported.map
$(CUDA_PARTS): $(patsubst %,$(OUT)/obj/%.o,$(basename $(CUDA_SOURCES))) $(COPIED:%=$(OUT)/obj/%.o) kernels/cuda/exported.map $(OUT)/obj/cuda_flags
	$(call say,LINK $@)
	$(Q)$(CC) -g $(LINK_PARTS) $(LDFLAGS) -Wl,-z,defs -o $@ $(filter %.o,$^) $(CUDA_LIBS)

# A test links only the objects and shared libraries that it calls. It forks for each of its cases, a fork copies all
# that is loaded, and the libraries of BLAS and MPI are large.
$(OUT)/tests/%: $(OUT)/obj/tests/%.o $(OUT)/obj/tested.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(CHECK_LIBS) $(LIBS)

$(OUT)/tests/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/obj/tests/fuzz/support/support.o $(OUT)/obj/tested.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -Wl,--as-needed -o $@ $^ $(LIBS)

$(OUT)/obj/tested.a: $(TEST_HELP) $(LIBRARY)
	$(call say,AR $@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(OUT)/tests/support/preload/%.so: tests/support/preload/%.c
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -g -O1 -fPIC -shared $(MPI_CFLAGS) $(shell pkg-config --cflags hwloc 2>/dev/null) -o $@ $< -ldl

include tests/gpu/emulator/emulator.mk
include tests/developer.mk

$(PARTS_OF_TESTS:%=$(OUT)/%) $(PARTS_OF_TESTS:%=$(EMULATED)/%):
	@mkdir -p $(@D) && ln -sfr $(firstword $(subst /tests/, ,$@))/$(@F) $@

# Objects are rebuilt when their flags change, or when the version that results record changes.
STAMP = mkdir -p $(@D) && echo '$(1)' | cmp -s - $@ || echo '$(1)' >$@
$(OUT)/obj/flags: FORCE
	@$(call STAMP,$(CC) $(subst ',,$(ALL_CFLAGS) $(LDFLAGS)) $(MPI_LIBS) $(BLAS_LIBS))
$(OUT)/obj/cuda_flags: FORCE
	@$(call STAMP,$(NVCC) $(subst ',,$(NVCC_FLAGS)))
$(OUT)/obj/version: FORCE
	@$(call STAMP,$(VERSION) $(DESCRIPTION))

$(OUT)/obj/%.o: %.c $(OUT)/obj/flags
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(ALL_CFLAGS) $(PLACE) $(TOOLKIT) $(FLAGS_$*) -MMD -MP -c -o $@ $<

# Only these C sources get the flags of the CUDA toolkit, so that all other objects are the same with and without it.
CUDA_C_OBJECTS := $(patsubst %.c,$(OUT)/obj/%.o,$(filter %.c,$(CUDA_SOURCES)))
$(CUDA_C_OBJECTS): private TOOLKIT = $(CUDA_CFLAGS) -fPIC
$(CUDA_C_OBJECTS): $(OUT)/obj/cuda_flags
$(COPIED:%=$(OUT)/obj/%.o): private TOOLKIT = -fPIC

$(OUT)/obj/%.o: %.cu $(OUT)/obj/cuda_flags
	@mkdir -p $(@D)
	$(call say,NVCC $<)
	$(Q)$(NVCC) $(NVCC_FLAGS) -MD -MP -c -o $@ $<

# The measurement of the CPU's peak is always optimised and never instrumented.
FLAGS_kernels/cpu/blas_speed = -O3 -fno-sanitize=all
VERSION_FLAGS = -DDDPBENCH_VERSION='"$(VERSION)"' -DDDPBENCH_DESCRIPTION='"$(DESCRIPTION)"'
VERSIONED = bench/base/version kernels/cuda_parts kernels/cuda/program
$(foreach file,$(VERSIONED),$(eval FLAGS_$(file) = $$(VERSION_FLAGS)))
$(foreach obj,$(OUT)/obj $(EMULATED)/obj,$(VERSIONED:%=$(obj)/%.o)): $(OUT)/obj/version

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)

.PHONY: FORCE all bench test test-gpu bench-kernels bench-step bench-profile bench-allreduce bench-isolate bench-gpu bench-peer pack packed dist install uninstall setup help clean program tests
.SECONDARY:
.DELETE_ON_ERROR:
