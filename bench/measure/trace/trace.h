/* trace.h - writes a timeline as a Chrome trace, for chrome://tracing, Perfetto and Holistic Trace Analysis.
 *
 * Format: the Trace Event Format of Chrome (JSON object format), with the names and arguments that PyTorch's Kineto
 * gives to steps and collectives, so that tools made for its traces read these. */
#ifndef BENCH_MEASURE_TRACE_TRACE_H
#define BENCH_MEASURE_TRACE_TRACE_H

#include "kernels/accelerator.h"
#include "kernels/activity.h"
#include "spans/spans.h"

/* What is known of a captured step, apart from its spans. */
struct captured_step {
    long number;      /* among the epochs' steps, from 0; the trace says ProfilerStep#(number + 1) */
    long global_step; /* among all that this process ran */
    long epoch;       /* from 0 */
    int warmup;       /* whether that is a warm-up epoch */
    float learning_rate;
    float loss, grad_norm; /* of this rank; the norm is NAN where none was computed */
    size_t resident_bytes; /* of the process after the step; 0 if not recorded */
};

/* Everything that a rank's trace is written from; it owns nothing. */
struct trace {
    const char *name, *implementation, *device, *comm, *host; /* name: of the file, before _rank_<r>_trace.json */
    int rank, ranks;
    int group; /* in a file of all ranks that holds several traces of each: which one of them, from 0 */
    long pid, thread, comm_thread; /* operating system's numbers; comm_thread 0 if there is none */
    int64_t base_ns;               /* where ts counts from, in rank 0's time; the same on all ranks */
    int64_t base_unix_ns;          /* the same moment in Unix time */
    const struct timeline *timeline;
    const struct alignment *alignment;
    const struct step_times *times;   /* [steps] */
    const struct captured_step *step; /* [steps] */
    int first, steps;                 /* slots [first, steps) are written */
    const struct collectives *collectives;
    const size_t *parameters;      /* of each bucket of the plan */
    size_t compute_bytes;          /* of a number of the device's compute type */
    int shapes, flops, counters;   /* what else to write: 0 or 1 each */
    int without_cpu, without_cuda; /* activities to leave out */

    const struct gpu_facts *gpu; /* that the rank computes on; NULL: the CPU */
    int gpu_index;
    const struct gpu_facts *seen; /* [gpus] that its process sees */
    int gpus;
    const struct gpu_facts *of_rank;     /* [ranks] that each computes on, for the head of a trace of all */
    const struct activities *activities; /* a tracer's records of the GPU, attributed; NULL: only the device's stamps */
    const char *untraced;                /* why there are none */
    const char *nccl_version;            /* where collectives run on the GPU; NULL: on the host */
};

/* Where text goes: write returns 0; or -1, reported. */
struct trace_sink {
    int (*write)(void *context, const char *text, size_t n);
    void *context;
};

/* A trace file of one rank; or the parts of one of all ranks: its head, the rows of each rank and group in turn
 * (processes are numbered by these), its tail. */
enum trace_part { TRACE_WHOLE, TRACE_MERGED_HEAD, TRACE_MERGED_FIRST_ROWS, TRACE_MERGED_ROWS, TRACE_MERGED_TAIL };

/* Returns 0; or -1, reported by the sink. */
int trace_write(const struct trace *trace, const struct trace_sink *sink, enum trace_part part);

#endif
