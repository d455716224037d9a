/* rows.h - writes the rows that make up a trace. */
#ifndef BENCH_MEASURE_TRACE_ROWS_H
#define BENCH_MEASURE_TRACE_ROWS_H

#include "trace/trace.h"

/* The stream number of operations and collectives on the host. Analysers count rows with a stream as work. Holistic
 * Trace Analysis assigns a cpu_op row to a step by the row's time if its stream is 0, else by its launch. */
enum { STREAM_HOST = 0 };

/* The first thread number of lanes that are not threads; it is above the numbers of all real threads. */
enum { MADE_UP_THREAD = 5000000 };

/* Rows that other rows refer to have fixed external ids: host_id + i for span i of the host lane, operation_id + i for
 * operation i, collective_id + i for collective i. All other rows take the next free id. */
struct trace_writer {
    const struct trace *trace;
    FILE *out;
    long pid, gpu_pid; /* process numbers of this rank's rows, and of its GPU's rows */
    long gpu_id;       /* number of the rank's GPU in the trace */
    long source;       /* group * ranks + rank: differs for each trace in a merged file */
    long id;           /* the largest id used so far */
    long host_id, operation_id, collective_id;
    int first; /* 1: the next row is the first row of the file */
    int *slot; /* [collectives] lane of each collective on the host; concurrent ones have different lanes */
    int slots;
    struct interval *step; /* [steps] when the training thread ran each step; 0: not recorded */
    int64_t end;           /* latest end of all spans written so far, in ns since trace->base_ns */
};

/* ---- text ---- */

/* Write nanoseconds as microseconds with three decimals (0 if negative); a JSON string. */
void trace_put_us(struct trace_writer *w, int64_t ns);
void trace_put_string(struct trace_writer *w, const char *text);

/* ---- rows ---- */

/* Converts a time of this rank's clock to ts: nanoseconds since trace->base_ns, on rank 0's clock. */
int64_t trace_row_time(const struct trace *trace, int64_t ns);

/* Begins a row with "ph" = `phase`. The caller may write more members, and must close the row. */
void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts);

/* Begin a span whose "External id" is `id`; trace_span_begin takes times of this rank's clock, trace_ts_span_begin
 * takes ts. The caller may write more "args"; trace_span_end closes "args" and writes the name of the span. */
void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id);
void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id);
void trace_span_end(struct trace_writer *w, const char *name);

/* Writes a lane's name (printf's, less than 600 bytes), labels (NULL: none) and place in the order of lanes. of:
 * "process" (thread 0) or "thread". */
void trace_put_lane(struct trace_writer *w, const char *of, long pid, long thread, int place, const char *labels,
                    const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Without a tracer, writes a correlation that links a row of the host to the GPU's row with the same external id. */
void trace_put_stamped(struct trace_writer *w, long id);

/* ---- collectives ---- */

/* trace_choose_slots sets w->slot, which the caller frees, and w->slots; trace_put_slots names these lanes. */
void trace_choose_slots(struct trace_writer *w);
void trace_put_slots(struct trace_writer *w);

/* Writes the host's row of each collective: the collective itself, or the call that launched it on the GPU. */
void trace_put_collectives(struct trace_writer *w);

/* Writes the list of ranks, 0 to ranks - 1; abbreviated 1: only the first ranks and the last, as Kineto does. */
void trace_put_group(struct trace_writer *w, int abbreviated);

/* Appends the arguments of collective i to the "args" of the row that is being written. */
void trace_put_collective(struct trace_writer *w, size_t i);

/* ---- the GPU ---- */

/* Writes the rows of the GPU, and the calls of the host that led to its work. */
void trace_put_device(struct trace_writer *w);

#endif
