/* grid.c - which points of a grid of runs are the fastest. */
#include "report/grid.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stdio.h>

#define LEVEL 0.95

/* ---- the points ---- */

static double *widen(double *sample, size_t from, size_t to)
{
    sample = realloc(sample, to * sizeof *sample);
    if (!sample)
        FATAL("no memory for %zu repeats", to);
    for (size_t i = from; i < to; i++)
        sample[i] = NAN;
    return sample;
}

struct grid_point *grid_find(struct grid *grid, size_t ranks, const char *model, const char *implementation,
                             double bucket_mb, size_t repeat)
{
    size_t at = 0, repeats = repeat > grid->repeats ? repeat : grid->repeats;
    for (size_t i = 0; i < grid->n && repeats > grid->repeats; i++) {
        grid->point[i].step_s = widen(grid->point[i].step_s, grid->repeats, repeats);
        grid->point[i].tokens_s = widen(grid->point[i].tokens_s, grid->repeats, repeats);
    }
    grid->repeats = repeats;
    for (; at < grid->n; at++) {
        const struct grid_point *p = &grid->point[at];
        if (p->ranks == ranks && !strcmp(p->model, model) && !strcmp(p->implementation, implementation) &&
            (p->bucket_mb == bucket_mb || (isnan(p->bucket_mb) && isnan(bucket_mb))))
            return &grid->point[at];
    }
    grid->point = realloc(grid->point, (grid->n + 1) * sizeof *grid->point);
    if (!grid->point)
        FATAL("no memory for %zu points", grid->n + 1);
    struct grid_point *point = &grid->point[grid->n++];
    *point = (struct grid_point){.ranks = ranks, .bucket_mb = bucket_mb};
    snprintf(point->model, sizeof point->model, "%s", model);
    snprintf(point->implementation, sizeof point->implementation, "%s", implementation);
    point->step_s = widen(NULL, 0, repeats);
    point->tokens_s = widen(NULL, 0, repeats);
    return point;
}

void grid_destroy(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++) {
        free(grid->point[i].step_s);
        free(grid->point[i].tokens_s);
    }
    free(grid->point);
    *grid = (struct grid){0};
}

/* ---- figures of one point ---- */

static double mean(const double *sample, size_t size, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < size; i++)
        if (isfinite(sample[i])) {
            sum += sample[i];
            ++*n;
        }
    return sum / (double)*n;
}

static void describe(struct grid_point *p, size_t repeats)
{
    double squares = 0;
    size_t of_tokens;
    p->tokens_mean_s = mean(p->tokens_s, repeats, &of_tokens);
    p->mean_s = mean(p->step_s, repeats, &p->n);
    p->interval_s[0] = p->interval_s[1] = p->efficiency = NAN;
    p->to_best = (struct paired){NAN, NAN, NAN, 1, 0};
    if (p->n < GRID_REPEATS)
        return;
    for (size_t i = 0; i < repeats; i++)
        squares += isfinite(p->step_s[i]) ? (p->step_s[i] - p->mean_s) * (p->step_s[i] - p->mean_s) : 0;
    double df = (double)(p->n - 1), half = stats_t_quantile((1 + LEVEL) / 2, df) * sqrt(squares / df / (double)p->n);
    p->interval_s[0] = p->mean_s - half;
    p->interval_s[1] = p->mean_s + half;
}

static double geometric_mean(const struct grid_point *p, size_t repeats)
{
    double sum = 0;
    for (size_t i = 0; i < repeats; i++)
        sum += isfinite(p->step_s[i]) ? log(p->step_s[i]) : 0;
    return exp(sum / (double)p->n);
}

/* ---- a group: the points of the same ranks and model ---- */

/* a over b, of the repeats that both have. */
static struct paired compare(const struct grid_point *a, const struct grid_point *b, size_t repeats)
{
    double *of_a = allocate(repeats, sizeof *of_a), *of_b = allocate(repeats, sizeof *of_b);
    size_t n = 0;
    for (size_t i = 0; i < repeats; i++)
        if (isfinite(a->step_s[i]) && isfinite(b->step_s[i])) {
            of_a[n] = a->step_s[i];
            of_b[n++] = b->step_s[i];
        }
    struct paired paired = stats_paired(of_a, of_b, n, LEVEL);
    free(of_a);
    free(of_b);
    if (n < GRID_REPEATS) {
        paired.ci_low = paired.ci_high = NAN;
        paired.p = 1;
    }
    return paired;
}

static int reduces(const struct grid_point *p)
{
    return strcmp(p->strategy, "none") != 0;
}

/* The verdicts of point[n], sorted by their geometric means, against point[best]. */
static void judge_group(struct grid_point *point, size_t n, size_t best, size_t repeats)
{
    double *p = allocate(n * n, sizeof *p); /* of the pairs of points that reduce */
    size_t pairs = 0, *pair_of = allocate(n, sizeof *pair_of);
    for (size_t i = 0; i < n; i++) {
        point[i].to_best = compare(&point[i], &point[best], repeats);
        for (size_t j = 0; j < i && reduces(&point[i]); j++) {
            if (!reduces(&point[j]))
                continue;
            if (i == best || j == best)
                pair_of[i == best ? j : i] = pairs;
            p[pairs++] = compare(&point[i], &point[j], repeats).p;
        }
    }
    stats_holm(p, pairs);
    for (size_t i = 0; i < n; i++) {
        struct grid_point *a = &point[i];
        if (!reduces(a))
            a->verdict = GRID_CONTROL;
        else if (point[best].n < GRID_REPEATS || a->to_best.n < GRID_REPEATS)
            a->verdict = GRID_UNDECIDED;
        else if (i == best)
            a->verdict = GRID_BEST;
        else
            a->verdict = p[pair_of[i]] < 1 - LEVEL && a->to_best.ratio > 1 ? GRID_SLOWER : GRID_TIED;
    }
    free(p);
    free(pair_of);
}

size_t grid_group_end(const struct grid *grid, size_t first)
{
    size_t end = first;
    while (end < grid->n && grid->point[end].ranks == grid->point[first].ranks &&
           !strcmp(grid->point[end].model, grid->point[first].model))
        end++;
    return end;
}

/* ---- all of them ---- */

/* What points are sorted by. */
struct order {
    size_t ranks, model;
    double seconds;
    struct grid_point point;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static void sort(struct grid *grid)
{
    struct order *order = allocate(grid->n, sizeof *order);
    for (size_t i = 0; i < grid->n; i++) {
        const struct grid_point *p = &grid->point[i];
        order[i] = (struct order){p->ranks, 0, geometric_mean(p, grid->repeats), *p};
        while (strcmp(grid->point[order[i].model].model, p->model) != 0)
            order[i].model++;
    }
    qsort(order, grid->n, sizeof *order, compare_order);
    for (size_t i = 0; i < grid->n; i++)
        grid->point[i] = order[i].point;
    free(order);
}

/* Against the same implementation and bucket size of the same model on the fewest ranks. */
static void find_efficiency(struct grid *grid, struct grid_point *p)
{
    for (size_t i = 0; i < grid->n; i++) {
        const struct grid_point *first = &grid->point[i];
        int same_bucket = first->bucket_mb == p->bucket_mb || (isnan(first->bucket_mb) && isnan(p->bucket_mb));
        if (strcmp(first->model, p->model) != 0 || strcmp(first->implementation, p->implementation) != 0 ||
            !same_bucket)
            continue;
        p->efficiency = p->tokens_mean_s / (double)p->ranks / (first->tokens_mean_s / (double)first->ranks);
        return;
    }
}

void grid_judge(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++)
        describe(&grid->point[i], grid->repeats);
    sort(grid);
    for (size_t i = 0; i < grid->n; i++)
        find_efficiency(grid, &grid->point[i]);
    for (size_t first = 0, end; first < grid->n; first = end) {
        size_t best = first;
        end = grid_group_end(grid, first);
        while (best < end && !reduces(&grid->point[best]))
            best++;
        if (best < end)
            judge_group(&grid->point[first], end - first, best - first, grid->repeats);
        for (size_t i = first; i < end && best == end; i++)
            grid->point[i].verdict = GRID_CONTROL;
    }
}
