/* trace.h - writes a timeline as a Chrome trace, for chrome://tracing, Perfetto and Holistic Trace Analysis.
 *
 * Format: the Trace Event Format of Chrome (JSON object format), with the names and arguments that PyTorch's Kineto
 * gives to steps and collectives, so that tools for traces of Kineto read these. */
#ifndef BENCH_MEASURE_TRACE_TRACE_H
#define BENCH_MEASURE_TRACE_TRACE_H

#include "kernels/accelerator.h"
#include "kernels/activity.h"
#include "spans/spans.h"

/* A captured step, apart from its spans. */
struct captured_step {
    long number;      /* of the schedule, from 0; named ProfilerStep#(number + 1) in the trace */
    long global_step; /* of all steps that this process ran */
    long epoch;       /* from 0 */
    int warmup;       /* 1 in a warm-up epoch */
    float learning_rate;
    float loss, grad_norm; /* of this rank; the norm is NAN if not computed */
    size_t resident_bytes; /* of the process after the step; 0 if not recorded */
};

/* The contents of a rank's trace. Owns nothing. */
struct trace {
    const char *name, *implementation, *device, *comm, *host; /* name: the file is <name>_rank_<r>_trace.json */
    int rank, ranks;
    int group; /* number of the trace of this rank, from 0, in a merged file with several of each rank */
    long pid, thread, comm_thread; /* ids of the operating system; comm_thread 0: none */
    int64_t base_ns;               /* ts 0, on rank 0's clock; the same on all ranks */
    int64_t base_unix_ns;          /* ts 0 in Unix time */
    const struct timeline *timeline;
    const struct alignment *alignment;
    const struct step_times *times;   /* [steps] */
    const struct captured_step *step; /* [steps] */
    int steps;
    const struct collectives *collectives;
    const size_t *parameters;      /* of each bucket of the plan */
    size_t compute_bytes;          /* size of the device's compute type */
    int shapes, flops, counters;   /* 1: write them too */
    int without_cpu, without_cuda; /* 1: leave out the CPU's or the GPU's activities */

    const struct gpu_facts *gpu; /* the GPU of this rank; NULL: it computes on the CPU */
    int gpu_index;
    const struct gpu_facts *seen; /* [gpus] the GPUs that its process sees */
    int gpus;
    const struct gpu_facts *of_rank;     /* [ranks] the GPU of each rank, for the head of a merged trace */
    const struct activities *activities; /* attributed records of the GPU's tracer; NULL: only stamps of the device */
    const char *untraced;                /* the reason for activities == NULL */
    const char *nccl_version;            /* NULL: collectives run on the host */
};

/* Receives the text; write returns 0, or -1, reported. */
struct trace_sink {
    int (*write)(void *context, const char *text, size_t n);
    void *context;
};

/* A trace file of one rank; or a part of a merged file of all ranks: the head, the rows of each rank and group in turn,
 * or the tail. In a merged file processes are numbered by rank and group. */
enum trace_part { TRACE_WHOLE, TRACE_MERGED_HEAD, TRACE_MERGED_FIRST_ROWS, TRACE_MERGED_ROWS, TRACE_MERGED_TAIL };

/* Writes a trace or a part of one. Returns 0; or -1, reported by the sink. */
int trace_write(const struct trace *trace, const struct trace_sink *sink, enum trace_part part);

#endif
