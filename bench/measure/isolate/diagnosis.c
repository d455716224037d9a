/* diagnosis.c - the course of the search, and the faults that explain what is slow. */
#include "isolate/diagnosis.h"

#include "base/ratios.h"
#include "ddp/links.h"
#include "isolate/pairing.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PAIRINGS = 8, NEW_PARTNERS = 2 }; /* NEW_PARTNERS: that a suspect gets, at most */
enum { RING_BYTES = 32 << 20, SUSPECTS_BYTES = 8 << 20 };
static const double delay_factor = 2; /* see the header: a slow message beside slow round trips */

const char *const fault_name[FAULTS + 1] = {"sends",  "receives", "answers",     "computes",
                                            "copies", "pair",     "pair_answers"};
/* What is timed. */
enum sort { SORT_MESSAGE, SORT_ROUND_TRIP, SORT_PRODUCT, SORT_COPY, SORTS };
static const enum sort fault_sort[FAULTS] = {SORT_MESSAGE, SORT_MESSAGE, SORT_ROUND_TRIP, SORT_PRODUCT,
                                             SORT_COPY,    SORT_MESSAGE, SORT_ROUND_TRIP};

/* Pairings that are repeated together: those of the ring, or one of suspects. */
struct stage {
    int first, rounds, done;    /* pairings [first, first + rounds), of which `done` are in the current repetition */
    struct member_times *times; /* [rounds][members] of the current repetition */
    struct ratios ratios;       /* columns: see column_of */
    size_t undecided;
};

struct diagnosis {
    int members;
    double alpha, resolve; /* alpha: of one series */
    int pairings, ring;
    int *partner[MOST_PAIRINGS]; /* [pairings][members] */
    int stages, current;
    struct stage stage[MOST_PAIRINGS]; /* the first is the ring's */
    size_t rounds;
};

/* Returns the part of the columns, [parts][members], with a sort in a round: messages and round trips of each round,
 * then products and copies. */
static int part_of(const struct stage *stage, int round, enum sort sort)
{
    return sort < SORT_PRODUCT ? 2 * round + (int)sort : 2 * stage->rounds + (int)(sort - SORT_PRODUCT);
}

/* Returns the column of a sort of a member in a round of a stage. A message's member is the sender; a round trip's is
 * the lower one of the pair; products and copies have one column for all rounds, only in the ring. */
static size_t column_of(const struct diagnosis *d, const struct stage *stage, int round, enum sort sort, int member)
{
    return (size_t)part_of(stage, round, sort) * (size_t)d->members + (size_t)member;
}

static size_t column_of_pair(const struct diagnosis *d, const struct stage *stage, int round, enum sort sort, int from,
                             int to)
{
    return column_of(d, stage, round, sort, sort == SORT_ROUND_TRIP && to < from ? to : from);
}

static const int *partners(const struct diagnosis *d, const struct stage *stage, int round)
{
    return d->partner[stage->first + round];
}

/* ---- stages ---- */

static int was_paired(const struct diagnosis *d, int pairing, int member, int partner)
{
    while (pairing-- > 0)
        if (d->partner[pairing][member] == partner)
            return 1;
    return 0;
}

/* Makes a group of each part, since all pairs of a round may have a longer way than those of another. Only of 3 members
 * are the round trips of all rounds one group, as a round has just one; one member that answers slowly slows 2 of 3. */
static void set_groups(const struct diagnosis *d, struct stage *stage)
{
    struct ratios *r = &stage->ratios;
    for (size_t g = 0; g < r->groups; g++) {
        int is_trip = g % 2 && (int)g < 2 * stage->rounds, few = is_trip && d->members == 3;
        r->of[g] = (struct ratios_group){is_trip ? fmax(d->resolve, ROUND_TRIP_RESOLVE) : d->resolve, few, 1};
        for (size_t m = 0; m < (size_t)d->members; m++)
            r->group[g * (size_t)d->members + m] = (unsigned char)(few ? SORT_ROUND_TRIP : g);
    }
}

/* Sets which columns are series: of new pairs, and among suspects only of those that have a suspect. */
static void set_series(const struct diagnosis *d, struct stage *stage, const char *suspect)
{
    unsigned char *state = stage->ratios.state;
    for (int m = 0; m < d->members; m++) {
        for (int i = 0; i < stage->rounds; i++) {
            int p = partners(d, stage, i)[m];
            int is_series = p >= 0 && (!suspect || suspect[m] || suspect[p]) && !was_paired(d, stage->first + i, m, p);
            state[column_of(d, stage, i, SORT_MESSAGE, m)] = is_series ? SERIES_UNDECIDED : SERIES_NONE;
            state[column_of(d, stage, i, SORT_ROUND_TRIP, m)] = is_series && m < p ? SERIES_UNDECIDED : SERIES_NONE;
        }
        for (int s = SORT_PRODUCT; s < SORTS && !suspect; s++)
            state[column_of(d, stage, 0, (enum sort)s, m)] = SERIES_UNDECIDED;
    }
}

/* Adds a stage of `rounds` pairings from `first` on. suspect[members] NULL: the ring. */
static void add_stage(struct diagnosis *d, int first, int rounds, const char *suspect)
{
    struct stage *stage = &d->stage[d->stages++];
    size_t members = (size_t)d->members, parts = 2 * (size_t)rounds + (suspect ? 0 : 2);
    *stage = (struct stage){.first = first, .rounds = rounds};
    stage->times = allocate((size_t)rounds * members, sizeof *stage->times);
    ratios_create(&stage->ratios, parts * members, parts, suspect ? SUSPECTS_BYTES : RING_BYTES);
    set_groups(d, stage);
    set_series(d, stage, suspect);
    for (size_t c = 0; c < stage->ratios.columns; c++)
        stage->undecided += stage->ratios.state[c] == SERIES_UNDECIDED;
}

struct diagnosis *diagnosis_create(int members, double resolve)
{
    struct diagnosis *d = allocate(1, sizeof *d);
    d->members = members;
    d->ring = d->pairings = links_ring_rounds(members);
    d->resolve = resolve;
    for (int i = 0; i < d->ring; i++) {
        d->partner[i] = allocate((size_t)members, sizeof *d->partner[i]);
        for (int m = 0; m < members; m++)
            d->partner[i][m] = links_ring_partner(members, i, m);
    }
    add_stage(d, 0, d->ring, NULL);
    /* as many series again for suspects: a pairing has at most 3 for 2 members, and each is suspected at most twice */
    d->alpha = 0.05 / (2 * (double)d->stage[0].undecided);
    return d;
}

void diagnosis_destroy(struct diagnosis *d)
{
    for (int i = 0; d && i < d->pairings; i++)
        free(d->partner[i]);
    for (int i = 0; d && i < d->stages; i++) {
        free(d->stage[i].times);
        ratios_destroy(&d->stage[i].ratios);
    }
    free(d);
}

/* ---- a repetition ---- */

static float mean_over_rounds(const struct diagnosis *d, const struct stage *stage, int member, enum sort sort)
{
    float sum = 0;
    for (int i = 0; i < stage->rounds; i++) {
        const struct member_times *t = &stage->times[(size_t)i * (size_t)d->members + (size_t)member];
        sum += sort == SORT_PRODUCT ? t->product : t->copy;
    }
    return sum / (float)stage->rounds;
}

static void end_repetition(struct diagnosis *d, struct stage *stage)
{
    float *seconds = allocate(stage->ratios.columns, sizeof *seconds);
    for (int m = 0; m < d->members; m++) {
        for (int i = 0; i < stage->rounds; i++) {
            const struct member_times *t = &stage->times[(size_t)i * (size_t)d->members];
            int p = partners(d, stage, i)[m];
            seconds[column_of(d, stage, i, SORT_MESSAGE, m)] = p >= 0 ? t[m].send : NAN;
            seconds[column_of(d, stage, i, SORT_ROUND_TRIP, m)] = m < p ? fminf(t[m].round_trip, t[p].round_trip) : NAN;
        }
        for (int s = SORT_PRODUCT; s < SORTS && stage == d->stage; s++)
            seconds[column_of(d, stage, 0, (enum sort)s, m)] = mean_over_rounds(d, stage, m, (enum sort)s);
    }
    ratios_add(&stage->ratios, seconds);
    stage->undecided = ratios_decide(&stage->ratios, d->alpha);
    stage->done = 0;
    free(seconds);
}

void diagnosis_add(struct diagnosis *d, const struct member_times *times)
{
    struct stage *stage = &d->stage[d->current];
    struct member_times *to = stage->times + (size_t)stage->done * (size_t)d->members;
    for (int m = 0; m < d->members; m++)
        to[m] = times[m];
    d->rounds++;
    if (++stage->done == stage->rounds)
        end_repetition(d, stage);
}

/* ---- the course of the search ---- */

/* Marks both members of each slow message or round trip of the ring; returns their number. */
static int mark_slow(const struct diagnosis *d, char *suspect)
{
    int n = 0;
    for (int i = 0; i < d->ring; i++)
        for (int m = 0; m < d->members; m++)
            for (int s = SORT_MESSAGE; s <= SORT_ROUND_TRIP; s++)
                if (d->stage[0].ratios.state[column_of(d, d->stage, i, (enum sort)s, m)] == SERIES_SLOW) {
                    int p = d->partner[i][m];
                    n += !suspect[m] + !suspect[p];
                    suspect[m] = suspect[p] = 1;
                }
    return n;
}

/* Returns the number of partners outside the ring with which a member was judged. */
static int new_partners(const struct diagnosis *d, int member)
{
    int n = 0;
    for (const struct stage *stage = d->stage + 1; stage < d->stage + d->stages; stage++)
        n += stage->ratios.state[column_of(d, stage, 0, SORT_MESSAGE, member)] != SERIES_NONE;
    return n;
}

/* Adds a stage for the suspects that are paired too little so far. Returns 0 if there are none, or no partners left. */
static int add_suspects(struct diagnosis *d)
{
    char *suspect = allocate((size_t)d->members, 1);
    int *partner = allocate((size_t)d->members, sizeof *partner), n = mark_slow(d, suspect);
    for (int m = 0; m < d->members; m++)
        if (suspect[m] && new_partners(d, m) >= NEW_PARTNERS) {
            suspect[m] = 0;
            n--;
        }
    n = n && d->pairings < MOST_PAIRINGS ? pairing_suspects(d->members, suspect, d->partner, d->pairings, partner) : 0;
    if (n) {
        d->partner[d->pairings++] = partner;
        add_stage(d, d->pairings - 1, 1, suspect);
    } else
        free(partner);
    free(suspect);
    return n > 0;
}

/* Returns the stage to repeat next; -1: none. */
static int next_stage(struct diagnosis *d, int late)
{
    int last = d->stages - 1, ring = d->stage[0].undecided > 0;
    if (ring && !late)
        return 0;
    if (last && d->stage[last].undecided)
        return last;
    if (add_suspects(d))
        return d->stages - 1;
    return ring ? 0 : -1;
}

const int *diagnosis_next(struct diagnosis *d, int late)
{
    const struct stage *stage = &d->stage[d->current];
    if (stage->done == 0) {
        int next = next_stage(d, late);
        if (next < 0)
            return NULL;
        d->current = next;
        stage = &d->stage[next];
    }
    return partners(d, stage, stage->done);
}

struct diagnosis_progress diagnosis_progress(const struct diagnosis *d)
{
    struct diagnosis_progress progress = {.rounds = d->rounds, .pairings = d->pairings, .ring = d->ring};
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++) {
        progress.undecided += stage->undecided;
        for (size_t c = 0; c < stage->ratios.columns; c++)
            progress.series += stage->ratios.state[c] != SERIES_NONE;
    }
    return progress;
}

int diagnosis_partner(const struct diagnosis *d, int pairing, int member)
{
    return d->partner[pairing][member];
}

/* ---- figures ---- */

/* Sets the ratio of a fault, of column[s][count[s]] of each stage s: pooled repetition by repetition, stage by stage.
 */
static void measure(const struct diagnosis *d, const size_t (*column)[MOST_PAIRINGS], const size_t *count,
                    struct fault *f)
{
    size_t most = 0;
    double healthy = NAN;
    for (int s = 0; s < d->stages; s++)
        most += d->stage[s].ratios.n;
    double *pooled = allocate(most + 1, sizeof *pooled);
    f->n = 0;
    for (int s = d->stages - 1; s >= 0; s--)
        if (count[s]) {
            ratios_pool(&d->stage[s].ratios, column[s], count[s], pooled + f->n);
            healthy = ratios_healthy_seconds(&d->stage[s].ratios, column[s][0]);
            f->n += d->stage[s].ratios.n;
        }
    struct paired paired = stats_paired_anytime(pooled, NULL, f->n, 1 - d->alpha);
    f->ratio = paired.ratio;
    f->low = paired.ci_low;
    f->high = paired.ci_high;
    f->seconds = f->ratio * healthy;
    free(pooled);
}

/* Sets the ratio of a fault over its pairs: with `other` if it has one, else with all partners that are not excluded[]
 * (NULL: none). */
static void measure_fault(const struct diagnosis *d, const char *excluded, struct fault *f)
{
    size_t column[MOST_PAIRINGS][MOST_PAIRINGS], count[MOST_PAIRINGS] = {0};
    enum sort sort = fault_sort[f->kind];
    for (int s = 0; s < d->stages; s++) {
        const struct stage *stage = &d->stage[s];
        for (int i = 0; i < stage->rounds && sort < SORT_PRODUCT; i++) {
            int m = f->member, p = partners(d, stage, i)[m];
            if (p < 0 || (f->other >= 0 ? p != f->other : excluded && excluded[p]))
                continue;
            size_t c = f->kind == FAULT_RECEIVES ? column_of_pair(d, stage, i, sort, p, m)
                                                 : column_of_pair(d, stage, i, sort, m, p);
            if (stage->ratios.state[c] != SERIES_NONE)
                column[s][count[s]++] = c;
        }
    }
    size_t own = sort < SORT_PRODUCT ? 0 : column_of(d, d->stage, 0, sort, f->member);
    if (sort >= SORT_PRODUCT && d->stage[0].ratios.state[own] != SERIES_NONE)
        column[0][count[0]++] = own;
    measure(d, (const size_t(*)[MOST_PAIRINGS])column, count, f);
}

struct fault diagnosis_typical(const struct diagnosis *d, enum fault_kind kind, int member, int other)
{
    struct fault fault = {.kind = kind, .member = member, .other = other};
    measure_fault(d, NULL, &fault);
    return fault;
}

/* ---- explanations ---- */

/* A message or round trip that was judged, as an edge between two nodes: a sending and a receiving side (m and members
 * + m), or two members. */
struct edge {
    int node[2];
    enum series_state state;
};

struct edges {
    struct edge *edge;
    size_t n;
    int nodes;
    char *faulty; /* [nodes] */
};

/* Returns whether the excess of a slow message, in seconds, is less than delay_factor times that of its slow round
 * trips. */
static int is_delayed(const struct diagnosis *d, const struct stage *stage, int round, int from, int to)
{
    size_t trip = column_of_pair(d, stage, round, SORT_ROUND_TRIP, from, to);
    if (stage->ratios.state[trip] != SERIES_SLOW)
        return 0;
    struct fault message = diagnosis_typical(d, FAULT_SENDS, from, to);
    struct fault answer = diagnosis_typical(d, FAULT_ANSWERS, from, to);
    return message.seconds * (1 - 1 / message.ratio) < delay_factor * answer.seconds * (1 - 1 / answer.ratio);
}

static struct edges find_edges(const struct diagnosis *d, enum sort sort)
{
    int messages = sort == SORT_MESSAGE;
    struct edges e = {.nodes = (1 + messages) * d->members};
    e.edge = allocate((size_t)d->pairings * (size_t)d->members, sizeof *e.edge);
    e.faulty = allocate((size_t)e.nodes, 1);
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++)
        for (int i = 0; i < stage->rounds; i++)
            for (int m = 0; m < d->members; m++) {
                int p = partners(d, stage, i)[m];
                enum series_state state = stage->ratios.state[column_of(d, stage, i, sort, m)];
                if (state == SERIES_NONE || (messages && state == SERIES_SLOW && is_delayed(d, stage, i, m, p)))
                    continue;
                e.edge[e.n++] = (struct edge){{m, messages ? d->members + p : p}, state};
            }
    return e;
}

/* Returns the node with the most slow edges to nodes that are not faulty, of those nodes that have at least 2 of them
 * and no healthy one; -1: none. slow[nodes], healthy[nodes] are for its use. */
static int worst_node(const struct edges *e, int *slow, int *healthy)
{
    int worst = -1;
    for (int i = 0; i < e->nodes; i++)
        slow[i] = healthy[i] = 0;
    for (const struct edge *edge = e->edge; edge < e->edge + e->n; edge++)
        for (int end = 0; end < 2; end++)
            if (!e->faulty[edge->node[!end]]) {
                slow[edge->node[end]] += edge->state == SERIES_SLOW;
                healthy[edge->node[end]] += edge->state == SERIES_HEALTHY;
            }
    for (int i = 0; i < e->nodes; i++)
        if (!e->faulty[i] && slow[i] >= 2 && !healthy[i] && (worst < 0 || slow[i] > slow[worst]))
            worst = i;
    return worst;
}

static void explain(struct edges *e)
{
    int *counts = allocate(2 * (size_t)e->nodes, sizeof *counts);
    for (int node; (node = worst_node(e, counts, counts + e->nodes)) >= 0;)
        e->faulty[node] = 1;
    free(counts);
}

struct fault_list {
    struct fault *fault;
    size_t n;
};

static void add_fault(const struct diagnosis *d, struct fault_list *list, const char *excluded, struct fault fault)
{
    measure_fault(d, excluded, &fault);
    list->fault = allocate_more(list->fault, list->n, sizeof fault);
    list->fault[list->n++] = fault;
}

static void add_faults_of_pairs(const struct diagnosis *d, struct fault_list *list, enum sort sort)
{
    int messages = sort == SORT_MESSAGE, n = d->members;
    struct edges e = find_edges(d, sort);
    explain(&e);
    for (int i = 0; i < e.nodes; i++)
        if (e.faulty[i])
            add_fault(d, list, messages && i < n ? e.faulty + n : e.faulty,
                      (struct fault){.kind = !messages ? FAULT_ANSWERS
                                             : i < n   ? FAULT_SENDS
                                                       : FAULT_RECEIVES,
                                     .member = i % n,
                                     .other = -1});
    for (const struct edge *edge = e.edge; edge < e.edge + e.n; edge++)
        if (edge->state == SERIES_SLOW && !e.faulty[edge->node[0]] && !e.faulty[edge->node[1]])
            add_fault(d, list, NULL,
                      (struct fault){.kind = messages ? FAULT_PAIR : FAULT_PAIR_ANSWERS,
                                     .member = edge->node[0],
                                     .other = edge->node[1] % n});
    free(e.edge);
    free(e.faulty);
}

static int by_member(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    return x->member != y->member ? x->member - y->member
           : x->kind != y->kind   ? (int)x->kind - (int)y->kind
                                  : x->other - y->other;
}

struct fault *diagnosis_faults(const struct diagnosis *d, size_t *n)
{
    struct fault_list list = {NULL, 0};
    add_faults_of_pairs(d, &list, SORT_MESSAGE);
    add_faults_of_pairs(d, &list, SORT_ROUND_TRIP);
    for (int s = SORT_PRODUCT; s < SORTS; s++)
        for (int m = 0; m < d->members; m++)
            if (d->stage[0].ratios.state[column_of(d, d->stage, 0, (enum sort)s, m)] == SERIES_SLOW)
                add_fault(d, &list, NULL,
                          (struct fault){
                              .kind = s == SORT_PRODUCT ? FAULT_COMPUTES : FAULT_COPIES, .member = m, .other = -1});
    if (list.n)
        qsort(list.fault, list.n, sizeof *list.fault, by_member);
    *n = list.n;
    return list.fault;
}

/* Returns whether one of a member's series is undecided. */
static int is_undecided(const struct diagnosis *d, int member)
{
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++) {
        const unsigned char *state = stage->ratios.state;
        for (int i = 0; i < stage->rounds; i++) {
            int p = partners(d, stage, i)[member];
            if (p >= 0 && (state[column_of(d, stage, i, SORT_MESSAGE, member)] == SERIES_UNDECIDED ||
                           state[column_of(d, stage, i, SORT_MESSAGE, p)] == SERIES_UNDECIDED ||
                           state[column_of_pair(d, stage, i, SORT_ROUND_TRIP, member, p)] == SERIES_UNDECIDED))
                return 1;
        }
    }
    return d->stage[0].ratios.state[column_of(d, d->stage, 0, SORT_PRODUCT, member)] == SERIES_UNDECIDED ||
           d->stage[0].ratios.state[column_of(d, d->stage, 0, SORT_COPY, member)] == SERIES_UNDECIDED;
}

enum member_state diagnosis_member(const struct diagnosis *d, const struct fault *fault, size_t n, int member)
{
    for (const struct fault *f = fault; f < fault + n; f++)
        if (f->member == member || f->other == member)
            return MEMBER_SLOW;
    return is_undecided(d, member) ? MEMBER_UNDECIDED : MEMBER_HEALTHY;
}
