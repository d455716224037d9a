/* grid.c - the runs of a sweep as a grid, with the fastest points of each number of ranks and model. */
#include "report/grid.h"

#include "base/best.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

/* ---- the points ---- */

int grid_is_in(const char *directory)
{
    glob_t found;
    size_t n = files_find(&found, directory, "ranks=*/model=*");
    globfree(&found);
    return n > 0;
}

/* Reads model and repeat from the directory of a run. Returns 0; or -1: it is not that of a run of a sweep. */
static int parse_directory(const char *directory, char model[128], size_t *repeat)
{
    for (const char *at = directory; (at = strstr(at, "ranks=")); at++) {
        int end = 0;
        if (sscanf(at, "ranks=%*u/model=%127[^/,]/%*[^/]/repeat-%zu%n", model, repeat, &end) == 2 && end && !at[end])
            return 0;
    }
    return -1;
}

/* Whether two points differ at most in their number of ranks. */
static int is_same_but_ranks(const struct grid_point *a, const struct grid_point *b)
{
    return !strcmp(a->model, b->model) && !strcmp(a->of->subject, b->of->subject) &&
           (a->of->mb == b->of->mb || (isnan(a->of->mb) && isnan(b->of->mb)));
}

int grid_add(struct grid *grid, const struct report_run *run)
{
    struct grid_point new = {.ranks = run->ranks, .of = run->implementation};
    const char *subject = run->implementations ? new.of->subject : "";
    struct measured step = run_figure(run, subject, "step");
    struct grid_sample sample = {run, 0, step.value, run_figure(run, subject, "tokens_per_second").value};
    size_t at = 0;
    if (*run->problem)
        return error_report("%s", run->problem);
    if (*run->unfinished)
        return error_report("%s: %s: a sweep has complete runs only", run->directory, run->unfinished);
    if (run->implementations != 1 || !(step.value > 0) || !run->ranks ||
        parse_directory(run->directory, new.model, &sample.repeat))
        return error_report("%s: is not the benchmark of one implementation, so it is no run of a sweep",
                            run->directory);
    while (at < grid->n && (grid->point[at].ranks != new.ranks || !is_same_but_ranks(&grid->point[at], &new)))
        at++;
    if (at == grid->n) {
        grid->point = allocate_more(grid->point, grid->n, sizeof *grid->point);
        grid->point[grid->n++] = new;
    }
    struct grid_point *point = &grid->point[at];
    point->sample = allocate_more(point->sample, point->n, sizeof *point->sample);
    point->sample[point->n++] = sample;
    return 0;
}

void grid_print_csv(FILE *out, const struct grid *grid)
{
    fputs(GRID_CSV_COLUMNS "\n", out);
    for (const struct grid_point *p = grid->point; p < grid->point + grid->n; p++)
        for (const struct grid_sample *s = p->sample; s < p->sample + p->n; s++) {
            char ranks[24], size[32] = "", repeat[24], hosts[24], threads[24];
            if (isfinite(p->of->mb))
                snprintf(size, sizeof size, "%.10g", p->of->mb);
            snprintf(ranks, sizeof ranks, "%zu", p->ranks);
            snprintf(repeat, sizeof repeat, "%zu", s->repeat);
            snprintf(hosts, sizeof hosts, "%zu", s->run->hosts);
            snprintf(threads, sizeof threads, "%zu", s->run->threads);
            const char *const field[] = {ranks,  p->model,        p->of->subject, size,
                                         repeat, p->of->strategy, hosts,          threads};
            figures_print_csv(out, &s->run->figures, field, sizeof field / sizeof *field);
        }
}

void grid_destroy(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++)
        free(grid->point[i].sample);
    free(grid->point);
    *grid = (struct grid){0};
}

/* ---- the figures of a point ---- */

static void take_means(struct grid_point *p)
{
    double n = (double)p->n, sum = 0, tokens = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        sum += p->sample[i].step_s;
        tokens += p->sample[i].tokens_s;
    }
    p->mean_s = sum / n;
    p->tokens_mean_s = tokens / n;
    p->interval_s[0] = p->interval_s[1] = NAN;
    p->to_best = (struct paired){NAN, NAN, NAN, 1, 0};
    p->verdict = GRID_CONTROL; /* unless it reduces gradients */
    if (p->n < GRID_REPEATS)
        return;
    for (size_t i = 0; i < p->n; i++)
        squares += (p->sample[i].step_s - p->mean_s) * (p->sample[i].step_s - p->mean_s);
    double half = stats_t_quantile((1 + CONFIDENCE) / 2, n - 1) * sqrt(squares / (n - 1) / n);
    p->interval_s[0] = p->mean_s - half;
    p->interval_s[1] = p->mean_s + half;
}

/* ---- a group: the points with the same ranks and model ---- */

static int reduces(const struct grid_point *p)
{
    return strcmp(p->of->strategy, "none") != 0;
}

/* The step of a point in a repeat; NAN: the point lacks it. */
static double step_in(const struct grid_point *p, size_t repeat)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->sample[i].repeat == repeat)
            return p->sample[i].step_s;
    return NAN;
}

/* Fills sample[i] with the steps of point[i] in the repeats that all k points have. Returns the number of these. */
static size_t shared_repeats(const struct grid_point *const *point, int k, double *const *sample)
{
    size_t n = 0;
    for (size_t r = 0; r < point[0]->n; r++) {
        int i = 0;
        while (i < k && isfinite(sample[i][n] = step_in(point[i], point[0]->sample[r].repeat)))
            i++;
        n += i == k;
    }
    return n;
}

/* Compares k points with the first of them, in the repeats that all have. */
static void compare_with_first(struct grid_point *const *point, int k)
{
    struct against_best *against = allocate((size_t)k, sizeof *against);
    double **sample = allocate((size_t)k, sizeof *sample);
    for (int i = 0; i < k; i++)
        sample[i] = allocate(point[0]->n, sizeof **sample);
    size_t n = shared_repeats((const struct grid_point *const *)point, k, sample);
    best_compare((const double *const *)sample, k, n, 0, 0, against);
    for (int i = 0; i < k; i++) {
        struct grid_point *p = point[i];
        p->to_best = against[i].paired;
        if (n >= GRID_REPEATS && reduces(p))
            p->verdict = i == 0 ? GRID_BEST : against[i].slower ? GRID_SLOWER : GRID_TIED;
        free(sample[i]);
    }
    free(sample);
    free(against);
}

/* Judges point[n], sorted by mean, against point[best]. Controls and points with too few repeats do not take part in
 * the comparison of all: each is compared with the best alone. */
static void judge_group(struct grid_point *point, size_t n, size_t best)
{
    struct grid_point **compared = allocate(n, sizeof(struct grid_point *));
    int k = 0, candidates = 0;
    for (size_t i = 0; i < n; i++) {
        struct grid_point *p = &point[i];
        candidates += reduces(p);
        if (reduces(p))
            p->verdict = GRID_UNDECIDED;
        if (i == best || (reduces(p) && p->n >= GRID_REPEATS && point[best].n >= GRID_REPEATS))
            compared[k++] = p; /* the best is the first */
        else
            compare_with_first((struct grid_point *[]){&point[best], p}, 2);
    }
    compare_with_first(compared, k);
    if (point[best].n >= GRID_REPEATS)
        point[best].verdict = GRID_BEST;
    if (candidates == 1)
        point[best].verdict = GRID_ONLY;
    free(compared);
}

const struct grid_point *grid_best_bucket(const struct grid_point *point, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(point[i].of->mb) && reduces(&point[i]))
            return &point[i];
    return NULL;
}

const char *grid_edge_advice(const struct grid_point *point, size_t n)
{
    const struct grid_point *best = grid_best_bucket(point, n);
    int smaller = 0, larger = 0;
    if (!best || best->verdict == GRID_UNDECIDED)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(point[i].of->subject, best->of->subject)) {
            smaller |= point[i].of->mb < best->of->mb;
            larger |= point[i].of->mb > best->of->mb;
        }
    return run_edge_advice(best->of, smaller, larger);
}

size_t grid_group_end(const struct grid *grid, size_t first)
{
    size_t end = first;
    while (end < grid->n && grid->point[end].ranks == grid->point[first].ranks &&
           !strcmp(grid->point[end].model, grid->point[first].model))
        end++;
    return end;
}

/* ---- all groups ---- */

static int compare_points(const void *a, const void *b)
{
    const struct grid_point *x = a, *y = b;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    int models = strcmp(x->model, y->model);
    if (models)
        return models;
    return (x->mean_s > y->mean_s) - (x->mean_s < y->mean_s);
}

void grid_judge(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++)
        take_means(&grid->point[i]);
    if (grid->n)
        qsort(grid->point, grid->n, sizeof *grid->point, compare_points);
    for (size_t i = 0; i < grid->n; i++) {
        struct grid_point *p = &grid->point[i];
        const struct grid_point *fewest =
            grid->point; /* of the points that differ in ranks alone, the first has the fewest */
        while (!is_same_but_ranks(fewest, p))
            fewest++;
        p->efficiency = p->tokens_mean_s / (double)p->ranks / (fewest->tokens_mean_s / (double)fewest->ranks);
    }
    for (size_t first = 0, end; first < grid->n; first = end) {
        size_t best = first;
        end = grid_group_end(grid, first);
        while (best < end && !reduces(&grid->point[best]))
            best++;
        if (best < end)
            judge_group(&grid->point[first], end - first, best - first);
    }
}
