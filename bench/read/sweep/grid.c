/* grid.c - which points of a grid of runs are the fastest. */
#include "sweep/grid.h"

#include "base/best.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

/* ---- the points ---- */

/* But for the number of ranks. */
static int same_place(const struct grid_point *a, const struct grid_point *b)
{
    return !strcmp(a->model, b->model) && !strcmp(a->implementation, b->implementation) &&
           (a->bucket_mb == b->bucket_mb || (isnan(a->bucket_mb) && isnan(b->bucket_mb)));
}

/* What they were run on, if it was the same. */
static void agree(struct grid_point *a, const struct grid_point *b)
{
    if (strcmp(a->link, b->link) != 0)
        strcpy(a->link, "several links");
    if (strcmp(a->machine, b->machine) != 0)
        strcpy(a->machine, "several machines");
}

void grid_add(struct grid *grid, const struct grid_point *of, struct grid_sample sample)
{
    size_t at = 0;
    while (at < grid->n && (grid->point[at].ranks != of->ranks || !same_place(&grid->point[at], of)))
        at++;
    if (at == grid->n) {
        grid->point = allocate_more(grid->point, grid->n, sizeof *grid->point);
        grid->point[grid->n++] = *of;
    }
    struct grid_point *point = &grid->point[at];
    agree(point, of);
    point->sample = allocate_more(point->sample, point->n, sizeof *point->sample);
    point->sample[point->n++] = sample;
}

const char *grid_edge_words(const struct grid_point *point, size_t n)
{
    const struct grid_point *best = grid_best_bucket(point, n);
    int edge = best && best->verdict != GRID_UNDECIDED ? grid_edge(point, n, best) : 0;
    return edge < 0   ? "best at the smallest size tried: try smaller"
           : edge > 0 ? "best at the largest size tried: try larger"
                      : NULL;
}

void grid_destroy(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++)
        free(grid->point[i].sample);
    free(grid->point);
    *grid = (struct grid){0};
}

/* ---- figures of one point ---- */

static void describe(struct grid_point *p)
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
    p->verdict = GRID_CONTROL; /* until it is found to reduce */
    if (p->n < GRID_REPEATS)
        return;
    for (size_t i = 0; i < p->n; i++)
        squares += (p->sample[i].step_s - p->mean_s) * (p->sample[i].step_s - p->mean_s);
    double half = stats_t_quantile((1 + CONFIDENCE) / 2, n - 1) * sqrt(squares / (n - 1) / n);
    p->interval_s[0] = p->mean_s - half;
    p->interval_s[1] = p->mean_s + half;
}

/* ---- a group: the points of the same ranks and model ---- */

static int reduces(const struct grid_point *p)
{
    return strcmp(p->strategy, "none") != 0;
}

/* The step of a point in that repeat; NAN if it has none. */
static double step_in(const struct grid_point *p, size_t repeat)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->sample[i].repeat == repeat)
            return p->sample[i].step_s;
    return NAN;
}

/* sample[i][..] becomes the steps of point[i] in the repeats that all k have; returns how many those are. */
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

/* How those k points stand to the first of them, in the repeats that all have. */
static void compare(struct grid_point *const *point, int k)
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

/* The verdicts of point[n], sorted by their means, against point[best]. Points with too few repeats are left out of the
 * comparison of all; these and the controls are compared with the best alone. */
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
            compared[k++] = p; /* the best is the first that reduces */
        else
            compare((struct grid_point *[]){&point[best], p}, 2);
    }
    compare(compared, k);
    if (point[best].n >= GRID_REPEATS)
        point[best].verdict = GRID_BEST;
    if (candidates == 1)
        point[best].verdict = GRID_ONLY;
    free(compared);
}

const struct grid_point *grid_best_bucket(const struct grid_point *point, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(point[i].bucket_mb) && reduces(&point[i]))
            return &point[i];
    return NULL;
}

int grid_edge(const struct grid_point *point, size_t n, const struct grid_point *best)
{
    int smaller = 0, larger = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(point[i].implementation, best->implementation)) {
            smaller |= point[i].bucket_mb < best->bucket_mb;
            larger |= point[i].bucket_mb > best->bucket_mb;
        }
    if (larger && !smaller && (!best->tensors || best->buckets < best->tensors))
        return -1;
    return smaller && !larger && best->buckets != 1;
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
        describe(&grid->point[i]);
    if (grid->n)
        qsort(grid->point, grid->n, sizeof *grid->point, compare_points);
    for (size_t i = 0; i < grid->n; i++) {
        struct grid_point *p = &grid->point[i];
        const struct grid_point *fewest = grid->point; /* ranks, of the same implementation and bucket size */
        while (!same_place(fewest, p))
            fewest++;
        p->efficiency = p->tokens_mean_s / (double)p->ranks / (fewest->tokens_mean_s / (double)fewest->ranks);
    }
    for (size_t first = 0, end; first < grid->n; first = end) {
        size_t best = first;
        end = grid_group_end(grid, first);
        for (size_t i = first; i < end; i++)
            agree(&grid->point[first], &grid->point[i]);
        for (size_t i = first; i < end; i++)
            agree(&grid->point[i], &grid->point[first]);
        while (best < end && !reduces(&grid->point[best]))
            best++;
        if (best < end)
            judge_group(&grid->point[first], end - first, best - first);
    }
}
