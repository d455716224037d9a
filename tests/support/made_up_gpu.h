/* made_up_gpu.h - what the tracer of a GPU would have recorded of a step with known answers. */
#ifndef TESTS_SUPPORT_MADE_UP_GPU_H
#define TESTS_SUPPORT_MADE_UP_GPU_H

#include "kernels/activity.h"
#include "tests/support/traces.h"

/* A kernel, a copy, and so on, with the call that led to it; times in microseconds. The call is made by the training
 * thread of rank_trace_begin, takes 5 us, and has the same correlation. */
void made_up_kernel(struct activities *activities, int rank, uint32_t correlation, const char *name, uint32_t stream,
                    int64_t call_us, int64_t start_us, int64_t end_us);

/* A step of one of two ranks into a begun trace: the host asks from 1000 us to 1300 us for what the GPU does from 1040
 * us to 2690 us on streams 7 and 20, in activities that it owns: a copy, four kernels, and two of NCCL that take 600 us
 * on rank 0 and 550 us on rank 1, of which 300 us and 250 us are exposed. Correlations are 100 to 110. Finishes the
 * trace. */
struct gpu_trace {
    struct rank_trace rank;
    struct activities activities;
};
void gpu_trace_two_ranks(struct gpu_trace *t, int rank);
void gpu_trace_destroy(struct gpu_trace *t);

extern const struct gpu_facts made_up_gpu;

#endif
