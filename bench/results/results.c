/* results.c - writes the files of one run. */
#include "results/results.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "benchmark/summary.h"
#include "kernels/error.h"
#include "results/provenance.h"

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the directory ---- */

/* The directory that the user named, or results/<time>[-<label>][-<number>] made by rank 0; the others take the name
 * over from it. */
static void name_directory(struct results *results, const struct job *job, const char *given, const char *label)
{
    char *all = allocate((size_t)job->size, sizeof results->top);
    char stamp[32], name[sizeof results->top] = "";
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime(&now));
    if (*given)
        snprintf(name, sizeof name, "%s", given);
    else {
        const char *dash = *label ? "-" : "";
        snprintf(name, sizeof name, "results/%s%s%s", stamp, dash, label);
        if (job->rank == 0) { /* made here and now, so that two runs of the same second cannot share it */
            int made = mkdir("results", 0777) && errno != EEXIST ? -1 : mkdir(name, 0777);
            for (int i = 2; made && errno == EEXIST && i < 1000; i++) {
                snprintf(name, sizeof name, "results/%s%s%s-%d", stamp, dash, label, i);
                made = mkdir(name, 0777);
            } /* any other failure is found, and reported, when the directory is opened */
        }
    }
    job_gather(job, name, sizeof name, all);
    memcpy(results->top, all, sizeof results->top);
    free(all);
}

static int open_rank(struct results *results, const char *option)
{
    char path[FILES_PATH];
    if (files_make_directories(option, results->directory))
        return -1;
    snprintf(path, sizeof path, "%s/run.json", results->directory);
    if (!access(path, F_OK))
        return error_report("--%s %s already holds the results of a run; choose another directory", option,
                            results->directory);
    snprintf(path, sizeof path, "%s/rank_%d_metrics.jsonl", results->directory, results->rank);
    results->telemetry_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (results->telemetry_file < 0)
        return error_report("--%s: cannot write %s: %s", option, path, strerror(errno));
    return 0;
}

int results_open(struct results *results, const struct job *job, const struct results_target *place)
{
    *results = (struct results){.rank = job->rank, .telemetry_file = -1};
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is reported as a full disk is */
    if (strlen(place->given) >= sizeof results->top - 64)
        return error_report("--%s: the path is longer than %zu characters", place->option, sizeof results->top - 65);
    name_directory(results, job, place->given, place->label);
    snprintf(results->directory, sizeof results->directory, *place->below ? "%s/%s" : "%s", results->top, place->below);
    return open_rank(results, place->option);
}

int results_close(struct results *results)
{
    int failed = results->telemetry_file >= 0 && close(results->telemetry_file);
    results->telemetry_file = -1;
    if (failed) /* network file systems may find only now that the disk is full */
        return error_report("cannot close %s/rank_%d_metrics.jsonl: %s", results->directory, results->rank,
                            strerror(errno));
    return 0;
}

int results_append(struct results *results, char *text, size_t length)
{
    int status = 0;
    if (files_write_all(results->telemetry_file, text, length)) {
        status = error_report("cannot write %s/rank_%d_metrics.jsonl: %s; it holds what was written before",
                              results->directory, results->rank, strerror(errno));
        while (ftruncate(results->telemetry_file, results->length) && errno == EINTR)
            ; /* any other failure leaves a part of a line behind, and there is nothing left to try */
    } else
        results->length += (long)length;
    free(text);
    return status;
}

/* ---- whole files ---- */

int results_replace_json(const struct results *results, const char *name, cJSON *json)
{
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        FATAL("no memory to print %s", name);
    int status = files_replace(results->directory, name, text);
    free(text);
    return status;
}

/* ---- run.json ---- */

static void add_implementations(cJSON *json, const struct run *run)
{
    cJSON *list = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *row = &run->options->implementation[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        cJSON_AddStringToObject(item, "name", row->label);
        cJSON_AddStringToObject(item, "strategy", row->strategy->name);
        if (run->options->profile) {
            cJSON_AddBoolToObject(item, "traced", row->traced);
            cJSON_AddBoolToObject(item, "collectives_after_backward", row->after_backward || !row->strategy->overlaps);
        }
        if (row->strategy->buckets)
            cJSON_AddNumberToObject(item, "bucket_size_mb", row->bucket_mb);
        cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
        for (int s = 0; row->strategy->reduces && s < run->reducer[i].plan.n; s++) {
            struct collective c = reducer_collective(&run->reducer[i], s);
            cJSON *collective = cJSON_CreateObject();
            cJSON_AddItemToArray(collectives, collective);
            cJSON_AddNumberToObject(collective, "bytes", (double)(c.count * comm_dtype_bytes(c.dtype)));
            cJSON_AddNumberToObject(collective, "tensors", run->reducer[i].plan.bucket[s].tensors);
            cJSON_AddNumberToObject(collective, "parameters",
                                    (double)bucket_parameters(run->model.tensor, &run->reducer[i].plan.bucket[s]));
        }
    }
}

int results_write_run(const struct results *results, const struct run *run)
{
    const struct options *o = run->options;
    cJSON *json = provenance_create(o->profile ? "profile" : "benchmark", o->label, run->argc, run->argv);
    options_each(o, provenance_option, cJSON_AddObjectToObject(json, "configuration"));

    cJSON *derived = cJSON_AddObjectToObject(json, "derived");
    cJSON_AddNumberToObject(derived, "world_size", run->job->size);
    cJSON_AddNumberToObject(derived, "host_count", run->job->hosts);
    cJSON_AddNumberToObject(derived, "threads", run->threads);
    cJSON_AddNumberToObject(derived, "cores_per_rank", run->cores_per_rank);
    cJSON_AddNumberToObject(derived, "parameters", (double)run->model.parameters);
    cJSON_AddNumberToObject(derived, "tokens_per_step", (double)(o->batch_size * o->context_length));
    cJSON_AddNumberToObject(derived, "model_flops_per_step",
                            model_flops(&run->model, o->batch_size * o->context_length));
    cJSON_AddNumberToObject(derived, "data_tokens", (double)data_tokens(run->data));
    cJSON_AddNumberToObject(derived, "timed_steps_per_block", (double)o->block_steps);
    cJSON_AddStringToObject(derived, "device", run->model.device->name);
    provenance_add_gpu(derived, &run->opened);
    cJSON_AddStringToObject(derived, "blas", version_blas());
    provenance_add_comm(derived, run->comm);
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        cJSON_AddNumberToObject(memory, memory_part_name[i], (double)run->memory[i]);
    add_implementations(json, run);
    provenance_add_machine(json, run->job, &run->host);
    if (results->rank) {
        cJSON_Delete(json);
        return 0;
    }
    return results_replace_json(results, "run.json", json);
}

/* ---- summary.json and summary.txt ---- */

void results_add_monitor(cJSON *json, const struct monitor_findings *findings)
{
    if (!(findings->samples > 0))
        return;
    cJSON *monitor = cJSON_AddObjectToObject(json, "monitor");
    cJSON_AddNumberToObject(monitor, "samples", findings->samples);
    json_add_number(monitor, "cpu_us_per_sample", 1e6 * findings->cpu_seconds);
    cJSON *list = cJSON_AddArrayToObject(monitor, "findings");
    for (int i = 0; i < findings->n; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(list, row);
        cJSON_AddStringToObject(row, "name", monitor_kind_name[findings->finding[i].kind]);
        cJSON_AddStringToObject(row, "text", findings->finding[i].text);
    }
    cJSON_AddNumberToObject(monitor, "more", findings->more);
}

static void add_metric(cJSON *json, const char *name, const struct estimate *s, double scale, const char *unit)
{
    cJSON *metric = cJSON_AddObjectToObject(json, name);
    json_add_number(metric, "median", s->median * scale);
    json_add_number(metric, "ci_low", s->ci_low * scale);
    json_add_number(metric, "ci_high", s->ci_high * scale);
    json_add_number(metric, "p5", s->p5 * scale);
    json_add_number(metric, "p95", s->p95 * scale);
    cJSON_AddNumberToObject(metric, "n", (double)s->n);
    cJSON_AddStringToObject(metric, "unit", unit);
}

static void add_row(cJSON *json, const struct row *row)
{
    static const struct estimate none = {NAN, NAN, NAN, NAN, NAN, 0};
    add_metric(json, "step", &row->seconds[FIGURE_STEP], 1e3, "ms");
    for (int p = 0; p < PHASES; p++)
        add_metric(json, phase_name[p], &row->seconds[p], 1e3, "ms");
    add_metric(json, "tokens_per_second", &row->tokens_per_second, 1, "1/s");
    add_metric(json, "communication_ratio", row->communication_ratio.n ? &row->communication_ratio : &none, 1, "1");
    struct estimate cost = {row->sync_cost, row->sync_cost_low, row->sync_cost_high, NAN, NAN, row->against_none.n};
    add_metric(json, "sync_cost", &cost, 1e3, "ms");
    if (isfinite(row->attainable)) {
        struct estimate bound = {row->attainable, NAN, NAN, NAN, NAN, row->seconds[FIGURE_STEP].n};
        add_metric(json, "attainable", &bound, 1e3, "ms");
    }
}

int results_write_summary(const struct results *results, const struct run *run, const struct ranking *comparison,
                          const char *text)
{
    cJSON *json = cJSON_CreateObject();
    const struct implementation *implementation = run->options->implementation;
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "label", run->options->label);
    cJSON_AddStringToObject(json, "sample",
                            "one block of a round; its step is the slowest rank's, its phases the mean "
                            "over ranks");
    cJSON_AddNumberToObject(json, "rounds", (double)comparison->rounds);
    cJSON *all = cJSON_AddObjectToObject(json, "implementations");
    for (int i = 0; i < comparison->n; i++)
        add_row(cJSON_AddObjectToObject(all, implementation[i].label), &comparison->row[i]);
    cJSON *pairs = cJSON_AddArrayToObject(json, "comparisons");
    for (int i = 0; i < comparison->pairs; i++) {
        const struct pair *pair = &comparison->pair[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(pairs, item);
        cJSON_AddStringToObject(item, "a", implementation[pair->a].label);
        cJSON_AddStringToObject(item, "b", implementation[pair->b].label);
        json_add_number(item, "step_ratio", pair->paired.ratio);
        json_add_number(item, "ci_low", pair->paired.ci_low);
        json_add_number(item, "ci_high", pair->paired.ci_high);
        json_add_number(item, "p_holm", pair->p);
    }
    if (comparison->fastest >= 0) {
        cJSON_AddStringToObject(json, "fastest", implementation[comparison->fastest].label);
        cJSON *equal = cJSON_AddArrayToObject(json, "not_told_apart_from_fastest");
        for (int i = 0; i < comparison->n; i++)
            if (implementation[i].strategy->reduces && i != comparison->fastest && !ranking_slower(comparison, i))
                cJSON_AddItemToArray(equal, cJSON_CreateString(implementation[i].label));
    }
    json_add_number(json, "largest_loss_difference", run->losses.difference);
    cJSON_AddNumberToObject(json, "blocks", (double)run->blocks);
    cJSON_AddNumberToObject(json, "blocks_beside_foreign_work", (double)run->blocks_with_other_processes);
    json_add_number(json, "communication_thread_cores", run->comm_cpu_seconds / run->comm_seconds);
    results_add_monitor(json, &run->monitored);
    char *csv = summary_csv_text(run, all);
    int failed = results_replace_json(results, "summary.json", json) ||
                 files_replace(results->directory, "summary.csv", csv) ||
                 files_replace(results->directory, "summary.txt", text);
    free(csv);
    return failed ? -1 : 0;
}
