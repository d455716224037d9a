/* results.c - writes the files of one run. */
#include "results.h"

#include "error.h"

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

extern char **environ;

const char *results_version(void)
{
    return DDPBENCH_VERSION;
}

/* ---- the directory ---- */

static int make_directories(const char *path)
{
    char part[512];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            return report("--output %s: cannot make the directory %s: %s", path, part, strerror(errno));
        if (!slash)
            return 0;
        *slash = '/';
    }
}

/* --output, or results/<time>[-<label>][-<number>] made by rank 0; the others take the name over from it. */
static void name_directory(struct results *results, const struct job *job, const struct options *options)
{
    char *all = allocate((size_t)job->size, sizeof results->directory);
    char stamp[32], name[sizeof results->directory] = "";
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime(&now));
    if (*options->output)
        snprintf(name, sizeof name, "%s", options->output);
    else {
        const char *dash = *options->label ? "-" : "";
        snprintf(name, sizeof name, "results/%s%s%s", stamp, dash, options->label);
        if (job->rank == 0) { /* made here and now, so that two runs of the same second cannot share it */
            int made = mkdir("results", 0777) && errno != EEXIST ? -1 : mkdir(name, 0777);
            for (int i = 2; made && errno == EEXIST && i < 1000; i++) {
                snprintf(name, sizeof name, "results/%s%s%s-%d", stamp, dash, options->label, i);
                made = mkdir(name, 0777);
            } /* any other failure is found, and reported, when the directory is opened */
        }
    }
    job_gather(job, name, sizeof name, all);
    memcpy(results->directory, all, sizeof results->directory);
    free(all);
}

static int open_rank(struct results *results)
{
    char path[600];
    if (make_directories(results->directory))
        return -1;
    snprintf(path, sizeof path, "%s/run.json", results->directory);
    if (!access(path, F_OK))
        return report("--output %s already holds the results of a run; choose another directory", results->directory);
    snprintf(path, sizeof path, "%s/rank_%d_metrics.jsonl", results->directory, results->rank);
    results->metrics = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (results->metrics < 0)
        return report("--output: cannot write %s: %s", path, strerror(errno));
    return 0;
}

int results_open(struct results *results, const struct job *job, const struct options *options)
{
    *results = (struct results){.rank = job->rank, .metrics = -1};
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is reported as a full disk is */
    if (strlen(options->output) >= sizeof results->directory - 64)
        return report("--output: the path is longer than %zu characters", sizeof results->directory - 65);
    name_directory(results, job, options);
    return open_rank(results);
}

int results_close(struct results *results)
{
    int failed = results->metrics >= 0 && close(results->metrics);
    results->metrics = -1;
    if (failed) /* network file systems may find only now that the disk is full */
        return report("cannot close %s/rank_%d_metrics.jsonl: %s", results->directory, results->rank, strerror(errno));
    return 0;
}

/* ---- whole files ---- */

/* Writes all of it, or says why not. */
static int write_all(int file, const char *text, size_t n)
{
    while (n) {
        ssize_t written = write(file, text, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text += written;
        n -= (size_t)written;
    }
    return 0;
}

/* A file appears under its name when it is complete, or not at all. */
static int replace_file(const struct results *results, const char *name, const char *text)
{
    char path[600], temporary[620];
    snprintf(path, sizeof path, "%s/%s", results->directory, name);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int failed = file < 0 || write_all(file, text, strlen(text));
    int why = errno;
    if (file >= 0 && close(file) && !failed) {
        failed = 1;
        why = errno;
    }
    if (!failed && rename(temporary, path)) {
        failed = 1;
        why = errno;
    }
    if (failed) {
        unlink(temporary);
        return report("cannot write %s: %s; what was written before it is complete", path, strerror(why));
    }
    return 0;
}

static int replace_json(const struct results *results, const char *name, cJSON *json)
{
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        FATAL("no memory to print %s", name);
    int status = replace_file(results, name, text);
    free(text);
    return status;
}

/* ---- run.json ---- */

/* Whether text is UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF), as JSON has to be. */
static int is_utf8(const char *text)
{
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        unsigned more = *c < 0x80 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
        unsigned code = more ? *c & (0x3fu >> more) : *c, follow = more;
        if ((*c >= 0x80 && *c < 0xc0) || *c >= 0xf8)
            return 0;
        for (; follow; follow--, code = code << 6 | (*c & 0x3f))
            if ((*++c & 0xc0) != 0x80)
                return 0;
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return 0;
    }
    return 1;
}

/* A string of JSON; text in another encoding (a path, say) keeps its ASCII characters. */
static cJSON *make_text(const char *text)
{
    if (is_utf8(text))
        return cJSON_CreateString(text);
    char *ascii = strdup(text);
    if (!ascii)
        FATAL("no memory to copy a string");
    for (char *c = ascii; *c; c++)
        if (*c & 0x80)
            *c = '?';
    cJSON *json = cJSON_CreateString(ascii);
    free(ascii);
    return json;
}

static void add_option(void *json, const char *name, const char *value, int is_text)
{
    if (is_text)
        cJSON_AddItemToObject(json, name, make_text(value));
    else if (!strcmp(value, "true") || !strcmp(value, "false"))
        cJSON_AddBoolToObject(json, name, *value == 't');
    else
        cJSON_AddNumberToObject(json, name, strtod(value, NULL));
}

static void add_environment(cJSON *run)
{
    /* not all of SLURM_J: SLURM_JWT is a password */
    static const char *const allowed[] = {"OMP_",        "GOMP_",          "OPENBLAS_", "BLIS_",      "MKL_",
                                          "KMP_",        "MPIR_",          "MPICH",     "UCX_",       "FI_",
                                          "HYDRA_",      "GLIBC_TUNABLES", "CUDA_",     "NCCL_",      "SLURM_JOB_ID",
                                          "SLURM_JOB_N", "SLURM_JOB_CPUS", "SLURM_N",   "SLURM_CPUS", "SLURM_STEP"};
    cJSON *environment = cJSON_AddObjectToObject(run, "environment");
    for (char **e = environ; *e; e++)
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            if (!strncmp(*e, allowed[i], strlen(allowed[i])) && strchr(*e, '=')) {
                char name[128];
                snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
                cJSON_AddItemToObject(environment, name, make_text(strchr(*e, '=') + 1));
                break;
            }
}

static void add_ranks(cJSON *json, const struct run *run)
{
    int size = run->job->size;
    struct host_facts *all = allocate((size_t)size, sizeof *all);
    job_gather(run->job, &run->host, sizeof run->host, all);
    cJSON *ranks = cJSON_AddArrayToObject(json, "ranks");
    cJSON *hosts = cJSON_AddObjectToObject(json, "hosts");
    for (int r = 0; r < size; r++) {
        cJSON *rank = cJSON_CreateObject();
        cJSON_AddItemToArray(ranks, rank);
        cJSON_AddNumberToObject(rank, "rank", r);
        cJSON_AddStringToObject(rank, "host", all[r].name);
        cJSON_AddStringToObject(rank, "binding", all[r].binding);
        if (cJSON_GetObjectItemCaseSensitive(hosts, all[r].name))
            continue;
        cJSON *host = cJSON_AddObjectToObject(hosts, all[r].name);
        cJSON_AddStringToObject(host, "cpu", all[r].cpu);
        cJSON_AddStringToObject(host, "kernel", all[r].kernel);
        cJSON_AddNumberToObject(host, "packages", all[r].packages);
        cJSON_AddNumberToObject(host, "numa_nodes", all[r].numa_nodes);
        cJSON_AddNumberToObject(host, "cores", all[r].cores);
        cJSON_AddNumberToObject(host, "pus", all[r].pus);
        cJSON_AddNumberToObject(host, "memory_bytes", (double)all[r].memory_bytes);
        cJSON_AddNumberToObject(host, "l3_bytes", (double)all[r].l3_bytes);
    }
    free(all);
}

/* The weights in a slice, without the gaps that alignment leaves. */
static size_t slice_parameters(const struct model *model, const struct slice *slice)
{
    size_t n = 0;
    for (int t = slice->last_tensor; t < slice->last_tensor + slice->tensors; t++)
        n += model->tensor[t].count;
    return n;
}

static void add_implementations(cJSON *json, const struct run *run)
{
    cJSON *list = cJSON_AddArrayToObject(json, "implementations");
    for (int i = 0; i < run->options->n; i++) {
        const struct implementation *row = &run->options->implementation[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        cJSON_AddStringToObject(item, "name", row->label);
        cJSON_AddStringToObject(item, "strategy", row->strategy->name);
        if (row->strategy->buckets)
            cJSON_AddNumberToObject(item, "bucket_size_mb", row->bucket_mb);
        cJSON *collectives = cJSON_AddArrayToObject(item, "collectives");
        for (int s = 0; row->strategy->reduces && s < run->sync[i].plan.n; s++) {
            struct collective c = sync_collective(&run->sync[i], s);
            cJSON *collective = cJSON_CreateObject();
            cJSON_AddItemToArray(collectives, collective);
            cJSON_AddNumberToObject(collective, "bytes", (double)(c.count * comm_dtype_bytes(c.dtype)));
            cJSON_AddNumberToObject(collective, "tensors", run->sync[i].plan.slice[s].tensors);
            cJSON_AddNumberToObject(collective, "parameters",
                                    (double)slice_parameters(&run->model, &run->sync[i].plan.slice[s]));
        }
    }
}

int results_write_run(const struct results *results, const struct run *run)
{
    const struct options *o = run->options;
    cJSON *json = cJSON_CreateObject();
    char stamp[64];
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S%z", localtime(&now));
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "program", "ddpbench");
    cJSON_AddStringToObject(json, "version", results_version());
    cJSON_AddStringToObject(json, "mode", "benchmark");
    cJSON_AddStringToObject(json, "time", stamp);
    cJSON_AddStringToObject(json, "label", o->label);
    cJSON *argv = cJSON_AddArrayToObject(json, "argv");
    for (int i = 0; i < run->argc; i++)
        cJSON_AddItemToArray(argv, make_text(run->argv[i]));
    options_each(o, add_option, cJSON_AddObjectToObject(json, "configuration"));

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
    cJSON_AddStringToObject(derived, "blas", DDPBENCH_BLAS);
    cJSON_AddStringToObject(derived, "comm", run->comm->name);
    cJSON_AddStringToObject(derived, "mpi_progress", run->comm->progress);
    cJSON_AddStringToObject(derived, "mpi_library", job_library());
    cJSON *memory = cJSON_AddObjectToObject(derived, "memory_bytes_per_rank");
    for (int i = 0; i < MEMORY_PARTS; i++)
        cJSON_AddNumberToObject(memory, memory_part_name[i], (double)run->memory[i]);
    add_implementations(json, run);
    add_ranks(json, run);
    add_environment(json);
    if (results->rank) {
        cJSON_Delete(json);
        return 0;
    }
    return replace_json(results, "run.json", json);
}

/* ---- rank_<r>_metrics.jsonl ---- */

/* JSON knows no NaN and no infinity. */
static void print_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        fprintf(out, ", \"%s\": %.9g", name, value);
    else
        fprintf(out, ", \"%s\": null", name);
}

static void print_step(FILE *out, const struct block_facts *block, int i, const struct run *run,
                       const struct step_times *step, const float *record)
{
    long at = block->schedule_step + i;
    const struct schedule *schedule = &run->trainer.schedule;
    fprintf(out, "{\"implementation\": \"%s\", \"round\": %zu, \"block\": %zu, \"step\": %d, \"timed\": %s",
            block->implementation, block->round, block->block, i, i < block->discarded ? "false" : "true");
    fprintf(out, ", \"epoch_kind\": \"%s\"", schedule_is_warmup(schedule, at) ? "warmup" : "active");
    print_number(out, "start", 1e-9 * (double)(step->start_ns - block->origin_ns));
    print_number(out, "step_ms", 1e-6 * (double)(step->end_ns - step->start_ns));
    for (int p = 0; p < PHASES; p++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ms", phase_name[p]);
        print_number(out, name, 1e-6 * (double)step->phase_ns[p]);
    }
    print_number(out, "loss", (double)record[RECORD_LOSS]);
    print_number(out, "learning_rate", (double)schedule_learning_rate(schedule, at));
    if (schedule_is_warmup(schedule, at) || run->options->log_grad_norm)
        print_number(out, "grad_norm", (double)record[RECORD_GRAD_NORM]);
    print_number(out, "cores_used_by_others", block->other_cores);
    fprintf(out, "}\n");
}

int results_write_block(struct results *results, const struct block_facts *block, const struct run *run,
                        const struct step_times *times, const float *record)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the metrics of a block");
    for (int i = 0; i < block->steps; i++)
        print_step(out, block, i, run, &times[i], record + i * RECORDS);
    fclose(out);
    int status = 0;
    if (write_all(results->metrics, text, length)) {
        status = report("cannot write %s/rank_%d_metrics.jsonl: %s; it holds the blocks before this one",
                        results->directory, results->rank, strerror(errno));
        while (ftruncate(results->metrics, results->length) && errno == EINTR)
            ; /* any other failure leaves a part of a line behind, and there is nothing left to try */
    } else
        results->length += (long)length;
    free(text);
    return status;
}

/* ---- summary.json and summary.txt ---- */

static void add_finite(cJSON *json, const char *name, double value)
{
    if (isfinite(value))
        cJSON_AddNumberToObject(json, name, value);
    else
        cJSON_AddNullToObject(json, name);
}

static void add_metric(cJSON *json, const char *name, const struct summary *s, double scale, const char *unit)
{
    cJSON *metric = cJSON_AddObjectToObject(json, name);
    add_finite(metric, "median", s->median * scale);
    add_finite(metric, "ci_low", s->ci_low * scale);
    add_finite(metric, "ci_high", s->ci_high * scale);
    add_finite(metric, "p5", s->p5 * scale);
    add_finite(metric, "p95", s->p95 * scale);
    cJSON_AddNumberToObject(metric, "n", (double)s->n);
    cJSON_AddStringToObject(metric, "unit", unit);
}

static void add_row(cJSON *json, const struct row *row)
{
    static const struct summary none = {NAN, NAN, NAN, NAN, NAN, 0};
    add_metric(json, "step", &row->seconds[METRIC_STEP], 1e3, "ms");
    for (int p = 0; p < PHASES; p++)
        add_metric(json, phase_name[p], &row->seconds[p], 1e3, "ms");
    add_metric(json, "tokens_per_second", &row->tokens_per_second, 1, "1/s");
    add_metric(json, "communication_ratio", row->communication_ratio.n ? &row->communication_ratio : &none, 1, "1");
    struct summary cost = {row->sync_cost, row->sync_cost_low, row->sync_cost_high, NAN, NAN, row->against_none.n};
    add_metric(json, "sync_cost", &cost, 1e3, "ms");
    if (isfinite(row->attainable)) {
        struct summary bound = {row->attainable, NAN, NAN, NAN, NAN, row->seconds[METRIC_STEP].n};
        add_metric(json, "attainable", &bound, 1e3, "ms");
    }
}

int results_write_summary(const struct results *results, const struct run *run, const struct comparison *comparison,
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
        add_finite(item, "step_ratio", pair->paired.ratio);
        add_finite(item, "ci_low", pair->paired.ci_low);
        add_finite(item, "ci_high", pair->paired.ci_high);
        add_finite(item, "p_holm", pair->p);
    }
    if (comparison->fastest >= 0) {
        cJSON_AddStringToObject(json, "fastest", implementation[comparison->fastest].label);
        cJSON *equal = cJSON_AddArrayToObject(json, "not_told_apart_from_fastest");
        for (int i = 0; i < comparison->n; i++)
            if (implementation[i].strategy->reduces && i != comparison->fastest && !comparison_slower(comparison, i))
                cJSON_AddItemToArray(equal, cJSON_CreateString(implementation[i].label));
    }
    add_finite(json, "largest_loss_difference", run->losses.difference);
    cJSON_AddNumberToObject(json, "blocks", (double)run->blocks);
    cJSON_AddNumberToObject(json, "blocks_beside_foreign_work", (double)run->foreign_blocks);
    add_finite(json, "communication_thread_cores", run->comm_cpu_seconds / run->comm_seconds);
    if (replace_json(results, "summary.json", json))
        return -1;
    return replace_file(results, "summary.txt", text);
}
