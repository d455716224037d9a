/* profile.c - profile mode: captures each implementation, then runs rounds of blocks that compare them with their
 * controls. Summaries are written after each capture and again during the rounds. */
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "profile/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The profiles of a run. */
struct profiles {
    const struct profile_options *options;
    const struct command *command;
    int n;
    struct profile *of;            /* [n] */
    struct attainable *attainable; /* of all rows */
    struct link_rates *links;      /* [hosts], or NULL */
    struct results results;        /* of their comparison, if there are several */
    struct trace_file merged;      /* of all of them */
    int complete;                  /* all is measured */
};

/* ---- summaries ---- */

/* Adds the command line, quoted for a shell. */
static void add_command(const struct command *command, cJSON *summary)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = text_begin(&text, &length);
    for (int i = 0; i < command->argc; i++)
        text_print_word(out, command->argv[i]);
    text_end(out);
    results_add_sentence(summary, "heading", "Command:%s", text);
    free(text);
}

/* A summary with its heading: of a profile; or of all together where p is NULL. */
static cJSON *create_summary(const struct profiles *all, const struct profile *p, const struct run *run)
{
    const struct training_options *o = run->options;
    cJSON *summary = results_summary_create("profile", p ? p->results.label : all->results.label,
                                            (double)run->measurements.rounds, (double)o->rounds, "rounds");
    char epochs[160];
    snprintf(epochs, sizeof epochs, "Epochs: %zu of %zu step%s, %zu of them warm-up; controls run in %s epochs",
             o->num_epochs, o->steps_per_epoch, text_plural(o->steps_per_epoch), o->warmup_epochs,
             o->regime == REGIME_WARMUP ? "warm-up" : "active");
    run_add_heading(run, epochs, summary);
    for (const struct profile *q = all->of; q < all->of + all->n; q++) {
        char buckets[CELL + 16] = "", size[CELL];
        if (p && p != q)
            continue;
        if (o->implementation[q->row].bucket_bytes)
            snprintf(buckets, sizeof buckets, ", buckets of %s",
                     text_memory(size, o->implementation[q->row].bucket_bytes));
        int collectives = run->job->size > 1 && q->facts.strategy->reduces ? q->facts.buckets : 0;
        results_add_sentence(summary, "heading", "Training: %s%s: %d collective%s a step; learning rate %g, seed %zu",
                             q->facts.label, buckets, collectives, text_plural((size_t)collectives), o->lr, o->seed);
    }
    add_command(all->command, summary);
    return summary;
}

/* Writes the summary of a profile so far; prints it if it is complete and the only one. All ranks call. */
static int write_profile(const struct profiles *all, struct profile *p, const struct run *run)
{
    struct figure_list figures = {0};
    p->facts.peak_bytes = (size_t)job_max(run->job, (double)run_peak_memory(run));
    controls_compute(&p->controls, run->job, &run->measurements);
    overlap_verdict_create(&p->overlap, &p->facts, p->figures.rank->mean.exposed_tail, &p->controls);
    findings_create(&p->findings, &p->facts, &p->options->thresholds, &p->figures, &p->capture.collectives, p->links,
                    &p->controls);
    if (run->job->rank)
        return 0;
    cJSON *summary = create_summary(all, p, run);
    profile_add_tables(p, summary);
    profile_add_capture(p, summary);
    profile_add_answers(p, summary);
    profile_add_figures(p, &figures);
    run_add_notes(run, summary);
    cJSON *memory = cJSON_AddObjectToObject(summary, "memory_bytes");
    for (int i = 0; i < MEMORY_PARTS; i++)
        json_add_number(memory, memory_part_name[i], (double)run->memory[i]);
    json_add_number(memory, "peak", (double)p->facts.peak_bytes);
    int status = results_write_summary(&p->results, summary, &figures);
    if (all->complete && all->n == 1)
        results_print_body(stdout, summary);
    cJSON_Delete(summary);
    figures_destroy(&figures);
    return status;
}

/* Writes the summaries of all captured profiles, and of their comparison. All ranks call. */
static int write_summaries(void *context, struct run *run)
{
    struct profiles *all = context;
    struct figure_list figures = {0};
    int status = 0, captured = 0;
    for (struct profile *p = all->of; p < all->of + all->n && p->capture.n; p++, captured++)
        if (write_profile(all, p, run))
            status = -1;
    if (run->job->rank || all->n == 1)
        return status;
    cJSON *summary = create_summary(all, NULL, run);
    profiles_add_comparison(all->of, captured, &run->measurements, summary, &figures);
    run_add_notes(run, summary);
    if (results_write_summary(&all->results, summary, &figures))
        status = -1;
    if (all->complete)
        results_print_body(stdout, summary);
    cJSON_Delete(summary);
    figures_destroy(&figures);
    return status;
}

/* ---- the run ---- */

static int take_block(void *context, struct run *run, const struct block *b)
{
    struct profiles *all = context;
    int steps = (int)run->options->block_steps, row = b->implementation, measures = 0, status = 0;
    for (const struct profile *p = all->of; p < all->of + all->n; p++)
        measures |= controls_measure_alone(&p->controls, row);
    if (measures)
        attainable_measure(all->attainable, run->job, &run->timeline, b->times, steps, row, b->round);
    if (all->n > 1 && telemetry_write_block(&all->results, run, b))
        status = -1;
    for (struct profile *p = all->of; p < all->of + all->n; p++) {
        if (!controls_include(&p->controls, row))
            continue;
        controls_add_block(&p->controls, run->job, &run->timeline, b, steps);
        if (telemetry_write_block(&p->results, run, b) ||
            (controls_measure_alone(&p->controls, row) &&
             attainable_write(all->attainable, &p->results, run->options->implementation[row].label, &run->timeline,
                              steps, row, b->round)))
            status = -1;
    }
    return status;
}

/* Adds the captured steps to the trace of all profiles, as if all profiles had begun at the same moment. */
static int merge_trace(struct profiles *all, const struct profile *p, const struct run *run)
{
    struct trace trace = p->capture.trace;
    trace.group = (int)(p - all->of);
    trace.name = "comparison";
    int64_t start_ns = alignment_apply(&p->capture.alignment, p->capture.times[0].start_ns) - trace.base_ns;
    int64_t back_ns = (int64_t)job_max(run->job, -(double)start_ns); /* the earliest start of a rank */
    trace.base_ns -= back_ns;
    trace.base_unix_ns -= back_ns;
    return merged_trace_add(&all->merged, all->options, all->results.directory, run->job, &trace);
}

/* Captures one implementation and finds its figures, before the spans of the next one replace its spans. */
static int capture_profile(struct profiles *all, struct profile *p, struct run *run)
{
    const struct reducer *reducer = &run->reducer[p->row];
    int sends = run->job->size > 1 && reducer->strategy->reduces;
    int status = capture_run(&p->capture, run, p->row, p->name, p->options, &p->results);
    if (!p->capture.n) /* it failed before the first captured step */
        return -1;
    if (all->n > 1)
        status = job_agree_after(run->job, status, merge_trace(all, p, run));
    profile_figures_create(&p->figures, run->job, &p->capture);
    if (sends)
        profile_figures_add_buckets(&p->figures, run->job, &p->capture, &run->timeline, &reducer->plan,
                                    run_computing(run), run->device->asynchronous);
    enum comm_dtype dtype = reducer->staged ? reducer->staged_dtype : COMM_FLOAT32;
    profile_figures_add_layers(&p->figures, run->job, &run->timeline, &run->model, sends ? comm_dtype_bytes(dtype) : 0);
    totals_create(&p->totals, run->job, &run->timeline, run->device->compute_bytes, p->figures.first, p->figures.steps);
    totals_sort(&p->totals, p->options->sort);
    profile_figures_add_memory(&p->figures, &run->trainer, run->reducer, run->options->n);
    return status;
}

static int measure_profiles(struct profiles *all, struct run *run)
{
    int status = 0, interrupted = 0;
    for (struct profile *p = all->of; p < all->of + all->n && !interrupted && !status; p++) {
        status = capture_profile(all, p, run);
        interrupted = p->capture.interrupted;
        if (p->capture.n && run->job->hosts > 1 && p->facts.strategy->reduces && !p->facts.comm_on_device &&
            !interrupted && !all->links) {
            all->links = allocate((size_t)run->job->hosts, sizeof *all->links);
            links_measure(run->job, all->links);
        }
        p->links = p->facts.strategy->reduces ? all->links : NULL;
        status = job_agree_after(run->job, status, write_summaries(all, run));
        interrupted = capture_stop_noting(run->job);
        if (run->job->rank == 0 && interrupted && !p->capture.interrupted)
            fprintf(stderr, "Interrupted while the summary was written; it is complete, but there are no controls.\n");
    }
    if (all->n > 1)
        status = job_agree_after(run->job, status, merged_trace_end(&all->merged, "comparison"));
    if (status)
        return -1;
    const struct run_hooks hooks = {.context = all, .block = take_block, .summary = write_summaries};
    if (run->options->rounds && !interrupted)
        status = run_rounds(run, &hooks);
    if (run_stop_watching(run))
        status = -1;
    all->complete = 1;
    status = job_agree_after(run->job, status, write_summaries(all, run));
    return run_check_losses(run) || interrupted ? -1 : status;
}

/* Checks, before any directory is made, that <top>/<name> does not hold results of another kind: of a single profile,
 * or the directories of several. Returns 0; or -1, reported. */
static int check_directories(const struct profiles *all, const char *top)
{
    char path[FILES_PATH];
    int status = 0;
    snprintf(path, sizeof path, "%.511s/comparison", top);
    if (all->n == 1 && !access(path, F_OK))
        return error_report("--profile-output-dir %.511s holds several profiles of one run: %.600s; choose another "
                            "directory",
                            top, path);
    for (const struct profile *p = all->of; all->n > 1 && p < all->of + all->n && !status; p++) {
        snprintf(path, sizeof path, "%.511s/%s", top, p->name);
        status = results_check_free("profile-output-dir", path, p->name);
    }
    return status;
}

/* Opens a directory for the results of each of several profiles; a single profile has that of the run. Returns 0; or -1
 * on every rank, reported. */
static int open_results(struct profiles *all, struct run *run)
{
    run->directory = all->n > 1 ? all->results.top : all->of->results.directory;
    for (struct profile *p = all->of; p < all->of + all->n && all->n > 1; p++) {
        char top[sizeof all->results.top + IMPLEMENTATION_LABEL];
        snprintf(top, sizeof top, "%s/%s", all->results.top, p->name);
        const struct results_target target = {"profile-output-dir", top, all->results.label, p->name, ""};
        if (results_open(&p->results, run->job, &target) ||
            job_agree(run->job, run_json_write(run, "profile", all->command, &p->results)))
            return -1;
    }
    return 0;
}

static void collect_facts(struct profile *p, const struct run *run)
{
    const struct training_options *o = run->options;
    const struct implementation *row = &o->implementation[p->row];
    size_t tokens = o->batch_size * o->workload.context_length;
    struct plan plan;
    row->strategy->plan(&plan, run->model.tensor, run->model.tensors, row->bucket_bytes);
    p->facts = (struct profile_facts){
        .label = row->label,
        .strategy = row->strategy,
        .bucket_words = row->bucket_words,
        .buckets = plan.n,
        .ranks = run->job->size,
        .hosts = run->job->hosts,
        .machine_ranks = run->job->machine_size,
        .on_gpu = run->opened.on_gpu,
        .comm_on_device = run->comm->on_device,
        .threads = run->threads,
        .has_synthetic_data = !data_tokens(run->trainer.data),
        .cores_per_rank = run->cores_per_rank,
        .tokens = (double)tokens,
        .flops = model_flops(&run->model, tokens) / (o->forward_only ? 3 : 1), /* backward takes two */
        .block_steps = o->block_steps,
        .memory_bytes = run->opened.on_gpu ? run->opened.gpu.total_memory : run->host.memory_bytes,
    };
    plan_destroy(&plan);
}

/* Prints the heading and how long the run will take, before anything large is allocated. */
static void print_heading(const struct profiles *all, const struct run *run)
{
    const struct training_options *o = run->options;
    for (struct profile *p = all->of; p < all->of + all->n; p++)
        collect_facts(p, run);
    if (run->job->rank == 0) {
        cJSON *summary = create_summary(all, NULL, run);
        results_print_heading(stdout, summary);
        cJSON_Delete(summary);
    }
    size_t captured = DISCARDED_STEPS + capture_steps(all->options, o->num_epochs * o->steps_per_epoch);
    size_t of_rounds = o->rounds * (size_t)o->n * (DISCARDED_STEPS + o->block_steps);
    run_estimate(run, (size_t)all->n * captured + of_rounds + (o->rounds > 0), 0);
}

static void create_profiles(struct profiles *all, const struct training_options *o)
{
    all->of = allocate((size_t)o->n, sizeof *all->of);
    for (int i = 0; i < o->n; i++) {
        struct profile *p = &all->of[all->n];
        if (!o->implementation[i].captured)
            continue;
        *p = (struct profile){.options = all->options, .row = i, .results.telemetry.file = -1};
        memcpy(p->name, o->implementation[i].label, sizeof p->name);
        for (char *c = p->name; *c; c++)
            *c = *c == ':' ? '.' : *c; /* no label holds a '.', so that names differ as labels do */
        all->n++;
    }
}

static void create_controls(struct profile *p, const struct run *run, const struct attainable *attainable)
{
    const struct training_options *o = run->options;
    const struct profile_rows rows = profile_rows_find(o->implementation, o->n, p->row);
    size_t others_staged = 0;
    for (int i = 0; i < o->n; i++)
        others_staged += i == p->row ? 0 : run->reducer[i].staged_bytes;
    controls_create(&p->controls, &rows, run->job->size > 1 && p->facts.strategy->reduces, attainable,
                    others_staged * (size_t)(run->opened.on_gpu ? run->opened.sharing : 1), o->rounds);
}

int run_profile(const struct job *job, const struct run_options *options, const struct profile_options *o,
                const struct command *command)
{
    struct run run = {.job = job, .recording = profile_recording(o)};
    struct profiles all = {.options = o, .command = command, .results.telemetry.file = -1};
    create_profiles(&all, &options->training);
    const char *below = all.n > 1 ? "comparison" : all.of->name, *given = o->output_dir;
    const struct results_target target = {"profile-output-dir", given, options->results.label, below,
                                          options->results.prometheus};
    struct results *results = all.n > 1 ? &all.results : &all.of->results;
    int status = job_agree(job, *given ? check_directories(&all, given) : 0);
    if (!status)
        status = run_plan(&run, options, &target, results);
    if (!status) {
        print_heading(&all, &run);
        status = run_set_up(&run, "profile", command, results);
    }
    if (!status)
        status = open_results(&all, &run);
    if (!status) {
        const struct training_options *t = run.options;
        all.attainable = attainable_create(run.reducer, t->n, run.model.tensors, t->rounds);
        for (struct profile *p = all.of; p < all.of + all.n; p++)
            create_controls(p, &run, all.attainable);
        status = measure_profiles(&all, &run);
    }
    for (struct profile *p = all.of; p < all.of + all.n; p++)
        status = job_agree_after(job, status, results_close(&p->results));
    status = job_agree_after(job, status, results_close(&all.results));
    if (!status && job->rank == 0)
        fprintf(stderr, "Traces: %s/%s%s%s_rank_*_trace.json%s; the rest: %s\n", results->top, all.n > 1 ? "*/" : "",
                o->trace_per_cycle ? "cycle_*/" : "", all.n > 1 ? "*" : all.of->name, o->trace_gzip ? ".gz" : "",
                results->directory);
    for (struct profile *p = all.of; p < all.of + all.n; p++) {
        controls_destroy(&p->controls);
        profile_figures_destroy(&p->figures);
        capture_destroy(&p->capture);
    }
    attainable_destroy(all.attainable);
    free(all.links);
    free(all.of);
    run_tear_down(&run);
    return status;
}
