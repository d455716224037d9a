/* load.c - the times of all-reduces of groups: which groups there are, what is expected of them, and which are slow. */
#include "isolate/load.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATIOS_BYTES = 4 << 20 };

/* ---- levels ---- */

double load_expected(int members, double message, double round_trip)
{
    int steps = 0;
    while (1 << steps < members)
        steps++;
    double bytes = fmax(0, message - round_trip); /* seconds without those of the way and of the answer */
    return isfinite(message - round_trip) ? steps * round_trip + 2 * (members - 1.0) / members * bytes : NAN;
}

/* Returns the seconds expected of the groups of a block, by the slowest neighbours in it. */
static double expect_block(const struct load_pairs *pairs, int first, int block, int size)
{
    double message = 0, round_trip = 0;
    for (int m = first; m < first + block - 1; m++) {
        if (!isfinite(pairs->message[m] + pairs->round_trip[m]))
            return NAN;
        message = fmax(message, pairs->message[m]);
        round_trip = fmax(round_trip, pairs->round_trip[m]);
    }
    return load_expected(size, message, round_trip);
}

static void create_level(struct load_level *level, const struct load_pairs *pairs, int block, int mixed, double resolve)
{
    int halves = 1 + mixed;
    *level = (struct load_level){
        .block = block, .mixed = mixed, .size = block / halves, .groups = pairs->members / block * halves};
    level->expected = allocate((size_t)level->groups, sizeof *level->expected);
    ratios_create(&level->ratios, (size_t)level->groups, 1, RATIOS_BYTES);
    level->ratios.of[0] = (struct ratios_group){resolve, 0, 1};
    for (int g = 0; g < level->groups; g++) {
        level->ratios.state[g] = level->groups < LOAD_LEAST ? SERIES_NONE : SERIES_UNDECIDED;
        level->expected[g] = expect_block(pairs, g / halves * block, block, level->size);
    }
}

static void destroy_level(struct load_level *level)
{
    for (size_t i = 0; i < level->n; i++)
        free(level->seconds[i]);
    free(level->seconds);
    free(level->expected);
    ratios_destroy(&level->ratios);
}

void load_create(struct load *load, const struct load_pairs *pairs, double resolve)
{
    int members = pairs->members, judged = 0;
    *load = (struct load){.members = members, .resolve = resolve};
    load->healthy = allocate((size_t)members, 1);
    for (int m = 0; m < members; m++)
        load->healthy[m] = pairs->healthy[m];
    for (int block = 2, last = 0; !last; block = 2 * block < members ? 2 * block : members) {
        create_level(&load->level[load->levels], pairs, block, 0, resolve);
        create_level(&load->mixed[load->levels], pairs, block, 1, resolve);
        judged += load->level[load->levels++].groups;
        last = block == members;
    }
    load->alpha = 0.05 / (2 * judged); /* as many again for the mixed halves */
}

void load_destroy(struct load *load)
{
    for (int i = 0; i < load->levels; i++) {
        destroy_level(&load->level[i]);
        destroy_level(&load->mixed[i]);
    }
    free(load->healthy);
    *load = (struct load){0};
}

int load_group(const struct load_level *level, int member, int *place)
{
    int halves = 1 + level->mixed, block = member / level->block, within = member % level->block;
    *place = within / halves;
    return block < level->groups / halves && *place < level->size ? block * halves + within % halves : -1;
}

size_t load_add(struct load *load, struct load_level *level, const float *seconds)
{
    float *row = allocate((size_t)level->groups, sizeof *row);
    memcpy(row, seconds, (size_t)level->groups * sizeof *row);
    level->seconds = allocate_more(level->seconds, level->n, sizeof *level->seconds);
    level->seconds[level->n++] = row;
    ratios_add(&level->ratios, seconds);
    return ratios_decide(&level->ratios, load->alpha);
}

/* ---- figures ---- */

struct estimate load_seconds(const struct load_level *level, int group)
{
    double *sample = allocate(level->n + 1, sizeof *sample);
    for (size_t i = 0; i < level->n; i++)
        sample[i] = (double)level->seconds[i][group];
    struct estimate estimate = stats_estimate(sample, level->n);
    free(sample);
    return estimate;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the lower median of n numbers, which it sorts; those that are NAN do not count. */
static double lower_median(double *x, int n)
{
    int finite = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            x[finite++] = x[i];
    qsort(x, (size_t)finite, sizeof *x, by_size);
    return finite ? x[(finite - 1) / 2] : NAN;
}

struct estimate load_median_seconds(const struct load_level *level)
{
    double *sample = allocate(level->n + 1, sizeof *sample), *row = allocate((size_t)level->groups, sizeof *row);
    for (size_t i = 0; i < level->n; i++) {
        for (int g = 0; g < level->groups; g++)
            row[g] = (double)level->seconds[i][g];
        sample[i] = lower_median(row, level->groups);
    }
    struct estimate estimate = stats_estimate(sample, level->n);
    free(sample);
    free(row);
    return estimate;
}

double load_median_expected(const struct load_level *level)
{
    double *expected = allocate((size_t)level->groups, sizeof *expected);
    memcpy(expected, level->expected, (size_t)level->groups * sizeof *expected);
    double median = lower_median(expected, level->groups);
    free(expected);
    return median;
}

struct paired load_ratio(const struct load *load, const struct load_level *level, int group)
{
    size_t n = level->groups < LOAD_LEAST ? 0 : level->ratios.n, column = (size_t)group;
    double *ratio = allocate(level->ratios.n + 1, sizeof *ratio);
    ratios_pool(&level->ratios, &column, 1, ratio);
    struct paired paired = stats_paired_anytime(ratio, NULL, n, 1 - load->alpha);
    free(ratio);
    return paired;
}

/* Returns the time of a group / what is expected of it. */
static struct estimate load_factor(const struct load_level *level, int group)
{
    struct estimate factor = load_seconds(level, group);
    factor.median /= level->expected[group];
    factor.ci_low /= level->expected[group];
    factor.ci_high /= level->expected[group];
    return factor;
}

/* ---- verdicts ---- */

/* Returns whether a smaller block in a block is slow. */
static int has_slow_part(const struct load *load, int level, int block)
{
    int first = block * load->level[level].block, end = first + load->level[level].block;
    for (const struct load_level *l = load->level; l < load->level + level; l++)
        for (int b = first / l->block; b < end / l->block; b++)
            if (l->ratios.state[b] == SERIES_SLOW)
                return 1;
    return 0;
}

enum load_state load_state(const struct load *load, int level, int block)
{
    static const enum load_state of_series[] = {[SERIES_NONE] = LOAD_UNJUDGED,
                                                [SERIES_UNDECIDED] = LOAD_UNDECIDED,
                                                [SERIES_HEALTHY] = LOAD_HEALTHY,
                                                [SERIES_SLOW] = LOAD_SLOW};
    const struct load_level *l = &load->level[level];
    enum load_state state = of_series[l->ratios.state[block]];
    for (int m = block * l->block; m < (block + 1) * l->block && state == LOAD_SLOW; m++)
        if (!load->healthy[m])
            return LOAD_SLOW_MEMBER;
    return state == LOAD_SLOW && has_slow_part(load, level, block) ? LOAD_SLOW_PART : state;
}

static int is_above(const struct estimate *x, const struct estimate *y, double resolve)
{
    return x->median > (1 + resolve) * y->median && x->ci_low > y->ci_high;
}

int load_exceeds(const struct load *load, int level, int block, struct estimate *whole, struct estimate *half)
{
    const struct load_level *l = &load->level[level], *halves = l - 1;
    if (l->groups >= LOAD_LEAST || level == 0 || 2 * halves->block != l->block)
        return 0;
    struct estimate other = load_factor(halves, 2 * block + 1);
    *whole = load_factor(l, block);
    *half = load_factor(halves, 2 * block);
    if (other.median > half->median)
        *half = other;
    return is_above(whole, half, load->resolve);
}

int load_is_suspect(const struct load *load, int level)
{
    struct estimate whole, half;
    for (int b = 0; b < load->level[level].groups; b++)
        if (load_state(load, level, b) == LOAD_SLOW || load_exceeds(load, level, b, &whole, &half))
            return 1;
    return 0;
}

int load_faults(const struct load *load)
{
    int n = 0;
    for (int l = 0; l < load->levels; l++)
        for (int b = 0; b < load->level[l].groups; b++)
            n += load_state(load, l, b) == LOAD_SLOW;
    return n;
}

/* Returns whether a mixed half is slow: compared with those of other blocks, or if these are too few, with the halves
 * of its block. */
static enum series_state mixed_state(const struct load *load, int level, int group)
{
    const struct load_level *mixed = &load->mixed[level];
    struct estimate whole, half;
    if (load->level[level].groups >= LOAD_LEAST)
        return (enum series_state)mixed->ratios.state[group];
    if (!load_exceeds(load, level, group / 2, &whole, &half))
        return SERIES_NONE;
    struct estimate factor = load_factor(mixed, group);
    return is_above(&factor, &half, load->resolve)              ? SERIES_SLOW
           : factor.ci_high < (1 + load->resolve) * half.median ? SERIES_HEALTHY
                                                                : SERIES_UNDECIDED;
}

enum load_mixed load_mixed(const struct load *load, int level, int block)
{
    if (!load->mixed[level].n)
        return MIXED_UNKNOWN;
    enum series_state even = mixed_state(load, level, 2 * block), odd = mixed_state(load, level, 2 * block + 1);
    return even == SERIES_SLOW || odd == SERIES_SLOW         ? MIXED_SLOW
           : even == SERIES_HEALTHY && odd == SERIES_HEALTHY ? MIXED_HEALTHY
                                                             : MIXED_UNKNOWN;
}
