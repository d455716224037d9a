/* rounds.c - runs rounds: one block of each implementation, interleaved so that a drift affects all of them equally. */
#include "training/training.h"

#include "base/best.h"
#include "base/progress.h"
#include "base/text.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Timed steps in the regime `warmup` until weights have changed. */
enum { RAMP_STEPS = 3 };

/* ---- trying the first steps ---- */

/* With --resolve, shortens blocks so that the rounds that a verdict needs fit into --max-minutes, unless the length of
 * blocks, or checkpoints or intervals in them, are given. Writes a sentence to text[size] if blocks are shorter, and
 * another if too few rounds still fit. */
static void fit_blocks(struct run *run, char *text, size_t size)
{
    const double spare = 1.2; /* a block takes longer than its steps */
    const struct training_options *o = run->options;
    char words[CELL];
    int reduce = 0, least = o->regime == REGIME_WARMUP ? RAMP_STEPS : 1;
    for (int i = 0; i < o->n; i++)
        reduce += implementation_is_compared(&o->implementation[i]);
    size_t rounds = best_least_rounds(reduce, 1);
    double of_a_step = spare * run->warm_step * o->n * (double)rounds; /* s: one step in every block of these rounds */
    double steps = floor(60 * o->max_minutes / of_a_step);
    if (!o->steps_per_block && !o->checkpoint_every && !o->keep_block_steps)
        run->block_steps = (size_t)fmin((double)o->block_steps, fmax(least, steps - DISCARDED_STEPS));
    if (run->block_steps < o->block_steps)
        snprintf(text, size, " Time is short, so blocks have %zu timed step%s instead of %zu.", run->block_steps,
                 text_plural(run->block_steps), o->block_steps);
    double seconds = of_a_step * (double)(DISCARDED_STEPS + run->block_steps);
    if (seconds > 60 * o->max_minutes)
        text_append(text, size, " The %zu rounds that a verdict needs would take about %s: use a longer --max-minutes.",
                    rounds, text_duration(words, seconds));
}

/* Runs the first steps of an implementation (one that reduces, if there is one), checks that checkpoints can be
 * written, and prints how long the rounds will take if will_plan is 0. Returns 0; or -1 on every rank, reported. */
static int try_first_steps(struct training *t, int will_plan)
{
    const struct job *job = t->harness.job;
    struct run *run = &t->run;
    const struct training_options *o = run->options;
    struct checkpoint *c = &t->engine.trainer.checkpoint;
    int tried = 0;
    char words[CELL], blocks[240] = "";
    double cold;
    while (tried < o->n && !implementation_traits(&o->implementation[tried])->reduces)
        tried++;
    watchdog_doing(job->watchdog, "the first steps");
    run->warm_step = block_try_steps(t, tried < o->n ? tried : 0, &cold);
    if (o->resolve > 0)
        fit_blocks(run, blocks, sizeof blocks);
    int status = job_agree(job, checkpoint_try(c, trainer_state(&t->engine.trainer)));
    if (job->rank || status)
        return status;
    double seconds = run->warm_step + (c->saved ? c->seconds / (double)(c->saved * c->every) : 0);
    size_t steps = o->rounds * (size_t)o->n * (DISCARDED_STEPS + o->block_steps);
    fprintf(stderr, "The first step took %.2f s, the next %.3f s", cold, run->warm_step);
    if (will_plan)
        fprintf(stderr, ".\n");
    else if (o->resolve > 0)
        fprintf(stderr, "; rounds go on until --resolve is reached, for %s at most.%s\n",
                text_duration(words, 60 * o->max_minutes), blocks);
    else
        fprintf(stderr, "; the other %zu will take about %s.\n", steps, text_duration(words, seconds * (double)steps));
    return 0;
}

/* ---- a round ---- */

/* Returns which implementation runs at position j of a round, 0 first. Rounds begin with different implementations, and
 * every second round runs in reverse order, so that no implementation always follows the same one. */
static int implementation_at(size_t round, int j, int n)
{
    int shift = (int)(round % (size_t)n);
    return round % 2 ? (n + shift - j) % n : (shift + j) % n;
}

void training_add_order(const struct training_options *o, cJSON *summary)
{
    char text[64 * MAX_IMPLEMENTATIONS];
    for (size_t round = 0; round < o->rounds && round < 2; round++) {
        *text = 0;
        for (int j = 0; j < o->n; j++)
            text_append(text, sizeof text, "%s %s", j ? "," : "",
                        o->implementation[implementation_at(round, j, o->n)].label);
        results_add_sentence(summary, "heading", "Order of round %zu:%s", round + 1, text);
    }
}

static void show_progress(struct progress *progress, const struct training *t, const struct block *b, size_t done)
{
    const struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct trainer *trainer = &t->engine.trainer;
    char words[200], loss[40] = "";
    if (isfinite(run->final_loss[b->implementation]))
        snprintf(loss, sizeof loss, ", loss %.4f", run->final_loss[b->implementation]);
    snprintf(words, sizeof words, "round %zu of %s%zu, %s, %s epochs, lr %g%s", b->round + 1,
             o->resolve > 0 ? "about " : "", run->planned, o->implementation[b->implementation].label,
             regime_name[o->regime], (double)schedule_learning_rate(&trainer->schedule, trainer->step - 1), loss);
    progress_show(progress, done, words);
}

/* Runs the next round. Returns 0; or -1 on every rank, reported. */
static int run_round(struct training *t, const struct run_hooks *hooks, struct block *b, struct progress *progress)
{
    struct measurements *m = &t->run.measurements;
    b->round = m->rounds;
    if (b->round == m->capacity)
        series_grow(&m->value, (size_t)m->n * FIGURES, &m->capacity);
    for (int j = 0; j < m->n; j++) {
        b->implementation = implementation_at(b->round, j, m->n);
        if (t->run.resting[b->implementation]) {
            for (int figure = 0; figure < FIGURES; figure++)
                measurements_of(m, b->implementation, figure)[b->round] = NAN;
            continue;
        }
        block_run(t, b);
        int failed = telemetry_write_block(&t->harness.results, t, b) != 0;
        failed |= hooks->block(hooks->context, b) || t->engine.trainer.checkpoint.failed;
        if (job_agree(t->harness.job, failed ? -1 : 0))
            return -1;
        show_progress(progress, t, b, b->round * (size_t)m->n + (size_t)j + 1);
    }
    m->rounds++;
    return 0;
}

/* ---- all rounds ---- */

/* Call with --resolve after a round, `minutes` after the first round began. Sets run->planned to the number of rounds
 * needed, at most as many as fit into --max-minutes, and at least the rounds made so far. Rank 0 decides: it estimates
 * *needed anew only once *needed rounds are made, or when the number of rounds has grown by about a twentieth. */
static void plan_more(struct run *run, const struct job *job, const struct run_hooks *hooks, double minutes,
                      double *needed)
{
    const struct training_options *o = run->options;
    size_t made = run->measurements.rounds;
    if (job->rank == 0 && ((double)made >= *needed || made % (made / 20 + 1) == 0))
        *needed =
            fmax(hooks->rounds_needed(&run->measurements, o->implementation, o->resolve / 100), (double)o->rounds);
    double fit = floor((double)made * o->max_minutes / minutes);
    run->planned = (size_t)job_max(job, job->rank ? 0 : fmax(fmin(*needed, fit), (double)made));
}

/* Runs the planned rounds. Returns 0; or -1 on every rank, reported, if results could not be written. */
static int run_rounds(struct training *t, const struct run_hooks *hooks)
{
    struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct job *job = t->harness.job;
    const double summary_every_s = 2;
    int status = try_first_steps(t, hooks->plan != NULL);
    size_t steps = DISCARDED_STEPS + run->block_steps;
    struct block b = {.times = allocate(steps, sizeof *b.times),
                      .overlap = allocate(steps, sizeof *b.overlap),
                      .record = allocate(steps * RECORDS, sizeof *b.record),
                      .loss = allocate(steps, sizeof *b.loss)};
    /* The first step with changed weights: step 1. In the regime `warmup` it comes later, since the learning rate is 0
     * until the second step of the ramp. */
    int judged = o->regime == REGIME_WARMUP ? DISCARDED_STEPS + RAMP_STEPS - 1 : 1;
    losses_create(&run->losses, (int)steps, judged < (int)steps ? judged : -1);
    if (hooks->begin && !status)
        hooks->begin(hooks->context);
    (void)other_processes_watch(&t->harness.other_processes, job);
    int64_t start_ns = clock_now_ns(), written_ns = 0; /* written_ns 0: a summary is due after the first round */
    double needed = 0;
    struct progress progress;
    progress_begin(&progress, job->rank || hooks->plan ? 0 : o->rounds * (size_t)o->n,
                   o->resolve > 0 ? 60 * o->max_minutes : 0);
    if (hooks->plan && !status)
        hooks->plan(hooks->context, 0);
    while (!status && run->measurements.rounds < run->planned) {
        status = run_round(t, hooks, &b, &progress);
        if (status)
            break;
        run->seconds = clock_seconds_since(start_ns);
        if (hooks->plan)
            hooks->plan(hooks->context, run->seconds);
        if (o->resolve > 0)
            plan_more(run, job, hooks, run->seconds / 60, &needed);
        int is_due = run->measurements.rounds < run->planned && clock_seconds_since(written_ns) > summary_every_s;
        if (job_max(job, is_due) > 0) {
            status = job_agree(job, hooks->summary(hooks->context));
            written_ns = clock_now_ns();
        }
    }
    progress_end(&progress);
    free(b.times);
    free(b.overlap);
    free(b.record);
    free(b.loss);
    return status;
}

int training_measure(struct training *t, const struct run_hooks *hooks, int skip)
{
    const struct job *job = t->harness.job;
    int status = skip ? 0 : run_rounds(t, hooks);
    if (monitor_stop(t->harness.monitor))
        status = -1;
    t->run.complete = 1;
    /* also after a failure, the last summary prints what was measured, and saves it if possible */
    status = job_agree_after(job, status, hooks->summary(hooks->context));
    return losses_check(&t->run.losses, job) ? -1 : status;
}
