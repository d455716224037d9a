/* gpu.h - which records of a GPU's tracer a trace is made of, and what they belong to. */
#ifndef BENCH_TRACE_GPU_H
#define BENCH_TRACE_GPU_H

#include "trace/rows.h"

/* A call of the runtime or the driver in a captured step. */
struct gpu_call {
    const struct activity *activity;
    long id; /* external id of the operation that made it, or of the collective; 0: neither did */
};

#define NO_COLLECTIVE SIZE_MAX

/* What the GPU did because of such a call, and waits. */
struct gpu_row {
    const struct activity *activity, *call;
    int nccl;         /* a kernel of NCCL */
    long id;          /* as the call's */
    size_t reduction; /* the collective that it belongs to, or NO_COLLECTIVE, */
    int alone;        /* and it is the only kernel of that */
};

struct gpu_rows {
    struct gpu_call *call; /* [calls], in order of start, so are the rows */
    size_t calls;
    struct gpu_row *of; /* [n] */
    size_t n;
};

/* Chooses from w->trace's activities. Release with gpu_rows_destroy. */
void gpu_rows_create(struct gpu_rows *rows, const struct trace_writer *w);
void gpu_rows_destroy(struct gpu_rows *rows);

#endif
