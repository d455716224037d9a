/* block.c - runs a block of steps of an implementation, and takes its sample. */
#include "training/block.h"

#include "base/stats.h"
#include "ddp/gradient_error.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"
#include "training/training.h"

#include <math.h>
#include <stdlib.h>

/* What a rank sends to the other ranks about a block. */
struct block_report {
    double seconds;           /* seconds of all timed steps together */
    double sample[FIGURES];   /* of this rank (samples.h) */
    double communication_cpu; /* CPU seconds of this rank's communication thread in the timed steps */
};

/* ---- steps ---- */

void block_start(struct run *run, struct engine *engine, int implementation, long step)
{
    int traced = run->options->implementation[implementation].traced;
    struct trainer *trainer = &engine->trainer;
    trainer->watch_core = traced;
    trainer_use(trainer, recorder_begin(&engine->recorder, traced), &engine->reducer[implementation]);
    trainer_reset(trainer, step);
    timeline_clear(&engine->recorder.timeline);
    engine->recorder.device->stamps_begin();
}

/* Runs `n` steps, in slots [first, first + n) of the timeline, and waits for their operations, but not for collectives
 * that gather weights for the next forward. */
static void run_steps(struct trainer *trainer, struct watchdog *watchdog, int first, int n)
{
    for (int slot = first; slot < first + n; slot++) {
        watchdog_mark(watchdog, slot + 1);
        step_run(trainer, slot);
    }
    float loss; /* known once the operations issued before it are complete; collectives may still run */
    trainer->device->download(&loss, trainer->record + (size_t)(first + n - 1) * RECORDS + RECORD_LOSS, sizeof loss);
}

/* Waits for all work that steps have left in flight. */
static void settle(struct trainer *trainer)
{
    reducer_settle(trainer->reducer);
    trainer->device->synchronize();
}

static void time_steps(struct run *run, const struct job *job, struct engine *engine, int implementation,
                       struct block_report *mine)
{
    struct comm *comm = engine->comm;
    struct recorder *recorder = &engine->recorder;
    size_t number = run->counts.blocks;
    const char *label = run->options->implementation[implementation].label;
    watchdog_doing(job->watchdog, "step # of block %zu, %s", number, label); /* #: the number from watchdog_mark */
    block_start(run, engine, implementation, run->options->block_start);
    job_barrier(job);
    run_steps(&engine->trainer, job->watchdog, 0, DISCARDED_STEPS);

    double communication = comm->cpu_seconds(comm);
    if (!reducer_is_in_flight(engine->trainer.reducer)) /* while weights are gathered, MPI belongs to the comm */
        job_barrier(job);
    int64_t start = clock_now_ns();
    run_steps(&engine->trainer, job->watchdog, DISCARDED_STEPS, (int)run->block_steps);
    int64_t end = clock_now_ns();
    settle(&engine->trainer);
    job_barrier(job);
    watchdog_doing(job->watchdog, "the evaluation of block %zu", number);
    recorder_stop_tracer(recorder);
    recorder->device->stamps_end();
    timeline_settle(&recorder->timeline, recorder->device->stamp_ns);
    *mine = (struct block_report){.seconds = 1e-9 * (double)(end - start),
                                  .communication_cpu = comm->cpu_seconds(comm) - communication};
}

double block_step_seconds(struct run *run, const struct job *job, struct engine *engine, int implementation)
{
    struct block_report mine;
    time_steps(run, job, engine, implementation, &mine);
    run->steps_run += (long)(DISCARDED_STEPS + run->block_steps);
    return job_max(job, mine.seconds) / (double)run->block_steps;
}

double block_try_steps(struct run *run, const struct job *job, struct engine *engine, int implementation, double *first)
{
    enum { MOST = 10 };
    double seconds[MOST], sum = 0;
    size_t n = 0;
    while (n < 2 || (n < MOST && sum < 0.5)) {
        block_start(run, engine, implementation, 0);
        job_barrier(job);
        int64_t start = clock_now_ns();
        run_steps(&engine->trainer, job->watchdog, 0, 1);
        settle(&engine->trainer);
        run->steps_run++;
        seconds[n] = job_max(job, 1e-9 * (double)(clock_now_ns() - start));
        sum += seconds[n++];
    }
    *first = seconds[0];
    return stats_median(seconds + 1, n - 1);
}

/* ---- gradient errors ---- */

/* Computes the gradient of a step of a block from the present weights, and lets a reducer reduce it. Before the first
 * step the reducer is restarted. */
static void reduce_gradient(struct run *run, struct engine *engine, struct reducer *reducer, int slot)
{
    struct trainer *t = &engine->trainer;
    trainer_use(t, engine->recorder.device, reducer);
    if (!slot)
        reducer_restart(reducer);
    trainer_set_step(t, run->options->block_start + slot, slot + 1);
    timeline_clear(&engine->recorder.timeline);
    engine->recorder.device->stamps_begin();
    run->steps_run++;
    t->gradient_only = 1;
    step_run(t, slot);
    t->gradient_only = 0;
}

/* Returns the gradient error of an implementation in the last step of a block. */
static double error_of_last_step(struct run *run, const struct job *job, struct engine *engine, struct reducer *none,
                                 int implementation)
{
    struct model *model = &engine->model;
    float *gradient = model->gradient, *local = engine->trainer.optimizer.m; /* the next block resets the moments */
    const int last = DISCARDED_STEPS + (int)run->block_steps - 1;
    watchdog_doing(job->watchdog, "step # before the gradient error of %s",
                   run->options->implementation[implementation].label);
    block_start(run, engine, implementation, run->options->block_start);
    run_steps(&engine->trainer, job->watchdog, 0, last);
    settle(&engine->trainer);
    run->steps_run += last;
    model->gradient = local;
    reduce_gradient(run, engine, none, last);
    model->gradient = gradient;
    reduce_gradient(run, engine, &engine->reducer[implementation], last);
    return gradient_error(&engine->reducer[implementation], job, local);
}

void block_gradient_errors(struct run *run, const struct job *job, struct engine *engine, struct gradient_errors *error)
{
    const struct training_options *o = run->options;
    struct trainer *t = &engine->trainer;
    struct model *model = &engine->model;
    struct reducer none;
    float *gradient = model->gradient;
    int reduce = 0;
    for (int i = 0; i < o->n; i++) {
        error[i] = (struct gradient_errors){NAN, NAN};
        reduce |= implementation_traits(&o->implementation[i])->reduces;
    }
    if (!reduce)
        return;
    reducer_create(&none, &strategy_none, VARIANT_PLAIN, model, engine->comm, NULL, 0);
    block_start(run, engine, 0, o->block_start);
    /* Reductions overwrite this rank's own gradient, so it is kept in the memory of the starting weights, which are
     * equal to the current weights in these steps. */
    model->gradient = t->start;
    watchdog_doing(job->watchdog, "a step without reduction");
    reduce_gradient(run, engine, &none, 0);
    model->gradient = gradient;
    for (int i = 0; i < o->n; i++) {
        const struct traits *traits = implementation_traits(&o->implementation[i]);
        if (!traits->reduces || traits->averages)
            continue;
        watchdog_doing(job->watchdog, "the gradient error of %s", o->implementation[i].label);
        reduce_gradient(run, engine, &engine->reducer[i], 0);
        error[i].first = gradient_error(&engine->reducer[i], job, t->start);
    }
    t->device->copy(t->start, model->weight, model->arena);
    for (int i = 0; i < o->n; i++)
        if (isfinite(error[i].first) && traits_approximate(implementation_traits(&o->implementation[i])))
            error[i].last = error_of_last_step(run, job, engine, &none, i);
    reducer_destroy(&none);
}

/* ---- figures of a block ---- */

/* Fills a block's times and overlaps (from the timeline) and losses (from the device), and the phases of a report. */
static void evaluate_steps(struct run *run, const struct engine *engine, struct block *b, struct block_report *mine)
{
    int timed = (int)run->block_steps, steps = DISCARDED_STEPS + timed;
    const struct recorder *recorder = &engine->recorder;
    const struct timeline *timeline = &recorder->timeline;
    int traced = run->options->implementation[b->implementation].traced;
    recorder->device->download(b->record, engine->trainer.record, (size_t)steps * RECORDS * sizeof *b->record);
    steps_from_timeline(timeline, b->times, steps);
    overlap_of_steps(timeline, b->times, steps, traced ? recorder_computing(recorder) : NULL,
                     engine->reducer[b->implementation].traits->shards, b->overlap);
    for (int i = 0; i < steps; i++) {
        b->loss[i] = (double)b->record[i * RECORDS + RECORD_LOSS];
        for (int p = 0; p < PHASES && i >= DISCARDED_STEPS; p++)
            mine->sample[p] += 1e-9 * (double)b->times[i].phase_ns[p] / timed;
    }
    mine->sample[FIGURE_STEP] = mine->seconds / timed;
    for (int i = 0; i < TIMELINE_LANES; i++)
        if (timeline->lane[i].dropped)
            FATAL("%zu spans were lost, because lane %d of the timeline was full", timeline->lane[i].dropped, i);
}

size_t block_peak_memory(const struct block_counts *counts, const struct open_device *opened)
{
    size_t now = open_device_memory(opened);
    return now > counts->peak_bytes ? now : counts->peak_bytes;
}

/* ---- the block ---- */

void block_run(struct run *run, struct harness *h, struct engine *engine, struct block *b)
{
    const struct job *job = h->job;
    const struct reducer *reducer = &engine->reducer[b->implementation];
    struct block_counts *counts = &run->counts;
    int reduces = reducer->traits->reduces;
    int must_agree = reducer->traits->exact && reducer->traits->wire == COMM_FLOAT32;
    struct block_report mine;
    double *samples = allocate((size_t)job->size, sizeof mine.sample);
    b->number = counts->blocks++;
    b->first_step = run->steps_run;
    counts->peak_bytes = block_peak_memory(counts, &h->opened);
    int can_reset = !open_device_reset_memory(&h->opened);
    struct control_group_stops before = control_group_stops("");
    time_steps(run, job, engine, b->implementation, &mine);
    b->stops = control_group_stops_between(before, control_group_stops(""));
    b->peak_bytes = can_reset ? open_device_memory(&h->opened) : 0;
    run->steps_run += DISCARDED_STEPS + (long)run->block_steps;

    evaluate_steps(run, engine, b, &mine);
    job_gather(job, mine.sample, sizeof mine.sample, samples);
    measurements_keep(&run->measurements, b->implementation, b->round, samples, job->size);
    losses_add(&run->losses, job, b->loss, must_agree);
    run->final_loss[b->implementation] = run->losses.mean[run->losses.steps - 1];
    b->other_cores = other_processes_watch(&h->other_processes, job);
    b->seconds = mine.seconds;
    b->comm_cpu_seconds = reduces ? mine.communication_cpu : 0;
    b->comm_seconds = reduces ? mine.seconds : 0;
    counts->comm_cpu_seconds += b->comm_cpu_seconds;
    counts->comm_seconds += b->comm_seconds;
    free(samples);
}
