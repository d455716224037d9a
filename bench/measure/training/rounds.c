/* rounds.c - blocks of every implementation, interleaved over rounds, so that drift of the machine hits all alike. */
#include "training/parts.h"

#include "base/progress.h"
#include "base/stats.h"
#include "base/text.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/device_traced.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples ---- */

void measurements_create(struct measurements *m, int n, size_t capacity)
{
    *m = (struct measurements){n, capacity, 0, allocate((size_t)n * FIGURES * capacity, sizeof *m->seconds)};
}

void series_grow(double **series, size_t n, size_t *room)
{
    double *grown = allocate(2 * n * *room, sizeof *grown);
    for (size_t i = 0; i < n; i++)
        memcpy(grown + 2 * i * *room, *series + i * *room, *room * sizeof *grown);
    free(*series);
    *series = grown;
    *room *= 2;
}

void measurements_destroy(struct measurements *m)
{
    free(m->seconds);
    *m = (struct measurements){0};
}

double *measurements_of(const struct measurements *m, int implementation, int figure)
{
    return m->seconds + ((size_t)implementation * FIGURES + (size_t)figure) * m->capacity;
}

/* ---- one block ---- */

/* What the ranks exchange about a block. */
struct block_report {
    double seconds;           /* timed steps together */
    double phase[PHASES];     /* seconds a timed step */
    double communication_cpu; /* seconds that the communication thread ran in the timed steps */
    int dropped;
};

void run_start(struct run *run, int implementation, long step)
{
    int traced = run->options->implementation[implementation].traced;
    gpu_tracer_stop(&run->gpu_tracer, &run->timeline);
    if (traced) {
        gpu_tracer_start(&run->gpu_tracer);
        run->traced = device_traced(run->device, &run->timeline, !run->gpu_tracer.on);
    }
    run->trainer.watch_core = traced;
    trainer_use(&run->trainer, traced ? run->traced : run->device, &run->reducer[implementation]);
    trainer_reset(&run->trainer, step);
    timeline_clear(&run->timeline);
    run->trainer.device->stamps_begin();
}

const struct lane *run_computing(const struct run *run)
{
    const struct gpu_tracer *t = &run->gpu_tracer;
    if (!run->device->asynchronous)
        return &run->timeline.lane[LANE_COMPUTE];
    return t->work.n && !t->activities.dropped && !t->activities.untimed ? &t->work : NULL;
}

static void run_steps(struct run *run, int implementation, struct block_report *mine)
{
    struct trainer *trainer = &run->trainer;
    int steps = (int)run->options->block_steps;
    watchdog_doing(run->job->watchdog, "step # of block %zu, %s", run->counts.blocks + 1,
                   run->options->implementation[implementation].label);
    run_start(run, implementation, run->options->block_start);
    job_barrier(run->job);
    for (int slot = 0; slot < DISCARDED_STEPS; slot++) {
        watchdog_mark(run->job->watchdog, slot + 1);
        step_run(trainer, slot);
    }
    reducer_settle(trainer->reducer);
    trainer->device->synchronize();

    double communication = run->comm->cpu_seconds(run->comm);
    job_barrier(run->job);
    int64_t start = clock_now_ns();
    for (int i = 0; i < steps; i++) {
        watchdog_mark(run->job->watchdog, DISCARDED_STEPS + i + 1);
        step_run(trainer, DISCARDED_STEPS + i);
    }
    reducer_settle(trainer->reducer);
    trainer->device->synchronize();
    int64_t end = clock_now_ns();
    job_barrier(run->job);
    watchdog_doing(run->job->watchdog, "the evaluation of block %zu", run->counts.blocks + 1);
    gpu_tracer_stop(&run->gpu_tracer, &run->timeline);
    run->device->stamps_end();
    timeline_settle(&run->timeline, run->device->stamp_ns);

    *mine = (struct block_report){.seconds = 1e-9 * (double)(end - start)};
    mine->communication_cpu = run->comm->cpu_seconds(run->comm) - communication;
}

/* Keeps a block's sample: phases as the mean over ranks, the step of the slowest. */
static void keep_sample(struct run *run, int implementation, size_t round, const struct block_report *all)
{
    double *sample = measurements_of(&run->measurements, implementation, 0) + round;
    size_t next = run->measurements.capacity; /* from one figure to the next */
    for (int r = 0; r < run->job->size; r++) {
        for (size_t p = 0; p < PHASES; p++)
            sample[p * next] += all[r].phase[p] / run->job->size;
        sample[FIGURE_STEP * next] =
            fmax(sample[FIGURE_STEP * next], all[r].seconds / (double)run->options->block_steps);
        run->counts.dropped_spans += all[r].dropped;
    }
}

/* What other processes do is measured over one block, or over as many short ones as take a fifth of a second together,
 * since the kernel counts in hundredths. All begin and end with a barrier, so that waiting for a slower rank is nobody
 * else's work. */
struct window {
    int64_t start_ns;
    double process_cpu, machine_cpu; /* seconds until then */
    size_t blocks;                   /* since then */
};

static void window_begin(struct window *w)
{
    *w = (struct window){clock_now_ns(), host_process_cpu_seconds(), host_machine_cpu_seconds(), 0};
}

/* A block is over. Cores of the busiest machine that something else than its ranks used in the window that ends here,
 * at least 0; NAN if it goes on. */
static double window_add(struct window *w, const struct job *job, struct block_counts *counts)
{
    double seconds = 1e-9 * (double)(clock_now_ns() - w->start_ns);
    w->blocks++;
    if (job_max(job, seconds) < 0.2)
        return NAN;
    double ranks = job_sum_machine(job, host_process_cpu_seconds() - w->process_cpu);
    double cores = (host_machine_cpu_seconds() - w->machine_cpu - ranks) / seconds;
    double worst = job_max(job, cores > 0 ? cores : 0);
    counts->watched_blocks += w->blocks;
    counts->with_other_processes += worst >= MONITOR_OTHER_CORES ? w->blocks : 0;
    counts->other_cores = fmax(counts->other_cores, worst);
    window_begin(w);
    return worst;
}

size_t run_peak_memory(const struct run *run)
{
    size_t now = open_device_memory(&run->opened);
    return now > run->counts.peak_bytes ? now : run->counts.peak_bytes;
}

/* Runs a block; its arrays, which are there, are filled. */
static void run_block(struct run *run, struct window *window, struct block *b)
{
    int steps = DISCARDED_STEPS + (int)run->options->block_steps;
    struct block_report mine, *all = allocate((size_t)run->job->size, sizeof *all);
    b->number = run->counts.blocks;
    b->first_step = run->steps_run;
    run->counts.peak_bytes = run_peak_memory(run);
    int known = !open_device_reset_memory(&run->opened);
    run_steps(run, b->implementation, &mine);
    b->peak_bytes = known ? open_device_memory(&run->opened) : 0;

    run->trainer.device->download(b->record, run->trainer.record, (size_t)steps * RECORDS * sizeof *b->record);
    steps_from_timeline(&run->timeline, b->times, steps);
    const struct lane *computing = run->options->implementation[b->implementation].traced ? run_computing(run) : NULL;
    overlap_of_steps(&run->timeline, b->times, steps, computing, b->overlap);
    for (int i = 0; i < steps; i++) {
        b->loss[i] = (double)b->record[i * RECORDS + RECORD_LOSS];
        for (int p = 0; p < PHASES && i >= DISCARDED_STEPS; p++)
            mine.phase[p] += 1e-9 * (double)b->times[i].phase_ns[p] / (double)run->options->block_steps;
    }
    for (int i = 0; i < TIMELINE_LANES; i++)
        mine.dropped += (int)run->timeline.lane[i].dropped;
    job_gather(run->job, &mine, sizeof mine, all);
    keep_sample(run, b->implementation, b->round, all);
    const struct reducer *reducer = &run->reducer[b->implementation];
    int in_fp32 = !reducer->staged || reducer->staged_dtype == COMM_FLOAT32;
    losses_add(&run->losses, run->job, b->loss, reducer->strategy->reduces && in_fp32);
    b->other_cores = window_add(window, run->job, &run->counts);
    b->seconds = mine.seconds;
    b->comm_cpu_seconds = reducer->strategy->reduces ? all[0].communication_cpu : 0;
    b->comm_seconds = reducer->strategy->reduces ? all[0].seconds : 0;
    run->steps_run += steps;
    run->counts.blocks++;
    run->counts.comm_cpu_seconds += b->comm_cpu_seconds;
    run->counts.comm_seconds += b->comm_seconds;
    free(all);
}

/* ---- the rounds ---- */

double run_try_steps(struct run *run, int implementation, double *first)
{
    enum { MOST = 10 };
    double seconds[MOST], sum = 0;
    size_t n = 0;
    while (n < 2 || (n < MOST && sum < 0.5)) {
        run_start(run, implementation, 0);
        job_barrier(run->job);
        int64_t start = clock_now_ns();
        step_run(&run->trainer, 0);
        reducer_settle(run->trainer.reducer);
        run->trainer.device->synchronize();
        run->steps_run++;
        seconds[n] = job_max(run->job, 1e-9 * (double)(clock_now_ns() - start));
        sum += seconds[n++];
    }
    *first = seconds[0];
    return stats_median(seconds + 1, n - 1);
}

/* The first steps: how long will the rest take? And can its checkpoints be written? Returns 0; or -1, on every rank and
 * reported. */
static int estimate(struct run *run, const struct run_hooks *hooks, size_t units)
{
    int first = 0;
    char words[CELL];
    for (int i = run->options->n - 1; i >= 0; i--)
        if (run->options->implementation[i].strategy->reduces)
            first = i;
    watchdog_doing(run->job->watchdog, "the first steps");
    double cold, seconds = run->warm_step = run_try_steps(run, first, &cold);
    size_t steps = units * (DISCARDED_STEPS + run->options->block_steps);
    int status = job_agree(run->job, checkpoint_try(&run->trainer.checkpoint, trainer_state(&run->trainer)));
    if (run->job->rank || status)
        return status;
    const struct checkpoint *c = &run->trainer.checkpoint;
    seconds += c->saved ? c->seconds / (double)(c->saved * c->every) : 0;
    fprintf(stderr, "The first step took %.2f s, the next %.3f s", cold, run->warm_step);
    if (hooks->plan)
        fprintf(stderr, ".");
    else if (run->options->resolve > 0)
        fprintf(stderr, "; the others go on until --resolve is answered, for %s at most.",
                text_duration(words, 60 * run->options->max_minutes));
    else
        fprintf(stderr, "; the other %zu will take about %s.", steps, text_duration(words, seconds * (double)steps));
    fprintf(stderr, " Results go to %s as they come.\n", run->directory);
    return 0;
}

/* After a round, with --resolve: sets run->planned, to the rounds made if they are enough or there is no time for one
 * more. Rank 0 decides. It looks at all samples whenever there are a twentieth more; `needed` is what it saw last. */
static void plan_rounds(struct run *run, const struct run_hooks *hooks, double minutes, double *needed)
{
    const struct training_options *o = run->options;
    size_t made = run->measurements.rounds;
    if (run->job->rank == 0 && ((double)made >= *needed || made % (made / 20 + 1) == 0))
        *needed =
            fmax(hooks->rounds_needed(&run->measurements, o->implementation, o->resolve / 100), (double)o->rounds);
    double fit = floor((double)made * o->max_minutes / minutes);
    run->planned = (size_t)job_max(run->job, run->job->rank ? 0 : fmax(fmin(*needed, fit), (double)made));
}

/* Which implementation runs as number j of a round: each round begins with another one, and every second one runs
 * backwards, so that none always follows the same. */
static int rotated(size_t round, int j, int n)
{
    int shift = (int)(round % (size_t)n);
    return round % 2 ? (n + shift - j) % n : (shift + j) % n;
}

static void show_progress(struct progress *progress, const struct run *run, size_t done, const struct block *b)
{
    const struct training_options *o = run->options;
    char words[160];
    progress->total = progress->total ? run->planned * (size_t)o->n : 0;
    snprintf(words, sizeof words, "round %zu/%zu, %s, %s epochs, lr %g, loss %.4f", b->round + 1, run->planned,
             o->implementation[b->implementation].label, o->regime == REGIME_WARMUP ? "warmup" : "active",
             (double)schedule_learning_rate(&run->trainer.schedule, run->trainer.step - 1),
             run->losses.mean[run->losses.steps - 1]);
    progress_show(progress, done, words);
}

/* Marks the sample of an implementation as missing (NAN) in a round in which it had no block. */
static void mark_missing(struct measurements *m, int implementation, size_t round)
{
    for (int figure = 0; figure < FIGURES; figure++)
        measurements_of(m, implementation, figure)[round] = NAN;
}

int run_rounds(struct run *run, const struct run_hooks *hooks)
{
    const struct training_options *o = run->options;
    struct progress progress;
    struct measurements *m = &run->measurements;
    double needed = 0;
    size_t units = o->rounds * (size_t)o->n, steps = DISCARDED_STEPS + o->block_steps;
    struct block b = {.times = allocate(steps, sizeof *b.times),
                      .overlap = allocate(steps, sizeof *b.overlap),
                      .record = allocate(steps * RECORDS, sizeof *b.record),
                      .loss = allocate(steps, sizeof *b.loss)};
    /* the weights have moved after the first step; in the warm-up regime, where the rate is 0 until the second step of
     * the ramp, after that */
    int judged = o->regime == REGIME_WARMUP ? DISCARDED_STEPS + 2 : 1;
    losses_create(&run->losses, (int)steps, judged < (int)steps ? judged : -1);
    int status = estimate(run, hooks, units);
    progress_begin(&progress, run->job->rank || hooks->plan ? 0 : units);
    int64_t start = clock_now_ns(), written = 0; /* the first summary is of the first round */
    struct window window;
    window_begin(&window);
    if (hooks->plan && !status)
        hooks->plan(hooks->context, run, 0);
    for (size_t done = 0; m->rounds < run->planned && !status;) { /* blocks */
        b.round = m->rounds;
        if (b.round == m->capacity)
            series_grow(&m->seconds, (size_t)m->n * FIGURES, &m->capacity);
        b.implementation = rotated(b.round, (int)(done++ % (size_t)o->n), o->n);
        if (run->resting[b.implementation]) {
            mark_missing(m, b.implementation, b.round);
        } else {
            run_block(run, &window, &b);
            int wrote = hooks->block(hooks->context, run, &b);
            status = job_agree(run->job, run->trainer.checkpoint.failed ? -1 : wrote);
            if (status)
                break;
            show_progress(&progress, run, done, &b);
        }
        if (done % (size_t)o->n)
            continue;
        m->rounds++;
        if (hooks->plan)
            hooks->plan(hooks->context, run, 1e-9 * (double)(clock_now_ns() - start));
        if (o->resolve > 0)
            plan_rounds(run, hooks, 1e-9 / 60 * (double)(clock_now_ns() - start), &needed);
        int due = m->rounds < run->planned && clock_now_ns() - written > 2000000000;
        if (job_max(run->job, due) > 0) {
            status = job_agree(run->job, hooks->summary(hooks->context, run));
            written = clock_now_ns();
        }
    }
    progress_end(&progress);
    free(b.times);
    free(b.overlap);
    free(b.record);
    free(b.loss);
    return status;
}
