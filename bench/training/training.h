/* training.h - blocks of every implementation in turn on the same model, and what came of it: what the benchmark and
 * the profile are both made of. */
#ifndef BENCH_TRAINING_TRAINING_H
#define BENCH_TRAINING_TRAINING_H

#include "ddp/job.h"
#include "machine/machine.h"
#include "monitor/monitor.h"
#include "results/results.h"
#include "spans/spans.h"
#include "training/attainable.h"
#include "training/losses.h"
#include "training/measurements.h"
#include "training/memory.h"
#include "training/options.h"
#include "training/telemetry.h"

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
 * reader of the figures must know of the machine and the losses meanwhile. */
void run_add_heading(const struct run *run, const char *epochs_or_regime, cJSON *summary);
void run_add_notes(const struct run *run, cJSON *summary);

#endif
