/* load_measure.c - measures messages across the middle, and the all-reduces of groups: rank 0 decides how often. */
#include "base/progress.h"
#include "ddp/links.h"
#include "ddp/watchdog.h"
#include "isolate/measure.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Most repetitions of a level at a time, while groups are undecided. */
enum { MOST_REPEATS = 64 };

struct course {
    struct measure *measure;
    struct load *load;
    int64_t begin_ns; /* of the messages across the middle, or of the groups */
    double limit_s;   /* for either */
    /* on rank 0 only */
    double *seconds; /* [ranks] the last repetition's time of each rank */
    struct progress progress;
};

static int in_time(const struct course *c, double share)
{
    return clock_seconds_since(c->begin_ns) < share * c->limit_s;
}

static void set_found(struct load *load, const struct diagnosis *d)
{
    size_t faults;
    struct fault *fault = diagnosis_faults(d, &faults);
    for (int m = 0; m < load->members; m++)
        load->healthy[m] = diagnosis_member(d, fault, faults, m) == MEMBER_HEALTHY;
    for (int m = 0; m < load->members - 1; m++) {
        double there = diagnosis_typical(d, FAULT_SENDS, m, m + 1).seconds;
        double back = diagnosis_typical(d, FAULT_RECEIVES, m, m + 1).seconds;
        load->message[m] = there > back ? there : back;
        load->round_trip[m] = diagnosis_typical(d, FAULT_ROUND_TRIP, m, m + 1).seconds;
    }
    free(fault);
}

/* ---- across the middle ---- */

/* Rank 0: measures a round, and returns the seconds of both messages of a pair. */
static double time_pair(struct measure *m, const int *partner, int member, struct member_times *times)
{
    measure_round(m, partner, times);
    return (double)times[member].send + (double)times[partner[member]].send;
}

/* Rank 0: measures the time of a pair's messages while all pairs (i, i + members / 2) send across the middle of the
 * network, relative to the time while this pair sends alone. The pairs take turns. */
static void measure_across(struct course *c)
{
    struct measure *m = c->measure;
    int half = m->members / 2, *all = allocate(2 * (size_t)m->members, sizeof *all), *alone = all + m->members;
    struct member_times *times = allocate((size_t)m->members, sizeof *times);
    double ratio[LOAD_REPEATS + 1];
    int i = 0;
    for (int k = 0; k < m->members; k++)
        all[k] = k < 2 * half ? (k + half) % (2 * half) : -1;
    for (; i <= LOAD_REPEATS && half > 1 && in_time(c, 1); i++) {
        int member = i % half, other = all[member];
        for (int k = 0; k < m->members; k++)
            alone[k] = k == member || k == other ? all[k] : -1;
        ratio[i] = time_pair(m, all, member, times);
        ratio[i] /= time_pair(m, alone, member, times);
        progress_show(&c->progress, 1, m->part);
    }
    c->load->across = stats_estimate(ratio + 1, i > 0 ? (size_t)i - 1 : 0); /* the first messages connect the ranks */
    free(all);
    free(times);
    measure_round(m, NULL, NULL);
}

/* ---- groups ---- */

/* Returns the seconds of an all-reduce in this rank's group. A short one runs first, so that the wait for the last rank
 * to leave the barrier is not timed. */
static double time_group(const struct measure *m)
{
    struct collective all_reduce = {
        .buffer = m->message, .count = LINKS_LEAST / sizeof(float), .index = -1, .group = COMM_HOST};
    m->comm->run_blocking(m->comm, &all_reduce);
    m->device->synchronize();
    all_reduce.count = m->bytes / sizeof(float);
    int64_t begin = clock_now_ns();
    m->comm->run_blocking(m->comm, &all_reduce);
    m->device->synchronize();
    return clock_seconds_since(begin);
}

/* Rank 0: adds a repetition, in which a group's time is its slowest member's. Returns how many groups are undecided. */
static size_t add_repetition(const struct course *c, struct load_level *level)
{
    float *slowest = allocate((size_t)level->groups, sizeof *slowest);
    for (int m = 0; m < c->measure->members; m++) {
        int g = load_group(level, m);
        if (g >= 0)
            slowest[g] = fmaxf(slowest[g], (float)c->seconds[c->measure->rank[m]]);
    }
    size_t undecided = load_add(c->load, level, slowest);
    free(slowest);
    return undecided;
}

/* Measures a level until it is decided or `share` of the time is over, but at least `least` times. An extra repetition
 * before these connects the ranks. Rank 0 decides how often. */
static void measure_level(struct course *c, struct load_level *level, size_t least, double share)
{
    struct measure *m = c->measure;
    int group = m->member < 0 ? -1 : load_group(level, m->member);
    size_t done = 0, undecided = 1;
    snprintf(m->part, sizeof m->part, "all-reduces among groups of %d", level->size);
    watchdog_doing(m->job->watchdog, "%s", m->part);
    int alone = level->groups + m->job->rank; /* the group of a rank that rests, or is no member */
    m->comm->regroup(m->comm, group < 0 ? alone : group, group < 0 ? 1 : level->size);
    while (job_from_first(m->job, done <= least || (undecided && done <= MOST_REPEATS && in_time(c, share)), 0)) {
        job_barrier(m->job);
        double seconds = group < 0 ? NAN : time_group(m);
        measure_write(m, "group", group, &(struct measure_time){"all_reduce", seconds}, 1);
        job_gather_first(m->job, &seconds, sizeof seconds, c->seconds);
        if (m->job->rank == 0 && done)
            undecided = add_repetition(c, level);
        progress_show(&c->progress, 1, m->part);
        done++;
    }
}

/* Measures the levels. A group found at fault must still be slow after the same number of repetitions again, which
 * begin when all levels have been measured, since a disturbance that passes is no fault. */
static void measure_groups(struct course *c)
{
    struct load *load = c->load;
    const struct job *job = c->measure->job;
    c->begin_ns = clock_now_ns();
    for (int l = 0; l < load->levels && job_from_first(job, l == 0 || in_time(c, 0.5), 0); l++)
        measure_level(c, &load->level[l], LOAD_REPEATS, 0.5 * (l + 1) / load->levels);
    for (int l = 0; l < load->levels; l++) {
        struct load_level *level = &load->level[l];
        int found = 0;
        for (int g = 0; g < level->groups; g++)
            found |= load_is_fault(load, l, g);
        if (job_from_first(job, found, 0))
            measure_level(c, level, level->ratios.n, 1);
    }
}

void load_measure(struct load *load, struct measure *m, const struct diagnosis *diagnosis, double resolve,
                  double limit_s)
{
    struct course c = {.measure = m, .load = load, .begin_ns = clock_now_ns(), .limit_s = limit_s};
    load_create(load, m->members, resolve);
    snprintf(m->part, sizeof m->part, "messages across the middle");
    watchdog_doing(m->job->watchdog, "%s", m->part);
    if (diagnosis) {
        set_found(load, diagnosis);
        c.seconds = allocate((size_t)m->job->size, sizeof *c.seconds);
        progress_begin(&c.progress, 1, 2 * limit_s);
        measure_across(&c);
    } else
        while (measure_round(m, NULL, NULL))
            ;
    measure_groups(&c);
    progress_end(&c.progress);
    free(c.seconds);
}
