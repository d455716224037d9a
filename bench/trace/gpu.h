/* gpu.h - a GPU in a trace: its properties, its lanes, its work and the calls that led to it. */
#ifndef BENCH_TRACE_GPU_H
#define BENCH_TRACE_GPU_H

#include "trace/rows.h"

/* "deviceProperties"; nothing for a NULL. */
void trace_put_device_properties(struct trace_text *out, const struct gpu_facts *gpu, int index);

/* The rows of the GPU, and of the calls that led to them. */
void trace_put_device(struct trace_writer *w);

/* When the last row of the GPU ends, in this rank's clock. */
int64_t trace_gpu_end(const struct trace *trace);

#endif
