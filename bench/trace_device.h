/* trace_device.h - which records of a GPU's tracer a trace is made of, and what they belong to. */
#ifndef TRACE_DEVICE_H
#define TRACE_DEVICE_H

#include "trace_rows.h"

/* A call of the runtime or the driver in a captured step. */
struct device_call {
    const struct activity *activity;
    int step; /* slot */
    long id;  /* external id of the operation that made it, or of the collective; 0: neither did */
};

#define NO_REDUCTION SIZE_MAX

/* What the GPU did because of such a call, and waits. */
struct device_row {
    const struct activity *activity, *call;
    int step;
    int nccl;         /* a kernel of NCCL */
    long id;          /* as the call's */
    size_t reduction; /* the collective that a kernel of NCCL is, or NO_REDUCTION */
};

struct device_rows {
    struct device_call *call; /* [calls], in order of start, so are the rows */
    size_t calls;
    struct device_row *of; /* [n] */
    size_t n;
};

/* Chooses from w->trace's activities. A step's k-th kernel of NCCL is its k-th collective; where their numbers differ
 * (one collective of several kernels, or none) nothing is said of either. Release with device_rows_destroy. */
void device_rows_create(struct device_rows *rows, const struct writer *w);
void device_rows_destroy(struct device_rows *rows);

#endif
