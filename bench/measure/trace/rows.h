/* rows.h - writes the text of a trace to a sink: what all rows have in common, and the rows of a GPU. */
#ifndef BENCH_MEASURE_TRACE_ROWS_H
#define BENCH_MEASURE_TRACE_ROWS_H

#include "trace/trace.h"

/* The stream of work that the host itself does, operations and collectives: analysers take what has a stream for work,
 * and Holistic Trace Analysis finds the step of a cpu_op on stream 0 by its time, on others by its launch alone. */
enum { STREAM_HOST = 0 };

/* Threads that exist in the trace only (a second collective in flight, the phases on a GPU) have numbers that no real
 * one can have. */
enum { MADE_UP_THREAD = 5000000 };

/* Every span has an external id. Other rows refer to those of host spans, operations and collectives, so these are
 * assigned before anything is written: span i of the host lane has host_id + i, operation i operation_id + i,
 * collective i collective_id + i. All other rows take the next free id. */
struct trace_writer {
    const struct trace *trace;
    const struct trace_sink *sink;
    long pid, gpu_pid; /* process numbers of the rows */
    long gpu_id;       /* number of its GPU */
    long source;       /* which of all that a file of all ranks holds: group x ranks + rank */
    long id;           /* the last one in use */
    long host_id, operation_id, collective_id;
    int first; /* no row was written yet */
    int *slot; /* [collectives] the lane of each, of those of the host's library; TRACE_SLOTS: none was free */
    int slots;
    struct interval *step; /* [steps] when the training thread was in each; 0: not recorded */
    int64_t end;           /* of the spans until now, as ts */
    size_t n;              /* bytes of text that the sink has not got yet */
    int failed;            /* nothing is written after a failure of the sink */
    char text[1 << 16];
};

/* ---- text ---- */

/* Adds a string (64 KiB at most); printf's text, of less than 1 KiB; a whole number; nanoseconds as microseconds with
 * three decimals, 0 for a negative time; a JSON string. */
void trace_put(struct trace_writer *w, const char *text);
void trace_print(struct trace_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_put_count(struct trace_writer *w, uint64_t value);
void trace_put_us(struct trace_writer *w, int64_t ns);
void trace_put_string(struct trace_writer *w, const char *text);

/* Gives the sink what is left. Returns 0; or -1 if the sink failed. */
int trace_flush(struct trace_writer *w);

/* ---- rows ---- */

/* A time of this rank's clock as ts: on rank 0's clock, from the base. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* Begins a row, up to where more members may follow. */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts);

/* Begins a span, up to where more of its "args" may follow, with `id` as "External id": between times of this rank's
 * clock, or between two ts. Then ends "args" and the span, with its name. */
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id);
void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id);
void trace_span_end(struct trace_writer *w, const char *name);

/* The name of a "process" (thread 0) or a "thread" (printf's, less than 600 bytes), its labels unless NULL, and its
 * place among the others. */
void trace_put_lane(struct trace_writer *w, const char *of, long pid, long thread, int place, const char *labels,
                    const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Whether a slot is one of those that are written. */
static inline int trace_has(const struct trace *trace, int step)
{
    return step >= trace->first && step < trace->steps;
}

/* Collectives of the host's library in flight at once overlap, and rows of a thread may not: each has the first lane
 * that is free. Those that find none are asynchronous events, which may overlap, and one further lane shows when there
 * were any, for analysers that read rows of threads only. Chooses lanes (free w->slot), names them, writes the rows. */
enum { TRACE_SLOTS = 8 };
void trace_choose_slots(struct trace_writer *w);
void trace_put_slots(struct trace_writer *w);
void trace_put_collectives(struct trace_writer *w);

/* The ranks 0 to ranks - 1 as a list; abbreviated: the first of many and the last, as Kineto does. And the arguments of
 * collective i, behind others. */
void trace_put_group(struct trace_writer *w, int abbreviated);
void trace_put_collective(struct trace_writer *w, size_t i);

/* A counter of the collectives that are posted and not complete. */
void trace_put_in_flight(struct trace_writer *w);

/* Where the row of collective i on the host is: its thread and from when to when, as ts; the training thread's call
 * where it runs on the GPU, without a row where it takes no time. And the arrows between the rows of the host. */
long trace_collective_row(const struct trace_writer *w, size_t i, struct interval *ts);
void trace_put_arrows(struct trace_writer *w);

/* Without a tracer, links a row of the host and the row of the GPU that the device's stamps time, which have the same
 * external id, as correlations link calls and kernels: an argument of both. */
void trace_put_stamped(struct trace_writer *w, long id);

/* The rows of the GPU, and of the calls that led to them. */
void trace_put_device(struct trace_writer *w);

#endif
