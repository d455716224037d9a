/* describe.c - what was run, as run.json and as the heading of a summary, and what a reader of its figures must know of
 * the machine and the losses: the same for the benchmark and the profile. */
#include "training/parts.h"

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- run.json ---- */

static void describe_products(const struct blas_facts *blas, cJSON *json)
{
    json_add_text(json, "blas", blas->library);
    json_add_text(json, "blas_kernels", blas->kernels);
    json_add_number(json, "product_gflops_per_thread", blas->product_gflops);
    json_add_number(json, "vector_gflops_per_thread", blas->vector_gflops);
}

int run_json_write(const struct run *run, const char *mode, const struct command *command,
                   const struct results *results)
{
    const struct training_options *o = run->options;
    size_t tokens = o->batch_size * o->workload.context_length;
    cJSON *json = provenance_create(mode, results->label, command);
    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    json_add_number(derived, "world_size", run->job->size);
    json_add_number(derived, "host_count", run->job->hosts);
    json_add_number(derived, "threads", run->threads);
    json_add_number(derived, "cores_per_rank", run->cores_per_rank);
    json_add_number(derived, "parameters", (double)run->model.parameters);
    json_add_number(derived, "tokens_per_step", (double)tokens);
    json_add_number(derived, "model_flops_per_step", model_flops(&run->model, tokens) / (o->forward_only ? 3 : 1));
    json_add_number(derived, "data_tokens", (double)data_tokens(run->trainer.data));
    json_add_number(derived, "timed_steps_per_block", (double)o->block_steps);
    json_add_text(derived, "device", run->model.device->name);
    open_device_describe(&run->opened, derived);
    if (!run->opened.on_gpu)
        describe_products(&run->blas, derived);
    provenance_add_comm(derived, run->comm);
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        json_add_number(memory, memory_part_name[i], (double)run->memory[i]);
    cJSON *list = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        const struct plan *plan = &run->reducer[i].plan;
        cJSON *item = json_add_row(list);
        json_add_text(item, "name", row->label);
        json_add_text(item, "strategy", row->strategy->name);
        cJSON_AddBoolToObject(item, "traced", row->traced);
        cJSON_AddBoolToObject(item, "after_backward", row->after_backward || !row->strategy->overlaps);
        if (row->strategy->buckets)
            json_add_number(item, "bucket_bytes", (double)row->bucket_bytes);
        cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
        for (int s = 0; row->strategy->reduces && s < plan->n; s++) {
            struct collective c = reducer_collective(&run->reducer[i], s, 0);
            cJSON *collective = json_add_row(collectives);
            json_add_number(collective, "bytes", (double)(c.count * comm_dtype_bytes(c.dtype)));
            json_add_number(collective, "tensors", plan->bucket[s].tensors);
            size_t parameters = bucket_parameters(run->model.tensor, &plan->bucket[s]);
            json_add_number(collective, "parameters", (double)parameters);
        }
    }
    host_describe(&run->host, run->job, json);
    return provenance_write(results, json);
}

/* ---- the heading and notes of a summary ---- */

/* The size of buckets, where it is the program that chose it. */
static void add_default_bucket(const struct training_options *o, cJSON *summary)
{
    size_t bytes = 0;
    char size[CELL];
    for (int i = 0; i < o->n; i++)
        bytes = bytes ? bytes : o->implementation[i].bucket_bytes;
    if (bytes && !strcmp(o->workload.bucket_sizes.item[0].words, "auto"))
        results_add_sentence(
            summary, "heading", "Buckets: %s%s", text_memory(size, bytes),
            bytes < BUCKET_DEFAULT_BYTES
                ? ", a quarter of the gradient (the default of 25 MiB is for gradients of 100 MiB or more)"
                : " (default)");
}

void run_add_heading(const struct run *run, const char *epochs, cJSON *summary)
{
    const struct training_options *o = run->options;
    const struct workload *w = &o->workload;
    const struct job *job = run->job;
    const struct comm *comm = run->comm;
    char on[300], blas[400], total[CELL], parts[256];
    if (run->opened.on_gpu)
        open_device_words(&run->opened, on);
    else
        snprintf(on, sizeof on, "%s, %s", run->host.cpu[0] ? run->host.cpu : run->host.name,
                 products_words(&run->blas, blas));
    results_add_sentence(summary, "heading", "ddpbench %s on %d rank%s x %d thread%s on %d host%s (%s), comm %s, %s%s",
                         version_text(), job->size, text_plural((size_t)job->size), run->threads,
                         text_plural((size_t)run->threads), job->hosts, text_plural((size_t)job->hosts), on, comm->name,
                         comm->on_device ? "" : "progress ", comm->progress);
    if (*w->preset_words)
        results_add_sentence(summary, "heading", "Preset: %s", w->preset_words);
    results_add_sentence(
        summary, "heading",
        "Model: %zu layers, d_model %zu, %zu heads, d_ff %zu, vocabulary %zu, context %zu: %.2f M parameters",
        w->num_layers, w->d_model, w->num_heads, w->d_ff, w->vocab_size, w->context_length,
        1e-6 * (double)run->model.parameters);
    results_add_sentence(summary, "heading", "Batch: %zu sequence%s a step = %d rank%s x %zu micro-batch%s x %zu",
                         o->batch_size, text_plural(o->batch_size), job->size, text_plural((size_t)job->size),
                         o->grad_accumulation, o->grad_accumulation == 1 ? "" : "es", run->model.sizes.batch);
    if (data_tokens(run->trainer.data))
        results_add_sentence(summary, "heading", "Data: %s, %zu tokens", o->data, data_tokens(run->trainer.data));
    else
        results_add_sentence(summary, "heading", "Data: synthetic");
    results_add_sentence(summary, "heading", "%s",
                         epochs ? epochs
                         : o->regime == REGIME_WARMUP
                             ? "Regime: warmup: the learning rate ramps and gradients are clipped"
                             : "Regime: active: constant learning rate, no clipping");
    add_default_bucket(o, summary);
    results_add_sentence(summary, "heading", "Memory: %s on each rank (estimated): %s",
                         text_memory(total, memory_total(run->memory, 0, MEMORY_PARTS)),
                         memory_words(run->memory, 0, MEMORY_PARTS, parts));
    if (!run->opened.on_gpu && products_replaced(&run->blas, blas))
        results_add_sentence(summary, "heading", "Products: %s", blas);
    if (!run->opened.on_gpu && products_warning(&run->blas, blas))
        results_add_sentence(summary, "heading", "Warning: rank %d: %s", run->slowest_products, blas);
}

void run_add_notes(const struct run *run, cJSON *summary)
{
    const struct block_counts *counts = &run->counts;
    const struct losses *losses = &run->losses;
    char words[CELL];
    if (losses->not_a_number)
        results_add_sentence(summary, "notes", "Warning: a loss was not a finite number: training diverged.");
    else if (losses->difference == 0)
        results_add_sentence(summary, "notes",
                             "Losses of all synchronising fp32 strategies are identical, step by step.");
    else if (isfinite(losses->difference))
        results_add_sentence(summary, "notes",
                             "Losses of the synchronising fp32 strategies differ by at most %.1e, relatively.",
                             losses->difference);
    for (int i = 0; i < run->options->n; i++)
        if (run->reducer[i].staged && run->reducer[i].staged_dtype == COMM_BF16)
            results_add_sentence(summary, "notes", "%s sends bfloat16 (--grad-dtype); its losses are its own.",
                                 run->options->implementation[i].label);
    if (run->cores_per_rank < run->threads)
        results_add_sentence(
            summary, "notes",
            "Warning: CPUs are oversubscribed: a rank has %d thread%s and %.2g logical CPUs; timings include "
            "scheduling delays.",
            run->threads, text_plural((size_t)run->threads), run->cores_per_rank);
    if (counts->with_other_processes && !run->watches_cpu)
        results_add_sentence(
            summary, "notes",
            "Note: other processes used up to %.1f cores during %zu of %zu blocks: trust intervals, not single "
            "figures.",
            counts->other_cores, counts->with_other_processes, counts->watched_blocks);
    for (int i = 0; i < run->monitored.n; i++)
        results_add_sentence(summary, "notes", "Note: %s.", run->monitored.finding[i].text);
    if (run->monitored.dropped)
        results_add_sentence(summary, "notes",
                             "Note: %d more findings of monitors; see cpu_monitor*.csv and gpu_monitor*.csv.",
                             run->monitored.dropped);
    if (counts->comm_cpu_seconds > 0)
        results_add_sentence(summary, "notes",
                             "The communication thread of rank 0 used %.2f cores during the computation (progress %s).",
                             counts->comm_cpu_seconds / counts->comm_seconds, run->comm->progress);
    const struct checkpoint *saved = &run->trainer.checkpoint;
    double bytes = (double)checkpoint_bytes(run->model.arena), rate = bytes * (double)saved->saved / saved->seconds;
    if (saved->saved) {
        results_add_sentence(
            summary, "notes",
            "Checkpoints: rank 0 wrote %.1f MB %zu time%s at %.0f MB/s (mean, until it was on disk), the "
            "last to %s.",
            1e-6 * bytes, saved->saved, text_plural(saved->saved), 1e-6 * rate, saved->path);
        json_add_number(summary, "checkpoint_bytes", bytes);
        json_add_number(summary, "checkpoint_bytes_per_second", rate);
    }
    if (counts->dropped_spans)
        results_add_sentence(summary, "notes", "Warning: %d spans found the timeline full; phase times are incomplete.",
                             counts->dropped_spans);
    results_add_sentence(summary, "notes", "%s, measured: %s.",
                         run->opened.on_gpu ? "Memory in use on the GPU of rank 0" : "Peak memory of rank 0",
                         text_memory(words, run_peak_memory(run)));
    json_add_number(summary, "blocks", (double)counts->blocks);
    json_add_number(summary, "blocks_watched", (double)counts->watched_blocks);
    json_add_number(summary, "blocks_with_other_processes", (double)counts->with_other_processes);
    monitor_findings_describe(&run->monitored, summary);
}
