/* rows.h - writes the text of a trace to a sink, and the rows that make up the trace. */
#ifndef BENCH_MEASURE_TRACE_ROWS_H
#define BENCH_MEASURE_TRACE_ROWS_H

#include "trace/trace.h"

/* The stream number of operations and collectives on the host. Analysers count rows with a stream as work. Holistic
 * Trace Analysis finds the step of a cpu_op by its time on stream 0, and by its launch on other streams. */
enum { STREAM_HOST = 0 };

/* Thread numbers from here on, above all real ones, are for lanes that are not threads. */
enum { MADE_UP_THREAD = 5000000 };

/* Rows that other rows refer to have fixed external ids: host_id + i for span i of the host lane, operation_id + i for
 * operation i, collective_id + i for collective i. All other rows take the next free id. */
struct trace_writer {
    const struct trace *trace;
    const struct trace_sink *sink;
    long pid, gpu_pid; /* process numbers of this rank's rows, and of its GPU's rows */
    long gpu_id;       /* number of the rank's GPU in the trace */
    long source;       /* group * ranks + rank: unique in a merged file */
    long id;           /* the largest id used so far */
    long host_id, operation_id, collective_id;
    int first; /* 1: no row has been written yet */
    int *slot; /* [collectives] lane of each on the host; concurrent collectives have different lanes */
    int slots;
    struct interval *step; /* [steps] when the training thread was in each; 0: not recorded */
    int64_t end;           /* latest end of the spans so far, as ts */
    size_t n;              /* bytes in text that are not yet in the sink */
    int failed;            /* 1: the sink failed; nothing more is written */
    char text[1 << 16];
};

/* ---- text ---- */

/* Write, in this order: a string (at most 64 KiB); text as printf (less than 1 KiB); a whole number; nanoseconds as
 * microseconds with three decimals (0 if negative); a JSON string. */
void trace_put(struct trace_writer *w, const char *text);
void trace_print(struct trace_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_put_count(struct trace_writer *w, uint64_t value);
void trace_put_us(struct trace_writer *w, int64_t ns);
void trace_put_string(struct trace_writer *w, const char *text);

/* Writes the remaining text to the sink. Returns 0; or -1 if the sink failed. */
int trace_flush(struct trace_writer *w);

/* ---- rows ---- */

/* Converts a time of this rank's clock to ts: nanoseconds since the base, on rank 0's clock. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* Begins a row, to which the caller may write more members, and which the caller must close. */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts);

/* Begin a span whose "External id" is `id`: from two times of this rank's clock; from two ts. The caller may write more
 * "args"; trace_span_end closes "args" and writes the name of the span. */
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id);
void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id);
void trace_span_end(struct trace_writer *w, const char *name);

/* Names a lane: a "process" (thread 0) or a "thread". Writes its name (printf's, less than 600 bytes), its labels
 * unless NULL, and its place in the order of lanes. */
void trace_put_lane(struct trace_writer *w, const char *of, long pid, long thread, int place, const char *labels,
                    const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Without a tracer, writes an argument that links a row of the host to the GPU's row with the same external id, as
 * correlations link calls to kernels. */
void trace_put_stamped(struct trace_writer *w, long id);

/* ---- collectives ---- */

/* Chooses for each collective on the host the first lane that is free (free w->slot after use); names the lanes. */
void trace_choose_slots(struct trace_writer *w);
void trace_put_slots(struct trace_writer *w);

/* Writes the host's row of each collective: the collective itself, or the call that launched it on the GPU. */
void trace_put_collectives(struct trace_writer *w);

/* Writes the list of ranks, 0 to ranks - 1; abbreviated, as in Kineto: the first ranks and the last. */
void trace_put_group(struct trace_writer *w, int abbreviated);

/* Writes the arguments of collective i, after those already written. */
void trace_put_collective(struct trace_writer *w, size_t i);

/* ---- the GPU ---- */

/* Writes the rows of the GPU, and of the calls that led to its work. */
void trace_put_device(struct trace_writer *w);

#endif
