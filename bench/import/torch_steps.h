/* torch_steps.h - the steps of a trace of torch.profiler (Kineto) or of ddpbench, as they were recorded; times in us.
 */
#ifndef BENCH_IMPORT_TORCH_STEPS_H
#define BENCH_IMPORT_TORCH_STEPS_H

#include "import/import.h"

#include <cJSON.h>

/* An event that counts. */
enum mark_kind { STEP, FORWARD, BACKWARD, HOOK, GRADIENT, REDUCTION, OPTIMIZER };
struct mark {
    enum mark_kind kind;
    double start, end, thread;
    double hook_end;      /* of a gradient: the end of the function around it, in which DDP's hook runs */
    size_t rows, columns; /* of a gradient or an all-reduce; 0: not recorded */
};

/* A step; a moment that is not known is NAN. */
struct traced_step {
    double start, duration; /* of its ProfilerStep */
    struct mark *gradient;  /* [n], owned, in order of their ends: those of the last backward */
    struct mark *reduction; /* [reductions], behind the gradients: the all-reduces since the first of them */
    size_t n, reductions;
    double begin, forward_end; /* when it begins to compute; when the last backward begins */
    double optimizer, updated; /* when the optimizer begins and ends */
    double update;             /* how long it computes */
};

struct trace {
    const char *path;
    struct mark *mark; /* [marks] the newest events that count, owned, until the steps are found */
    size_t marks;
    struct traced_step step[IMPORT_STEPS]; /* [steps], in order, each with as many gradients as the others */
    size_t steps;
    int has_kernels, has_graphs, has_shards, is_compiled, is_own; /* is_own: it is ddpbench's */
    int rank, ranks;
    char type[2][32]; /* of gradients: the first one, and another one; "": there is none */
};

/* Reads the steps of trace->path, with the times of the host. Returns 0; or -1, reported. Release in either case. */
int torch_steps_read(struct trace *trace);
void torch_steps_destroy(struct trace *trace);

/* Replaces the host's times by those of the GPU (torch_kernels.c). Returns 0; or -1, reported. */
int torch_kernels_read(struct trace *trace);

/* Longer events, in bytes, do not count: the tree of one takes up to 32 times as much memory. */
enum { TRACE_MOST_EVENT = 1 << 20 };

/* event_name returns the name of an event that is not parsed yet; it ends with a quote; NULL: there is none.
 * event_is_launch: whether that is the launch of a kernel, by CUDA or HIP. event_thread: 0 if it has no number.
 * event_span sets when an event begins and ends, and returns 0; or -1 if the event lacks that. */
const char *event_name(const char *text);
int event_is_launch(const char *name);
double event_thread(const cJSON *event);
int event_span(const cJSON *event, double *start, double *end);

int compare_ends(const void *a, const void *b); /* of marks, for qsort */

#endif
