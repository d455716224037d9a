/* grid.c - which points of a grid of runs are the fastest. */
#include "report/grid.h"

#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

/* ---- the points ---- */

static void *grow(void *list, size_t n, size_t size)
{
    list = realloc(list, n * size);
    if (!list)
        FATAL("no memory for %zu runs", n);
    return list;
}

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
        grid->point = grow(grid->point, grid->n + 1, sizeof *grid->point);
        grid->point[grid->n++] = *of;
    }
    struct grid_point *point = &grid->point[at];
    agree(point, of);
    point->sample = grow(point->sample, point->n + 1, sizeof *point->sample);
    point->sample[point->n++] = sample;
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
    double n = (double)p->n, sum = 0, logs = 0, tokens = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        sum += p->sample[i].step_s;
        logs += log(p->sample[i].step_s);
        tokens += p->sample[i].tokens_s;
    }
    p->mean_s = sum / n;
    p->geometric_mean_s = exp(logs / n);
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

/* a over b, of the repeats that both have. */
static struct paired compare(const struct grid_point *a, const struct grid_point *b)
{
    double *of_a = allocate(a->n, sizeof *of_a), *of_b = allocate(a->n, sizeof *of_b);
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++)
            if (a->sample[i].repeat == b->sample[j].repeat) {
                of_a[n] = a->sample[i].step_s;
                of_b[n++] = b->sample[j].step_s;
            }
    struct paired paired = stats_paired(of_a, of_b, n, CONFIDENCE);
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
static void judge_group(struct grid_point *point, size_t n, size_t best)
{
    double *p = allocate(n * n, sizeof *p); /* of the pairs of points that reduce */
    size_t pairs = 0, candidates = 0, *pair_of = allocate(n, sizeof *pair_of);
    for (size_t i = 0; i < n; i++) {
        point[i].to_best = compare(&point[i], &point[best]);
        candidates += (size_t)reduces(&point[i]);
        for (size_t j = 0; j < i && reduces(&point[i]); j++) {
            if (!reduces(&point[j]))
                continue;
            if (i == best || j == best)
                pair_of[i == best ? j : i] = pairs;
            p[pairs++] = compare(&point[i], &point[j]).p;
        }
    }
    stats_holm(p, pairs);
    for (size_t i = 0; i < n; i++) {
        struct grid_point *a = &point[i];
        if (!reduces(a))
            continue;
        if (candidates == 1)
            a->verdict = GRID_ONLY;
        else if (point[best].n < GRID_REPEATS || a->to_best.n < GRID_REPEATS)
            a->verdict = GRID_UNDECIDED;
        else if (i == best)
            a->verdict = GRID_BEST;
        else
            a->verdict = p[pair_of[i]] < 1 - CONFIDENCE && a->to_best.ratio > 1 ? GRID_SLOWER : GRID_TIED;
    }
    free(p);
    free(pair_of);
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
    return (x->geometric_mean_s > y->geometric_mean_s) - (x->geometric_mean_s < y->geometric_mean_s);
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
