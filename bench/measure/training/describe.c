/* describe.c - writes run.json, and the heading and notes of a summary. */
#include "training/training.h"

#include "base/json.h"
#include "base/text.h"
#include "results/step_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- run.json ---- */

static void describe_implementation(const struct implementation *row, const struct reducer *reducer,
                                    const struct model *model, cJSON *item)
{
    const struct traits *traits = implementation_traits(row);
    json_add_text(item, "name", row->label);
    json_add_text(item, "strategy", row->strategy->name);
    if (row->twin_of)
        json_add_text(item, "twin_of", row->twin_of);
    cJSON_AddBoolToObject(item, "approximates", traits_approximate(traits));
    cJSON_AddBoolToObject(item, "traced", row->traced);
    cJSON_AddBoolToObject(item, "after_backward", row->after_backward || !traits->overlaps);
    json_add_text(item, "wire_dtype", traits->wire == COMM_BF16 ? "bf16" : "fp32");
    cJSON_AddBoolToObject(item, "update_in_backward", traits->updates_early);
    if (traits->buckets) {
        size_t cap = bucket_cap(&row->size.caps, BUCKET_CAPS), largest = plan_largest(&reducer->plan, model->arena);
        json_add_number(item, "bucket_bytes", (double)(cap < SIZE_MAX ? cap : largest * sizeof(float)));
        json_add_text(item, "bucket_size", row->size.words);
        json_add_text(item, "bucket_rule", "at_least"); /* plan_create; earlier versions cut by another rule */
    }
    cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
    for (int i = 0; traits->reduces && i < reducer->plan.n; i++) {
        const struct bucket *bucket = &reducer->plan.bucket[i];
        struct collective c = reducer_collective(reducer, i, 0);
        size_t parts = comm_parts(c.kind, comm_group_ranks(c.group, reducer->comm->ranks, reducer->comm->local_size));
        cJSON *collective = json_add_row(collectives);
        json_add_text(collective, "kind", comm_kind_name[c.kind]);
        json_add_number(collective, "bytes", (double)(parts * c.count * comm_dtype_bytes(c.dtype)));
        json_add_number(collective, "tensors", bucket->tensors);
        json_add_number(collective, "parameters", (double)bucket_parameters(model->tensor, bucket));
    }
}

double training_tokens(const struct training_options *o)
{
    return workload_has_times(&o->workload) ? NAN : (double)(o->batch_size * o->workload.context_length);
}

double training_flops(const struct training_options *o, const struct model *model)
{
    return model->source->flops(model, o->batch_size * o->workload.context_length, 0) / (o->forward_only ? 3 : 1);
}

int training_write_run_json(const struct training *t, const struct results *results)
{
    const struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct model *model = &t->engine.model;
    cJSON *json = harness_run_json(&t->harness, run->mode, t->engine.comm, run->command);
    cJSON *derived = cJSON_GetObjectItemCaseSensitive(json, "derived");
    json_add_number(derived, "parameters", (double)model->parameters);
    json_add_number(derived, "tokens_per_step", training_tokens(o));
    json_add_number(derived, "model_flops_per_step", training_flops(o, model));
    if (*o->workload.from.files)
        json_add_text(derived, "model_from", o->workload.from.read.words);
    json_add_number(derived, "data_tokens", (double)data_tokens(t->engine.trainer.data));
    if (!t->harness.opened.on_gpu) {
        json_add_text(derived, "blas", run->blas.library);
        json_add_text(derived, "blas_kernels", run->blas.kernels);
        json_add_number(derived, "onednn_time_ratio", run->products.ratio);
        json_add_number(derived, "product_gflops_per_thread", run->blas.product_gflops);
        json_add_number(derived, "vector_gflops_per_thread", run->blas.vector_gflops);
    }
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        json_add_number(memory, memory_part_name[i], (double)run->memory[i]);
    step_profile_add_tensors(json, model->tensor, model->tensors, model->arena); /* what plans are cut from */
    cJSON *rows = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < o->n; i++)
        describe_implementation(&o->implementation[i], &t->engine.reducer[i], model, json_add_row(rows));
    return harness_write_run_json(&t->harness, results, json);
}

/* ---- the heading of a summary ---- */

/* Adds the bucket size to the heading, if the program chose the size. */
static void add_default_bucket(const struct training_options *o, cJSON *summary)
{
    size_t bytes = 0;
    for (int i = 0; i < o->n; i++)
        bytes = bytes ? bytes : o->implementation[i].size.caps.cap[0];
    if (bytes && o->workload.bucket_sizes.automatic && bytes == o->workload.bucket_sizes.item[0].caps.cap[0])
        results_add_sentence(summary, "heading", "Buckets: %.4g MiB (auto: 25, or a quarter of the gradient if less)",
                             (double)bytes / 1048576);
}

void workload_describe(const struct workload *w, size_t parameters, cJSON *summary)
{
    const struct model_from *from = &w->from;
    if (*from->files)
        results_add_sentence(summary, "heading", "From %s: %s", from->files, from->read.words);
    if (*from->files && *from->read.assumed)
        results_add_sentence(summary, "heading", "Assumed: %s", from->read.assumed);
    if (workload_is_replayed(w)) {
        const char *times = workload_has_times(w)   ? "recorded times"
                            : from->backward_ms > 0 ? "the time of --backward-ms, divided by operations"
                                                    : "operations, at the rate of matrix products here";
        results_add_sentence(summary, "heading", "Model: replayed by %s, with %s%s", times,
                             from->compute ? "sleep" : "matrix products",
                             from->time_scale != 1 ? " (--time-scale)" : "");
        return;
    }
    if (*w->from_preset)
        results_add_sentence(summary, "heading", "From the preset %s: %s", preset_name[w->preset], w->from_preset);
    results_add_sentence(
        summary, "heading",
        "Model: %zu layers, d_model %zu, %zu heads, d_ff %zu, vocabulary %zu, context %zu: %.2f M parameters",
        w->num_layers, w->d_model, w->num_heads, w->d_ff, w->vocab_size, w->context_length, 1e-6 * (double)parameters);
}

static void add_workload(const struct training_options *o, const struct model *model, int ranks, cJSON *summary)
{
    workload_describe(&o->workload, model->parameters, summary);
    if (workload_has_times(&o->workload))
        return;
    results_add_sentence(summary, "heading", "Batch: %zu sequence%s a step = %d rank%s x %zu micro-batch%s x %zu",
                         o->batch_size, text_plural(o->batch_size), ranks, text_plural((size_t)ranks),
                         o->grad_accumulation, o->grad_accumulation == 1 ? "" : "es", model->sizes.batch);
}

/* Returns the bytes of all parts together. */
static size_t add_memory(const size_t bytes[MEMORY_PARTS], cJSON *summary)
{
    char total[CELL], parts[MEMORY_WORDS];
    size_t sum = memory_sum(bytes, 0, MEMORY_PARTS, parts);
    results_add_sentence(summary, "heading", "Memory: %s on each rank (estimated): %s", text_memory(total, sum), parts);
    return sum;
}

cJSON *training_create_summary(const struct training *t, const char *epochs)
{
    const struct run *run = &t->run;
    const struct training_options *o = run->options;
    const struct harness *h = &t->harness;
    int on_gpu = h->opened.on_gpu;
    char machine[300], blas[400];
    cJSON *summary = results_summary_create(run->mode, h->options->results.label, (double)run->measurements.rounds,
                                            (double)run->planned, "rounds");
    if (h->job->size == 1 && !strcmp(run->mode, "benchmark"))
        results_add_sentence(
            summary, "heading",
            "Nothing to compare: one rank has nothing to reduce. Write `mpirun -n 2` before the command.");
    if (on_gpu)
        open_device_words(&h->opened, machine);
    else
        snprintf(machine, sizeof machine, "%s, %s", h->host.cpu[0] ? h->host.cpu : h->host.name,
                 products_words(&run->blas, blas));
    harness_add_heading(h, "", machine, t->engine.comm, NULL, summary);
    add_workload(o, &t->engine.model, h->job->size, summary);
    if (data_tokens(t->engine.trainer.data))
        results_add_sentence(summary, "heading", "Data: %s, %zu tokens", o->data, data_tokens(t->engine.trainer.data));
    else if (!workload_is_replayed(&o->workload))
        results_add_sentence(summary, "heading", "Data: synthetic");
    results_add_sentence(summary, "heading", "%s",
                         epochs            ? epochs
                         : o->forward_only ? "Regime: forward only: no backward pass and no update"
                         : o->regime == REGIME_WARMUP
                             ? "Regime: warmup: the learning rate ramps and gradients are clipped"
                             : "Regime: active: constant learning rate, no clipping");
    add_default_bucket(o, summary);
    add_memory(run->memory, summary);
    if (*run->products.words)
        results_add_sentence(summary, "heading", "Products: %s", run->products.words);
    if (!on_gpu && products_replaced(&run->blas, blas))
        results_add_sentence(summary, "heading", "Products: %s", blas);
    if (!on_gpu && products_warning(&run->blas, blas))
        results_add_sentence(summary, "heading", "Warning: rank %d: %s", run->slowest_products, blas);
    return summary;
}

/* ---- a dry run ---- */

/* Adds the number of buckets of each row whose strategy obeys --bucket-size-mb. */
static void add_buckets(const struct training_options *o, const struct model *model, cJSON *summary)
{
    char text[64 * MAX_IMPLEMENTATIONS] = "";
    for (const struct implementation *row = o->implementation; row < o->implementation + o->n; row++) {
        struct plan plan;
        if (!implementation_traits(row)->buckets)
            continue;
        row->strategy->plan(&plan, model->tensor, model->tensors, &row->size.caps);
        text_append(text, sizeof text, "%s %s %d", *text ? "," : "", row->label, plan.n);
        plan_destroy(&plan);
    }
    if (*text)
        results_add_sentence(summary, "heading", "Number of buckets:%s", text);
}

int training_dry_run(const struct run_options *options, const struct recording *recording, int ranks, int on_gpus,
                     size_t captured, double minutes, cJSON *summary)
{
    const struct training_options *o = &options->training;
    const struct harness_options *h = &options->harness;
    const struct memory_conditions conditions = {
        0, ranks, ranks, on_gpus, on_gpus && h->comm.library == COMM_MPI, recording};
    size_t bytes[MEMORY_PARTS], steps = DISCARDED_STEPS + o->block_steps;
    struct model model;
    char first[64] = "", limit[CELL], flops[CELL], total[CELL];
    if (memory_plan(&model, &conditions, o, h->device.precision == PRECISION_BF16 ? 2 : sizeof(float), bytes))
        return -1;
    double step_flops = training_flops(o, &model);
    add_workload(o, &model, ranks, summary);
    add_default_bucket(o, summary);
    double memory = (double)add_memory(bytes, summary) * ranks;
    results_add_sentence(summary, "heading", "Memory of all ranks: %s", text_memory(total, (size_t)memory));
    add_buckets(o, &model, summary);
    if (captured)
        snprintf(first, sizeof first, "%zu captured step%s, then ", captured, text_plural(captured));
    if (minutes > 0)
        results_add_sentence(
            summary, "heading",
            "Work: rounds of at most %d implementations x %zu steps until the comparison is decided, for at "
            "most %s (--max-minutes)",
            o->n, steps, text_duration(limit, 60 * minutes));
    else
        results_add_sentence(summary, "heading", "Work: %s%zu round%s x %d implementations x %zu steps = %zu steps",
                             first, o->rounds, text_plural(o->rounds), o->n, steps, o->rounds * (size_t)o->n * steps);
    results_add_sentence(summary, "heading",
                         "A step on all ranks: %s. Only a run can measure how long a step takes; after its first steps "
                         "it estimates the rest.",
                         text_value_like(flops, step_flops, "FLOP", step_flops));
    model_destroy(&model);
    return 0;
}

/* ---- the notes of a summary ---- */

/* compared: number of strategies whose losses are compared. */
static void add_loss_notes(const struct losses *losses, int compared, cJSON *summary)
{
    if (losses->not_a_number)
        results_add_sentence(summary, "notes", "Warning: a loss was not a finite number: training diverged.");
    else if (compared < 2)
        ;
    else if (losses->difference == 0)
        results_add_sentence(summary, "notes",
                             "Losses of all synchronising fp32 strategies are identical, step by step.");
    else if (isfinite(losses->difference))
        results_add_sentence(summary, "notes",
                             "Losses of the synchronising fp32 strategies differ by at most %.1e, relatively.",
                             losses->difference);
    json_add_number(summary, "largest_loss_difference", losses->difference);
}

static void add_checkpoint_note(const struct trainer *trainer, cJSON *summary)
{
    const struct checkpoint *saved = &trainer->checkpoint;
    double bytes = (double)checkpoint_bytes(trainer->model->parameters),
           rate = bytes * (double)saved->saved / saved->seconds;
    if (!saved->saved)
        return;
    results_add_sentence(summary, "notes",
                         "Checkpoints: rank 0 wrote %.1f MB %zu time%s at %.0f MB/s (mean, until it was on disk), the "
                         "last to %s.",
                         1e-6 * bytes, saved->saved, text_plural(saved->saved), 1e-6 * rate, saved->path);
    json_add_number(summary, "checkpoint_bytes", bytes);
    json_add_number(summary, "checkpoint_bytes_per_second", rate);
}

void training_add_notes(const struct training *t, cJSON *summary)
{
    const struct run *run = &t->run;
    char words[CELL];
    int compared = 0, narrow = 0;
    for (int i = 0; i < run->options->n; i++) {
        const struct reducer *reducer = &t->engine.reducer[i];
        compared += reducer->traits->exact && reducer->traits->wire == COMM_FLOAT32;
        narrow += reducer->traits->wire == COMM_BF16;
    }
    add_loss_notes(&run->losses, compared, summary);
    if (narrow)
        results_add_sentence(
            summary, "notes",
            "Losses of implementations that send bfloat16 (--wire-dtype) are not compared; their number: %d.", narrow);
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *row = &run->options->implementation[i];
        const struct strategy *used = t->engine.reducer[i].strategy;
        if (used != row->strategy)
            results_add_sentence(summary, "notes", "%s does the same as %s here, since %s%s.", row->label,
                                 row->twin_of ? row->twin_of : used->name,
                                 t->harness.job->hosts == 1 ? "all ranks are on one host" : "each host has one rank",
                                 row->twin_of ? ": it is timed, but not ranked" : "");
    }
    json_add_number(summary, "timed_steps_per_block", (double)run->block_steps);
    json_add_number(summary, "blocks", (double)run->blocks);
    harness_add_findings(&t->harness, "answers", summary);
    if (run->comm_cpu_seconds > 0)
        results_add_sentence(summary, "notes",
                             "The communication thread of rank 0 used %.2f cores during the computation (progress %s).",
                             run->comm_cpu_seconds / run->comm_seconds, t->engine.comm->progress);
    add_checkpoint_note(&t->engine.trainer, summary);
    results_add_sentence(summary, "notes", "%s, measured: %s.",
                         t->harness.opened.on_gpu ? "Memory in use on the GPU of rank 0" : "Peak memory of rank 0",
                         text_memory(words, training_peak_memory(t)));
}
