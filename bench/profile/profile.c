/* profile.c - profile mode: the capture first, then rounds of blocks that the captured implementation is compared with.
 * The summary is written after the capture and again as rounds go by. */
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "profile/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the summary ---- */

/* The command line as one can type it again. */
static void add_command(const struct command *command, cJSON *summary)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the command line");
    for (int i = 0; i < command->argc; i++)
        text_print_word(out, command->argv[i]);
    fclose(out);
    results_add_line(summary, "heading", "command  %s", text);
    free(text);
}

/* What is known before the capture. */
static cJSON *create_summary(const struct profile *p, const struct run *run, const struct results *results)
{
    const struct training_options *o = run->options;
    cJSON *summary = results_summary_create("profile", results->label, (double)run->measurements.rounds,
                                            (double)o->rounds, "rounds");
    char epochs[160], buckets[CELL + 16] = "", size[CELL];
    snprintf(epochs, sizeof epochs, "epochs    %zu of %zu step%s, %zu of them warm-up; controls run in %s epochs",
             o->num_epochs, o->steps_per_epoch, text_plural(o->steps_per_epoch), o->warmup_epochs,
             o->regime == REGIME_WARMUP ? "warm-up" : "active");
    run_add_heading(run, epochs, summary);
    if (o->implementation[0].bucket_bytes)
        snprintf(buckets, sizeof buckets, ", buckets of %s", text_memory(size, o->implementation[0].bucket_bytes));
    int collectives = run->job->size > 1 && p->facts.strategy->reduces ? p->facts.buckets : 0;
    results_add_line(summary, "heading", "training  %s%s: %d collective%s a step; learning rate %g, seed %zu",
                     p->facts.label, buckets, collectives, text_plural((size_t)collectives), o->lr, o->seed);
    add_command(p->command, summary);
    return summary;
}

/* Writes the summary of what there is so far; of the whole run, on stdout too. All ranks call. */
static int write_summary(void *context, struct run *run, const struct results *results)
{
    struct profile *p = context;
    struct figure_list figures = {0};
    p->facts.peak_bytes = (size_t)job_max(run->job, (double)open_device_memory(&run->opened));
    p->comm_thread_cores = run->counts.comm_cpu_seconds > 0 && run->job->size > 1
                               ? run->counts.comm_cpu_seconds / run->counts.comm_seconds
                               : NAN;
    controls_compute(&p->controls, run->job, &run->measurements);
    findings_create(&p->findings, &p->facts, &p->options->thresholds, &p->figures, &p->capture.collectives, p->links,
                    &p->controls);
    if (run->job->rank)
        return 0;
    cJSON *summary = create_summary(p, run, results);
    profile_add_tables(p, summary);
    profile_add_findings(p, summary);
    profile_add_figures(p, &figures);
    run_add_notes(run, summary);
    cJSON *memory = cJSON_AddObjectToObject(summary, "memory_bytes");
    for (int i = 0; i < MEMORY_PARTS; i++)
        json_add_number(memory, memory_part_name[i], (double)run->memory[i]);
    json_add_number(memory, "peak", (double)p->facts.peak_bytes);
    int status = results_write_summary(results, summary, &figures);
    if (p->complete && results_show_body(summary)) /* the heading is there already */
        status = -1;
    cJSON_Delete(summary);
    figures_destroy(&figures);
    return status;
}

/* ---- the run ---- */

static int take_block(void *context, struct run *run, struct results *results, const struct step_times *times,
                      const struct overlap *overlap, int implementation, size_t round)
{
    struct controls *controls = &((struct profile *)context)->controls;
    controls_add_block(controls, run, times, overlap, implementation, round);
    if (!controls_measures_alone(controls, implementation))
        return 0;
    return attainable_write(controls->attainable_of, results, run->options->implementation[implementation].label,
                            &run->timeline, (int)run->options->block_steps, implementation, round);
}

static int measure(struct profile *p, struct run *run, struct results *results)
{
    if (run->job->rank == 0) {
        cJSON *summary = create_summary(p, run, results);
        results_show_heading(summary);
        cJSON_Delete(summary);
    }
    int status = capture_run(&p->capture, run, p->options, results);
    if (!p->capture.n) /* it failed before the first step that counts */
        return -1;
    profile_figures_create(&p->figures, run->job, &p->capture);
    if (run->job->size > 1 && p->facts.strategy->reduces)
        profile_figures_add_buckets(&p->figures, run->job, &p->capture, &run->timeline, &run->reducer[0].plan,
                                    run_computing(run), run->device->asynchronous);
    const struct reducer *reducer = &run->reducer[0];
    enum comm_dtype dtype = reducer->staged ? reducer->staged_dtype : COMM_FLOAT32;
    int sends = run->job->size > 1 && p->facts.strategy->reduces;
    profile_figures_add_layers(&p->figures, run->job, &run->timeline, &run->model, sends ? comm_dtype_bytes(dtype) : 0);
    if (run->job->hosts > 1 && p->facts.strategy->reduces && !p->facts.comm_on_device && !p->capture.interrupted) {
        p->links = allocate((size_t)run->job->hosts, sizeof *p->links);
        links_measure(run->job, p->links);
    }
    totals_create(&p->totals, run->job, &run->timeline, run->device->compute_bytes, p->figures.first, p->figures.steps);
    totals_sort(&p->totals, p->options->sort);
    if (job_agree_after(run->job, status, write_summary(p, run, results)))
        return -1;
    const struct run_hooks hooks = {.context = p, .block = take_block, .summary = write_summary};
    if (run->options->rounds && !p->capture.interrupted)
        status = run_rounds(run, results, &hooks);
    if (run_stop_monitor(run))
        status = -1;
    p->complete = 1;
    status = job_agree_after(run->job, status, write_summary(p, run, results));
    return run_check_losses(run) || p->capture.interrupted ? -1 : status;
}

int run_profile(const struct job *job, const struct run_options *options, const struct profile_options *o,
                const struct command *command)
{
    struct run run = {.job = job, .recording = profile_recording(o)};
    struct profile p = {.options = o, .command = command};
    struct results results = {.telemetry.file = -1};
    const char *label = options->training.implementation[0].label;
    const struct results_target target = {"profile-output-dir", o->output_dir, options->results.label, label};
    int status = run_set_up(&run, options, "profile", command, &target, &results);
    if (!status) {
        size_t tokens = run.options->batch_size * run.options->workload.context_length;
        p.facts = (struct profile_facts){
            .label = label,
            .strategy = run.reducer[0].strategy,
            .buckets = run.reducer[0].plan.n,
            .ranks = job->size,
            .hosts = job->hosts,
            .machine_ranks = job->machine_size,
            .on_gpu = run.opened.on_gpu,
            .comm_on_device = run.comm->on_device,
            .threads = run.threads,
            .synthetic = !data_tokens(run.trainer.data),
            .cores_per_rank = run.cores_per_rank,
            .tokens = (double)tokens,
            .flops = model_flops(&run.model, tokens) / (run.options->forward_only ? 3 : 1), /* backward takes two */
            .block_steps = run.options->block_steps,
            .memory_bytes = run.opened.on_gpu ? run.opened.gpu.total_memory : run.host.memory_bytes,
        };
        controls_create(&p.controls, run.options->implementation, run.reducer, run.options->n, run.model.tensors,
                        job->size, run.options->rounds);
        status = measure(&p, &run, &results);
        controls_destroy(&p.controls);
    }
    status = job_agree_after(job, status, results_close(&results));
    if (!status && job->rank == 0)
        fprintf(stderr, "Traces: %s/%s_rank_*_trace.json%s; the rest: %s\n", results.top, label,
                o->trace_gzip ? ".gz" : "", results.directory);
    free(p.links);
    profile_figures_destroy(&p.figures);
    capture_destroy(&p.capture);
    run_tear_down(&run);
    return status;
}
