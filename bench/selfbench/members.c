/* members.c - the times of made-up members, from a seed. */
#include "selfbench/members.h"

#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

const char *const members_scenario_name[MEMBERS_SCENARIOS + 1] = {"none",     "sends",  "receives", "neighbours", "two",
                                                                  "computes", "copies", "delay",    "any pair"};

void members_plant(struct members *m, enum members_scenario scenario, double ratio)
{
    static const enum fault_kind kind[MEMBERS_SCENARIOS + 1] = {FAULTS,       FAULT_SENDS,      FAULT_RECEIVES,
                                                                FAULT_PAIR,   FAULT_SENDS,      FAULT_COMPUTES,
                                                                FAULT_COPIES, FAULT_ROUND_TRIP, FAULT_PAIR};
    int member = (int)(random_uniform(&m->seed) * m->n), other = -1;
    if (scenario == MEMBERS_NEIGHBOURS)
        other = (member + 1) % m->n;
    if (scenario == MEMBERS_ANY_PAIR)
        other = (member + 2 + (int)(random_uniform(&m->seed) * (m->n - 3))) % m->n;
    m->faults = scenario == MEMBERS_NO_FAULT ? 0 : scenario == MEMBERS_TWO ? 2 : 1;
    m->planted[0] = (struct fault){
        .kind = kind[scenario], .member = member, .other = other, .ratio = scenario == MEMBERS_DELAY ? 3 : ratio};
    m->planted[1] = (struct fault){.kind = FAULT_RECEIVES,
                                   .member = (member + 1 + (int)(random_uniform(&m->seed) * (m->n - 1))) % m->n,
                                   .other = -1,
                                   .ratio = ratio};
}

static int is_one_of(const struct fault *f, int a, int b)
{
    return f->member == a || f->member == b;
}

/* Returns the seconds that faults add to a round trip between a and b. */
static double delay(const struct members *m, int a, int b)
{
    double seconds = 0;
    for (const struct fault *f = m->planted; f < m->planted + m->faults; f++) {
        int of_pair = f->kind == FAULT_PAIR_ROUND_TRIP && is_one_of(f, a, b) && (f->other == a || f->other == b);
        if (of_pair || (f->kind == FAULT_ROUND_TRIP && is_one_of(f, a, b)))
            seconds += (f->ratio - 1) * MEMBERS_ROUND_TRIP;
    }
    return seconds;
}

double members_message(const struct members *m, int from, int to)
{
    double seconds = m->message;
    for (const struct fault *f = m->planted; f < m->planted + m->faults; f++)
        if ((f->kind == FAULT_SENDS && f->member == from) || (f->kind == FAULT_RECEIVES && f->member == to) ||
            (f->kind == FAULT_PAIR && f->member == from && f->other == to))
            seconds *= f->ratio;
    return seconds + delay(m, from, to);
}

static double own(const struct members *m, enum fault_kind kind, int member)
{
    for (const struct fault *f = m->planted; f < m->planted + m->faults; f++)
        if (f->kind == kind && f->member == member)
            return f->ratio;
    return 1;
}

static float noisy(struct members *m, double seconds)
{
    int is_outlier = m->outlier_every && random_uniform(&m->seed) * m->outlier_every < 1;
    return (float)(seconds * exp(m->noise * random_normal(&m->seed)) * (is_outlier ? 3 : 1));
}

void members_measure(struct members *m, const int *partner, struct member_times *times)
{
    double all = exp(m->drift * random_normal(&m->seed));
    for (int i = 0; i < m->n; i++) {
        int p = partner[i];
        times[i] = (struct member_times){.send = NAN, .round_trip = NAN};
        if (p >= 0) {
            times[i].send = noisy(m, all * members_message(m, i, p));
            times[i].round_trip = noisy(m, all * (MEMBERS_ROUND_TRIP + delay(m, i, p)));
        }
        times[i].product = noisy(m, all * MEMBERS_PRODUCT * own(m, FAULT_COMPUTES, i));
        times[i].copy = noisy(m, all * MEMBERS_COPY * own(m, FAULT_COPIES, i));
    }
}

struct diagnosis *members_search(struct members *m, double resolve, size_t most)
{
    struct diagnosis *diagnosis = diagnosis_create(m->n, resolve);
    struct member_times *times = allocate((size_t)m->n, sizeof *times);
    const int *partner;
    for (size_t round = 0; round < most && (partner = diagnosis_next(diagnosis, round > most / 2)); round++) {
        members_measure(m, partner, times);
        diagnosis_add(diagnosis, times);
    }
    free(times);
    return diagnosis;
}

int members_found(const struct members *m, const struct fault *fault, size_t n)
{
    int found = 0;
    for (const struct fault *f = m->planted; f < m->planted + m->faults; f++)
        for (size_t i = 0; i < n; i++)
            found += fault[i].kind == f->kind && fault[i].member == f->member && fault[i].other == f->other;
    return found == m->faults && n == (size_t)m->faults;
}
