/* load.c - the times of all-reduces of groups: which groups there are, what is expected of them, and which are slow. */
#include "isolate/load.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { RATIOS_BYTES = 4 << 20 };

/* ---- levels ---- */

static void create_level(struct load_level *level, int members, int block, int mixed, double resolve)
{
    int halves = 1 + mixed, groups = members / block * halves;
    *level = (struct load_level){.block = block, .mixed = mixed, .size = block / halves, .groups = groups};
    ratios_create(&level->ratios, (size_t)groups, 1, RATIOS_BYTES);
    level->ratios.of[0] = (struct ratios_group){resolve, 0, 1};
    for (int g = 0; g < groups && groups >= LOAD_LEAST && !mixed; g++)
        level->ratios.state[g] = SERIES_UNDECIDED;
}

void load_create(struct load *load, int members, double resolve)
{
    int judged = 0;
    *load = (struct load){.members = members, .resolve = resolve};
    load->healthy = allocate((size_t)members, 1);
    load->message = allocate(2 * (size_t)members, sizeof *load->message);
    load->round_trip = load->message + members;
    for (int block = 2, last = 0; !last; block = 2 * block < members ? 2 * block : members) {
        create_level(&load->level[load->levels], members, block, 0, resolve);
        create_level(&load->mixed[load->levels], members, block, 1, resolve);
        judged += load->level[load->levels++].groups;
        last = block == members;
    }
    load->alpha = 0.05 / judged;
}

void load_destroy(struct load *load)
{
    for (int i = 0; i < load->levels; i++) {
        ratios_destroy(&load->level[i].ratios);
        ratios_destroy(&load->mixed[i].ratios);
    }
    free(load->healthy);
    free(load->message);
    *load = (struct load){0};
}

int load_group(const struct load_level *level, int member, int *place)
{
    int halves = 1 + level->mixed, block = member / level->block, within = member % level->block;
    *place = within / halves;
    return block < level->groups / halves && *place < level->size ? block * halves + within % halves : -1;
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
    double bytes = fmax(0, message - round_trip); /* seconds without those of the way and of the answer */
    return isfinite(message - round_trip) ? steps * round_trip + 2 * (members - 1.0) / members * bytes : NAN;
}

/* Returns the seconds expected of a group, by the slowest neighbours in its block. */
static double expect(const struct load *load, const struct load_level *level, int group)
{
    int first = group / (1 + level->mixed) * level->block;
    double message = 0, round_trip = 0;
    for (int m = first; m < first + level->block - 1; m++) {
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

struct estimate load_x(const struct load *load, const struct load_level *level, int first, int n)
{
    struct estimate most = {.median = NAN};
    for (int g = first; g < first + n; g++) {
        struct estimate x = load_seconds(level, g);
        double expected = expect(load, level, g);
        x.median /= expected;
        x.ci_low /= expected;
        x.ci_high /= expected;
        if (!(x.median <= most.median)) /* NAN if there is none yet, or nothing is expected */
            most = x;
    }
    return most;
}

/* ---- verdicts ---- */

enum series_state load_against_halves(const struct load *load, int level, int block, int mixed)
{
    const struct load_level *l = mixed ? &load->mixed[level] : &load->level[level];
    if (level == 0 || l[0].ratios.n == 0 || l->block != 2 * load->level[level - 1].block)
        return SERIES_NONE;
    struct estimate x = load_x(load, l, block * (1 + mixed), 1 + mixed);
    struct estimate half = load_x(load, &load->level[level - 1], 2 * block, 2);
    double limit = (1 + load->resolve) * half.median;
    return x.median > limit && x.ci_low > half.ci_high ? SERIES_SLOW
           : x.ci_high < limit                         ? SERIES_HEALTHY
                                                       : SERIES_UNDECIDED;
}

int load_is_fault(const struct load *load, int level, int block)
{
    const struct load_level *l = &load->level[level];
    int first = block * l->block, end = first + l->block;
    if (l->ratios.state[block] != SERIES_SLOW)
        return 0;
    for (int m = first; m < end; m++)
        if (!load->healthy[m])
            return 0;
    for (const struct load_level *part = load->level; part < l; part++)
        for (int b = first / part->block; b < end / part->block; b++)
            if (part->ratios.state[b] == SERIES_SLOW)
                return 0;
    return 1;
}

int load_is_excess(const struct load *load, int level, int block)
{
    return load->level[level].groups < LOAD_LEAST && load_against_halves(load, level, block, 0) == SERIES_SLOW;
}

int load_is_suspect(const struct load *load, int level)
{
    int found = 0;
    for (int b = 0; b < load->level[level].groups; b++)
        found |= load_is_fault(load, level, b) || load_is_excess(load, level, b);
    return found;
}

const char *load_cause(const struct load *load, int level, int block)
{
    static const char *const cause[] = {
        [SERIES_NONE] = "",
        [SERIES_UNDECIDED] = "",
        [SERIES_HEALTHY] = " Groups of half as many, with members of both its halves, do not take longer, so it shows "
                           "with all of them only.",
        [SERIES_SLOW] = " Groups of half as many, with members of both its halves, take longer, too, so the cause lies "
                        "between the halves."};
    return cause[load_against_halves(load, level, block, 1)];
}

struct fault load_fault(const struct load *load, int level, int block)
{
    const struct load_level *l = &load->level[level];
    size_t n = l->groups < LOAD_LEAST ? 0 : l->ratios.n;
    double *ratio = allocate(l->ratios.n + 1, sizeof *ratio);
    ratios_pool(&l->ratios, &(size_t){(size_t)block}, 1, ratio);
    struct paired paired = stats_paired_anytime(ratio, NULL, n, 1 - load->alpha);
    free(ratio);
    return (struct fault){.kind = FAULT_GROUP,
                          .member = block * l->block,
                          .other = (block + 1) * l->block - 1,
                          .ratio = paired.ratio,
                          .low = paired.ci_low,
                          .high = paired.ci_high,
                          .seconds = load_seconds(l, block).median,
                          .n = n,
                          .cause = load_cause(load, level, block)};
}
