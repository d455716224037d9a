/* trace.h - writes a timeline as a Chrome trace, for chrome://tracing, Perfetto and Holistic Trace Analysis.
 *
 * Format: Chrome's Trace Event Format (JSON object format). Steps and collectives have the names and arguments that
 * PyTorch's Kineto gives them, so that tools for Kineto's traces can read the file. */
#ifndef BENCH_MEASURE_TRACE_TRACE_H
#define BENCH_MEASURE_TRACE_TRACE_H

#include "ddp/tensors.h"
#include "kernels/accelerator.h"
#include "kernels/activity.h"
#include "spans/spans.h"

#include <stdio.h>

/* A captured step, without its spans. */
struct captured_step {
    long number;      /* number in the schedule, from 0; the trace calls it ProfilerStep#(number + 1) */
    long global_step; /* number among all steps that this process ran */
    long epoch;       /* number of the epoch, from 0 */
    int warmup;       /* 1: in a warm-up epoch */
    float learning_rate;
    float loss, grad_norm; /* values on this rank; grad_norm is before clipping; NAN: this step does not clip */
    double max_norm;       /* the norm to which gradients are clipped in warm-up steps */
    size_t resident_bytes; /* resident memory of this process after the step; 0: not recorded */
};

/* What a rank's trace contains; the caller owns what it points to. */
struct trace {
    const char *name, *implementation, *device, *comm, *host; /* name: traceName is <name>_rank_<r>_trace.json */
    int rank, ranks;
    int group;                     /* number of this trace, from 0, among a rank's several traces in a merged file */
    long pid, thread, comm_thread; /* process and thread ids; comm_thread 0: none */
    int64_t base_ns;               /* the time on rank 0's clock that is ts 0 in the trace, on all ranks */
    int64_t base_unix_ns;          /* the Unix time of ts 0 */
    const struct timeline *timeline;
    const struct alignment *alignment;
    struct step_times *times;   /* [steps] */
    struct captured_step *step; /* [steps] */
    int steps;
    const struct collectives *collectives;
    size_t *parameters;            /* [buckets] parameters in each bucket of the plan */
    const struct tensor *tensor;   /* [tensors] whose gradients become final; NULL: not written */
    size_t compute_bytes;          /* bytes of a number of the device's compute type */
    int without_cpu, without_cuda; /* without_cpu 1: leave out operations of the host; without_cuda 1: the GPU's work */

    const struct gpu_facts *gpu; /* this rank's GPU; NULL: the rank computes on the CPU */
    struct gpu_facts *seen;      /* [gpus] all GPUs that this process sees */
    int gpus;
    struct gpu_facts *of_rank;           /* [ranks] GPU of each rank, for the head of a merged trace */
    const struct activities *activities; /* records of the GPU's tracer, attributed to spans; NULL: only CUDA events */
    const char *untraced;                /* why activities is NULL */
    const char *nccl_version;            /* NULL: collectives do not run on the GPU */
};

/* What to write: a whole file of one rank; or a part of a merged file of all ranks: the head, the rows of a rank and
 * group (FIRST_ROWS: the file's first), or the tail. Process numbers in a merged file depend on rank and group. */
enum trace_part { TRACE_WHOLE, TRACE_MERGED_HEAD, TRACE_MERGED_FIRST_ROWS, TRACE_MERGED_ROWS, TRACE_MERGED_TAIL };

/* Writes a trace, or a part of one, to a stream, which notes if a write fails (ferror). */
void trace_write(const struct trace *trace, FILE *out, enum trace_part part);

#endif
