/* rounds.h - blocks of every implementation in turn on the same model, and what came of it: what the benchmark and the
 * profile are both made of. */
#ifndef BENCH_TRAINING_ROUNDS_H
#define BENCH_TRAINING_ROUNDS_H

#include "benchmark/ranking.h"
#include "ddp/job.h"
#include "machine/host.h"
#include "monitor/monitor.h"
#include "training/losses.h"
#include "training/memory.h"

/* Everything that a benchmark is made of, and what the results say about it. */
struct run {
    const struct job *job;
    const struct options *options;
    int argc;
    char *const *argv;

    int threads;
    double cores_per_rank;
    struct host_facts host;
    size_t memory[MEMORY_PARTS];

    int64_t origin_ns; /* of this rank's clock, near the start: what times in the results count from */
    struct open_device opened;
    const struct device *device, *traced; /* the same device without and with a record of its operations; traced is
                                             NULL outside profile mode */
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

    struct measurements measurements;
    struct losses losses;
    size_t blocks,
        blocks_with_other_processes; /* blocks measured; of these beside MONITOR_OTHER_CORES of foreign work or more */
    double other_processes_cores;    /* the most cores that others used during a block */
    double comm_cpu_seconds; /* of rank 0's communication thread, in the timed steps of strategies that reduce, */
    double comm_seconds;     /* which took so long together */
    int dropped_spans;
};

struct results;
struct step_times;
struct overlap;

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

/* Plans, checks what fits, opens data and results, allocates. Returns 0; or -1 on every rank, and rank 0 has said why.
 */
int run_set_up(struct run *run, struct results *results);
void run_tear_down(struct run *run); /* also after a set-up that failed */

/* Nothing more will be measured: ends the monitors that set-up started. Returns 0; or -1 when their files are not
 * complete, and rank 0 has said why. */
int run_stop_monitor(struct run *run);

/* Puts an implementation to work, with the schedule and the data at `step`. */
void run_start(struct run *run, int implementation, long step);

/* All rounds; measurements and losses are complete afterwards up to run->measurements.rounds. Returns 0; or -1 when
 * results could not be written, and rank 0 has said why. */
int run_rounds(struct run *run, struct results *results, const struct run_hooks *hooks);

/* Says on rank 0 what is wrong with the losses, if anything. */
void run_tell_losses(const struct run *run);

#endif
