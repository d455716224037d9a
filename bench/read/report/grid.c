/* grid.c - arranges the runs of a sweep as a grid, and finds the fastest points for each number of ranks and model. */
#include "report/grid.h"

#include "base/best.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the points ---- */

int grid_is_in(const char *directory)
{
    glob_t found;
    size_t n = files_find(&found, directory, "ranks=*/model=*");
    globfree(&found);
    return n > 0;
}

/* Reads model and repeat from the path of a run. Returns 0; or -1 if the path is not of a run of a sweep. */
static int parse_directory(const char *directory, char model[128], size_t *repeat)
{
    for (const char *at = directory; (at = strstr(at, "ranks=")); at++) {
        int end = 0;
        if (sscanf(at, "ranks=%*u/model=%127[^/,]/%*[^/]/repeat-%zu%n", model, repeat, &end) == 2 && end && !at[end])
            return 0;
    }
    return -1;
}

/* Whether two points have the same model, implementation and bucket size; their numbers of ranks may differ. */
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
    struct grid_sample sample = {run, 0, step.value};
    size_t at = 0;
    if (*run->problem)
        return error_report("%s", run->problem);
    if (*run->unfinished)
        return error_report("%s: %s: a sweep has complete runs only", run->saved.directory, run->unfinished);
    if (run->implementations != 1 || !(step.value > 0) || !run->ranks ||
        parse_directory(run->saved.directory, new.model, &sample.repeat))
        return error_report("%s: is not the benchmark of one implementation, so it is not a run of a sweep",
                            run->saved.directory);
    while (at < grid->n && (grid->point[at].ranks != new.ranks || !is_same_but_ranks(&grid->point[at], &new)))
        at++;
    if (at == grid->n) {
        new.implementation = new.of->subject;
        if (isfinite(new.of->mb))
            snprintf(new.bucket, sizeof new.bucket, "%.10g", new.of->mb);
        grid->point = allocate_more(grid->point, grid->n, sizeof *grid->point);
        grid->point[grid->n++] = new;
    }
    struct grid_point *point = &grid->point[at];
    point->sample = allocate_more(point->sample, point->n, sizeof *point->sample);
    point->sample[point->n++] = sample;
    return 0;
}

void grid_destroy(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++)
        free(grid->point[i].sample);
    free(grid->point);
    *grid = (struct grid){0};
}

/* ---- a group: the points with the same ranks and model ---- */

/* Returns the step time of a point in a repeat; NAN if the point has no run in that repeat. */
static double step_in(const struct grid_point *p, size_t repeat)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->sample[i].repeat == repeat)
            return p->sample[i].step_s;
    return NAN;
}

/* Fills sample[points, point->n] with steps in the repeats that all points have. Returns the number of repeats. */
static size_t shared_repeats(const struct grid_point *point, size_t points, double *sample)
{
    size_t n = 0;
    for (size_t r = 0; r < point->n; r++) {
        size_t i = 0;
        while (i < points && isfinite(sample[i * point->n + n] = step_in(&point[i], point->sample[r].repeat)))
            i++;
        n += i == points;
    }
    return n;
}

/* Sets the step of a point to the mean of n samples, or of all its own if n is 0. */
static void take_mean(struct grid_point *p, const double *shared, size_t n)
{
    double *own = allocate(p->n, sizeof *own);
    for (size_t i = 0; i < p->n; i++)
        own[i] = p->sample[i].step_s;
    p->step_s = stats_geometric(n ? shared : own, n ? n : p->n);
    p->tokens_per_second = p->sample->run->tokens / p->step_s.median;
    p->to_best = (struct against_best){.ratio = {NAN, NAN, NAN, NAN, NAN, 0}};
    free(own);
}

static void judge_group(struct grid_point *point, size_t points)
{
    double *sample = allocate(points * point->n, sizeof *sample);
    const double **candidate = allocate(points, sizeof *candidate), *best = NULL;
    struct against_best *against = allocate(points, sizeof *against), *next = against;
    size_t n = shared_repeats(point, points, sample);
    int candidates = 0;
    for (size_t i = 0; i < points; i++) {
        take_mean(&point[i], &sample[i * point->n], n);
        if (point[i].of->compared)
            candidate[candidates++] = &sample[i * point->n];
    }
    if (candidates)
        best = candidate[best_of(candidate, candidates, n, 0, against)];
    for (size_t i = 0; i < points; i++) {
        struct grid_point *p = &point[i];
        const double *own = &sample[i * point->n];
        if (p->of->compared)
            p->to_best = *next++;
        else if (best)
            p->to_best.ratio = stats_paired(own, best, n, 0.95);
        p->verdict = !p->of->compared                  ? VERDICT_KINDS
                     : own == best && n >= STATS_LEAST ? VERDICT_BEST
                                                       : verdict_judge(&p->to_best, VERDICT_WITHIN);
        p->mark = p->ranks < 2                 ? "" /* one rank has nothing to choose */
                  : p->verdict == VERDICT_BEST ? "*"
                  : p->verdict == VERDICT_TIE  ? "="
                                               : "";
    }
    free(sample);
    free(candidate);
    free(against);
}

/* Returns the point of the same implementation with the next smaller (side -1) or larger (1) size; NULL: none. */
static const struct grid_point *next_size(const struct grid_point *point, size_t n, const struct grid_point *of,
                                          int side)
{
    const struct grid_point *next = NULL;
    for (const struct grid_point *p = point; p < point + n; p++)
        if (!strcmp(p->implementation, of->implementation) && side * (p->of->mb - of->of->mb) > 0 &&
            (!next || side * (p->of->mb - next->of->mb) < 0))
            next = p;
    return next;
}

const char *grid_edge_advice(char text[200], const struct grid_point *point, size_t n)
{
    const struct grid_point *best = point;
    while (best < point + n && best->verdict != VERDICT_BEST)
        best++;
    *text = 0;
    if (best == point + n || !*best->bucket || point->ranks < 2)
        return text;
    const struct run_implementation *of = best->of;
    const struct grid_point *smaller = next_size(point, n, best, -1), *larger = next_size(point, n, best, 1);
    if (larger && !smaller && larger->verdict == VERDICT_SLOWER && (!of->tensors || of->buckets < of->tensors))
        snprintf(text, 200, "%s is best at the smallest size tried: try smaller.", best->implementation);
    if (smaller && !larger && smaller->verdict == VERDICT_SLOWER && of->buckets != 1)
        snprintf(text, 200, "%s is best at the largest size tried: try larger.", best->implementation);
    return text;
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
    int models = strcmp(x->model, y->model);
    return x->ranks != y->ranks ? (x->ranks > y->ranks) - (x->ranks < y->ranks)
           : models             ? models
                                : (x->step_s.median > y->step_s.median) - (x->step_s.median < y->step_s.median);
}

void grid_judge(struct grid *grid)
{
    if (!grid->n)
        return;
    qsort(grid->point, grid->n, sizeof *grid->point, compare_points);
    for (size_t first = 0, end; first < grid->n; first = end) {
        end = grid_group_end(grid, first);
        judge_group(&grid->point[first], end - first);
    }
    qsort(grid->point, grid->n, sizeof *grid->point, compare_points); /* by the means, which are known now */
    for (size_t i = 0; i < grid->n; i++) {
        struct grid_point *p = &grid->point[i], *fewest = grid->point;
        while (!is_same_but_ranks(fewest, p)) /* points are sorted by ranks: the first one has the fewest */
            fewest++;
        p->efficiency = fewest->ranks == p->ranks ? NAN
                                                  : p->tokens_per_second / (double)p->ranks /
                                                        (fewest->tokens_per_second / (double)fewest->ranks);
    }
}
