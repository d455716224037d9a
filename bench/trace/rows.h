/* rows.h - the rows of a trace as its parts write them: what all rows have, and the lanes that they lie on. */
#ifndef BENCH_TRACE_ROWS_H
#define BENCH_TRACE_ROWS_H

#include "trace/write.h"

/* Lane numbers that analysers know as streams, where the lanes are threads of the host. */
enum { STREAM_COMPUTE = 7, STREAM_COMMUNICATION = 20 };

/* Threads that exist in the picture only (a second collective in flight, the phases on a GPU) have numbers that no real
 * one can have. */
enum { MADE_UP_THREAD = 5000000 };

/* When the training thread was in a step; start_ns 0: it was not recorded. */
struct host_step {
    int64_t start_ns, end_ns;
};

struct trace_writer {
    struct trace_text out;
    const struct trace *trace;
    long pid, gpu_pid; /* process numbers of the rows */
    long id;           /* last external id; the rows of these have fixed ones, which follow one another: */
    long host_id, operation_id, collective_id;
    int first; /* no row was written yet */
    int *slot; /* [collectives] of the communication lane */
    int slots;
    struct host_step *step; /* [steps] */
};

/* Where the numbers of streams are a GPU's own, those of the host's lanes are out of their way. */
static inline int stream_communication(const struct trace *trace)
{
    return STREAM_COMMUNICATION + (trace->gpu ? 100000 : 0);
}

/* A time of this rank's clock as ts: on rank 0's clock, from the base. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* A row is begun, gets its members or, in a span, the rest of its "args", and is ended. trace_row_begin: up to where
 * more members may follow; trace_span_begin: up to where more arguments may follow, with `id` as "External id". */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread);
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start, int64_t end,
                      long id);
void trace_row_end(struct trace_writer *w); /* arguments, and the row */

/* `"name": ...` behind other members; the name needs no escapes. */
void trace_put_name(struct trace_writer *w, const char *name);
void trace_span_end(struct trace_writer *w, const char *name); /* arguments, then the name, and the row; escapes */

/* A row of no more than a name. */
void trace_put_annotation(struct trace_writer *w, const char *name, int64_t start, int64_t end, long id);
void trace_put_metadata(struct trace_writer *w, const char *kind, long pid, long thread, const char *key,
                        const char *value);
void trace_put_sort_index(struct trace_writer *w, const char *kind, long pid, long thread, int index);
void trace_put_counter(struct trace_writer *w, const char *name, int64_t ts, const char *series, double value);

/* ---- trace_collectives.c ---- */

/* Which lane each collective lies on; frees with free(w->slot). */
void trace_choose_slots(struct trace_writer *w);
long trace_slot_thread(const struct trace *trace, int slot);
/* All ranks; `shortly`, the first of many and the last, as Kineto does. */
void trace_put_group(struct trace_writer *w, int shortly);
/* What tools look for on a collective, as arguments that follow others. */
void trace_put_collective(struct trace_writer *w, size_t reduction);
/* The collectives of a library that runs on the host, on lanes of their own. */
void trace_put_collectives(struct trace_writer *w);
/* Those of one that runs on the GPU, as the training thread asked for them. */
void trace_put_calls_of_collectives(struct trace_writer *w);

/* ---- trace_device.c ---- */

/* "deviceProperties". */
void trace_put_device_properties(struct trace_writer *w);
/* The rows of the GPU, and of the calls that made it work. */
void trace_put_device(struct trace_writer *w);
/* When the last row of the GPU ends, in this rank's clock. */
int64_t trace_gpu_end(const struct trace *trace);

#endif
