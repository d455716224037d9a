/* training.h - blocks of every implementation in turn on the same model, and what came of it: what the benchmark and
 * the profile are both made of. */
#ifndef BENCH_TRAINING_TRAINING_H
#define BENCH_TRAINING_TRAINING_H

#include "ddp/job.h"
#include "machine/machine.h"
#include "monitor/monitor.h"
#include "results/results.h"
#include "spans/spans.h"
#include "training/options.h"

enum { DISCARDED_STEPS = 2 }; /* at the start of a block, not timed */

/* ---- samples: one for each block, that is for each round of each implementation ---- */

/* A sample's figures, in seconds: a phase is its time per step, averaged over the timed steps of a block and over
 * ranks; FIGURE_STEP is the block's time / timed steps on the slowest rank. */
enum { FIGURE_STEP = PHASES, FIGURES };

struct measurements {
    int n;           /* implementations */
    size_t capacity; /* rounds that there is room for */
    size_t rounds;   /* complete rounds so far */
    double *seconds; /* [n, FIGURES, capacity] */
};

/* Room for `capacity` rounds of n implementations, none measured yet. Release with measurements_destroy. */
void measurements_create(struct measurements *measurements, int n, size_t capacity);
void measurements_destroy(struct measurements *measurements); /* zeroed ones are fine */

/* The samples [rounds] of one figure of one implementation. */
double *measurements_of(const struct measurements *measurements, int implementation, int figure);

/* ---- losses: do the strategies train the same model? Every block starts from the same weights and data, so all that
 * reduce the whole gradient in fp32 must find the same losses, up to the order of the sums. ---- */

struct losses {
    int steps;        /* of a block, the ones that are not timed included */
    int judged;       /* the first step whose loss comes after an update that moved the weights; -1 if none does */
    double *mean;     /* [steps] of the last block, over ranks */
    double *expected; /* [steps] of the first block that must agree */
    double *gathered; /* [ranks, steps] */
    int have_expected;
    double difference; /* largest relative difference so far, NAN before there were two to compare */
    double wrong;      /* the same in the judged step, where only the order of the sums may tell */
    int not_a_number;  /* a loss was NaN or infinite */
};

/* For blocks of that many steps on that many ranks; `judged` as in the struct. Release with losses_destroy. */
void losses_create(struct losses *losses, int steps, int judged, int ranks);
void losses_destroy(struct losses *losses); /* a zeroed one is fine */

/* Takes this rank's loss of each step, mine[steps], of a block. must_agree: its strategy reduces the whole gradient in
 * fp32. All ranks call it and know the same afterwards. */
void losses_add(struct losses *losses, const struct job *job, const double *mine, int must_agree);

/* Whether a gradient was reduced wrongly: the judged step differs by more than 1e-3, which no order of fp32 sums
 * explains. */
int losses_are_wrong(const struct losses *losses);

/* ---- what a run will need, by part, known before anything is allocated ---- */

enum memory_part {
    MEMORY_WEIGHTS, /* the weights, and the copy that every block starts from */
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,     /* AdamW's two moments */
    MEMORY_ACTIVATIONS,   /* what forward keeps for backward, and scratch */
    MEMORY_COMMUNICATION, /* staged buffers, and the temporary copy that MPI makes while it reduces */
    MEMORY_RECORDS,       /* the spans of a block's steps, and one sample of every block */
    MEMORY_PARTS
};
extern const char *const memory_part_name[MEMORY_PARTS];

/* What a run keeps for a capture of its steps; zeroed: nothing. */
struct recording {
    int operations, allocations; /* 1: of the device, as spans */
    double buffer_mb;            /* for captured spans, MiB a rank */
    const char *gpu_option;      /* an option that was given and is for GPUs alone; NULL: none */
};

/* Steps whose spans the buffer of a recording holds, of the epochs' steps at most. */
size_t memory_capture_room(const struct recording *recording, const struct training_options *options,
                           const struct model *model);

/* Spans of each lane that a run has room for. */
void memory_spans(const struct recording *recording, const struct training_options *options, const struct model *model,
                  size_t spans[TIMELINE_LANES]);

/* Bytes of one rank by part, from a planned model. */
void memory_estimate(size_t bytes[MEMORY_PARTS], const struct recording *recording,
                     const struct training_options *options, const struct model *model, int ranks);
/* Their sum; and the parts in words. */
size_t memory_total(const size_t bytes[MEMORY_PARTS]);
const char *memory_words(const size_t bytes[MEMORY_PARTS], char text[256]);

/* Returns 0 if what so many ranks need together fits into the bytes available in a GPU (there without the records) or
 * in a host, which is called by its name; or -1, reported, with the parts. */
int memory_check(const size_t bytes[MEMORY_PARTS], const char *name, int is_gpu, size_t available, int ranks);

/* ---- the run ---- */

/* What ran beside the blocks, and what spans were lost. */
struct block_counts {
    size_t blocks, with_other_processes; /* measured; of these beside MONITOR_OTHER_CORES of other processes or more */
    double other_cores;                  /* the most cores that other processes used during a block */
    double comm_cpu_seconds;             /* of rank 0's communication thread, in the timed steps of strategies that */
    double comm_seconds;                 /* reduce, which took so long together */
    int dropped_spans;
};

/* Everything that runs. Known to training/ and to the two commands that run it; what they call takes parts of it. */
struct run {
    const struct job *job;
    const struct training_options *options;
    int threads;
    double cores_per_rank;
    struct host_facts host;
    size_t memory[MEMORY_PARTS];

    int64_t origin_ns; /* of this rank's clock, near the start: what times in the results count from */
    struct open_device opened;
    const struct device *device, *traced; /* the same device without and with a record of its operations; traced is
                                             NULL where no row is traced */
    struct model model;
    struct data *data;
    struct timeline timeline;
    struct comm *comm;
    float *gradient;         /* [model.arena] of the comm's memory */
    struct reducer *reducer; /* [options->n] */
    struct trainer trainer;
    long steps_run; /* by this process, of all implementations */

    struct monitor *monitor;           /* NULL: none */
    struct monitor_findings monitored; /* by it; complete after run_stop_monitor */
    int watches_cpu;                   /* it tells more of other processes than the blocks do */

    struct measurements measurements;
    struct losses losses;
    struct block_counts counts;
};

/* What a mode does beside measuring. All ranks call both at the same points. */
struct run_hooks {
    void *context;
    /* A block is over; its spans are still in the timeline. times and overlap are [DISCARDED_STEPS + block_steps].
     * NULL: nothing. */
    void (*block)(void *context, struct run *run, const struct step_times *times, const struct overlap *overlap,
                  int implementation, size_t round);
    /* Some time has gone by: write what there is. Returns 0; or -1, reported. */
    int (*summary)(void *context, struct run *run, const struct results *results);
};

/* Plans, checks what fits, opens data and results (in `target`), allocates, writes run.json for that mode and command.
 * recording says what is kept for a capture; zeroed: nothing. Returns 0; or -1 on every rank, and rank 0 has said why.
 * End with run_tear_down in both cases. */
int run_set_up(struct run *run, const struct run_options *options, const struct recording *recording, const char *mode,
               const struct command *command, const struct results_target *target, struct results *results);
void run_tear_down(struct run *run);

/* Nothing more will be measured: ends the monitors that set-up started. Returns 0; or -1 when their files are not
 * complete, and rank 0 has said why. */
int run_stop_monitor(struct run *run);

/* Puts an implementation to work, with the schedule and the data at `step`. */
void run_start(struct run *run, int implementation, long step);

/* All rounds; measurements and losses are complete afterwards up to run->measurements.rounds. Returns 0; or -1 when
 * results could not be written, and rank 0 has said why. */
int run_rounds(struct run *run, struct results *results, const struct run_hooks *hooks);

/* Says on stderr of rank 0 what is wrong with the losses, if anything. */
void run_report_losses(const struct run *run);

/* Adds to a summary (results_summary_create) the lines that say what was run, as its heading; and as its notes what a
 * reader of the figures must know of the machine and the losses meanwhile, with the counts of blocks and what the
 * monitors found as members. */
void run_add_heading(const struct run *run, const char *epochs_or_regime, cJSON *summary);
void run_add_notes(const struct run *run, cJSON *summary);

/* Writes run.json: what was run, where, and with what. All ranks call; rank 0 writes. 0, or -1, reported. */
int run_json_write(const struct run *run, const char *mode, const struct command *command,
                   const struct results *results);

/* ---- telemetry: rank_<r>_metrics.jsonl, a line of JSON for each step ---- */

/* A block, as far as its lines say what it was. */
struct block_facts {
    const struct implementation *row;
    size_t round, block;
    int steps;          /* the DISCARDED_STEPS included */
    long schedule_step; /* of the first step, in the schedule */
    long steps_before;  /* that this process had run */
    double other_cores; /* that other processes used meanwhile */
    int64_t origin_ns;  /* where `start` counts from */
    int log_grad_norm;  /* the norm is known in every step, not only in warm-up epochs */
    int on_device;      /* communication is the device's own work (struct comm) */
};

/* Appends the steps of a block: times and overlap are [steps], record is [steps, RECORDS]. 0, or -1, reported. */
int telemetry_write_block(struct results *results, const struct block_facts *block, const struct lr_schedule *schedule,
                          const struct step_times *times, const struct overlap *overlap, const float *record);

/* Members of a line, each behind a comma: a number, or null for one that is not finite; the times of a step, from
 * origin_ns; what is known of its overlap, with `traced` also what needs its operations. */
void telemetry_print_number(FILE *out, const char *name, double value);
void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step);
void telemetry_print_overlap(FILE *out, const struct overlap *overlap, int traced, int on_device);

/* ---- what perfect overlap of each plan of collectives would reach (--attainable) ---- */

/* Seconds from a step's start in which perfect overlap of a plan of n collectives would be done:
 * max(C, max over i of (ready_i + sum over j >= i of alone_j)) + rest, where C is the end of backward, ready[i] when
 * the last gradient of collective i is final (both without communication), alone[i] the time of that collective by
 * itself, and rest clipping and optimizer. The order is that in which backward completes the buckets, also for a
 * strategy that launches them in another one: the bound is what the same collectives could reach. */
double attainable_of_plan(int n, const double *ready, const double *alone, double backward_end, double rest);

struct attainable;

/* Room for `rounds` rounds of n implementations on a model of that many tensors. The reducers [n] must outlive it.
 * Release with attainable_destroy; NULL is fine. */
struct attainable *attainable_create(const struct reducer *reducer, int n, int tensors, size_t rounds);
void attainable_destroy(struct attainable *attainable);

/* After a block of an implementation, whose spans are still in the timeline (and stay there). From `none`: when each
 * gradient was final in the timed steps. Of the others: the time of each collective by itself, with the ranks otherwise
 * idle. All ranks call it. */
void attainable_measure(struct attainable *attainable, struct run *run, const struct step_times *times,
                        int implementation, size_t round);

/* Of this rank in one round of an implementation that reduces: how much longer its collectives took in its block, whose
 * spans are in the timeline: the median over the collectives of (mean duration in steps [first, n)) / (duration alone);
 * and in *alone the seconds of all of them alone. */
double attainable_slowdown(const struct attainable *attainable, const struct timeline *timeline, int implementation,
                           size_t round, int first, int n, double *alone);

/* seconds[n] = attainable step time of each implementation (defined in results/README.md), from medians over the first
 * `rounds` rounds, of the slowest rank; NAN for one that does not reduce. All ranks call it. */
void attainable_compute(const struct attainable *attainable, const struct job *job, size_t rounds, double *seconds);

#endif
