/* rows.h - what all rows of a trace have: the writer that they go to, and how a row is begun and ended. */
#ifndef BENCH_TRACE_ROWS_H
#define BENCH_TRACE_ROWS_H

#include "trace/text.h"

/* Lane numbers that analysers know as streams, where the lanes are threads of the host. */
enum { STREAM_COMPUTE = 7, STREAM_COMMUNICATION = 20 };

/* Threads that exist in the trace only (a second collective in flight, the phases on a GPU) have numbers that no real
 * one can have. */
enum { MADE_UP_THREAD = 5000000 };

/* When the training thread was in a step; start_ns 0: it was not recorded. */
struct host_step {
    int64_t start_ns, end_ns;
};

/* Every span has an external id. Other rows refer to those of host spans, operations and collectives, so these are
 * assigned before anything is written: span i of the host lane has host_id + i, operation i operation_id + i,
 * collective i collective_id + i. All other rows take the next free id. */
struct trace_writer {
    struct trace_text out;
    const struct trace *trace;
    long pid, gpu_pid; /* process numbers of the rows */
    long id;           /* the last one in use */
    long host_id, operation_id, collective_id;
    int first; /* no row was written yet */
    int *slot; /* [collectives] the lane of each, of those of the host's library */
    int slots;
    struct host_step *step; /* [steps] */
};

/* A time of this rank's clock as ts: on rank 0's clock, from the base. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* Begins a row, up to where more members may follow; a span, up to where more of its "args" may follow, with `id` as
 * "External id". */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread);
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start, int64_t end,
                      long id);

/* Ends "args" and the row; a span, with its name behind "args", escaped. */
void trace_row_end(struct trace_writer *w);
void trace_span_end(struct trace_writer *w, const char *name);

/* `"name": ...` behind other members; the name needs no escapes. */
void trace_put_name(struct trace_writer *w, const char *name);

/* Rows of no more than a name and a value. */
void trace_put_annotation(struct trace_writer *w, const char *name, int64_t start, int64_t end, long id);
void trace_put_metadata(struct trace_writer *w, const char *kind, long pid, long thread, const char *key,
                        const char *value);
void trace_put_sort_index(struct trace_writer *w, const char *kind, long pid, long thread, int index);
void trace_put_counter(struct trace_writer *w, const char *name, int64_t ts, const char *series, double value);

#endif
