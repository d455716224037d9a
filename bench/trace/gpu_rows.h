/* gpu_rows.h - which records of a GPU's tracer a trace is made of, and what they belong to. */
#ifndef BENCH_TRACE_GPU_ROWS_H
#define BENCH_TRACE_GPU_ROWS_H

#include "trace/rows.h"

/* A call of the runtime or the driver in a captured step. */
struct trace_gpu_call {
    const struct activity *activity;
    long id; /* external id of the operation that made it, or of the collective; 0: neither did */
};

#define NO_COLLECTIVE SIZE_MAX

/* What the GPU did because of such a call, and waits. */
struct trace_gpu_row {
    const struct activity *activity;
    struct trace_gpu_call *call;
    int nccl;          /* a kernel of NCCL */
    size_t lane;       /* where it is written */
    size_t collective; /* whose only kernel it is; or NO_COLLECTIVE */
};

struct trace_gpu_rows {
    struct trace_gpu_call *call; /* [calls], in order of start, and so are the rows */
    size_t calls;
    struct trace_gpu_row *row; /* [n] */
    size_t n;
};

/* Chooses from w->trace's activities. Release with destroy. */
void trace_gpu_rows_create(struct trace_gpu_rows *rows, const struct trace_writer *w);
void trace_gpu_rows_destroy(struct trace_gpu_rows *rows);

#endif
