/* ranges.c - NVTX ranges; without a profiler that listens, calls return at once. */
#include "cuda/ranges.h"
void cuda_phase(const char *name) { (void)name; }
void cuda_range_begin(const char *name, int number) { (void)name, (void)number; }
void cuda_range_end(void) {}
