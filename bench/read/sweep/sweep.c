/* sweep.c - what the runs of a grid found together. */
#include "sweep/sweep.h"

#include "base/figures.h"
#include "base/files.h"
#include "base/json.h"
#include "base/option_table.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "results/results.h"
#include "sweep/grid.h"
#include "sweep/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the runs ---- */

int sweep_is(const char *directory)
{
    char path[2 * FILES_PATH];
    glob_t found;
    snprintf(path, sizeof path, "%.*s/sweep.txt", FILES_PATH, directory);
    if (!access(path, F_OK))
        return 1;
    size_t n = files_find(&found, directory, "ranks=*/model=*");
    globfree(&found);
    return n > 0;
}

/* Ranks, model and repeat from the name of a run's directory. Returns 1; or 0 for another name, such as that of a run
 * that has failed. */
static int parse_run_name(struct grid_point *point, size_t *repeat, const char *name)
{
    int end = 0;
    return sscanf(name, "ranks=%zu/model=%127[^/,]/%*[^/]/repeat-%zu%n", &point->ranks, point->model, repeat, &end) ==
               3 &&
           end && !name[end] && point->ranks && *repeat && *repeat < 10000;
}

/* The bucket size in MiB, as the run was asked for it: bytes are rounded. NAN where there are no buckets. */
static double bucket_of(const cJSON *run, const cJSON *implementation)
{
    const cJSON *configuration = cJSON_GetObjectItemCaseSensitive(run, "configuration");
    double mb, bytes = json_number(implementation, "bucket_bytes");
    return !isfinite(bytes)                                                    ? NAN
           : !option_number(json_string(configuration, "bucket-size-mb"), &mb) ? mb
                                                                               : bytes / 0x1p20;
}

/* Puts a run into the grid, at a point whose ranks and model are known, and its figures into sweep.csv. */
static int take_run(struct grid *grid, FILE *csv, struct grid_point *point, size_t repeat,
                    const struct saved_run *saved)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(saved->run, "implementations");
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(saved->run, "derived");
    const cJSON *implementation = cJSON_GetArrayItem(all, 0);
    snprintf(point->implementation, sizeof point->implementation, "%s", json_string(implementation, "name"));
    snprintf(point->strategy, sizeof point->strategy, "%s", json_string(implementation, "strategy"));
    point->bucket_mb = bucket_of(saved->run, implementation);
    const cJSON *collective, *collectives = cJSON_GetObjectItemCaseSensitive(implementation, "collectives");
    cJSON_ArrayForEach(collective, collectives)
    {
        point->tensors += json_count(collective, "tensors");
    }
    point->buckets = (size_t)cJSON_GetArraySize(collectives);
    place_machine(point->machine, sizeof point->machine, saved->run);
    place_link(point->link, sizeof point->link, saved->run);
    const struct figure *step = figures_find(&saved->figures, point->implementation, "step", 0);
    const struct figure *tokens = figures_find(&saved->figures, point->implementation, "tokens_per_second", 0);
    if (cJSON_GetArraySize(all) != 1 || !step || !(step->value > 0))
        return error_report("%s: is not the benchmark of one implementation, so it is no run of a sweep",
                            saved->directory);
    grid_add(grid, point, (struct grid_sample){repeat, step->value, tokens ? tokens->value : NAN});
    char ranks[24], size[32] = "", number[24], hosts[24], threads[24];
    if (isfinite(point->bucket_mb))
        snprintf(size, sizeof size, "%.10g", point->bucket_mb);
    snprintf(ranks, sizeof ranks, "%zu", point->ranks);
    snprintf(number, sizeof number, "%zu", repeat);
    snprintf(hosts, sizeof hosts, "%zu", json_count(derived, "host_count"));
    snprintf(threads, sizeof threads, "%zu", json_count(derived, "threads"));
    const char *const field[] = {ranks, point->model, point->implementation, size, number, point->strategy,
                                 hosts, threads};
    figures_print_csv(csv, &saved->figures, field, sizeof field / sizeof *field);
    return 0;
}

/* Returns how many runs there are; or -1, reported. */
static int read_runs(struct grid *grid, FILE *csv, const char *directory, FILE *figures)
{
    glob_t found;
    int status = 0, runs = 0;
    size_t n = files_find(&found, directory, "ranks=*/model=*/*/repeat-*");
    for (size_t i = 0; i < n && !status; i++) {
        struct grid_point point = {0};
        struct saved_run saved = {0};
        size_t repeat;
        if (!parse_run_name(&point, &repeat, found.gl_pathv[i] + strlen(directory) + 1))
            continue;
        status = results_read(&saved, found.gl_pathv[i]) || take_run(grid, csv, &point, repeat, &saved) ? -1 : 0;
        if (!status)
            results_print_csv(figures, &saved);
        runs++;
        saved_run_destroy(&saved);
    }
    globfree(&found);
    if (!status && !grid->n)
        return error_report("%s: no run in it is complete", directory);
    return status ? -1 : runs;
}

/* ---- the tables ---- */

/* A point, and the cells of its row that are text. */
struct row {
    struct grid_point point;
    const char *mark;
    char bucket[24], interval[CELL], ratio[CELL], ratio_interval[CELL];
};

#define FIELD(field) offsetof(struct row, field)
/* clang-format off */
static const struct column columns[] = {
    {"mark", " ", COLUMN_NAME, FIELD(mark), NULL, 0, -2, 0},
    {"implementation", "implementation", COLUMN_CHARS, FIELD(point.implementation), NULL, 0, -18, 0},
    {"bucket", "bucket MiB", COLUMN_CHARS, FIELD(bucket), NULL, 0, 10, 0},
    {"step", "step ms", COLUMN_REAL, FIELD(point.mean_s), "s", 1e3, 10, -4},
    {"step_95", "[95 % interval]", COLUMN_CHARS, FIELD(interval), NULL, 0, -19, 0},
    {"n", "n", COLUMN_COUNT, FIELD(point.n), "1", 0, 3, 0},
    {"to_best", "/ best", COLUMN_CHARS, FIELD(ratio), NULL, 0, 7, 0},
    {"to_best_95", "[95 %]", COLUMN_CHARS, FIELD(ratio_interval), NULL, 0, -14, 0},
    {"tokens_per_second", "tokens/s", COLUMN_REAL, FIELD(point.tokens_mean_s), "1/s", 0, 9, 0},
    /* with several numbers of ranks only: */
    {"efficiency", "efficiency", COLUMN_REAL, FIELD(point.efficiency), "1", 0, 10, 3},
};
/* clang-format on */

/* n/a where there is none. */
static void print_interval(char text[CELL], double low, double high, int decimals)
{
    snprintf(text, CELL, isfinite(low) && isfinite(high) ? "[%.*f, %.*f]" : "n/a", decimals, low, decimals, high);
}

static struct row row_of(const struct grid_point *p)
{
    struct row row = {.point = *p, .mark = p->verdict == GRID_TIED ? "=" : ""};
    double high_ms = 1e3 * p->interval_s[1];
    snprintf(row.bucket, sizeof row.bucket, isfinite(p->bucket_mb) ? "%.10g" : "-", p->bucket_mb);
    print_interval(row.interval, 1e3 * p->interval_s[0], high_ms,
                   high_ms < 10    ? 3
                   : high_ms < 100 ? 2
                                   : high_ms < 1000);
    text_ratio(row.ratio, p->to_best.ratio);
    print_interval(row.ratio_interval, p->to_best.ci_low, p->to_best.ci_high, 3);
    if (p->verdict == GRID_BEST || p->verdict == GRID_ONLY) {
        row.mark = "*";
        strcpy(row.ratio, p->verdict == GRID_BEST ? "best" : "only");
        *row.ratio_interval = 0;
    }
    return row;
}

static void print_name(FILE *out, const struct grid_point *p)
{
    fprintf(out, isfinite(p->bucket_mb) ? "%s at %.10g MiB" : "%s", p->implementation, p->bucket_mb);
}

/* What can be said of the points of a group: nothing of controls alone. */
static void conclude(FILE *out, const struct grid_point *point, size_t n)
{
    char step[CELL];
    size_t tied = 0, first = 0; /* candidate, which is the best if one is */
    while (first < n && point[first].verdict == GRID_CONTROL)
        first++;
    const struct grid_point *best = &point[first];
    const char *edge = grid_edge_words(point, n);
    if (first == n)
        return;
    if (best->verdict == GRID_UNDECIDED) {
        fprintf(out, "Fewer than %d repeats: no intervals and no verdict; use --repeats %d or more.\n", GRID_REPEATS,
                GRID_REPEATS);
        return;
    }
    fprintf(out, best->verdict == GRID_ONLY ? "Nothing to compare: the only candidate is " : "Best: ");
    print_name(out, best);
    fprintf(out, ", %s a step (n = %zu run%s)", text_value_like(step, best->mean_s, "s", best->mean_s), best->n,
            text_plural(best->n));
    for (size_t i = 0; i < n; i++) {
        if (point[i].verdict != GRID_TIED)
            continue;
        fprintf(out, "%s", tied++ ? "; " : "; not significantly different from it: ");
        print_name(out, &point[i]);
    }
    fprintf(out, ".\n");
    if (edge)
        fprintf(out, "%s is %s.\n", grid_best_bucket(point, n)->implementation, edge);
}

/* The title of a group: what it is about. */
static const char *group_title(char title[600], const struct grid_point *p)
{
    snprintf(title, 600, "%zu rank%s, model %s%s%s%s%s", p->ranks, text_plural(p->ranks), p->model,
             *p->link ? ", link: " : "", p->link, *p->machine ? ", machine: " : "", p->machine);
    return title;
}

/* Prints the table of a group and what it says, and draws it. Returns 0; or -1, reported. */
static int report_group(FILE *out, const char *directory, const struct grid_point *point, size_t n, int scales)
{
    char title[600], *finding;
    size_t length;
    struct row *row = allocate(n, sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[i] = row_of(&point[i]);
    cJSON *json = table_json(&(struct table){.key = "grid",
                                             .title = group_title(title, point),
                                             .column = columns,
                                             .columns = sizeof columns / sizeof *columns - !scales,
                                             .row = row,
                                             .rows = n,
                                             .row_bytes = sizeof *row});
    FILE *words = text_begin(&finding, &length);
    conclude(words, point, n);
    text_end(words);
    table_print(out, "", json);
    fputs(finding, out);
    if (length) /* the last newline is none of the picture's */
        finding[length - 1] = 0;
    int status = picture_write(directory, point, n, title, finding);
    cJSON_Delete(json);
    free(finding);
    free(row);
    return status;
}

/* ---- all of them ---- */

static int report_grid(FILE *out, const struct grid *grid, const char *directory)
{
    int scales = grid->point[0].ranks != grid->point[grid->n - 1].ranks, status = 0;
    for (size_t first = 0, end; first < grid->n && !status; first = end) {
        end = grid_group_end(grid, first);
        status = report_group(out, directory, &grid->point[first], end - first, scales);
    }
    fprintf(
        out,
        "\nstep: mean over the runs (n) of a run's median step, with Student's 95 %% interval. / best: geometric mean "
        "of the\nratios to the best (*) in the same repeat, with 95 %% intervals that hold for all of these ranks and "
        "model together.\n=: not significantly slower: the interval reaches down to 1; --repeats narrows it. n/a: an "
        "interval over the runs\nneeds %d repeats.\n",
        GRID_REPEATS);
    if (scales)
        fprintf(out, "efficiency: tokens per second and rank, over those of the same row on the fewest ranks.\n");
    return status;
}

int sweep_report(FILE *out, const char *directory, FILE *figures)
{
    struct grid grid = {0};
    static const char head[] =
        "ranks,model,implementation,bucket_size_mb,repeat,strategy,hosts,threads," FIGURES_CSV_COLUMNS "\n";
    char *text, path[FILES_PATH];
    size_t length;
    FILE *csv = text_begin(&text, &length);
    fputs(head, csv);
    snprintf(path, sizeof path, "%s/sweep.csv", directory);
    int runs = read_runs(&grid, csv, directory, figures), status = runs < 0 ? -1 : 0;
    text_end(csv);
    if (!status) {
        grid_judge(&grid);
        fprintf(out, "%s: %d run%s of a sweep\n", directory, runs, text_plural((size_t)runs));
        files_remove_left(directory);
        status = report_grid(out, &grid, directory) || files_replace_path(NULL, path, head, text) ? -1 : 0;
    }
    free(text);
    grid_destroy(&grid);
    return status;
}
