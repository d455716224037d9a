/* rows.h - the text of a trace on its way to a sink, and the rows of which it consists. */
#ifndef BENCH_MEASURE_TRACE_ROWS_H
#define BENCH_MEASURE_TRACE_ROWS_H

#include "trace/trace.h"

/* The stream of operations and collectives of the host. Analysers count rows with a stream as work; Holistic Trace
 * Analysis finds the step of a cpu_op on stream 0 by its time, on other streams only by its launch. */
enum { STREAM_HOST = 0 };

/* Thread numbers from here on, above all real ones, are for threads that exist only in the trace. */
enum { MADE_UP_THREAD = 5000000 };

/* Span i of the host lane has the external id host_id + i, operation i operation_id + i, collective i collective_id +
 * i, since other rows refer to them. All other rows take the next free id. */
struct trace_writer {
    const struct trace *trace;
    const struct trace_sink *sink;
    long pid, gpu_pid; /* process numbers of the rows */
    long gpu_id;       /* number of the rank's GPU */
    long source;       /* group * ranks + rank: unique in a merged file */
    long id;           /* the last one in use */
    long host_id, operation_id, collective_id;
    int first; /* no row was written yet */
    int *slot; /* [collectives] the lane of each of the host's library; those in flight together differ */
    int slots;
    struct interval *step; /* [steps] the time of the training thread in each; 0: not recorded */
    int64_t end;           /* of the spans until now, as ts */
    size_t n;              /* bytes of text not yet written to the sink */
    int failed;            /* the sink failed; nothing more is written */
    char text[1 << 16];
};

/* ---- text ---- */

/* Write a string (64 KiB at most); printf's text of less than 1 KiB; a whole number; nanoseconds as microseconds with
 * three decimals, a negative time as 0; a JSON string. */
void trace_put(struct trace_writer *w, const char *text);
void trace_print(struct trace_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_put_count(struct trace_writer *w, uint64_t value);
void trace_put_us(struct trace_writer *w, int64_t ns);
void trace_put_string(struct trace_writer *w, const char *text);

/* Writes the remaining text to the sink. Returns 0; or -1 if the sink failed. */
int trace_flush(struct trace_writer *w);

/* ---- rows ---- */

/* Converts a time of this rank's clock to ts: rank 0's clock, from the base. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* Begins a row; more members may follow. */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts);

/* Begin a span with `id` as "External id", between times of this rank's clock or between two ts; more "args" may
 * follow. trace_span_end ends "args" and the span, with its name. */
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id);
void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id);
void trace_span_end(struct trace_writer *w, const char *name);

/* Writes the name of a "process" (thread 0) or a "thread" (printf's, less than 600 bytes), its labels unless NULL, and
 * its position in the order of lanes. */
void trace_put_lane(struct trace_writer *w, const char *of, long pid, long thread, int place, const char *labels,
                    const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Without a tracer, writes an argument that links a row of the host to the row of the GPU with the same external id, as
 * correlations link calls and kernels. */
void trace_put_stamped(struct trace_writer *w, long id);

/* ---- collectives ---- */

/* Chooses a lane for each collective of the host's library, the first that is free (free w->slot); names the lanes. */
void trace_choose_slots(struct trace_writer *w);
void trace_put_slots(struct trace_writer *w);

/* Writes the rows of all collectives on the host: the collective itself, or the call that launched it on the GPU. */
void trace_put_collectives(struct trace_writer *w);

/* Writes the ranks 0 to ranks - 1 as a list; abbreviated: the first ones and the last, as Kineto does. */
void trace_put_group(struct trace_writer *w, int abbreviated);

/* Writes the arguments of collective i after others. */
void trace_put_collective(struct trace_writer *w, size_t i);

/* ---- the GPU ---- */

/* Writes the rows of the GPU, and of the calls that led to them. */
void trace_put_device(struct trace_writer *w);

#endif
