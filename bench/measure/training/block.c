/* block.c - runs a block of steps of an implementation, and takes its sample. */
#include "training/training.h"

#include "base/stats.h"
#include "ddp/gradient_error.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* ---- steps ---- */

void block_start(struct training *t, int implementation, long step)
{
    int traced = t->run.options->implementation[implementation].traced;
    struct engine *engine = &t->engine;
    struct trainer *trainer = &engine->trainer;
    trainer->watch_core = traced;
    trainer->inference.keeps = 0;
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

/* Runs the steps of a block. Returns the seconds of its timed steps on this rank, and sets *comm_cpu_seconds to the CPU
 * time of the communication thread in these steps. */
static double time_steps(struct training *t, int implementation, double *comm_cpu_seconds)
{
    const struct job *job = t->harness.job;
    struct run *run = &t->run;
    struct trainer *trainer = &t->engine.trainer;
    struct comm *comm = t->engine.comm;
    struct recorder *recorder = &t->engine.recorder;
    const char *label = run->options->implementation[implementation].label;
    watchdog_doing(job->watchdog, "step # of block %zu, %s", run->blocks, label); /* #: watchdog_mark's number */
    block_start(t, implementation, run->options->block_start);
    job_barrier(job);
    run_steps(trainer, job->watchdog, 0, DISCARDED_STEPS);

    double cpu_before = comm->cpu_seconds(comm);
    if (!reducer_is_in_flight(trainer->reducer)) /* while weights are gathered, MPI belongs to the comm */
        job_barrier(job);
    int64_t start = clock_now_ns();
    run_steps(trainer, job->watchdog, DISCARDED_STEPS, (int)run->block_steps);
    int64_t end = clock_now_ns();
    settle(trainer);
    job_barrier(job);
    watchdog_doing(job->watchdog, "the evaluation of block %zu", run->blocks);
    recorder_stop_tracer(recorder);
    recorder->device->stamps_end();
    timeline_settle(&recorder->timeline, recorder->device->stamp_ns);
    run->steps_run += DISCARDED_STEPS + (long)run->block_steps;
    *comm_cpu_seconds = comm->cpu_seconds(comm) - cpu_before;
    return 1e-9 * (double)(end - start);
}

double block_step_seconds(struct training *t, int implementation)
{
    double cpu, seconds = time_steps(t, implementation, &cpu);
    return job_max(t->harness.job, seconds) / (double)t->run.block_steps;
}

double block_try_steps(struct training *t, int implementation, double *first)
{
    enum { MOST = 10 };
    const struct job *job = t->harness.job;
    double seconds[MOST], sum = 0;
    size_t n = 0;
    while (n < 2 || (n < MOST && sum < 0.5)) {
        block_start(t, implementation, 0);
        job_barrier(job);
        int64_t start = clock_now_ns();
        run_steps(&t->engine.trainer, job->watchdog, 0, 1);
        settle(&t->engine.trainer);
        t->run.steps_run++;
        seconds[n] = job_max(job, 1e-9 * (double)(clock_now_ns() - start));
        sum += seconds[n++];
    }
    *first = seconds[0];
    return stats_median(seconds + 1, n - 1);
}

/* ---- gradient errors ---- */

/* Lets a reducer, restarted before the first step, reduce the gradient of a step of a block at the present weights. */
static void reduce_gradient(struct training *t, struct reducer *reducer, int slot)
{
    struct trainer *trainer = &t->engine.trainer;
    struct recorder *recorder = &t->engine.recorder;
    trainer_use(trainer, recorder->device, reducer);
    if (!slot)
        reducer_restart(reducer);
    trainer_set_step(trainer, t->run.options->block_start + slot, slot + 1);
    timeline_clear(&recorder->timeline);
    recorder->device->stamps_begin();
    t->run.steps_run++;
    trainer->gradient_only = 1;
    step_run(trainer, slot);
    trainer->gradient_only = 0;
}

/* Returns the gradient error of an implementation in the last step of a block. */
static double error_of_last_step(struct training *t, struct reducer *none, int implementation)
{
    const struct job *job = t->harness.job;
    struct trainer *trainer = &t->engine.trainer;
    struct model *model = &t->engine.model;
    struct reducer *reducer = &t->engine.reducer[implementation];
    float *gradient = model->gradient, *local = trainer->optimizer.m; /* the next block resets the moments */
    const int last = DISCARDED_STEPS + (int)t->run.block_steps - 1;
    watchdog_doing(job->watchdog, "step # before the gradient error of %s",
                   t->run.options->implementation[implementation].label);
    block_start(t, implementation, t->run.options->block_start);
    run_steps(trainer, job->watchdog, 0, last);
    settle(trainer);
    t->run.steps_run += last;
    model->gradient = local;
    reduce_gradient(t, none, last);
    model->gradient = gradient;
    reduce_gradient(t, reducer, last);
    return gradient_error(reducer, job, local);
}

void block_gradient_errors(struct training *t, struct gradient_errors *error)
{
    const struct job *job = t->harness.job;
    const struct training_options *o = t->run.options;
    struct engine *engine = &t->engine;
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
    block_start(t, 0, o->block_start);
    /* Reductions overwrite this rank's own gradient, so it is kept in the memory of the starting weights, which are
     * equal to the current weights in these steps. */
    model->gradient = engine->trainer.start;
    watchdog_doing(job->watchdog, "a step without reduction");
    reduce_gradient(t, &none, 0);
    model->gradient = gradient;
    for (int i = 0; i < o->n; i++) {
        const struct traits *traits = implementation_traits(&o->implementation[i]);
        if (!traits->reduces || traits->averages)
            continue;
        watchdog_doing(job->watchdog, "the gradient error of %s", o->implementation[i].label);
        reduce_gradient(t, &engine->reducer[i], 0);
        error[i].first = gradient_error(&engine->reducer[i], job, engine->trainer.start);
    }
    engine->trainer.device->copy(engine->trainer.start, model->weight, model->arena);
    for (int i = 0; i < o->n; i++)
        if (isfinite(error[i].first) && traits_approximate(implementation_traits(&o->implementation[i])))
            error[i].last = error_of_last_step(t, &none, i);
    reducer_destroy(&none);
}

/* ---- the block ---- */

/* Fills a block's times and overlaps (from the timeline) and losses (from the device), and this rank's sample. */
static void evaluate_steps(struct training *t, struct block *b, double sample[FIGURES])
{
    int timed = (int)t->run.block_steps, steps = DISCARDED_STEPS + timed;
    const struct recorder *recorder = &t->engine.recorder;
    const struct timeline *timeline = &recorder->timeline;
    int traced = t->run.options->implementation[b->implementation].traced;
    recorder->device->download(b->record, t->engine.trainer.record, (size_t)steps * RECORDS * sizeof *b->record);
    steps_from_timeline(timeline, b->times, steps);
    overlap_of_steps(timeline, b->times, steps, traced ? recorder_computing(recorder) : NULL,
                     t->engine.reducer[b->implementation].traits->shards, b->overlap);
    for (int i = 0; i < steps; i++) {
        b->loss[i] = (double)b->record[i * RECORDS + RECORD_LOSS];
        for (int p = 0; p < PHASES && i >= DISCARDED_STEPS; p++)
            sample[p] += 1e-9 * (double)b->times[i].phase_ns[p] / timed;
    }
    sample[FIGURE_STEP] = b->seconds / timed;
    for (int i = 0; i < TIMELINE_LANES; i++)
        if (timeline->lane[i].dropped)
            FATAL("%zu spans were lost, because lane %d of the timeline was full", timeline->lane[i].dropped, i);
}

size_t training_peak_memory(const struct training *t)
{
    size_t now = open_device_memory(&t->harness.opened);
    return now > t->run.peak_bytes ? now : t->run.peak_bytes;
}

void block_run(struct training *t, struct block *b)
{
    const struct job *job = t->harness.job;
    const struct open_device *opened = &t->harness.opened;
    struct run *run = &t->run;
    const struct traits *traits = t->engine.reducer[b->implementation].traits;
    double cpu_seconds, sample[FIGURES] = {0};
    b->number = run->blocks++;
    b->first_step = run->steps_run;
    run->peak_bytes = training_peak_memory(t);
    int can_reset = !open_device_reset_memory(opened);
    struct control_group_stops before = control_group_stops("");
    b->seconds = time_steps(t, b->implementation, &cpu_seconds);
    b->stops = control_group_stops_between(before, control_group_stops(""));
    b->peak_bytes = can_reset ? open_device_memory(opened) : 0;

    evaluate_steps(t, b, sample);
    double *samples = allocate((size_t)job->size, sizeof sample);
    job_gather(job, sample, sizeof sample, samples);
    measurements_keep(&run->measurements, b->implementation, b->round, samples, job->size);
    free(samples);
    run->final_loss[b->implementation] = NAN;
    if (t->engine.model.source->has_loss) {
        losses_add(&run->losses, job, b->loss, traits->exact && traits->wire == COMM_FLOAT32);
        run->final_loss[b->implementation] = run->losses.mean[run->losses.steps - 1];
    }
    b->other_cores = other_processes_watch(&t->harness.other_processes, job);
    run->comm_cpu_seconds += traits->reduces ? cpu_seconds : 0;
    run->comm_seconds += traits->reduces ? b->seconds : 0;
}
