/* training.h - blocks of every implementation in turn on the same model, and what came of it: what the benchmark and
 * the profile are both made of. */
#ifndef BENCH_MEASURE_TRAINING_TRAINING_H
#define BENCH_MEASURE_TRAINING_TRAINING_H

#include "kernels/activity.h"
#include "spans/spans.h"
#include "training/attainable.h"
#include "training/options.h"

/* ---- samples: one for each block, that is for each round of each implementation ---- */

/* A sample's figures, in seconds: a phase is its time per step, averaged over the timed steps of a block and over
 * ranks; FIGURE_STEP is the block's time / timed steps on the slowest rank. */
enum { FIGURE_STEP = PHASES, FIGURES };

struct measurements {
    int n;           /* implementations */
    size_t capacity; /* rounds that there is room for */
    size_t rounds;   /* complete rounds so far */
    double *seconds; /* [n, FIGURES, capacity]; NAN in rounds in which an implementation rested */
};

/* Room for `capacity` rounds of n implementations, none measured yet. Release with measurements_destroy. And the
 * samples [rounds] of one figure of one implementation. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* zeroed ones are fine */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

/* ---- losses: do the strategies train the same model? Every block starts from the same weights and data, so all that
 * reduce the whole gradient in fp32 must find the same losses, up to the order of the sums. ---- */

struct losses {
    int steps;         /* of a block, the ones that are not timed included */
    int judged;        /* the first step whose loss comes after an update that moved the weights; -1 if none does */
    double *mean;      /* [steps] of the last block, over ranks */
    double *expected;  /* [steps] of the first block that must agree; NULL before it */
    double difference; /* largest relative difference so far, NAN before there were two to compare */
    double wrong;      /* the same in the judged step: above 1e-3 a gradient was reduced wrongly */
    int not_a_number;  /* a loss was NaN or infinite */
};

/* ---- the memory that a run needs, by part ---- */

enum memory_part {
    MEMORY_WEIGHTS, /* the weights, and the copy that every block starts from */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,     /* AdamW's two moments */
    MEMORY_ACTIVATIONS,   /* what forward keeps for backward, and scratch */
    MEMORY_COMMUNICATION, /* staged buffers, and the temporary copy that MPI makes while it reduces */
    MEMORY_STAGING,       /* on a GPU by MPI: the host's memory for them and for the gradients, and MPI's copy */
    MEMORY_DATA,          /* micro-batches, and on rank 0 the piece of a checkpoint that is being written */
    MEMORY_RECORDS,       /* the spans of a block's steps, and one sample of every block */
    MEMORY_PARTS
};
extern const char *const memory_part_name[MEMORY_PARTS];

/* What a run keeps for a capture of its steps; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: of the device, as spans */
    int gpu;                     /* 1: of a GPU, what its tracer records */
    double buffer_mb;            /* for captured spans, MiB a rank */
    const char *gpu_option;      /* an option that was given and is for GPUs alone; NULL: none */
};

/* ---- the tracer of a GPU, which records while traced implementations run ---- */

struct gpu_tracer {
    const struct device *device;  /* NULL: none is wanted */
    int on, started;              /* it records; it has done so before */
    int keeps;                    /* the steps that run now are kept */
    struct activities activities; /* of the steps that are kept, once held or stopped */
    struct activities_mark kept;  /* where they ended after the last of these */
    struct lane work;             /* what the GPU did for operations of these steps (activities_attribute) */
    char untraced[512];           /* why it did not start; "": it did */
};

/* Memory for the records of steps that leave at most so many spans together. */
void gpu_tracer_create(struct gpu_tracer *tracer, const struct device *device, const size_t spans[TIMELINE_LANES]);
void gpu_tracer_destroy(struct gpu_tracer *tracer); /* a zeroed one is fine */

/* Starts it anew, for steps that are kept; unless it is on, or not wanted, or could not start before. */
void gpu_tracer_start(struct gpu_tracer *tracer);

/* A step is going to run which is kept, or not. Waits for the device where the one before was of the other kind. */
void gpu_tracer_step(struct gpu_tracer *tracer, int keep);

/* Between two steps: waits for the device, and then activities and work are those of all steps that were kept, and the
 * operations of the timeline have their times; the tracer adds none until gpu_tracer_release. */
void gpu_tracer_hold(struct gpu_tracer *tracer, struct timeline *timeline);
void gpu_tracer_release(struct gpu_tracer *tracer);

/* After the last step: the same, and the tracer ends. */
void gpu_tracer_stop(struct gpu_tracer *tracer, struct timeline *timeline);

/* ---- the run ---- */

/* What other processes and the communication thread did during the blocks, and what spans were lost. */
struct block_counts {
    size_t blocks, watched_blocks; /* measured; those for which it is known what other processes did */
    size_t with_other_processes;   /* blocks with MONITOR_OTHER_CORES or more in use by others */
    double other_cores;            /* the most cores that other processes used during a block */
    size_t peak_bytes;             /* the most memory in use on this rank until the last block began */
    double comm_cpu_seconds;       /* of rank 0's communication thread, in the timed steps of strategies that */
    double comm_seconds;           /* reduce, which took so long together */
    int dropped_spans;
};

/* Everything that runs. Known to training/ and to the two commands that run it; what they call takes parts of it. */
struct run {
    const struct job *job;
    const struct training_options *options;
    int threads;
    double cores_per_rank;
    struct host_facts host;
    struct recording recording;
    size_t memory[MEMORY_PARTS]; /* estimated bytes of a rank */
    const char *directory;       /* that results go to, for messages */
    int64_t origin_ns;           /* of this rank's clock, near the start: what times in the results count from */
    struct open_device opened;
    struct blas_facts blas; /* on the CPU: of rank slowest_products, see products_measure */
    int slowest_products;
    const struct device *device, *traced; /* the same device without and with a record of its operations; traced is
                                             NULL where no row is traced */
    struct model model;
    struct timeline timeline;
    struct gpu_tracer gpu_tracer;
    struct comm *comm;
    struct reducer *reducer; /* [options->n] */
    struct trainer trainer;
    long steps_run; /* by this process, of all implementations */

    struct monitor *monitor;           /* NULL: none */
    struct monitor_findings monitored; /* by it; complete after run_stop_watching */
    int watches_cpu;                   /* its findings on other processes replace those of the blocks */
    struct measurements measurements;
    size_t planned; /* rounds, as far as is known; those of the measurements: run_rounds made all that it meant to */
    char resting[MAX_IMPLEMENTATIONS]; /* 1: an implementation has no blocks in the rounds to come */
    double warm_step;                  /* seconds, about, on the slowest rank */
    struct losses losses;
    struct block_counts counts;
};

/* A block that is over. The arrays are [DISCARDED_STEPS + block_steps]. */
struct block {
    size_t number, round;
    int implementation;
    long first_step;    /* among all that this process ran */
    double other_cores; /* that other processes used since the last block that has it; NAN: none yet */
    double seconds;     /* of the timed steps together, on this rank */
    double comm_cpu_seconds, comm_seconds; /* of rank 0's communication thread: the time that it ran, and how long the
                                              timed steps took; 0 for what does not reduce */
    size_t peak_bytes; /* most memory in use on this rank meanwhile, as of open_device_memory; 0: unknown */
    struct step_times *times;
    struct overlap *overlap;
    float *record; /* of each step [RECORDS] */
    double *loss;  /* of this rank */
};

/* What a mode does with what is measured. All ranks call all but rounds_needed at the same points. */
struct run_hooks {
    void *context;
    /* A block is over; its spans are still in the timeline. Returns 0; or -1, reported: it could not be written. */
    int (*block)(void *context, struct run *run, const struct block *block);
    /* Some time has gone by: write what there is. Returns 0; or -1, reported. */
    int (*summary)(void *context, struct run *run);
    /* With --resolve, on rank 0 alone: how many rounds answer the question, at most those made if they do. */
    double (*rounds_needed)(const struct measurements *measurements, const struct implementation *implementation,
                            double resolve);
    /* NULL; or before the first round and after each one, `seconds` since the first began on rank 0: sets run->resting
     * and run->planned, on all ranks alike. It says on stderr how long the run will take, and shows its progress. */
    void (*plan)(void *context, struct run *run, double seconds);
};

/* For a run of which job and recording are set: opens the device, plans, checks what fits, and opens data, results (in
 * `target`) and the communication backend, so that all is known that a heading says. Returns 0; or -1 on every rank,
 * and rank 0 has said why. End with run_tear_down in both cases, as after run_set_up. */
int run_plan(struct run *run, const struct run_options *options, const struct results_target *target,
             struct results *results);

/* On the CPU, says on stderr how long a step will take, and so many of them, or with a limit in seconds above 0 that it
 * ends them: the operations of the model at half the rate of matrix products alone, which is about what steps reach.
 * All ranks call. */
void run_estimate(const struct run *run, size_t steps, double limit);

/* Allocates what is planned, and writes run.json for that mode and command. Returns as run_plan does. */
int run_set_up(struct run *run, const char *mode, const struct command *command, const struct results *results);
void run_tear_down(struct run *run);

/* Ends the monitors that set-up started. 0; or -1 when their files are not complete, and rank 0 has said why. */
int run_stop_watching(struct run *run);

/* Steps whose spans the buffer of the recording holds, of the epochs' steps at most. */
size_t run_capture_room(const struct run *run);

/* The most collectives of a step of any implementation. */
size_t run_most_collectives(const struct run *run);

/* Puts an implementation to work, with the schedule and the data at `step`; where that is traced, the GPU's tracer
 * records from now on. */
void run_start(struct run *run, int implementation, long step);

/* What says when the rank computed in the steps of the timeline, for overlap_of_steps: operations on a device that
 * finishes each before it returns; on a GPU the work that its tracer saw; NULL: none did, or not all of it. */
const struct lane *run_computing(const struct run *run);

/* Runs some first steps of an implementation: one that is cold, whose seconds are *first, and 1 to 9 more, until all
 * have taken half a second together. Returns the median of the warm ones on the slowest rank, the same on every rank:
 * about how long a step will take. All ranks. */
double run_try_steps(struct run *run, int implementation, double *first);

/* Says on stderr where results go, and how long the rounds will take. Then all rounds; measurements and losses are
 * complete afterwards up to run->measurements.rounds. Returns 0; or -1 when results could not be written, and rank 0
 * has said why. */
int run_rounds(struct run *run, const struct run_hooks *hooks);

/* Says on stderr of rank 0 what is wrong with the losses, if anything. Returns -1 where a gradient was reduced wrongly,
 * otherwise 0. */
int run_check_losses(const struct run *run);

/* Writes run.json: what was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int run_json_write(const struct run *run, const char *mode, const struct command *command,
                   const struct results *results);

/* The most memory in use on this rank so far, as of open_device_memory. */
size_t run_peak_memory(const struct run *run);

/* Adds to a summary (results_summary_create) the lines that say what was run, as its heading (epochs: the one that says
 * which steps it makes; NULL: blocks of the regime); and as its notes what a reader of the figures must know of the
 * machine and the losses meanwhile, with the counts of blocks and what the monitors found as members. */
void run_add_heading(const struct run *run, const char *epochs, cJSON *summary);
void run_add_notes(const struct run *run, cJSON *summary);

/* ---- telemetry: rank_<r>_metrics.jsonl, a line of JSON for each step ----
 *
 * Members of a line, each behind a comma: a number, or null for one that is not finite; the times of a step, from
 * origin_ns; what is known of its overlap, with `traced` also what needs its operations. */
void telemetry_print_number(FILE *out, const char *name, double value);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

/* Appends a line for each step of a block. 0, or -1, reported. */
int telemetry_write_block(struct results *results, const struct run *run, const struct block *block);

#endif
