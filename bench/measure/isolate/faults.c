/* faults.c - the faults that explain which series of a search are slow, and their figures. */
#include "isolate/search.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double delay_factor = 2; /* diagnosis.h: a slow message beside slow round trips */

const char *const fault_name[FAULTS + 1] = {"sends",  "receives", "round_trip",      "computes",
                                            "copies", "pair",     "pair_round_trip", "load"};
static const enum sort fault_sort[FAULT_GROUP] = {SORT_MESSAGE, SORT_MESSAGE, SORT_ROUND_TRIP, SORT_PRODUCT,
                                                  SORT_COPY,    SORT_MESSAGE, SORT_ROUND_TRIP};

/* ---- figures ---- */

/* Writes the columns of a stage that measure a fault: the column of its pair, or of all partners that are not
 * excluded[] (NULL: none is). Returns their number. */
static size_t find_columns(const struct diagnosis *d, const struct stage *stage, const char *excluded,
                           const struct fault *f, size_t column[SEARCH_MOST_PAIRINGS])
{
    enum sort sort = fault_sort[f->kind];
    int receives = f->kind == FAULT_RECEIVES, m = f->member;
    size_t n = 0;
    for (int i = 0; i < (sort < SORT_PRODUCT ? stage->rounds : stage == d->stage); i++) {
        int p = search_partners(d, stage, i)[m];
        if (sort < SORT_PRODUCT && (p < 0 || (f->other >= 0 ? p != f->other : excluded && excluded[p])))
            continue;
        column[n] = search_column(d, stage, i, sort, receives ? p : m, receives ? m : p);
        n += stage->ratios.state[column[n]] != SERIES_NONE;
    }
    return n;
}

/* Sets the ratio of a fault, pooled over its columns repetition by repetition, stage by stage. */
static void measure_fault(const struct diagnosis *d, const char *excluded, struct fault *f)
{
    size_t column[SEARCH_MOST_PAIRINGS], most = 0, k;
    for (int s = 0; s < d->stages; s++)
        most += d->stage[s].ratios.n;
    double *pooled = allocate(most + 1, sizeof *pooled);
    f->n = 0;
    f->seconds = NAN;
    for (int s = d->stages - 1; s >= 0; s--)
        if ((k = find_columns(d, &d->stage[s], excluded, f, column))) {
            ratios_pool(&d->stage[s].ratios, column, k, pooled + f->n);
            f->seconds = ratios_seconds(&d->stage[s].ratios, column, k).median;
            f->n += d->stage[s].ratios.n;
        }
    struct estimate typical = stats_paired_anytime(pooled, NULL, f->n, 1 - d->alpha);
    f->ratio = typical.median;
    f->low = typical.ci_low;
    f->high = typical.ci_high;
    free(pooled);
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
    char *faulty;                /* [nodes] */
    int (*count)[SERIES_STATES]; /* [nodes] number of edges to nodes that are not faulty, by their state */
};

/* Returns whether a slow message's excess, in seconds, is less than delay_factor times that of its slow round trips. */
static int is_delayed(const struct diagnosis *d, const struct stage *stage, int round, int from, int to)
{
    if (search_state(d, stage, round, SORT_ROUND_TRIP, from, to) != SERIES_SLOW)
        return 0;
    struct fault message = diagnosis_typical(d, FAULT_SENDS, from, to);
    struct fault trip = diagnosis_typical(d, FAULT_ROUND_TRIP, from, to);
    return message.seconds * (1 - 1 / message.ratio) < delay_factor * trip.seconds * (1 - 1 / trip.ratio);
}

static struct edges find_edges(const struct diagnosis *d, enum sort sort)
{
    int messages = sort == SORT_MESSAGE;
    struct edges e = {.nodes = (1 + messages) * d->members};
    e.edge = allocate((size_t)d->pairings * (size_t)d->members, sizeof *e.edge);
    e.faulty = allocate((size_t)e.nodes, 1);
    e.count = allocate((size_t)e.nodes, sizeof *e.count);
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++)
        for (int i = 0; i < stage->rounds; i++)
            for (int m = 0; m < d->members; m++) {
                int p = search_partners(d, stage, i)[m];
                enum series_state state = p < m && !messages ? SERIES_NONE : search_state(d, stage, i, sort, m, p);
                if (state == SERIES_NONE || (messages && state == SERIES_SLOW && is_delayed(d, stage, i, m, p)))
                    continue;
                e.edge[e.n++] = (struct edge){{m, messages ? d->members + p : p}, state};
            }
    return e;
}

/* Counts each node's edges. Returns the node with most slow edges, at least 2, and no healthy one; -1: none. */
static int worst_node(struct edges *e)
{
    int worst = -1;
    memset(e->count, 0, (size_t)e->nodes * sizeof *e->count);
    for (const struct edge *edge = e->edge; edge < e->edge + e->n; edge++)
        for (int end = 0; end < 2; end++)
            if (!e->faulty[edge->node[!end]])
                e->count[edge->node[end]][edge->state]++;
    for (int i = 0; i < e->nodes; i++) {
        const int *count = e->count[i];
        if (!e->faulty[i] && count[SERIES_SLOW] >= 2 && !count[SERIES_HEALTHY] &&
            (worst < 0 || count[SERIES_SLOW] > e->count[worst][SERIES_SLOW]))
            worst = i;
    }
    return worst;
}

/* Returns whether a node may yet turn out to be faulty. */
static int is_open(const struct edges *e, int node)
{
    return e->count[node][SERIES_UNDECIDED] && !e->count[node][SERIES_HEALTHY];
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
    for (int node; (node = worst_node(&e)) >= 0;)
        e.faulty[node] = 1;
    for (int i = 0; i < e.nodes; i++)
        if (e.faulty[i])
            add_fault(d, list, messages && i < n ? e.faulty + n : e.faulty,
                      (struct fault){.kind = !messages ? FAULT_ROUND_TRIP
                                             : i < n   ? FAULT_SENDS
                                                       : FAULT_RECEIVES,
                                     .member = i % n,
                                     .other = -1});
    for (const struct edge *edge = e.edge; edge < e.edge + e.n; edge++)
        if (edge->state == SERIES_SLOW && !e.faulty[edge->node[0]] && !e.faulty[edge->node[1]])
            add_fault(d, list, NULL,
                      (struct fault){.kind = messages ? FAULT_PAIR : FAULT_PAIR_ROUND_TRIP,
                                     .member = edge->node[0],
                                     .other = edge->node[1] % n,
                                     .open = is_open(&e, edge->node[0]) || is_open(&e, edge->node[1])});
    free(e.edge);
    free(e.faulty);
    free(e.count);
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
            if (search_state(d, d->stage, 0, (enum sort)s, m, -1) == SERIES_SLOW)
                add_fault(d, &list, NULL,
                          (struct fault){
                              .kind = s == SORT_PRODUCT ? FAULT_COMPUTES : FAULT_COPIES, .member = m, .other = -1});
    if (list.n)
        qsort(list.fault, list.n, sizeof *list.fault, by_member);
    *n = list.n;
    return list.fault;
}

static int is_undecided(const struct diagnosis *d, int member)
{
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++)
        for (int i = 0; i < stage->rounds; i++) {
            int p = search_partners(d, stage, i)[member];
            if (p >= 0 && search_pair_is(d, stage, i, member, p, SERIES_UNDECIDED))
                return 1;
        }
    return search_state(d, d->stage, 0, SORT_PRODUCT, member, -1) == SERIES_UNDECIDED ||
           search_state(d, d->stage, 0, SORT_COPY, member, -1) == SERIES_UNDECIDED;
}

enum member_state diagnosis_member(const struct diagnosis *d, const struct fault *fault, size_t n, int member)
{
    int open = 0;
    for (const struct fault *f = fault; f < fault + n; f++)
        if (f->member == member || f->other == member) {
            if (!f->open)
                return MEMBER_SLOW;
            open = 1;
        }
    return open || is_undecided(d, member) ? MEMBER_UNDECIDED : MEMBER_HEALTHY;
}
