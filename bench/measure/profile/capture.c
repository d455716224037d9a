/* capture.c - trains the epochs of a profile and keeps the steps that its schedule selects. */
#include "profile/capture.h"

#include "base/progress.h"
#include "base/text.h"
#include "ddp/comm_nccl.h"
#include "ddp/watchdog.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Traces are also written between steps, so that a killed run leaves some: after the first step, then whenever
 * WRITE_EVERY_S seconds have passed and the capture has grown by a quarter (so a long capture seldom writes). */
enum { WRITE_EVERY_S = 3 };

/* ---- signals ---- */

enum { SIGNALS = 5 };
static const int signals[SIGNALS] = {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGTERM};
static struct sigaction was[SIGNALS];
static int noting;                        /* 1: signals are noted; was[] has the actions to restore */
static volatile sig_atomic_t signal_seen; /* number of the last signal, or 0 */

static void note_signal(int number)
{
    signal_seen = number;
}

/* From now on a first signal is only noted; a second one ends the rank at once. */
static void note_signals(void)
{
    const struct sigaction note = {.sa_handler = note_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &was[i]);
        if (was[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &note, NULL);
    }
    noting = 1;
}

int capture_stop_noting(const struct job *job)
{
    for (int i = 0; noting && i < SIGNALS; i++)
        sigaction(signals[i], &was[i], NULL);
    noting = 0;
    return job_max(job, signal_seen) > 0;
}

/* ---- setting up a capture ---- */

/* Describes in capture->missing which records of this rank's GPU are not in its trace. */
static void find_missing(struct capture *capture, const struct recorder *r)
{
    char *text = capture->missing;
    if (*r->tracer.untraced)
        snprintf(text, sizeof capture->missing,
                 "CUPTI unavailable (%s): traces hold operations timed by CUDA events, no kernels, and when "
                 "the GPU computed is N/A",
                 r->tracer.untraced);
    else if (r->tracer.activities.dropped || r->tracer.activities.untimed)
        snprintf(text, sizeof capture->missing,
                 "Records of rank 0's GPU are missing in its trace: %zu did not fit into the tracer's memory (use a "
                 "larger --profile-buffer-mb), and %zu had no times",
                 r->tracer.activities.dropped, r->tracer.activities.untimed);
}

/* Takes the origin of the trace's times, and the Unix time of this origin, from rank 0; so all traces share them. */
static void agree_on_base(struct trace *trace, const struct job *job, int64_t origin_ns)
{
    int64_t *all = allocate(2 * (size_t)job->size, sizeof *all);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    const int64_t mine[2] = {origin_ns, unix_ns - (clock_now_ns() - origin_ns)};
    job_gather(job, mine, sizeof mine, all);
    trace->base_ns = all[0];
    trace->base_unix_ns = all[1];
    free(all);
}

static void create_capture(struct capture *capture, struct training *t, int row, const char *name,
                           const struct profile_options *o)
{
    const struct plan *plan = &t->engine.reducer[row].plan;
    const struct job *job = t->harness.job;
    struct open_device *opened = &t->harness.opened;
    const struct recorder *r = &t->engine.recorder;
    size_t room = memory_captured_steps(t->run.options, &t->engine.model, &t->run.recording);
    *capture = (struct capture){
        .options = o, .row = row, .room = (int)room, .overlap = allocate(room, sizeof *capture->overlap)};
    recorder_start_tracer(&t->engine.recorder);
    find_missing(capture, r);
    if (*capture->missing && job->rank == 0)
        fprintf(stderr, "%s.\n", capture->missing);
    capture->trace = (struct trace){
        .name = name,
        .implementation = t->run.options->implementation[row].label,
        .device = t->engine.recorder.device->name,
        .compute_bytes = t->engine.recorder.device->compute_bytes,
        .comm = t->engine.comm->name,
        .nccl_version = t->engine.comm->on_device ? comm_nccl_version() : NULL,
        .host = t->harness.host.name,
        .rank = job->rank,
        .ranks = job->size,
        .pid = getpid(),
        .thread = gettid(),
        .comm_thread = t->engine.comm->thread_id(t->engine.comm),
        .timeline = &t->engine.recorder.timeline,
        .alignment = &capture->alignment,
        .times = allocate(room, sizeof *capture->trace.times),
        .step = allocate(room, sizeof *capture->trace.step),
        .collectives = &capture->collectives,
        .parameters = allocate((size_t)plan->n, sizeof *capture->trace.parameters),
        .tensor = t->engine.model.tensor,
        .without_cpu = o->activities == TRACE_CUDA,
        .without_cuda = o->activities == TRACE_CPU,
        .of_rank = allocate((size_t)job->size, sizeof *capture->trace.of_rank),
        .gpu = opened->on_gpu ? &opened->gpu : NULL,
        .activities = r->tracer.on ? &r->tracer.activities : NULL,
        .untraced = r->tracer.untraced,
    };
    for (int i = 0; i < plan->n; i++)
        capture->trace.parameters[i] = bucket_parameters(t->engine.model.tensor, &plan->bucket[i]);
    job_gather(job, &opened->gpu, sizeof opened->gpu, capture->trace.of_rank);
    capture->trace.seen = open_device_seen(opened, &capture->trace.gpus);
    agree_on_base(&capture->trace, job, t->harness.origin_ns);
}

/* Runs steps that touch all memory once, and prints how long the capture of `steps` steps will take. Returns the
 * estimated ns of a step, the same on every rank; or -1 on every rank, reported, if no checkpoint can be written. */
static int64_t warm_up(const struct capture *capture, struct training *t, size_t steps, const char *directory)
{
    char words[CELL];
    double cold;
    int64_t step_ns = (int64_t)(1e9 * block_try_steps(t, capture->row, &cold));
    if (job_agree(t->harness.job, checkpoint_try(&t->engine.trainer.checkpoint, trainer_state(&t->engine.trainer))))
        return -1;
    block_start(t, capture->row, 0);
    t->engine.trainer.inference.keeps = 1;
    if (t->harness.job->rank == 0)
        fprintf(stderr, "A step of %s takes %.1f ms; %zu of them will take about %s. Traces go to %s.\n",
                capture->trace.implementation, 1e-6 * (double)step_ns, steps,
                text_duration(words, 1e-9 * (double)step_ns * (double)steps), directory);
    return step_ns;
}

/* ---- the steps ---- */

/* Reads what this rank has recorded in the steps so far. */
static void collect_steps(struct capture *capture, struct training *t)
{
    struct recorder *r = &t->engine.recorder;
    float *record = allocate((size_t)capture->trace.steps * RECORDS + 1, sizeof *record);
    for (int i = 0; i < TIMELINE_LANES; i++)
        if (r->timeline.lane[i].dropped)
            FATAL("%zu spans were lost, because lane %d of the timeline was full", r->timeline.lane[i].dropped, i);
    r->device->stamps_end();
    timeline_settle(&r->timeline, r->device->stamp_ns);
    r->device->download(record, t->engine.trainer.record, (size_t)capture->trace.steps * RECORDS * sizeof *record);
    for (int i = 0; i < capture->trace.steps; i++) {
        struct captured_step *s = &capture->trace.step[i];
        s->loss = record[i * RECORDS + RECORD_LOSS];
        s->max_norm = t->run.options->max_norm;
        int clips = s->warmup && !t->run.options->forward_only;
        s->grad_norm = clips ? record[i * RECORDS + RECORD_GRAD_NORM] : NAN;
    }
    free(record);
    steps_from_timeline(&r->timeline, capture->trace.times, capture->trace.steps);
    collectives_destroy(&capture->collectives);
    collectives_create(&capture->collectives, &r->timeline, &capture->alignment, t->harness.job->size);
}

/* On a GPU, starts (on = 1) or stops (on = 0) the recording of its vendor's profilers, around the kept steps. */
static void profiler_range(struct capture *capture, const struct device *device, int on)
{
    if (on == capture->in_range || !device->accelerator)
        return;
    device->synchronize();
    device->accelerator->profiler(on);
    capture->in_range = on;
}

/* Runs one step of the schedule, and keeps the step and its spans only if `state` is CAPTURE_ACTIVE. */
static void run_step(struct capture *capture, struct training *t, size_t step, enum capture_state state)
{
    struct recorder *r = &t->engine.recorder;
    const struct lr_schedule *schedule = &t->engine.trainer.schedule;
    if (state != CAPTURE_ACTIVE) /* spans of collectives that still run must lie before the mark */
        reducer_settle(t->engine.trainer.reducer);
    struct timeline_mark mark = timeline_mark(&r->timeline);
    profiler_range(capture, r->device, state == CAPTURE_ACTIVE || capture->in_range);
    recorder_keep(r, state == CAPTURE_ACTIVE);
    trainer_use(&t->engine.trainer, state == CAPTURE_WAIT ? r->device : r->traced, &t->engine.reducer[capture->row]);
    watchdog_mark(t->harness.job->watchdog, (long)step + 1);
    r->device->annotation_begin("ProfilerStep#%zu", step + 1);
    step_run(&t->engine.trainer, capture->trace.steps);
    r->device->annotation_end();
    if (state == CAPTURE_ACTIVE)
        capture->trace.step[capture->trace.steps++] =
            (struct captured_step){.number = (long)step,
                                   .global_step = t->run.steps_run,
                                   .epoch = (long)(step / t->run.options->steps_per_epoch),
                                   .warmup = schedule_is_warmup(schedule, (long)step),
                                   .learning_rate = schedule_learning_rate(schedule, (long)step),
                                   .resident_bytes = host_resident_memory()};
    else {
        reducer_settle(t->engine.trainer.reducer);
        timeline_rewind(&r->timeline, &mark);
    }
    t->run.steps_run++;
}

/* At the first step of an epoch, begins an annotation around the epoch's steps, for the GPU vendor's profilers. */
static void enter_epoch(const struct training *t, size_t step)
{
    const char *name = schedule_is_warmup(&t->engine.trainer.schedule, (long)step) ? "warmup_epoch" : "active_epoch";
    if (step % t->run.options->steps_per_epoch)
        return;
    if (step)
        t->engine.recorder.device->annotation_end();
    t->engine.recorder.device->annotation_begin("%s_%zu", name, step / t->run.options->steps_per_epoch + 1);
}

/* Runs the steps of the capture, each of about step_ns. Returns 0; or -1 on every rank, reported, if writing failed. */
static int run_epochs(struct capture *capture, struct training *t, const struct results *results, size_t steps,
                      int64_t step_ns)
{
    const struct job *job = t->harness.job;
    struct recorder *r = &t->engine.recorder;
    size_t due = 1, a_second = 1 + (size_t)(1000000000 / (step_ns + 1)); /* steps in 1 s, on all ranks */
    int status = 0;
    struct progress progress;
    char words[200];
    snprintf(words, sizeof words, "of the capture of %s; its evaluation follows", capture->trace.implementation);
    progress_begin(&progress, job->rank ? 0 : steps, 0);
    watchdog_doing(job->watchdog, "step # of the capture of %s", capture->trace.implementation);
    for (size_t step = 0; step < steps && !status && !capture->interrupted; step++) {
        enum capture_state state = capture_state(capture->options, step);
        if (state == CAPTURE_ACTIVE && capture->trace.steps == capture->room) {
            capture->full = 1;
            break;
        }
        enter_epoch(t, step);
        run_step(capture, t, step, state);
        if (t->engine.trainer.checkpoint.failed) /* equal on all ranks */
            status = job_agree(job, -1);
        size_t done = step + 1;
        int exchanges = done % a_second == 0 || done == steps; /* equal on all ranks, so all stop together */
        if (exchanges || done == due)
            reducer_settle(t->engine.trainer.reducer);
        if (exchanges) {
            capture->interrupted = job_max(job, signal_seen) > 0;
            progress_show(&progress, done, words);
        }
        if (done == due && done < steps && !status) {
            recorder_hold(r);
            collect_steps(capture, t);
            status = job_agree(job, trace_file_write(capture->options, results, &capture->trace));
            recorder_release(r);
            due += due / 4 > WRITE_EVERY_S * a_second ? due / 4 : WRITE_EVERY_S * a_second;
        }
    }
    progress_end(&progress);
    reducer_settle(t->engine.trainer.reducer);
    watchdog_doing(job->watchdog, "the evaluation of the capture of %s", capture->trace.implementation);
    r->device->annotation_end(); /* ends the last epoch's annotation: at least one step ran, which began one */
    r->device->synchronize();
    return status;
}

/* Aligns the clocks, and finds the overlap and the stragglers in the captured steps. */
static void evaluate_steps(struct capture *capture, struct training *t)
{
    const struct job *job = t->harness.job;
    struct recorder *r = &t->engine.recorder;
    int first = 0; /* the first counted step: the first after the warm-up epochs, or 0 if all steps are warm-up */
    recorder_stop_tracer(r);
    find_missing(capture, r);
    collect_steps(capture, t);
    overlap_of_steps(&r->timeline, capture->trace.times, capture->trace.steps, recorder_computing(r),
                     t->engine.trainer.reducer->traits->shards, capture->overlap);
    while (first < capture->trace.steps && capture->trace.step[first].warmup)
        first++;
    first = first < capture->trace.steps ? first : 0;
    collectives_exchange(&capture->collectives, job, &r->timeline, &capture->alignment, first,
                         capture->trace.steps - first);
}

int capture_run(struct capture *capture, struct training *t, int row, const char *name,
                const struct profile_options *options, struct results *results)
{
    const struct job *job = t->harness.job;
    struct clock_sample before, after;
    size_t steps = capture_steps(options, t->run.options->num_epochs * t->run.options->steps_per_epoch);
    create_capture(capture, t, row, name, options);
    int64_t step_ns = warm_up(capture, t, steps, results->top);
    if (step_ns < 0)
        return -1;
    note_signals();
    job_compare_clocks(job, clock_now_ns, &before);
    capture->alignment = alignment_from(&before);
    job_barrier(job);
    int status = run_epochs(capture, t, results, steps, step_ns);
    job_barrier(job);
    job_compare_clocks(job, clock_now_ns, &after);
    capture->alignment = alignment_between(&before, &after);
    profiler_range(capture, t->engine.recorder.device, 0);
    evaluate_steps(capture, t);
    if (job->rank == 0 && capture->full)
        fprintf(stderr,
                "The capture ended after %d steps: the buffer of %g MiB is full; use a larger --profile-buffer-mb.\n",
                capture->trace.steps, options->buffer_mb);
    struct trace_file merged = {0};
    int failed = trace_file_write(options, results, &capture->trace);
    failed |= merged_trace_add(&merged, options, results->directory, job, &capture->trace);
    failed |= merged_trace_end(&merged, name);
    failed |= captured_steps_write(results, &capture->trace, capture->overlap, t->harness.origin_ns,
                                   t->engine.comm->on_device);
    status = job_agree_after(job, status, failed);
    capture->interrupted = job_max(job, signal_seen) > 0; /* a signal may have come after the last exchange */
    return status;
}

void capture_destroy(struct capture *capture)
{
    free(capture->trace.step);
    free(capture->trace.times);
    free(capture->overlap);
    free(capture->trace.parameters);
    free(capture->trace.seen);
    free(capture->trace.of_rank);
    collectives_destroy(&capture->collectives);
    memset(capture, 0, sizeof *capture);
}
