# Builds the program and tests with an emulated GPU, for machines without a GPU or CUDA's toolkit; kernels/, ddp/ and the tests use
# the sanitizers. `make emulated` builds all; tests/run.sh runs the tests in $(OUT)/emulated/tests.

CXX = g++
EMULATED := $(OUT)/emulated
# Tests that open a GPU; they are built from the same files as the tests for the CPU or a real GPU.
EMULATED_TESTS := $(addprefix $(EMULATED)/,$(basename $(wildcard tests/unit/kernels/test_device.c tests/unit/ddp/test_model.c \
	tests/mpi/comm.c tests/mpi/parity.c tests/gpu/*.cu)))

EMULATED_SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
EMULATED_FLAGS = -g -O1 -fPIC $(EMULATED_SANITIZE) -Itests/gpu/emulator $(INCLUDES) \
	$(MPI_CFLAGS) $(BLAS_CFLAGS) $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
EMULATED_CFLAGS = -std=c11 -D_GNU_SOURCE -DCPU_CLONES=CPU_CLONES_none -DCPU_VECTOR_BYTES=CPU_VECTOR_BYTES_none $(WARNINGS) -fopenmp $(EMULATED_FLAGS)
EMULATED_CXXFLAGS = -x c++ -std=c++17 -Wall -Wextra -Wno-unknown-pragmas $(if $(WERROR),-Werror) -DCUDA_BUILT='"an emulated GPU"' $(EMULATED_FLAGS)
# The emulation itself is optimised, and only its files that access memory for kernels use AddressSanitizer.
EMULATED_OWN = -O2 -fno-sanitize=undefined -Wshadow -Wconversion
EMULATED_OWN_block = -fno-sanitize=address -O3 $(filter -march=%,$(OPTIMISE))
EMULATED_OWN_products = $(EMULATED_OWN_block)
EMULATED_LIBS = $(MPI_LIBS) $(BLAS_LIBS) $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -ldl -lrt -lm -lpthread -rdynamic # -rdynamic: the CUDA parts call the program's emulation

# The program contains the emulation, and opens the CUDA parts as a shared object as it does with a real GPU.
EMULATED_PARTS := $(patsubst %,$(EMULATED)/obj/%.o,$(basename $(wildcard kernels/cuda/*.cu kernels/cuda/*.c) ddp/comm_nccl $(COPIED)))
EMULATION := $(patsubst %,$(EMULATED)/obj/%.o,$(basename $(wildcard tests/gpu/emulator/*.cc)))
EMULATED_LIBRARY := $(patsubst %.c,$(EMULATED)/obj/%.o,$(filter-out bench/%,$(SOURCES_OF_ALL))) $(EMULATION) \
	$(patsubst %.c,$(OUT)/obj/%.o,$(filter bench/%,$(SOURCES_OF_ALL))) # bench/ does not depend on the device
EMULATED_HELP := $(patsubst $(OUT)/%,$(EMULATED)/%,$(TEST_HELP))

emulated: $(EMULATED)/ddpbench $(EMULATED)/libddpbench_cuda.so $(EMULATED)/bench_kernels $(EMULATED)/bench_step $(EMULATED_TESTS) $(PARTS_OF_TESTS:%=$(EMULATED)/%)

$(EMULATED)/libddpbench_cuda.so: $(EMULATED_PARTS) kernels/cuda/exported.map
	$(call say,LINK $@)
	$(Q)$(CXX) $(EMULATED_SANITIZE) $(LINK_PARTS) -o $@ $(filter %.o,$^)

$(EMULATED)/ddpbench: $(OUT)/obj/bench/main.o $(EMULATED_LIBRARY)
	$(call say,LINK $@)
	$(Q)$(CXX) $(EMULATED_SANITIZE) -fopenmp -o $@ $^ $(EMULATED_LIBS)

$(EMULATED)/bench_%: $(OUT)/obj/bench/selfbench/%.o $(BENCH_HELP) $(EMULATED_LIBRARY)
	$(call say,LINK $@)
	$(Q)$(CXX) $(EMULATED_SANITIZE) -fopenmp -o $@ $^ $(EMULATED_LIBS)

$(EMULATED)/tests/gpu/test_activity_cupti: $(addprefix $(EMULATED)/obj/kernels/,activity.o cuda/activity_cupti.o cuda/cupti_buffers.o \
	cuda/cupti_library.o cuda/cupti_names.o library.o cuda/ranges.o)
$(EMULATED)/tests/gpu/%: $(EMULATED)/obj/tests/gpu/%.o $(EMULATED)/obj/tests/support/suite.o $(addprefix $(EMULATED)/obj/kernels/,error.o exit_handlers.o utf8.o) $(EMULATION)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CXX) $(EMULATED_SANITIZE) -o $@ $^ $(CHECK_LIBS) $(EMULATED_LIBS)

$(EMULATED)/tests/%: $(EMULATED)/obj/tests/%.o $(EMULATED_HELP) $(EMULATED_LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CXX) $(EMULATED_SANITIZE) -fopenmp -o $@ $^ $(CHECK_LIBS) $(EMULATED_LIBS)

$(EMULATED)/obj/flags: FORCE
	@$(call STAMP,$(CC) $(EMULATED_CFLAGS) $(CXX) $(subst ',,$(EMULATED_CXXFLAGS) $(EMULATED_OWN) $(EMULATED_OWN_block)))

$(EMULATED)/obj/%.o: %.c $(EMULATED)/obj/flags
	@mkdir -p $(@D)
	$(call say,CC $< (emulated GPU))
	$(Q)$(CC) $(EMULATED_CFLAGS) $(FLAGS_$*) -MMD -MP -c -o $@ $<

$(EMULATED)/obj/%.o: %.cu $(EMULATED)/obj/flags
	@mkdir -p $(@D)
	$(call say,CXX $< (emulated GPU))
	$(Q)$(CXX) $(EMULATED_CXXFLAGS) -MMD -MP -c -o $@ $<

$(EMULATED)/obj/%.o: %.cc $(EMULATED)/obj/flags
	@mkdir -p $(@D)
	$(call say,CXX $< (emulated GPU))
	$(Q)$(CXX) $(EMULATED_CXXFLAGS) $(EMULATED_OWN) $(EMULATED_OWN_$(notdir $*)) -MMD -MP -c -o $@ $<

-include $(shell find $(EMULATED)/obj -name '*.d' 2>/dev/null)

.PHONY: emulated
