/* profile.c - profile mode: captures each implementation, then runs rounds of blocks that compare them with their
 * controls. Summaries are written after each capture and repeatedly during the rounds. */
#include "base/text.h"
#include "kernels/error.h"
#include "profile/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The profiles of one run. */
struct profiles {
    const struct profile_options *options;
    int n;
    struct profile *of;            /* [n] */
    struct attainable *attainable; /* attainable step times of all rows */
    struct link_rates *links;      /* [hosts]; NULL: not measured */
    struct training training;
    struct trace_file merged; /* the trace file of all profiles together */
};

/* ---- summaries ---- */

/* Creates the summary of a profile with its heading; p NULL: the summary of the comparison. */
static cJSON *create_summary(const struct profiles *all, const struct profile *p)
{
    const struct training *t = &all->training;
    const struct training_options *o = t->run.options;
    char epochs[160];
    snprintf(epochs, sizeof epochs, "Epochs: %zu of %zu step%s, %zu of them warm-up; controls run in %s epochs",
             o->num_epochs, o->steps_per_epoch, text_plural(o->steps_per_epoch), o->warmup_epochs,
             o->regime == REGIME_WARMUP ? "warm-up" : "active");
    cJSON *summary = training_create_summary(t, epochs);
    for (const struct profile *q = all->of; q < all->of + all->n; q++) {
        const char *size = q->facts.row->size.words;
        char words[CELL];
        int per_bucket = (int)strategy_collectives(q->facts.traits, o->grad_accumulation);
        int collectives = t->harness.job->size > 1 && q->facts.traits->reduces ? q->facts.buckets * per_bucket : 0;
        if (o->infers)
            results_add_sentence(summary, "heading",
                                 "Inference: no gradients, no communication; predictions go to predictions/ in %s",
                                 t->harness.results.directory);
        else if (!p || p == q)
            results_add_sentence(summary, "heading",
                                 "Training: %s%s%s: %d collective%s a step; learning rate %g, seed %zu", q->facts.label,
                                 *size ? ", buckets of " : "", verdict_bucket_size(words, size), collectives,
                                 text_plural((size_t)collectives), o->lr, o->seed);
    }
    return summary;
}

/* Writes the summary of a profile so far; prints it if it is complete and the run's only profile. All ranks call. */
static int write_profile(struct profiles *all, struct profile *p)
{
    const struct training *t = &all->training;
    const struct job *job = t->harness.job;
    struct figure_list figures = {0};
    p->facts.peak_bytes = (size_t)job_max(job, (double)training_peak_memory(t));
    p->facts.busy = busy_is(harness_busy(&t->harness));
    p->facts.stops = t->harness.other_processes.stops;
    controls_compute(&p->controls, job, &t->run.measurements);
    overlap_verdict_write(p);
    findings_create(p);
    if (job->rank)
        return 0;
    cJSON *summary = create_summary(all, p);
    profile_add_tables(p, summary);
    profile_add_results(p, summary, &figures);
    training_add_notes(t, summary);
    return harness_write_summary(p->results, summary, &figures, t->run.complete && all->n == 1);
}

/* Writes the summaries of all captured profiles and of their comparison. All ranks call. */
static int write_summaries(void *context)
{
    struct profiles *all = context;
    struct training *t = &all->training;
    struct figure_list figures = {0};
    int status = 0, captured = 0;
    for (struct profile *p = all->of; p < all->of + all->n && p->capture.trace.steps; p++, captured++)
        if (write_profile(all, p))
            status = -1;
    if (t->harness.job->rank || all->n == 1)
        return status;
    cJSON *summary = create_summary(all, NULL);
    profiles_add_comparison(all->of, captured, &t->run.measurements,
                            t->run.seconds / (double)t->run.measurements.rounds, summary, &figures);
    training_add_notes(t, summary);
    return harness_write_summary(&t->harness.results, summary, &figures, t->run.complete) ? -1 : status;
}

/* ---- the run ---- */

static int take_block(void *context, const struct block *b)
{
    struct profiles *all = context;
    struct training *t = &all->training;
    struct timeline *timeline = &t->engine.recorder.timeline;
    const char *label = t->run.options->implementation[b->implementation].label;
    int steps = (int)t->run.options->block_steps, measured = 0, status = 0;
    for (struct profile *p = all->of; p < all->of + all->n; p++) {
        int alone = controls_measure_alone(&p->controls, b->implementation);
        if (!controls_include(&p->controls, b->implementation))
            continue;
        if (alone && !measured++)
            attainable_measure(all->attainable, t->harness.job, timeline, b);
        controls_add_block(&p->controls, t->harness.job, timeline, b, steps);
        if ((all->n > 1 && telemetry_write_block(p->results, t, b)) ||
            (alone && attainable_write(all->attainable, p->results, label, timeline, b)))
            status = -1;
    }
    return status;
}

/* Adds a profile's steps to the merged trace of all profiles, shifted so that all profiles begin at the same time. */
static int merge_trace(struct profiles *all, const struct profile *p)
{
    const struct training *t = &all->training;
    struct trace trace = p->capture.trace;
    trace.group = (int)(p - all->of);
    trace.name = "comparison";
    int64_t start_ns = alignment_apply(&p->capture.alignment, p->capture.trace.times[0].start_ns) - trace.base_ns;
    int64_t back_ns = (int64_t)job_max(t->harness.job, -(double)start_ns); /* minus the earliest start of any rank */
    trace.base_ns -= back_ns;
    trace.base_unix_ns -= back_ns;
    return merged_trace_add(&all->merged, all->options, t->harness.results.directory, t->harness.job, &trace);
}

/* Captures one implementation and computes its figures, before the next capture overwrites its spans. */
static int capture_profile(struct profiles *all, struct profile *p)
{
    struct training *t = &all->training;
    const struct job *job = t->harness.job;
    const struct reducer *reducer = &t->engine.reducer[p->row];
    (void)other_processes_watch(&t->harness.other_processes, t->harness.job);
    int status = capture_run(&p->capture, t, p->row, p->name, p->options, p->results);
    (void)other_processes_watch(&t->harness.other_processes, t->harness.job);
    if (!p->capture.trace.steps) /* failed before the first captured step */
        return -1;
    if (all->n > 1)
        status = job_agree_after(job, status, merge_trace(all, p));
    profile_figures_create(&p->figures, job, &p->capture);
    if (job->size > 1 && reducer->traits->reduces)
        profile_figures_add_buckets(&p->figures, job, &p->capture, &reducer->plan,
                                    recorder_computing(&t->engine.recorder), t->engine.recorder.device->asynchronous,
                                    reducer->traits->shards);
    totals_create(&p->totals, job, &t->engine.recorder.timeline, t->engine.recorder.device->compute_bytes,
                  t->run.options->grad_accumulation, p->figures.first, p->figures.steps);
    return status;
}

/* If a GPU will be traced, times untraced blocks of each profile, before the tracer's first start. */
static void measure_before_tracer(struct profiles *all)
{
    struct training *t = &all->training;
    double cold;
    if (!t->engine.recorder.tracer.wanted || !t->run.options->rounds)
        return;
    block_try_steps(t, all->of->controls.rows.untraced, &cold);
    for (int i = 0; i < BLOCKS_BEFORE_TRACER; i++)
        for (struct profile *p = all->of; p < all->of + all->n; p++)
            p->controls.before[p->controls.n_before++] = block_step_seconds(t, p->controls.rows.untraced);
}

static int measure_profiles(struct profiles *all)
{
    struct training *t = &all->training;
    const struct job *job = t->harness.job;
    measure_before_tracer(all);
    int status = 0, interrupted = 0;
    for (struct profile *p = all->of; p < all->of + all->n && !interrupted && !status; p++) {
        status = capture_profile(all, p);
        interrupted = p->capture.interrupted;
        if (p->capture.trace.steps && job->hosts > 1 && p->facts.traits->reduces && !p->facts.comm_on_device &&
            !interrupted && !all->links) {
            all->links = allocate((size_t)job->hosts, sizeof *all->links);
            links_measure(job, t->engine.comm, all->links);
        }
        p->links = p->facts.traits->reduces ? all->links : NULL;
        status = job_agree_after(job, status, write_summaries(all));
        interrupted = capture_stop_noting(job);
        if (job->rank == 0 && interrupted)
            fprintf(stderr, "Interrupted: the capture ends after %d steps, without controls.\n",
                    p->capture.trace.steps);
    }
    if (all->n > 1)
        status = job_agree_after(job, status, merged_trace_end(&all->merged, "comparison"));
    if (status)
        return -1;
    const struct run_hooks hooks = {.context = all, .block = take_block, .summary = write_summaries};
    status = training_measure(t, &hooks, interrupted || !t->run.options->rounds);
    return interrupted ? -1 : status;
}

/* Checks, before any is made, that no directory of several profiles has files of a run. Returns 0; or -1, reported. */
static int check_directories(const struct profiles *all, const char *top)
{
    char path[FILES_PATH];
    int status = 0;
    for (const struct profile *p = all->of; all->n > 1 && p < all->of + all->n && !status; p++) {
        snprintf(path, sizeof path, "%.511s/%s", top, p->name);
        status = results_check_free("profile-output-dir", path, p->name);
    }
    return status;
}

/* If there are several profiles, opens a result directory for each; a single profile uses the directory of the run.
 * Then checks that no directory has the path of --prometheus. Returns 0; or -1 on every rank, reported. */
static int open_results(struct profiles *all)
{
    struct training *t = &all->training;
    const struct named_path prometheus = {"prometheus", t->harness.results.prometheus, RESULTS_PROMETHEUS_MARK};
    for (struct profile *p = all->of; p < all->of + all->n && all->n > 1; p++) {
        char top[sizeof t->harness.results.top + IMPLEMENTATION_LABEL];
        snprintf(top, sizeof top, "%s/%s", t->harness.results.top, p->name);
        const struct results_target target = {"profile-output-dir", top, t->harness.results.label, p->name, "", {0}};
        if (results_open(p->results, t->harness.job, &target))
            return -1;
    }
    return job_agree(t->harness.job, t->harness.job->rank ? 0 : files_check_named(&prometheus, 1));
}

static void collect_facts(struct profile *p, const struct training *t)
{
    const struct training_options *o = t->run.options;
    const struct implementation *row = &o->implementation[p->row];
    const struct job *job = t->harness.job;
    struct plan plan;
    const struct strategy *used = strategy_used(row->strategy, job->size, job->local_size);
    used->plan(&plan, t->engine.model.tensor, t->engine.model.tensors, &row->size.caps);
    p->facts = (struct profile_facts){
        .row = row,
        .label = row->label,
        .traits = used->traits[row->variant],
        .buckets = plan.n,
        .ranks = job->size,
        .hosts = job->hosts,
        .machine_ranks = job->machine_size,
        .on_gpu = t->harness.opened.on_gpu,
        .comm_on_device = t->engine.comm->on_device,
        .threads = t->harness.threads,
        .delays = o->delays,
        .has_synthetic_data = !data_tokens(t->engine.trainer.data),
        .cores_per_rank = job->cores,
        .tokens = training_tokens(o),
        .flops = training_flops(o, &t->engine.model),
        .block_steps = o->block_steps,
        .memory_bytes = t->harness.opened.on_gpu ? t->harness.opened.gpu.total_memory : t->harness.host.memory_bytes,
    };
    cJSON *json = provenance_create("profile", "", t->run.command);
    saved_run_tune(p->facts.tune, json, (size_t)p->facts.ranks);
    cJSON_Delete(json);
    plan_destroy(&plan);
}

static void create_profiles(struct profiles *all, const struct training_options *o)
{
    all->of = allocate((size_t)o->n, sizeof *all->of);
    for (int i = 0; i < o->n; i++) {
        struct profile *p = &all->of[all->n];
        if (!o->implementation[i].captured)
            continue;
        *p = (struct profile){.options = all->options, .row = i, .results = &p->own_results};
        p->own_results.telemetry.file = -1;
        all->n++;
        memcpy(p->name, o->implementation[i].label, sizeof p->name);
        for (char *c = p->name; *c; c++)
            *c = *c == ':' ? '.' : *c; /* labels have no '.', so names stay distinct */
    }
    if (all->n == 1)
        all->of->results = &all->training.harness.results;
}

static void create_controls(struct profile *p, const struct training *t, const struct attainable *attainable)
{
    const struct training_options *o = t->run.options;
    size_t others_bytes = 0;
    for (int i = 0; i < o->n; i++)
        others_bytes += i == p->row ? 0 : t->engine.reducer[i].bytes;
    others_bytes +=
        2 * sizeof(float) * (t->engine.trainer.optimizer.moments - reducer_owned(&t->engine.reducer[p->row]));
    p->controls = (struct controls){.rows = profile_rows_find(o->implementation, o->n, p->row),
                                    .communicates = t->harness.job->size > 1 && p->facts.traits->reduces,
                                    .attainable_of = attainable,
                                    .others_bytes = others_bytes *
                                                    (size_t)(t->harness.opened.on_gpu ? t->harness.opened.sharing : 1)};
    controls_create(&p->controls, o->rounds);
}

/* Measures the limits of the devices before anything large is allocated. All ranks call. */
static void measure_limits(struct device_limits *limits, const struct harness *h)
{
    const struct open_device *o = &h->opened;
    device_limits_measure(limits, h->job, o->device, o->on_gpu ? DEVICE_LIMITS_L2 : h->host.caches_bytes,
                          o->on_gpu ? o->sharing : h->job->machine_size,
                          o->on_gpu ? o->gpu.free_memory : host_memory_available());
    (void)open_device_reset_memory(o); /* what was measured on does not count as the run's memory */
}

int profile_run(const struct job *job, const struct run_options *options, const struct profile_options *o,
                const struct command *command)
{
    struct profiles all = {.options = o,
                           .training.run = {.mode = "profile", .command = command, .recording = profile_recording(o)}};
    struct training *t = &all.training;
    const struct training_options *of = &options->training;
    struct device_limits limits;
    create_profiles(&all, of);
    const char *below = all.n > 1 ? "comparison" : all.of->name, *given = o->output_dir;
    int status = job_agree(job, *given ? check_directories(&all, given) : 0);
    if (!status)
        status = training_plan(t, job, options, "profile-output-dir", given, below);
    if (!status)
        status = open_results(&all);
    if (!status) {
        for (struct profile *p = all.of; p < all.of + all.n; p++)
            collect_facts(p, t);
        harness_show_heading(&t->harness, create_summary(&all, NULL)); /* before anything large is allocated */
        measure_limits(&limits, &t->harness);
        status = training_set_up(t);
    }
    if (!status)
        all.attainable =
            attainable_create(t->engine.reducer, of->n, t->engine.model.tensors, (int)of->block_steps, of->rounds);
    for (struct profile *p = all.of; p < all.of + all.n && !status; p++) {
        p->facts.limits = limits;
        create_controls(p, t, all.attainable);
        status = all.n > 1 ? training_write_run_json(t, p->results) : 0;
    }
    if (!status)
        status = measure_profiles(&all);
    for (struct profile *p = all.of; p < all.of + all.n && all.n > 1; p++)
        status = job_agree_after(job, status, results_close(p->results));
    status = training_close(t, status, 0);
    if (!status && job->rank == 0)
        fprintf(stderr, "Traces: %s/%s%s_rank_*_trace.json%s; the rest: %s\n", t->harness.results.top,
                all.n > 1 ? "*/" : "", all.n > 1 ? "*" : all.of->name, o->trace_gzip ? ".gz" : "",
                t->harness.results.directory);
    for (struct profile *p = all.of; p < all.of + all.n; p++) {
        controls_destroy(&p->controls);
        profile_figures_destroy(&p->figures);
        capture_destroy(&p->capture);
    }
    attainable_destroy(all.attainable);
    free(all.links);
    free(all.of);
    return status;
}
