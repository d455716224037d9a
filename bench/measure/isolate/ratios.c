/* ratios.c - ratios of each column over the repetitions, joined when there are too many, and decided. */
#include "isolate/ratios.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 64, MOST_ROWS = 512, FEW_COLUMNS = 64 };

void ratios_create(struct ratios *r, size_t columns, size_t groups, size_t bytes)
{
    size_t rows = bytes / ((columns + groups) * sizeof(float)) / 2 * 2; /* even, since rows are joined two by two */
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
    *r = (struct ratios){.columns = columns, .groups = groups, .most = rows, .batch = 1};
    r->group = allocate(columns, 1);
    r->state = allocate(columns, 1);
    r->slow_from = allocate(columns, sizeof *r->slow_from);
    r->of = allocate(groups, sizeof *r->of);
    r->row = allocate(rows, sizeof *r->row);
    r->sum = allocate(columns + groups, sizeof *r->sum);
}

void ratios_destroy(struct ratios *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->row[i]);
    free(r->group);
    free(r->state);
    free(r->slow_from);
    free(r->of);
    free(r->row);
    free(r->sum);
    *r = (struct ratios){0};
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Returns the reference of k times, which it sorts; NAN if k is 0. */
static float reference_of(float *seconds, size_t k, int lowest)
{
    if (!k)
        return NAN;
    qsort(seconds, k, sizeof *seconds, compare);
    return seconds[lowest ? 0 : (k - 1) / 2];
}

/* ---- rows ---- */

static float find_reference(const struct ratios *r, const float *seconds, size_t group, float *work)
{
    size_t k = 0;
    for (size_t c = 0; c < r->columns; c++)
        if (r->group[c] == group && isfinite(seconds[c]))
            work[k++] = seconds[c];
    return reference_of(work, k, r->of[group].lowest);
}

static void join_rows(struct ratios *r)
{
    for (size_t i = 0; i < r->n / 2; i++) {
        float *first = r->row[2 * i], *second = r->row[2 * i + 1];
        for (size_t c = 0; c < r->columns + r->groups; c++)
            first[c] = sqrtf(first[c]) * sqrtf(second[c]);
        free(second);
        r->row[i] = first;
    }
    for (size_t c = 0; c < r->columns; c++)
        r->slow_from[c] = (unsigned short)((r->slow_from[c] + 1) / 2);
    r->n /= 2;
    r->batch *= 2;
}

static void end_row(struct ratios *r)
{
    float *row = r->row[r->n++] = allocate(r->columns + r->groups, sizeof *row);
    for (size_t c = 0; c < r->columns + r->groups; c++)
        row[c] = expf(r->sum[c] / (float)r->batch);
    memset(r->sum, 0, (r->columns + r->groups) * sizeof *r->sum);
    r->pending = 0;
    if (r->n == r->most)
        join_rows(r);
}

void ratios_add(struct ratios *r, const float *seconds)
{
    float *reference = allocate(r->groups + r->columns, sizeof *reference);
    for (size_t g = 0; g < r->groups; g++) {
        reference[g] = find_reference(r, seconds, g, reference + r->groups);
        r->sum[r->columns + g] += logf(reference[g]);
    }
    for (size_t c = 0; c < r->columns; c++) {
        float ratio = seconds[c] / reference[r->group[c]];
        r->sum[c] += logf(ratio);
        if (!r->n && !r->pending && !isfinite(ratio))
            r->state[c] = SERIES_NONE;
    }
    free(reference);
    if (++r->pending == r->batch)
        end_row(r);
}

/* ---- decisions ---- */

static double median_of(const struct ratios *r, size_t column)
{
    double *value = allocate(r->n + 1, sizeof *value);
    for (size_t i = 0; i < r->n; i++)
        value[i] = r->row[i][column];
    double median = stats_median(value, r->n);
    free(value);
    return median;
}

void ratios_pool(const struct ratios *r, const size_t *column, size_t k, double *pooled)
{
    for (size_t i = 0; i < r->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++)
            sum += log((double)r->row[i][column[j]]);
        pooled[i] = exp(sum / (double)k) / r->of[r->group[column[0]]].healthy;
    }
}

struct estimate ratios_seconds(const struct ratios *r, const size_t *column, size_t k)
{
    double *seconds = allocate(r->n + 1, sizeof *seconds);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t j = 0; j < k; j++)
            seconds[i] += log((double)r->row[i][column[j]] * (double)r->row[i][r->columns + r->group[column[j]]]);
        seconds[i] = exp(seconds[i] / (double)k);
    }
    struct estimate estimate = stats_estimate(seconds, r->n);
    free(seconds);
    return estimate;
}

static double healthy_ratio(const struct ratios *r, size_t group)
{
    float median[FEW_COLUMNS];
    size_t column[FEW_COLUMNS], k = 0;
    for (size_t c = 0; c < r->columns; c++)
        if (r->group[c] == group && isfinite(r->row[0][c])) {
            if (k == FEW_COLUMNS)
                return 1;
            column[k++] = c;
        }
    for (size_t i = 0; i < k; i++)
        median[i] = (float)median_of(r, column[i]);
    return (double)reference_of(median, k, r->of[group].lowest);
}

/* Decides a series: `below` samples are not above the limit for slow, `above` are not below the limit for healthy. */
static void decide(struct ratios *r, size_t column, size_t below, size_t above, size_t most)
{
    unsigned short *from = &r->slow_from[column];
    if (below >= most) {
        *from = 0;
        r->state[column] = SERIES_UNDECIDED;
    } else if (!*from)
        *from = (unsigned short)r->n;
    if (*from && r->n >= 2 * (size_t)*from)
        r->state[column] = SERIES_SLOW;
    else if (!*from && above < most)
        r->state[column] = SERIES_HEALTHY;
}

/* Counts for each column the samples that are not above the limit for slow, and not below the limit for healthy. */
static void count(const struct ratios *r, unsigned short *below, unsigned short *above)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t c = 0; c < r->columns; c++) {
            const struct ratios_group *of = &r->of[r->group[c]];
            below[c] = (unsigned short)(below[c] + !(r->row[i][c] > of->healthy * (1 + of->resolve / 2)));
            above[c] = (unsigned short)(above[c] + !(r->row[i][c] < of->healthy * (1 + of->resolve)));
        }
}

size_t ratios_decide(struct ratios *r, double alpha)
{
    size_t most = stats_sign_outside(r->n, alpha), undecided = 0;
    unsigned short *below = allocate(2 * r->columns, sizeof *below), *above = below + r->columns;
    for (size_t g = 0; g < r->groups && r->n; g++)
        r->of[g].healthy = healthy_ratio(r, g);
    if (most)
        count(r, below, above);
    for (size_t c = 0; c < r->columns; c++) {
        if (r->state[c] == SERIES_UNDECIDED || r->state[c] == SERIES_SLOW)
            decide(r, c, below[c], above[c], most);
        undecided += r->state[c] == SERIES_UNDECIDED;
    }
    free(below);
    return undecided;
}
