/* figures.c - the figures of one run as a flat list. */
#include "compare/figures.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

static const cJSON *get(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

static double number(const cJSON *json, const char *name)
{
    const cJSON *item = get(json, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const char *text(const cJSON *json, const char *name)
{
    const cJSON *item = get(json, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static int is_more_better(const char *name)
{
    static const char *const names[] = {
        "tokens_per_second",
        "model_gflops",
        "algbw",
        "busbw",
        "overlap",
        "span_overlap",
        "compute_coverage",
        "utilisation",
        "overlap_efficiency",
        "hidden_ratio",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

enum { INFORMATION, GATED };

/* Appends a figure; one that is not finite is left out. */
static void add(struct compare_figures *figures, const char *subject, const char *name, double bytes, double value,
                const char *unit, int gated)
{
    if (!isfinite(value))
        return;
    if (figures->n % 64 == 0) {
        figures->item = realloc(figures->item, (figures->n + 64) * sizeof *figures->item);
        if (!figures->item)
            FATAL("no memory for %zu figures", figures->n + 64);
    }
    struct compare_figure *figure = &figures->item[figures->n++];
    *figure = (struct compare_figure){
        .bytes = bytes, .value = value, .more_is_better = is_more_better(name), .gated = gated == GATED};
    snprintf(figure->subject, sizeof figure->subject, "%s", subject);
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->unit, sizeof figure->unit, "%s", strcmp(unit, "1") ? unit : "");
}

/* ---- benchmark ---- */

static int add_benchmark(struct compare_figures *figures, const char *path, const cJSON *summary)
{
    const cJSON *all = get(summary, "implementations"), *implementation, *metric;
    if (!cJSON_IsObject(all))
        return error_report("%s: has no \"implementations\", so it is not the summary of a benchmark", path);
    cJSON_ArrayForEach(implementation, all)
    {
        if (!cJSON_IsObject(implementation))
            return error_report("%s: \"%s\" of \"implementations\" is not a JSON object", path, implementation->string);
        cJSON_ArrayForEach(metric, implementation)
        {
            const char *subject = implementation->string, *name = metric->string;
            int gated = strcmp(name, "step") ? INFORMATION : GATED;
            add(figures, subject, name, 0, number(metric, "median"), text(metric, "unit"), gated);
        }
    }
    return 0;
}

/* ---- profile ---- */

/* Overlap figures a step, from the sums over the counted steps of all ranks. */
static void add_overlap(struct compare_figures *figures, const char *subject, const cJSON *summary)
{
    static const char *const name[] = {"comm_busy", "compute_busy", "overlap", "exposed", "exposed_tail"};
    const cJSON *ranks = get(summary, "ranks"), *rank;
    double steps = number(get(summary, "capture"), "counted_steps") * cJSON_GetArraySize(ranks);
    double sum[sizeof name / sizeof *name] = {0}, step = 0;
    cJSON_ArrayForEach(rank, ranks)
    {
        char field[32];
        for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
            snprintf(field, sizeof field, "%s_ms", name[i]);
            sum[i] += number(rank, field);
        }
        step += number(rank, "step_ms");
    }
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        add(figures, subject, name[i], 0, sum[i] / steps, "ms", INFORMATION);
    const char *hidden = get(cJSON_GetArrayItem(ranks, 0), "hidden_ratio") ? "hidden_ratio" : "span_overlap";
    add(figures, subject, hidden, 0, sum[2] / sum[0], "", INFORMATION);
    add(figures, subject, "compute_coverage", 0, sum[2] / sum[1], "", INFORMATION);
    add(figures, subject, "utilisation", 0, sum[1] / step, "", INFORMATION);
}

static void add_collectives(struct compare_figures *figures, const char *subject, const cJSON *summary)
{
    static const char *const field[][3] = {{"duration_us", "collective", "us"},
                                           {"wait_us", "wait", "us"},
                                           {"transfer_us", "transfer", "us"},
                                           {"algbw", "algbw", "GB/s"},
                                           {"busbw", "busbw", "GB/s"}};
    const cJSON *collective;
    cJSON_ArrayForEach(collective, get(summary, "collectives"))
    {
        double bytes = number(collective, "bytes");
        for (size_t i = 0; i < sizeof field / sizeof *field; i++)
            add(figures, subject, field[i][1], bytes, number(collective, field[i][0]), field[i][2], INFORMATION);
    }
}

static void add_controls(struct compare_figures *figures, const char *subject, const cJSON *controls)
{
    static const char *const median[] = {"sync_cost", "backward_none", "comm_alone", "comm_slowdown",
                                         "overlap_efficiency"};
    static const char *const ratio[] = {"step_to_none", "compute_slowdown"};
    static const char *const step[][2] = {
        {"untraced", "step"}, {"after_backward", "step_after_backward"}, {"none", "step_none"}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        add(figures, step[i][0], "step", 0, number(get(controls, step[i][1]), "median"), "ms", GATED);
    for (size_t i = 0; i < sizeof median / sizeof *median; i++)
        add(figures, subject, median[i], 0, number(get(controls, median[i]), "median"),
            text(get(controls, median[i]), "unit"), INFORMATION);
    for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++)
        add(figures, subject, ratio[i], 0, number(get(controls, ratio[i]), "ratio"), "", INFORMATION);
    add(figures, subject, "attainable", 0, number(controls, "attainable_ms"), "ms", INFORMATION);
    add(figures, subject, "communication_thread_cores", 0, number(controls, "communication_thread_cores"), "",
        INFORMATION);
}

static int add_profile(struct compare_figures *figures, const char *path, const cJSON *summary)
{
    const char *subject = text(summary, "implementation");
    const cJSON *phases = get(summary, "phases"), *phase;
    if (!*subject || !cJSON_IsObject(get(phases, "step")))
        return error_report("%s: has no \"implementation\" with its \"phases\", so it is not the summary of a profile",
                            path);
    add(figures, subject, "step", 0, number(get(phases, "step"), "median_ms"), "ms", GATED);
    add_controls(figures, subject, get(summary, "controls"));
    cJSON_ArrayForEach(phase, phases)
    {
        if (strcmp(phase->string, "step") != 0)
            add(figures, subject, phase->string, 0, number(phase, "median_ms"), "ms", INFORMATION);
    }
    add(figures, subject, "tokens_per_second", 0, number(summary, "tokens_per_second"), "1/s", INFORMATION);
    add(figures, subject, "model_gflops", 0, number(summary, "model_gflops"), "GFLOP/s", INFORMATION);
    add(figures, subject, "communication_ratio", 0, number(summary, "communication_ratio"), "", INFORMATION);
    add_overlap(figures, subject, summary);
    add_collectives(figures, subject, summary);
    add(figures, subject, "profiling_overhead", 0, number(get(summary, "profiling_overhead"), "ratio"), "",
        INFORMATION);
    add(figures, subject, "memory_peak", 0, number(get(summary, "memory_bytes"), "peak"), "B", INFORMATION);
    return 0;
}

/* ---- sweep of collectives ---- */

/* What names a size: collective, type, operation, placement, and the root if there is one. */
static int take_subject(char *subject, size_t size, const char *path, const cJSON *item)
{
    static const char *const key[] = {"collective", "dtype", "op", "placement"};
    double root = number(item, "root");
    char of_root[32] = "";
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (!*text(item, key[i]) || !(number(item, "bytes") >= 0))
            return error_report("%s: a row lacks one of collective, dtype, op, placement and bytes", path);
    if (root >= 0)
        snprintf(of_root, sizeof of_root, " root %.0f", root);
    snprintf(subject, size, "%s %s %s%s %s", text(item, key[0]), text(item, key[1]), text(item, key[2]), of_root,
             text(item, key[3]));
    return 0;
}

static int add_size(struct compare_figures *figures, const char *path, const cJSON *row)
{
    static const char *const spread[] = {"min", "mean", "median", "p95", "p99", "max"};
    const cJSON *times = get(row, "time_us");
    char subject[128], name[32];
    double bytes = number(row, "bytes");
    if (take_subject(subject, sizeof subject, path, row))
        return -1;
    size_t first = figures->n;
    add(figures, subject, "time", bytes, number(row, "sustained_us"), "us", GATED);
    for (size_t i = 0; i < sizeof spread / sizeof *spread; i++) {
        snprintf(name, sizeof name, "time_%s", spread[i]);
        add(figures, subject, name, bytes, number(times, spread[i]), "us", INFORMATION);
    }
    add(figures, subject, "cpu_time", bytes, number(row, "cpu_us"), "us", INFORMATION);
    add(figures, subject, "algbw", bytes, number(row, "algbw_gbs"), "GB/s", INFORMATION);
    add(figures, subject, "busbw", bytes, number(row, "busbw_gbs"), "GB/s", INFORMATION);
    for (size_t i = first; i < figures->n; i++)
        figures->item[i].wrong = number(row, "wrong") > 0;
    return 0;
}

/* Of a sweep beside computation, what the two take together is judged. */
static int add_overlapped(struct compare_figures *figures, const char *path, const cJSON *row)
{
    static const char *const field[][3] = {{"compute_us", "compute", "us"},
                                           {"comm_us", "comm", "us"},
                                           {"overlap_percent", "overlap", "%"},
                                           {"compute_slowdown", "compute_slowdown", ""},
                                           {"comm_slowdown", "comm_slowdown", ""}};
    char subject[128];
    double bytes = number(row, "bytes");
    if (take_subject(subject, sizeof subject, path, row))
        return -1;
    add(figures, subject, "both", bytes, number(get(row, "both_us"), "median"), "us", GATED);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        add(figures, subject, field[i][1], bytes, number(get(row, field[i][0]), "median"), field[i][2], INFORMATION);
    return 0;
}

static int add_sweep(struct compare_figures *figures, const char *path, const cJSON *summary)
{
    const cJSON *sweep = get(summary, "sweep"), *overlap = get(summary, "overlap"), *row;
    double rows = cJSON_GetArraySize(sweep) + cJSON_GetArraySize(overlap), planned = number(summary, "rows_planned");
    if (!cJSON_IsArray(sweep) && !cJSON_IsArray(overlap))
        return error_report(
            "%s: has no \"sweep\" and no \"overlap\", so it is not the summary of a sweep of collectives", path);
    if (rows < planned)
        return error_report("%s: has %.0f of %.0f rows: the run has not finished", path, rows, planned);
    cJSON_ArrayForEach(row, sweep)
    {
        if (add_size(figures, path, row))
            return -1;
    }
    cJSON_ArrayForEach(row, overlap)
    {
        if (add_overlapped(figures, path, row))
            return -1;
    }
    return 0;
}

int compare_figures_create(struct compare_figures *figures, const char *path, const char *mode, const cJSON *summary)
{
    *figures = (struct compare_figures){0};
    if (!strcmp(mode, "benchmark"))
        return add_benchmark(figures, path, summary);
    if (!strcmp(mode, "profile"))
        return add_profile(figures, path, summary);
    if (!strcmp(mode, "allreduce"))
        return add_sweep(figures, path, summary);
    return error_report("%s: results of mode '%s' cannot be compared; benchmark, profile and allreduce can", path,
                        mode);
}

void compare_figures_destroy(struct compare_figures *figures)
{
    free(figures->item);
    *figures = (struct compare_figures){0};
}
