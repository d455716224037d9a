/* load_measure.c - measures messages across the middle, and the all-reduces of groups: rank 0 leads, level by level. */
#include "isolate/load_measure.h"

#include "base/progress.h"
#include "ddp/comm_create.h"
#include "ddp/links.h"
#include "ddp/watchdog.h"
#include "isolate/pairing.h"
#include "kernels/clock.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Repetitions of a level at a time, at most, while groups are undecided. */
enum { MOST_REPEATS = 64 };

struct course {
    struct measure *measure;
    const struct comm_options *options;
    /* on rank 0 only */
    struct load *load;
    int64_t begin_ns; /* of the messages across the middle, or of the groups */
    double limit_s;   /* for either */
    double *seconds;  /* [ranks] the last repetition's time of each rank */
    float *slowest;   /* [members] of each group */
    struct progress progress;
    size_t done; /* repetitions */
};

/* ---- what the search found ---- */

void load_prepare(struct load *load, const struct diagnosis *d, int members, double resolve)
{
    size_t faults;
    struct fault *fault = diagnosis_faults(d, &faults);
    char *healthy = allocate((size_t)members, 1);
    double *message = allocate(2 * (size_t)members, sizeof *message), *round_trip = message + members;
    for (int m = 0; m < members; m++)
        healthy[m] = diagnosis_member(d, fault, faults, m) == MEMBER_HEALTHY;
    for (int m = 0; m < members - 1; m++) {
        double there = diagnosis_typical(d, FAULT_SENDS, m, m + 1).seconds;
        double back = diagnosis_typical(d, FAULT_RECEIVES, m, m + 1).seconds;
        message[m] = there > back ? there : back;
        round_trip[m] = diagnosis_typical(d, FAULT_ROUND_TRIP, m, m + 1).seconds;
    }
    load_create(load, &(struct load_pairs){members, healthy, message, round_trip}, resolve);
    free(fault);
    free(healthy);
    free(message);
}

/* Rank 0: shows that a repetition is done. */
static void show_progress(struct course *c, const char *words)
{
    c->done += c->done < c->progress.total;
    progress_show(&c->progress, c->done, words);
}

/* ---- across the middle ---- */

/* Returns whether that share of the time is not yet over. */
static int in_time(const struct course *c, double share)
{
    return clock_seconds_since(c->begin_ns) < share * c->limit_s;
}

/* Rank 0: measures a round, and returns the seconds of both messages of a pair. */
static double time_pair(struct measure *m, const int *partner, int member, struct member_times *times)
{
    measure_round(m, partner, times);
    return (double)times[member].send + (double)times[partner[member]].send;
}

/* Rank 0: measures how many times as long a pair's messages take while all pairs (i, i + members / 2) send, which cross
 * the middle of the network, than while this pair sends alone. The pairs take turns. */
static void lead_across(struct course *c)
{
    struct measure *m = c->measure;
    int half = m->members / 2, *all = allocate(2 * (size_t)m->members, sizeof *all), *alone = all + m->members;
    struct member_times *times = allocate((size_t)m->members, sizeof *times);
    double ratio[LOAD_REPEATS + 1];
    int i = 0;
    pairing_across(m->members, all);
    for (; i <= LOAD_REPEATS && half > 1 && in_time(c, 1); i++) {
        int member = i % half, other = all[member];
        for (int k = 0; k < m->members; k++)
            alone[k] = k == member || k == other ? all[k] : -1;
        ratio[i] = time_pair(m, all, member, times);
        ratio[i] /= time_pair(m, alone, member, times);
        show_progress(c, "messages across the middle");
    }
    c->load->across = stats_estimate(ratio + 1, i > 0 ? (size_t)i - 1 : 0); /* the first messages connect the ranks */
    free(all);
    free(times);
    measure_round(m, NULL, NULL);
}

/* ---- groups ---- */

/* A rank's group, its place in it, and the number of its ranks. The ranks that rest are a group of their own. */
struct seat {
    int group, place, ranks;
    int size; /* members of a group; 0: there is no further level */
    int rests;
};

/* Returns this rank's seat in a level, which rank 0 knows (NULL: there is no further level). */
static struct seat take_seat(const struct course *c, const struct load_level *level)
{
    const struct job *job = c->measure->job;
    struct seat mine, *all = allocate(job->rank ? 1 : (size_t)job->size, sizeof *all);
    int resting = job->size - (level ? level->groups * level->size : 0), rests = 0;
    for (int r = 0; level && r < job->size; r++)
        all[r] = (struct seat){.group = -1, .size = level->size};
    for (int m = 0; level && m < c->measure->members; m++) {
        struct seat *seat = &all[c->measure->rank[m]];
        seat->group = load_group(level, m, &seat->place);
        seat->ranks = level->size;
    }
    for (int r = 0; level && r < job->size; r++)
        if (all[r].group < 0)
            all[r] = (struct seat){level->groups, rests++, resting, level->size, 1};
    job_scatter_first(job, all, sizeof *all, &mine);
    free(all);
    return mine;
}

/* Creates the comm of a level: the group of a rank takes the place of its host. */
static struct comm *create_comm(const struct course *c, const struct seat *seat)
{
    struct job job = *c->measure->job;
    struct comm_options options = *c->options;
    job.host = seat->group;
    job.local_rank = seat->place;
    job.local_size = seat->ranks;
    options.groups = 1;
    struct comm *comm = comm_create(&job, c->measure->device, NULL, 1, &options);
    if (!comm)
        FATAL("the ranks of a group cannot be connected");
    return comm;
}

/* Returns the seconds of an all-reduce in this rank's group. A short one before it ends the wait for the rank that left
 * the barrier last. */
static double time_group(const struct course *c, struct comm *comm, void *buffer)
{
    struct collective all_reduce = {
        .buffer = buffer, .count = LINKS_LEAST / sizeof(float), .index = -1, .group = COMM_HOST};
    comm->run_blocking(comm, &all_reduce);
    c->measure->device->synchronize();
    all_reduce.count = c->measure->bytes / sizeof(float);
    int64_t begin = clock_now_ns();
    comm->run_blocking(comm, &all_reduce);
    c->measure->device->synchronize();
    return clock_seconds_since(begin);
}

/* Rank 0: fills the time of each group, that of its slowest member. */
static void find_slowest(const struct course *c, const struct load_level *level)
{
    int place;
    for (int g = 0; g < level->groups; g++)
        c->slowest[g] = 0;
    for (int m = 0; m < c->measure->members; m++) {
        int g = load_group(level, m, &place);
        if (g >= 0)
            c->slowest[g] = fmaxf(c->slowest[g], (float)c->seconds[c->measure->rank[m]]);
    }
}

/* Rank 0: keeps a repetition of a level, unless it is the first since the ranks connected. Returns how many groups are
 * undecided. */
static size_t keep_repetition(struct course *c, struct load_level *level, size_t done)
{
    char words[80];
    snprintf(words, sizeof words, "all-reduces among groups of %d", level->size);
    find_slowest(c, level);
    show_progress(c, words);
    return done ? load_add(c->load, level, c->slowest) : 1;
}

/* Measures a level until it is decided or a share of the time is over, but at least `least` times and once more, to
 * connect the ranks. Returns 0 if there is none (NULL). All ranks call it; level, least and share count on rank 0. */
static int measure_level(struct course *c, struct load_level *level, size_t least, double share)
{
    const struct job *job = c->measure->job;
    struct seat seat = take_seat(c, level);
    if (!seat.size)
        return 0;
    watchdog_doing(job->watchdog, "all-reduces among groups of %d", seat.size);
    struct comm *comm = create_comm(c, &seat);
    void *buffer = comm->allocate(comm, c->measure->bytes);
    size_t done = 0, undecided = 0;
    while (job_from_first(job, done <= least || (undecided && done <= MOST_REPEATS && in_time(c, share)), 0)) {
        double seconds = NAN;
        job_barrier(job);
        if (!seat.rests)
            seconds = time_group(c, comm, buffer);
        job_gather_first(job, &seconds, sizeof seconds, c->seconds);
        if (level)
            undecided = keep_repetition(c, level, done);
        done++;
    }
    comm->release(comm, buffer);
    comm->destroy(comm);
    return 1;
}

/* Rank 0: measures the levels. What is found must still be so after as many repetitions again, with all other levels in
 * between, since a disturbance that passes is no fault; then come its mixed halves. */
static void lead_groups(struct course *c)
{
    struct load *load = c->load;
    c->begin_ns = clock_now_ns();
    for (int l = 0; l < load->levels && (l == 0 || in_time(c, 0.5)); l++)
        measure_level(c, &load->level[l], LOAD_REPEATS, 0.5 * (l + 1) / load->levels);
    for (int l = 0; l < load->levels; l++) {
        struct load_level *level = &load->level[l];
        if (!level->n || !load_is_suspect(load, l))
            continue;
        measure_level(c, level, level->n, 1);
        if (level->block > 2 && in_time(c, 1) && load_is_suspect(load, l))
            measure_level(c, &load->mixed[l], LOAD_REPEATS, 1);
    }
    measure_level(c, NULL, 0, 0);
}

/* ---- both ---- */

void load_measure(struct load *load, struct measure *measure, const struct comm_options *options, double limit_s)
{
    struct course c = {
        .measure = measure, .options = options, .load = load, .begin_ns = clock_now_ns(), .limit_s = limit_s};
    watchdog_doing(measure->job->watchdog, "messages across the middle");
    if (measure->job->rank == 0) {
        c.seconds = allocate((size_t)measure->job->size, sizeof *c.seconds);
        c.slowest = allocate((size_t)measure->members, sizeof *c.slowest);
        progress_begin(&c.progress, (size_t)(1 + load->levels) * LOAD_REPEATS);
        lead_across(&c);
        lead_groups(&c);
        progress_end(&c.progress);
    } else {
        while (measure_round(measure, NULL, NULL))
            ;
        while (measure_level(&c, NULL, 0, 0))
            ;
    }
    free(c.seconds);
    free(c.slowest);
}
