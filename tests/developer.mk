# What developers of ddpbench call: more tests, and checks of the sources. Included by the Makefile.

test-faults: all
	@$(MAKE) $(PARALLEL) tests
	@TEST_ONLY=cli/faults.sh tests/run.sh $(OUT)

# The program is portable: valgrind lacks the widest vectors.
test-memcheck: setup
	@$(MAKE) $(PARALLEL) PORTABLE=1 CUDA=0 program
	@tests/long/memcheck.sh $(OUT)/portable$(filter-out -mpich,-$(MPI))

test-mpi: all
	@$(MAKE) $(PARALLEL) $(filter $(OUT)/tests/mpi/% $(OUT)/tests/support/%,$(TESTS)) $(PRELOADED)
	@$(addprefix LSAN_OPTIONS=,$(LEAKS_$(MPI))) tests/run.sh --mpi $(OUT)

test-consumers: all
	@$(MAKE) $(PARALLEL) $(OUT)/tests/unit/trace/test_gpu $(OUT)/tests/unit/predict/test_export
	@launch/setup.sh --consumers
	@tests/consumers/run.sh $(OUT)

test-packages: all
	@tests/run.sh --packages $(OUT)

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cc')
SCRIPTS = $(shell git ls-files '*.sh' '*.bash' '*.sbatch' .ci/run)
format:
	clang-format -i $(SOURCES)

lint: setup
	@launch/setup.sh --lint
	@$(MAKE) $(PARALLEL) CUDA=0 lint-tidy lint-rest lint-scripts

lint-rest:
	clang-format --dry-run --Werror $(SOURCES)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppress=missingIncludeSystem --library=.cppcheck.xml $(INCLUDES) $(filter %.c,$(SOURCES))

# The analyser of clang-tidy stops after 100,000 states of a function (default 225,000). This halves its time, and it still
# finds mistakes at the end of long functions.
lint-tidy:
	printf '%s\n' $(filter %.c,$(SOURCES)) | \
		TIDY_FLAGS='$(subst ',,$(filter-out -W% -march=native,$(ALL_CFLAGS)) -Itests/gpu/emulator -DCUDA_BUILT="" $(VERSION_FLAGS)) -Xclang -analyzer-config -Xclang max-nodes=100000' \
		xargs -n 4 -P $(CORES) sh -c 'clang-tidy --quiet "$$@" -- $$TIDY_FLAGS' clang-tidy

lint-scripts:
	shellcheck $(SCRIPTS)

# The search for leaks fails in programs with several threads that have opened oneDNN: its place is taken by empty files, which no
# program can open. With the thread sanitizer, runs only the tests of the threads that fetch data, of the watchdog, of the monitor and of the
# communication thread (with a fake transport, because MPI itself is not instrumented).
TSAN = ddp/test_comm_thread ddp/test_data ddp/test_watchdog machine/test_watch
sanitize: setup
	@$(MAKE) $(PARALLEL) CUDA=0 SETTING=sanitize OPTIMISE="-O1 -fno-omit-frame-pointer" \
		SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined" program tests
	@mkdir -p build/sanitize/no_onednn && touch build/sanitize/no_onednn/libdnnl.so.2 build/sanitize/no_onednn/libdnnl.so.3
	@LD_LIBRARY_PATH=$(call quote,$(CURDIR)/build/sanitize/no_onednn) \
		ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=suppressions=tests/support/leaks.supp:print_suppressions=0$(addprefix :,$(LEAKS_$(MPI))) \
		tests/run.sh --cpu build/sanitize
	@$(MAKE) $(PARALLEL) CUDA=0 SETTING=tsan OPTIMISE=-O1 SANITIZE=-fsanitize=thread \
		$(TSAN:%=build/tsan/tests/unit/%)
	export UCX_MEM_MMAP_HOOK_MODE=none; for test in $(TSAN); do \
		build/tsan/tests/unit/$$test || exit; done # UCX's memory hooks fail under the sanitizer

FUZZ_SECONDS = 60
# Omits the tracing of comparisons, which is very slow: dictionaries list the compared words. Omits errors for NULL + 0, as in empty lists.
FUZZ_LACKS = -fno-sanitize-coverage=trace-cmp -fno-sanitize=pointer-overflow
FUZZ = $(patsubst %.c,build/fuzz/%,$(wildcard tests/fuzz/*.c))
fuzz: setup
	@launch/setup.sh --fuzz || true
	@mkdir -p build/fuzz
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null; then \
		$(MAKE) $(PARALLEL) CC=clang CUDA=0 WARNINGS=-w SETTING=fuzz OPTIMISE="-O2 -fno-omit-frame-pointer" CFLAGS=-gline-tables-only \
		SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined $(FUZZ_LACKS)" $(FUZZ); fi
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh build/fuzz

.PHONY: test-faults test-memcheck test-mpi test-consumers test-packages format lint lint-tidy lint-rest lint-scripts sanitize fuzz
