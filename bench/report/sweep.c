/* sweep.c - what the runs of a grid found together. */
#include "report/sweep.h"

#include "base/figures.h"
#include "base/files.h"
#include "base/json.h"
#include "base/option_table.h"
#include "base/table.h"
#include "base/text.h"
#include "kernels/error.h"
#include "report/grid.h"
#include "results/results.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *report_text_begin(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (!out)
        FATAL("no memory for the report");
    return out;
}

void report_text_end(FILE *out)
{
    if (fclose(out))
        FATAL("no memory for the report");
}

/* ---- the runs ---- */

/* directory/pattern, with every special character of the directory escaped. */
static void make_pattern(char path[2 * FILES_PATH], const char *directory, const char *pattern)
{
    size_t at = 0;
    for (const char *c = directory; *c && at + 4 < FILES_PATH; c++) {
        if (strchr("*?[\\", *c))
            path[at++] = '\\';
        path[at++] = *c;
    }
    snprintf(path + at, 2 * FILES_PATH - at, "/%s", pattern);
}

int sweep_is(const char *directory)
{
    char path[2 * FILES_PATH];
    glob_t found;
    snprintf(path, sizeof path, "%.*s/sweep.txt", FILES_PATH, directory);
    if (!access(path, F_OK))
        return 1;
    make_pattern(path, directory, "ranks=*/model=*");
    int is = !glob(path, 0, NULL, &found);
    globfree(&found);
    return is;
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
    const struct figure *step = figures_find(&saved->figures, point->implementation, "step", 0);
    const struct figure *tokens = figures_find(&saved->figures, point->implementation, "tokens_per_second", 0);
    if (cJSON_GetArraySize(all) != 1 || !step || !(step->value > 0))
        return error_report("%s: is not the benchmark of one implementation, so it is no run of a sweep",
                            saved->directory);
    grid_add(grid, point, (struct grid_sample){repeat, step->value, tokens ? tokens->value : NAN});
    char begin[600], size[32] = "";
    if (isfinite(point->bucket_mb))
        snprintf(size, sizeof size, "%.10g", point->bucket_mb);
    snprintf(begin, sizeof begin, "%zu,%s,%s,%s,%zu,%s,%.0f,%.0f,", point->ranks, point->model, point->implementation,
             size, repeat, point->strategy, json_number(derived, "host_count"), json_number(derived, "threads"));
    figures_print_csv(csv, &saved->figures, begin);
    return 0;
}

/* Returns how many runs there are; or -1, reported. */
static int read_runs(struct grid *grid, FILE *csv, const char *directory, FILE *figures)
{
    char path[2 * FILES_PATH];
    glob_t found;
    int status = 0, runs = 0;
    make_pattern(path, directory, "ranks=*/model=*/*/repeat-*");
    int none = glob(path, 0, NULL, &found);
    for (size_t i = 0; !none && i < found.gl_pathc && !status; i++) {
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
    char bucket[24], ratio[CELL];
};

#define FIELD(field) offsetof(struct row, field)
/* clang-format off */
static const struct column columns[] = {
    {"mark", " ", COLUMN_NAME, FIELD(mark), NULL, 0, -2, 0},
    {"implementation", "implementation", COLUMN_CHARS, FIELD(point.implementation), NULL, 0, -18, 0},
    {"bucket", "bucket MiB", COLUMN_CHARS, FIELD(bucket), NULL, 0, 10, 0},
    {"step", "step ms", COLUMN_REAL, FIELD(point.mean_s), "s", 1e3, 10, -4},
    {"step_95", "[95 % interval]", COLUMN_INTERVAL, FIELD(point.interval_s), "s", 1e3, -19, -4},
    {"n", "n", COLUMN_COUNT, FIELD(point.n), "1", 0, 3, 0},
    {"to_best", "/ best", COLUMN_CHARS, FIELD(ratio), NULL, 0, 7, 0},
    {"to_best_95", "[95 %]", COLUMN_INTERVAL, FIELD(point.to_best.ci_low), "1", 0, -14, 3},
    {"tokens_per_second", "tokens/s", COLUMN_REAL, FIELD(point.tokens_mean_s), "1/s", 0, 9, 0},
    /* with several numbers of ranks only: */
    {"efficiency", "efficiency", COLUMN_REAL, FIELD(point.efficiency), "1", 0, 10, 3},
};
/* clang-format on */

static struct row row_of(const struct grid_point *p)
{
    struct row row = {.point = *p, .mark = p->verdict == GRID_TIED ? "=" : ""};
    snprintf(row.bucket, sizeof row.bucket, isfinite(p->bucket_mb) ? "%.10g" : "-", p->bucket_mb);
    text_ratio(row.ratio, p->to_best.ratio);
    if (p->verdict == GRID_BEST || p->verdict == GRID_ONLY) {
        row.mark = "*";
        strcpy(row.ratio, p->verdict == GRID_BEST ? "best" : "only");
        row.point.to_best.ci_low = row.point.to_best.ci_high = NAN;
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
}

static void print_group(FILE *out, const struct grid_point *point, size_t n, int scales)
{
    char title[200];
    struct row *row = allocate(n, sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[i] = row_of(&point[i]);
    snprintf(title, sizeof title, "%zu rank%s, model %s", point->ranks, text_plural(point->ranks), point->model);
    cJSON *json = table_json(&(struct table){.key = "grid",
                                             .title = title,
                                             .column = columns,
                                             .columns = sizeof columns / sizeof *columns - !scales,
                                             .row = row,
                                             .rows = n,
                                             .row_bytes = sizeof *row});
    table_print(out, json);
    conclude(out, point, n);
    cJSON_Delete(json);
    free(row);
}

/* ---- data for pictures of step time against bucket size ---- */

static void print_point(FILE *out, double x, const struct grid_point *p, int with_interval)
{
    int has = with_interval && isfinite(p->interval_s[0]);
    fprintf(out, "%.10g\t%.9g\t%.9g\t%.9g\n", x, 1e3 * p->mean_s, 1e3 * (has ? p->interval_s[0] : p->mean_s),
            1e3 * (has ? p->interval_s[1] : p->mean_s));
}

/* The point of an implementation with the smallest bucket above `mb`, or NULL. */
static const struct grid_point *next_bucket(const struct grid_point *point, size_t n, const char *name, double mb)
{
    const struct grid_point *next = NULL;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (p->bucket_mb > mb && (!next || p->bucket_mb < next->bucket_mb) && !strcmp(p->implementation, name))
            next = p;
    return next;
}

/* The points, sorted by their steps, as blocks of lines, two empty lines between them: the best bucket as x, y, words;
 * then for each implementation its name, and lines of x (MiB), mean step and the ends of its interval (ms). One without
 * buckets is a horizontal line, with its interval at a place of its own at the right. No file if none has buckets.
 * Returns 0; or -1, reported. */
static int write_picture(const char *directory, const struct grid_point *point, size_t n)
{
    const struct grid_point *best = NULL;
    double least = INFINITY, most = 0;
    char step[CELL], file[200], *text;
    size_t length;
    int lines = 0;
    for (size_t i = n; i-- > 0;)
        if (isfinite(point[i].bucket_mb)) {
            best = &point[i];
            least = fmin(least, point[i].bucket_mb);
            most = fmax(most, point[i].bucket_mb);
        }
    if (!best)
        return 0;
    FILE *out = report_text_begin(&text, &length);
    double space = most > least ? pow(most / least, 0.035) : 1.05;
    fprintf(out, "best\n%.10g\t%.9g\tbest bucket: %.10g MiB, %s\n", best->bucket_mb, 1e3 * best->mean_s,
            best->bucket_mb, text_value_like(step, best->mean_s, "s", best->mean_s));
    for (size_t i = 0; i < n; i++) {
        const char *name = point[i].implementation;
        int buckets = isfinite(point[i].bucket_mb);
        if (buckets && next_bucket(point, i, name, 0))
            continue; /* it has had its block */
        fprintf(out, "\n\n%s\n", name);
        if (buckets)
            for (const struct grid_point *p = next_bucket(point, n, name, 0); p;
                 p = next_bucket(point, n, name, p->bucket_mb))
                print_point(out, p->bucket_mb, p, 1);
        else {
            print_point(out, least / space, &point[i], 0);
            print_point(out, most * pow(space, ++lines), &point[i], 1);
        }
    }
    report_text_end(out);
    snprintf(file, sizeof file, "sweep-%zu-%s.tsv", point->ranks, point->model);
    int status = files_replace(directory, file, text);
    free(text);
    return status;
}

/* ---- all of them ---- */

/* Prints the tables, and writes the pictures' data. */
static int print_grid(FILE *out, const struct grid *grid, const char *directory)
{
    int scales = grid->point[0].ranks != grid->point[grid->n - 1].ranks, status = 0;
    for (size_t first = 0, end; first < grid->n && !status; first = end) {
        end = grid_group_end(grid, first);
        print_group(out, &grid->point[first], end - first, scales);
        status = write_picture(directory, &grid->point[first], end - first);
    }
    fprintf(
        out,
        "\nstep: mean over the runs (n) of a run's median step, with Student's 95 %% interval. / best: geometric mean "
        "of the\nratios to the best (*) in the same repeat. =: not significantly different from the best at the 5 %% "
        "level "
        "(paired t test\nof the logarithms, adjusted by Holm over all pairs of these ranks and model); --repeats "
        "narrows the intervals.\n");
    if (scales)
        fprintf(out, "efficiency: tokens per second and rank, over those of the same row on the fewest ranks.\n");
    return status;
}

int sweep_report(FILE *out, const char *directory, FILE *figures)
{
    struct grid grid = {0};
    char *text;
    size_t length;
    FILE *csv = report_text_begin(&text, &length);
    fprintf(csv, "ranks,model,implementation,bucket_size_mb,repeat,strategy,hosts,threads," FIGURES_CSV_COLUMNS "\n");
    int runs = read_runs(&grid, csv, directory, figures), status = runs < 0 ? -1 : 0;
    report_text_end(csv);
    if (!status) {
        grid_judge(&grid);
        fprintf(out, "%s: %d run%s of a sweep\n", directory, runs, text_plural((size_t)runs));
        status = print_grid(out, &grid, directory) || files_replace(directory, "sweep.csv", text) ? -1 : 0;
    }
    free(text);
    grid_destroy(&grid);
    return status;
}
