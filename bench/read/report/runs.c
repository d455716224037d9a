/* runs.c - reads the runs of a report from their directories. */
#include "report/runs.h"

#include "base/json.h"
#include "base/option_table.h"
#include "kernels/error.h"
#include "results/busy.h"
#include "results/summary.h"
#include "results/verdict.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const part_name[PARTS] = {"compute", "data loading", "exposed communication", "other"};

const struct step_phase_part step_phases[] = {{"zero_grad", NULL, PART_COMPUTE},
                                              {"data_loading", NULL, PART_DATA},
                                              {"parameter_gather", NULL, PART_EXPOSED},
                                              {"forward_pass", "forward", PART_COMPUTE},
                                              {"backward_pass", "backward", PART_COMPUTE},
                                              {"gradient_sync", NULL, PART_EXPOSED},
                                              {"gradient_clipping_warmup", "clipping", PART_COMPUTE},
                                              {"optimizer_step", "optimizer", PART_COMPUTE},
                                              {"lr_scheduling", NULL, PART_OTHER},
                                              {"save_results", "save", PART_OTHER},
                                              {NULL, NULL, PART_OTHER}};

/* ---- one run ---- */

static enum step_part part_of(const char *phase)
{
    const struct step_phase_part *p = step_phases;
    while (p->name && strcmp(p->name, phase) != 0)
        p++;
    return p->name ? p->part : PART_OTHER;
}

/* Reads the mean times of a profile's phases into run->phase_s. */
static void read_phases(struct report_run *run)
{
    const cJSON *row, *rows = run_rows(run, "phases");
    for (int i = 0; i <= PARTS; i++)
        run->phase_s[i] = rows ? 0 : NAN;
    cJSON_ArrayForEach(row, rows)
    {
        const char *name = json_string(row, "name");
        run->phase_s[strcmp(name, "step") != 0 ? (int)part_of(name) : PARTS] += json_number(row, "mean");
    }
}

/* Returns a row's bucket size in MiB: bucket_size if that is a number (without it, --bucket-size-mb, as of a run by an
 * earlier version); else bucket_bytes in MiB; NAN: the row has no buckets. */
static double bucket_mb(const cJSON *run, const cJSON *row)
{
    const cJSON *configuration = cJSON_GetObjectItemCaseSensitive(run, "configuration");
    double given, bytes = json_number(row, "bucket_bytes");
    const char *size = json_string(row, "bucket_size");
    int is_number = !option_number(*size ? size : json_string(configuration, "bucket-size-mb"), &given);
    return !(bytes > 0) ? NAN : is_number ? given : bytes / 0x1p20;
}

static void read_implementations(struct report_run *run)
{
    for (const cJSON *one = json_first(run->saved.run, "implementations"); one; one = one->next) {
        const char *size = json_string(one, "bucket_size");
        run->implementation = allocate_more(run->implementation, run->implementations, sizeof *run->implementation);
        struct run_implementation *i = &run->implementation[run->implementations++];
        *i = (struct run_implementation){.mb = bucket_mb(run->saved.run, one)};
        snprintf(i->subject, sizeof i->subject, "%s", json_string(one, "name"));
        snprintf(i->strategy, sizeof i->strategy, "%s", json_string(one, "strategy"));
        i->compared =
            strcmp(i->strategy, "none") && !json_is_true(one, "approximates") && !*json_string(one, "twin_of");
        snprintf(i->plan, sizeof i->plan, "%s", size[strspn(size, "0123456789.e-")] ? size : "");
        for (const cJSON *bucket = json_first(one, "collectives"); bucket; bucket = bucket->next, i->buckets++)
            i->tensors += json_count(bucket, "tensors");
    }
}

const char *run_state(const struct report_run *run)
{
    return *run->problem ? "unreadable" : *run->unfinished ? run->unfinished : "complete";
}

static void take_facts(struct report_run *run)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run->saved.run, "derived");
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(run->saved.run, "configuration");
    const char *dtype = json_string(derived, "dtype");
    char unfinished[RESULTS_UNFINISHED];
    const cJSON *capture = cJSON_GetObjectItemCaseSensitive(run->saved.summary, "capture");
    run->done = json_number(run->saved.summary, "done");
    if (*results_unfinished(unfinished, run->saved.summary))
        snprintf(run->unfinished, sizeof run->unfinished, "interrupted, %.60s", unfinished);
    else if (json_is_true(capture, "interrupted")) /* a profile without rounds */
        snprintf(run->unfinished, sizeof run->unfinished, "interrupted during the capture");
    snprintf(run->mode, sizeof run->mode, "%s", json_string(run->saved.run, "mode"));
    snprintf(run->time, sizeof run->time, "%s", json_string(run->saved.run, "time"));
    run->ranks = json_count(derived, "world_size");
    run->hosts = json_count(derived, "host_count");
    run->tokens = json_number(derived, "tokens_per_step");
    const char *from = json_string(derived, "model_from");
    if (*from && !(json_number(c, "d-model") > 0)) /* replayed */
        snprintf(run->workload, sizeof run->workload, "%.120s (--model-from), %.20s on %.20s", from,
                 *dtype ? dtype : "fp32", json_string(derived, "device"));
    else if (isfinite(run->tokens)) /* the run trained; `allreduce` has the options of a model, for its message sizes */
        snprintf(run->workload, sizeof run->workload,
                 "%.0f layers, d_model %.0f, %.0f heads, d_ff %.0f, vocabulary %.0f, context %.0f, %.20s on %.20s",
                 json_number(c, "num-layers"), json_number(c, "d-model"), json_number(c, "num-heads"),
                 json_number(c, "d-ff"), json_number(c, "vocab-size"), json_number(c, "context-length"),
                 *dtype ? dtype : "fp32", json_string(derived, "device"));
    place_machine(run->machine, sizeof run->machine, run->saved.run);
    place_link(run->link, sizeof run->link, run->saved.run);
    run->place = place_of(run->saved.run);
    run->threads = json_count(derived, "threads");
    run->cpus_per_rank = json_number(derived, "cores_per_rank");
    if (!isfinite(run->cpus_per_rank) && run->place.cpus && run->ranks)
        run->cpus_per_rank = (double)run->place.cpus / (double)run->ranks;
    run->parameters = json_number(derived, "parameters");
    run->sequences = run->tokens / json_number(c, "context-length") / (double)run->ranks;
    snprintf(run->subject, sizeof run->subject, "%s",
             run_compares(run) ? verdict_best(cJSON_GetObjectItemCaseSensitive(run->saved.summary, "verdict"))
                               : json_string(run->saved.summary, "implementation"));
    read_implementations(run);
    read_phases(run);
}

static void add_run(struct report_runs *runs, const char *label, const char *directory)
{
    runs->item = allocate_more(runs->item, runs->n, sizeof *runs->item);
    struct report_run *run = &runs->item[runs->n++];
    *run = (struct report_run){.tokens = NAN};
    int failed = saved_run_read(&run->saved, directory, 1);
    snprintf(run->label, sizeof run->label, "%s", *label ? label : json_string(run->saved.run, "label"));
    if (failed) {
        snprintf(run->problem, sizeof run->problem, "%s", error_text());
        error_clear(); /* run->problem holds the error's text */
        saved_run_destroy(&run->saved);
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(run->saved.summary, "figures"); /* saved.figures has them */
        take_facts(run);
    }
    snprintf(run->saved.directory, sizeof run->saved.directory, "%s", directory);
}

/* ---- directories ---- */

static int has_file(const char *directory, const char *name)
{
    char path[FILES_PATH + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s/%.15s", directory, name);
    return !lstat(path, &status);
}

/* Whether a directory may hold runs: it is not hidden, and not an unfinished or failed run of launch/series.sh. */
static int may_hold_runs(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return *entry->d_name != '.' && (!dot || (strcmp(dot, ".part") != 0 && strcmp(dot, ".failed") != 0));
}

/* Adds the run in the directory, or all runs below it; follows no links. Returns the number of runs added. */
static size_t add_below(struct report_runs *runs, const char *label, const char *directory, int levels)
{
    size_t before = runs->n;
    struct dirent **entry = NULL;
    if (access(directory, R_OK | X_OK) || has_file(directory, "run.json")) { /* an unreadable folder may hold a run */
        add_run(runs, label, directory);
        return 1;
    }
    int n = levels ? scandir(directory, &entry, may_hold_runs, versionsort) : 0;
    for (int i = 0; i < n; i++) {
        char below[FILES_PATH];
        struct stat status;
        if (snprintf(below, sizeof below, "%s/%s", directory, entry[i]->d_name) < (int)sizeof below &&
            !lstat(below, &status) && S_ISDIR(status.st_mode))
            add_below(runs, label, below, levels - 1);
        free(entry[i]);
    }
    free(entry);
    if (runs->n == before && has_file(directory, "summary.json")) /* a run whose run.json is missing */
        add_run(runs, label, directory);
    return runs->n - before;
}

/* Removes the last part of a label such as a/b/b: a profile's results are in a directory of its name. */
static void drop_repeated_part(char *label)
{
    char *last = strrchr(label, '/');
    size_t n = last ? strlen(last) : 0;
    if (n && last >= label + n && !strncmp(last - n, last, n))
        *last = 0;
}

void runs_add(struct report_runs *runs, const char *label, const char *directory)
{
    enum { LEVELS = 4 };
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s", directory);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    size_t first = runs->n, n = add_below(runs, label, path, LEVELS);
    if (!n) /* no run: adds the path as a run that cannot be read */
        add_run(runs, label, path);
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    for (struct report_run *run = &runs->item[first]; run < runs->item + runs->n; run++)
        if (!*run->label) { /* the directory's name; if it holds several runs, also each run's path below it */
            snprintf(run->label, sizeof run->label, "%.*s", RUN_LABEL - 1,
                     n > 1 ? run->saved.directory + (name - path) : name);
            drop_repeated_part(run->label);
        }
}

void runs_destroy(struct report_runs *runs)
{
    for (struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        saved_run_destroy(&run->saved);
        free(run->implementation);
        free(run->block);
    }
    free(runs->item);
    *runs = (struct report_runs){0};
}

/* ---- questions about a run ---- */

void run_words(char *text, size_t size, const char *label, const char *subject, const char *mode)
{
    size_t all = strlen(label), end = strlen(subject);
    int is_last =
        !end || (all >= end && !strcmp(label + all - end, subject) && (all == end || label[all - end - 1] == '/'));
    snprintf(text, size, "%s%s%s%s", label, is_last || !all ? "" : ", ", is_last ? "" : subject,
             strcmp(mode, "profile") ? "" : " (profile)");
}

int run_compares(const struct report_run *run)
{
    return !*run->problem && (!strcmp(run->mode, "benchmark") || !strcmp(run->mode, "tune"));
}

struct measured run_figure(const struct report_run *run, const char *subject, const char *name)
{
    const struct figure *f = figures_find(&run->saved.figures, subject, name, 0);
    return f ? (struct measured){f->value, f->low, f->high} : (struct measured){NAN, NAN, NAN};
}

int run_is_busy(const struct report_run *run)
{
    return busy_is(busy_of(run->saved.summary, run->saved.run));
}

const cJSON *run_table(const struct report_run *run, const char *key)
{
    const cJSON *table = json_first(run->saved.summary, "tables");
    while (table && strcmp(json_string(table, "key"), key) != 0)
        table = table->next;
    return table;
}

const cJSON *run_rows(const struct report_run *run, const char *key)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(run_table(run, key), "rows");
    return rows && rows->child ? rows : NULL;
}

int run_has_finding(const struct report_run *run, const char *name)
{
    for (const cJSON *finding = json_first(run->saved.summary, "findings"); finding; finding = finding->next)
        if (!strcmp(json_string(finding, "name"), name))
            return 1;
    return 0;
}

/* ---- where the time of a step goes ---- */

/* Sets step and parts of an implementation in a comparison. */
static void add_phases(struct breakdown *b, const struct report_run *run, const char *subject)
{
    b->step = run_figure(run, subject, "step");
    b->compute = (struct measured){0, 0, 0};
    for (const struct figure *f = run->saved.figures.item; f < run->saved.figures.item + run->saved.figures.n; f++) {
        enum step_part part = part_of(f->name);
        if (strcmp(f->subject, subject) != 0 || strcmp(f->unit, "s") != 0 || part == PART_OTHER)
            continue;
        b->part[part] += f->value;
        if (part == PART_COMPUTE)
            b->compute = (struct measured){b->part[part], b->compute.low + f->low, b->compute.high + f->high};
    }
    /* at least 0 with geometric means, whose sum is at most the mean of the sums; medians may add up to more */
    b->part[PART_OTHER] = fmax(0, b->step.value - b->part[PART_COMPUTE] - b->part[PART_DATA] - b->part[PART_EXPOSED]);
}

int run_breakdown(struct breakdown *b, const struct report_run *run, const char *subject)
{
    const struct figure *step = figures_find(&run->saved.figures, subject, "step", 0);
    const struct figure *forward = figures_find(&run->saved.figures, subject, "forward_pass", 0);
    *b = (struct breakdown){.step = {run->phase_s[PARTS], NAN, NAN}, .compute = {NAN, NAN, NAN}};
    if (!strcmp(run->mode, "profile") && !strcmp(subject, run->subject) && isfinite(b->step.value)) {
        memcpy(b->part, run->phase_s, sizeof b->part);
        b->n = forward ? forward->n : 0;
    } else if (step && forward) {
        add_phases(b, run, subject);
        b->n = step->n;
    } else
        return -1;
    for (int p = 0; p < PARTS; p++)
        b->sum += b->part[p];
    for (int p = 0; p < PARTS; p++)
        b->share[p] = b->part[p] / b->sum;
    return isfinite(b->sum) && b->step.value > 0 ? 0 : -1;
}
