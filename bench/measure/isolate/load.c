/* load.c - the times of all-reduces of groups: which groups there are, what is expected of them, and which are slow. */
#include "isolate/load.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { RATIOS_BYTES = 4 << 20 };

/* ---- levels ---- */

void load_create(struct load *load, int members, double resolve)
{
    int judged = 0;
    *load = (struct load){.members = members};
    load->healthy = allocate((size_t)members, 1);
    load->message = allocate(2 * (size_t)members, sizeof *load->message);
    load->round_trip = load->message + members;
    for (int size = 2, last = 0; !last; size = 2 * size < members ? 2 * size : members) {
        struct load_level *level = &load->level[load->levels++];
        *level = (struct load_level){.size = size, .groups = members / size};
        ratios_create(&level->ratios, (size_t)level->groups, 1, RATIOS_BYTES);
        level->ratios.of[0] = (struct ratios_group){resolve, 0, 1};
        for (int g = 0; g < level->groups && level->groups >= LOAD_LEAST; g++)
            level->ratios.state[g] = SERIES_UNDECIDED;
        judged += level->groups;
        last = size == members;
    }
    load->alpha = 0.05 / judged;
}

void load_destroy(struct load *load)
{
    for (int i = 0; i < load->levels; i++)
        ratios_destroy(&load->level[i].ratios);
    free(load->healthy);
    free(load->message);
    *load = (struct load){0};
}

int load_group(const struct load_level *level, int member)
{
    int group = member / level->size;
    return group < level->groups ? group : -1;
}

size_t load_add(const struct load *load, struct load_level *level, const float *seconds)
{
    ratios_add(&level->ratios, seconds);
    return ratios_decide(&level->ratios, load->alpha);
}

/* ---- figures ---- */

double load_expected(int members, double message, double round_trip)
{
    int steps = 0;
    while (1 << steps < members)
        steps++;
    double bytes = fmax(0, message - round_trip); /* seconds of the bytes, without the latency of message and answer */
    return isfinite(message - round_trip) ? steps * round_trip + 2 * (members - 1.0) / members * bytes : NAN;
}

/* Returns the seconds expected for a group, from its slowest neighbours. */
static double expect(const struct load *load, const struct load_level *level, int group)
{
    int first = group * level->size;
    double message = 0, round_trip = 0;
    for (int m = first; m < first + level->size - 1; m++) {
        if (!isfinite(load->message[m] + load->round_trip[m]))
            return NAN;
        message = fmax(message, load->message[m]);
        round_trip = fmax(round_trip, load->round_trip[m]);
    }
    return load_expected(level->size, message, round_trip);
}

struct estimate load_seconds(const struct load_level *level, int group)
{
    return ratios_seconds(&level->ratios, &(size_t){(size_t)group}, 1);
}

double load_x(const struct load *load, const struct load_level *level, int group)
{
    return load_seconds(level, group).median / expect(load, level, group);
}

/* ---- verdicts ---- */

int load_is_fault(const struct load *load, int level, int group)
{
    const struct load_level *l = &load->level[level];
    int first = group * l->size, end = first + l->size;
    if (l->ratios.state[group] != SERIES_SLOW)
        return 0;
    for (int m = first; m < end; m++)
        if (!load->healthy[m])
            return 0;
    for (const struct load_level *part = load->level; part < l; part++)
        for (int g = first / part->size; g < end / part->size; g++)
            if (part->ratios.state[g] == SERIES_SLOW)
                return 0;
    return 1;
}

struct fault load_fault(const struct load *load, int level, int group)
{
    const struct load_level *l = &load->level[level];
    size_t n = l->groups < LOAD_LEAST ? 0 : l->ratios.n;
    double *ratio = allocate(l->ratios.n + 1, sizeof *ratio);
    ratios_pool(&l->ratios, &(size_t){(size_t)group}, 1, ratio);
    struct estimate typical = stats_paired_anytime(ratio, NULL, n, 1 - load->alpha);
    free(ratio);
    return (struct fault){.kind = FAULT_GROUP,
                          .member = group * l->size,
                          .other = (group + 1) * l->size - 1,
                          .ratio = typical.median,
                          .low = typical.ci_low,
                          .high = typical.ci_high,
                          .seconds = load_seconds(l, group).median,
                          .n = n};
}
