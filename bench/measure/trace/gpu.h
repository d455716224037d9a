/* gpu.h - the rows of the GPU. */
#ifndef BENCH_MEASURE_TRACE_GPU_H
#define BENCH_MEASURE_TRACE_GPU_H

#include "trace/rows.h"

/* Writes the rows of the GPU, and of the calls that led to them. */
void trace_put_device(struct trace_writer *w);

#endif
