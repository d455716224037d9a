/* runs.c - reads the runs that a report is about. */
#include "report/runs.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/results.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const part_name[PARTS] = {"compute", "data loading", "exposed communication", "other"};

/* ---- one run ---- */

/* Which part a phase belongs to. */
static enum step_part part_of(const char *phase)
{
    static const char *const compute[] = {"zero_grad", "forward_pass", "backward_pass", "gradient_clipping_warmup",
                                          "optimizer_step"};
    for (size_t i = 0; i < sizeof compute / sizeof *compute; i++)
        if (!strcmp(phase, compute[i]))
            return PART_COMPUTE;
    return !strcmp(phase, "data_loading") ? PART_DATA : !strcmp(phase, "gradient_sync") ? PART_EXPOSED : PART_OTHER;
}

/* The table of a summary, or NULL. */
static const cJSON *table_of(const cJSON *summary, const char *key)
{
    const cJSON *table;
    cJSON_ArrayForEach(table, cJSON_GetObjectItemCaseSensitive(summary, "tables"))
    {
        if (!strcmp(json_string(table, "key"), key))
            return table;
    }
    return NULL;
}

/* The means of a profile's phases, which add up to its step. */
static void read_phases(struct report_run *run)
{
    const cJSON *row, *table = table_of(run->summary, "phases");
    for (int i = 0; i <= PARTS; i++)
        run->phase_s[i] = table ? 0 : NAN;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(table, "rows"))
    {
        const char *name = json_string(row, "name");
        run->phase_s[strcmp(name, "step") != 0 ? (int)part_of(name) : PARTS] += json_number(row, "mean");
    }
}

static void read_lines(struct report_run *run)
{
    const cJSON *row, *rows = cJSON_GetObjectItemCaseSensitive(table_of(run->summary, "link"), "rows");
    run->line = allocate((size_t)cJSON_GetArraySize(rows) + 1, sizeof *run->line);
    cJSON_ArrayForEach(row, rows)
    {
        struct fitted_line *line = &run->line[run->lines++];
        *line = (struct fitted_line){"", json_number(row, "from_bytes"), json_number(row, "to_bytes"),
                                     json_number(row, "latency"), json_number(row, "bandwidth")};
        snprintf(line->of, sizeof line->of, "%.30s %.30s %.30s", json_string(row, "dtype"), json_string(row, "op"),
                 json_string(row, "placement"));
    }
}

static void read_implementations(struct report_run *run)
{
    const cJSON *one, *collective, *all = cJSON_GetObjectItemCaseSensitive(run->run, "implementations");
    run->tried = allocate((size_t)cJSON_GetArraySize(all) + 1, sizeof *run->tried);
    cJSON_ArrayForEach(one, all)
    {
        const cJSON *collectives = cJSON_GetObjectItemCaseSensitive(one, "collectives");
        double bytes = json_number(one, "bucket_bytes");
        struct tried *tried = &run->tried[run->n_tried++];
        *tried = (struct tried){.mb = bytes > 0 ? bytes / 0x1p20 : NAN};
        snprintf(tried->subject, sizeof tried->subject, "%s", json_string(one, "name"));
        snprintf(tried->strategy, sizeof tried->strategy, "%s", json_string(one, "strategy"));
        tried->buckets = (size_t)cJSON_GetArraySize(collectives);
        cJSON_ArrayForEach(collective, collectives)
        {
            tried->tensors += json_count(collective, "tensors");
        }
    }
}

/* As words that stand beside its figures. */
const char *run_state(const struct report_run *run)
{
    return *run->problem ? "unreadable" : *run->unfinished ? run->unfinished : "complete";
}

static void take_facts(struct report_run *run)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run->run, "derived");
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(run->run, "configuration");
    const char *dtype = json_string(derived, "dtype"), *subject = json_string(run->summary, "implementation");
    char unfinished[RESULTS_UNFINISHED];
    const cJSON *capture = cJSON_GetObjectItemCaseSensitive(run->summary, "capture");
    if (*results_unfinished(unfinished, run->summary))
        snprintf(run->unfinished, sizeof run->unfinished, "interrupted, %.60s", unfinished);
    else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(capture, "interrupted"))) /* of a profile without rounds */
        snprintf(run->unfinished, sizeof run->unfinished, "interrupted in its capture");
    run->done = json_number(run->summary, "done");
    run->planned = json_number(run->summary, "planned");
    snprintf(run->mode, sizeof run->mode, "%s", json_string(run->run, "mode"));
    snprintf(run->time, sizeof run->time, "%s", json_string(run->run, "time"));
    run->ranks = json_count(derived, "world_size");
    run->hosts = json_count(derived, "host_count");
    run->tokens = json_number(derived, "tokens_per_step");
    if (isfinite(json_number(c, "d-model")))
        snprintf(run->workload, sizeof run->workload,
                 "%.0f layers, d_model %.0f, %.0f heads, d_ff %.0f, vocabulary %.0f, context %.0f, %.20s on %.20s",
                 json_number(c, "num-layers"), json_number(c, "d-model"), json_number(c, "num-heads"),
                 json_number(c, "d-ff"), json_number(c, "vocab-size"), json_number(c, "context-length"),
                 *dtype ? dtype : "fp32", json_string(derived, "device"));
    place_machine(run->machine, sizeof run->machine, run->run);
    place_link(run->link, sizeof run->link, run->run);
    run->place = place_of(run->run);
    run->threads = json_count(derived, "threads");
    run->cpus_per_rank = json_number(derived, "cores_per_rank");
    if (!isfinite(run->cpus_per_rank) && run->place.cpus && run->ranks)
        run->cpus_per_rank = (double)run->place.cpus / (double)run->ranks;
    run->parameters = json_number(derived, "parameters");
    run->sequences = run->tokens / json_number(c, "context-length") / (double)run->ranks;
    if (!*subject)
        subject = json_string(run->summary, !strcmp(run->mode, "tune") ? "best" : "fastest");
    snprintf(run->subject, sizeof run->subject, "%s", subject);
    read_implementations(run);
    read_lines(run);
    read_phases(run);
    run->findings = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(run->summary, "findings"), 1);
}

static struct report_run *append(struct report_runs *runs, const char *label, const char *directory)
{
    runs->item = allocate_more(runs->item, runs->n, sizeof *runs->item);
    struct report_run *run = &runs->item[runs->n++];
    *run = (struct report_run){.ranks = 0, .tokens = NAN};
    snprintf(run->label, sizeof run->label, "%s", label);
    snprintf(run->directory, sizeof run->directory, "%.*s", FILES_PATH - 1, directory);
    return run;
}

static void forget(struct report_run *run)
{
    cJSON_Delete(run->run);
    cJSON_Delete(run->summary);
    run->run = run->summary = NULL;
}

static void add_run(struct report_runs *runs, const char *label, const char *directory)
{
    struct report_run *run = append(runs, label, directory);
    struct saved_run saved;
    int failed = results_read_so_far(&saved, directory);
    if (!*label) /* of a run.json that can be read, also if the summary cannot */
        snprintf(run->label, sizeof run->label, "%s", json_string(saved.run, "label"));
    if (failed) {
        snprintf(run->problem, sizeof run->problem, "%s", error_text());
        error_clear(); /* it is kept here */
    } else {
        run->run = saved.run;
        run->summary = saved.summary;
        run->figures = saved.figures;
        saved = (struct saved_run){0};
        take_facts(run);
    }
    if (runs->n > 1) { /* of several runs what follows is enough */
        forget(runs->item);
        forget(run);
    }
    saved_run_destroy(&saved);
}

/* ---- directories ---- */

static int holds(const char *directory, const char *name)
{
    char path[FILES_PATH + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s/%.15s", directory, name);
    return !lstat(path, &status);
}

static int visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

/* Adds all runs in and below the directory; links are not followed. Returns how many there are. */
static size_t add_below(struct report_runs *runs, const char *label, const char *directory, int levels)
{
    size_t before = runs->n;
    struct dirent **entry;
    if (access(directory, R_OK | X_OK) || holds(directory, "run.json")) { /* one that cannot be read may hold runs */
        add_run(runs, label, directory);
        return 1;
    }
    int n = levels ? scandir(directory, &entry, visible, versionsort) : 0;
    for (int i = 0; i < n; i++) {
        char below[FILES_PATH];
        struct stat status;
        if (snprintf(below, sizeof below, "%s/%s", directory, entry[i]->d_name) < (int)sizeof below &&
            !lstat(below, &status) && S_ISDIR(status.st_mode))
            add_below(runs, label, below, levels - 1);
        free(entry[i]);
    }
    if (n > 0)
        free(entry);
    if (runs->n == before && holds(directory, "summary.json")) /* what is left of a run */
        add_run(runs, label, directory);
    return runs->n - before;
}

void runs_add(struct report_runs *runs, const char *label, const char *directory)
{
    enum { LEVELS = 4 };
    char path[FILES_PATH];
    snprintf(path, sizeof path, "%s", directory);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    size_t first = runs->n, n = add_below(runs, label, path, LEVELS);
    if (!n) /* which says what is wrong */
        add_run(runs, label, path);
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    for (struct report_run *run = &runs->item[first]; run < runs->item + runs->n; run++)
        if (!*run->label) /* from the name of what was given on, and of one run that name alone */
            snprintf(run->label, sizeof run->label, "%.*s", RUN_LABEL - 1,
                     n > 1 ? run->directory + (name - path) : name);
}

void runs_destroy(struct report_runs *runs)
{
    for (struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        cJSON_Delete(run->run);
        cJSON_Delete(run->summary);
        cJSON_Delete(run->findings);
        free(run->tried);
        free(run->line);
        figures_destroy(&run->figures);
    }
    free(runs->item);
    *runs = (struct report_runs){0};
}

/* ---- what is asked of a run ---- */

int run_compares(const struct report_run *run)
{
    return !*run->problem && (!strcmp(run->mode, "benchmark") || !strcmp(run->mode, "tune"));
}

const struct tried *run_tried(const struct report_run *run, const char *subject)
{
    for (const struct tried *tried = run->tried; tried < run->tried + run->n_tried; tried++)
        if (!strcmp(tried->subject, subject))
            return tried;
    return NULL;
}

const char *run_name(char name[160], const struct report_run *run, const char *subject)
{
    const struct tried *tried = run_tried(run, subject);
    snprintf(name, 160, tried && isfinite(tried->mb) && !strchr(subject, ':') ? "%s:%.4g" : "%s", subject,
             tried ? tried->mb : NAN);
    return name;
}

struct measured run_figure(const struct report_run *run, const char *subject, const char *name)
{
    const struct figure *f = figures_find(&run->figures, subject, name, 0);
    return f ? (struct measured){f->value, f->low, f->high} : (struct measured){NAN, NAN, NAN};
}

int run_lacks_cpus(const struct report_runs *runs, const struct report_run *run)
{
    for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++)
        if (r->ranks == run->ranks && !strcmp(r->label, run->label) && r->cpus_per_rank < (double)r->threads)
            return 1;
    return 0;
}

/* ---- where a step's time goes ---- */

/* The parts are known, and shares of the step mean something. */
static int is_whole(const struct breakdown *b)
{
    int whole = isfinite(b->step) && b->step > 0;
    for (int p = 0; p < PARTS; p++)
        whole = whole && isfinite(b->part[p]);
    return whole;
}

int run_breakdown(struct breakdown *b, const struct report_run *run, const char *subject)
{
    const struct figure *step = figures_find(&run->figures, subject, "step", 0);
    const struct figure *forward = figures_find(&run->figures, subject, "forward_pass", 0);
    *b = (struct breakdown){.interval = {NAN, NAN}, .compute = {NAN, NAN, NAN}};
    if (!strcmp(run->mode, "profile") && !strcmp(subject, run->subject) && isfinite(run->phase_s[PARTS])) {
        memcpy(b->part, run->phase_s, sizeof b->part);
        b->step = run->phase_s[PARTS];
        b->n = forward ? forward->n : 0;
        return is_whole(b) ? 0 : -1;
    }
    if (!step || !forward)
        return -1;
    b->compute = (struct measured){0, 0, 0};
    for (const struct figure *f = run->figures.item; f < run->figures.item + run->figures.n; f++)
        if (!strcmp(f->subject, subject) && !strcmp(f->unit, "s") && part_of(f->name) != PART_OTHER) {
            b->part[part_of(f->name)] += f->value;
            if (part_of(f->name) == PART_COMPUTE)
                b->compute =
                    (struct measured){b->part[PART_COMPUTE], b->compute.low + f->low, b->compute.high + f->high};
        }
    b->step = step->value;
    b->interval[0] = step->low;
    b->interval[1] = step->high;
    b->n = step->n;
    b->part[PART_OTHER] = b->step - b->part[PART_COMPUTE] - b->part[PART_DATA] - b->part[PART_EXPOSED];
    return is_whole(b) ? 0 : -1;
}
