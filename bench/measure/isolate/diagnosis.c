/* diagnosis.c - the course of the search: who is paired with whom, and what is known by then. */
#include "ddp/links.h"
#include "isolate/search.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { NEW_PARTNERS = 2 }; /* new partners that a suspect gets, at most */
enum { RING_BYTES = 32 << 20, SUSPECTS_BYTES = 8 << 20 };

/* Returns the sort of a part of the columns [parts][members] (search_column). */
static enum sort sort_of(const struct stage *stage, size_t part)
{
    size_t pairs = 2 * (size_t)stage->rounds;
    return (enum sort)(part < pairs ? part % 2 : SORT_PRODUCT + part - pairs);
}

/* ---- stages ---- */

/* Makes each part a group, since all pairs of one round may be farther apart than those of another. With 3 members a
 * round has one round trip, so all round trips are one group, whose reference is the lowest: a slow member slows 2. */
static void set_groups(const struct diagnosis *d, struct stage *stage)
{
    struct ratios *r = &stage->ratios;
    for (size_t g = 0; g < r->groups; g++) {
        int is_trip = sort_of(stage, g) == SORT_ROUND_TRIP, few = is_trip && d->members == 3;
        r->of[g] = (struct ratios_group){is_trip ? fmax(d->resolve, ROUND_TRIP_RESOLVE) : d->resolve, few, 1};
        for (size_t m = 0; m < (size_t)d->members; m++)
            r->group[g * (size_t)d->members + m] = (unsigned char)(few ? SORT_ROUND_TRIP : g);
    }
}

/* Sets which columns are series: those of new pairs; in the ring also of members, else only of pairs with a suspect. */
static void set_series(const struct diagnosis *d, struct stage *stage, const char *suspect)
{
    unsigned char *state = stage->ratios.state;
    for (int m = 0; m < d->members; m++) {
        for (int i = 0; i < stage->rounds; i++) {
            int p = search_partners(d, stage, i)[m];
            int is_series =
                p >= 0 && (!suspect || suspect[m] || suspect[p]) && !pairing_met(d->partner, stage->first + i, m, p);
            if (!is_series)
                continue;
            state[search_column(d, stage, i, SORT_MESSAGE, m, p)] = SERIES_UNDECIDED;
            state[search_column(d, stage, i, SORT_ROUND_TRIP, m, p)] = SERIES_UNDECIDED;
        }
        for (int s = SORT_PRODUCT; s < SORTS && !suspect; s++)
            state[search_column(d, stage, 0, (enum sort)s, m, -1)] = SERIES_UNDECIDED;
    }
}

/* Adds a stage of the pairings [first, first + rounds), for suspect[members]; NULL: the stage of the ring. */
static void add_stage(struct diagnosis *d, int first, int rounds, const char *suspect)
{
    struct stage *stage = &d->stage[d->stages++];
    size_t members = (size_t)d->members, parts = 2 * (size_t)rounds + (suspect ? 0 : 2);
    *stage = (struct stage){.first = first, .rounds = rounds};
    stage->seconds = allocate(parts * members, sizeof *stage->seconds);
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
    /* The factor 2 leaves half of the 5 % for suspects: a pairing of them has at most 3 series for 2 members, and a
     * member is suspected at most twice, so that suspects have at most as many series as the ring */
    d->alpha = 0.05 / (2 * (double)d->stage[0].undecided);
    return d;
}

void diagnosis_destroy(struct diagnosis *d)
{
    for (int i = 0; d && i < d->pairings; i++)
        free(d->partner[i]);
    for (int i = 0; d && i < d->stages; i++) {
        free(d->stage[i].seconds);
        ratios_destroy(&d->stage[i].ratios);
    }
    free(d);
}

/* ---- a repetition ---- */

/* Keeps what a member measured in the current round: of products and copies the mean over the rounds. */
static void keep_times(const struct diagnosis *d, struct stage *stage, const struct member_times *times, int member)
{
    int round = stage->done, p = search_partners(d, stage, round)[member];
    const struct member_times *t = &times[member];
    stage->seconds[search_column(d, stage, round, SORT_MESSAGE, member, p)] = p < 0 ? NAN : t->send;
    stage->seconds[search_column(d, stage, round, SORT_ROUND_TRIP, member, member)] =
        p > member ? fminf(t->round_trip, times[p].round_trip) : NAN; /* of the lower member */
    for (int s = SORT_PRODUCT; s < SORTS && stage == d->stage; s++) {
        float *mean = &stage->seconds[search_column(d, stage, 0, (enum sort)s, member, -1)];
        *mean = (round ? *mean : 0) + (s == SORT_PRODUCT ? t->product : t->copy) / (float)stage->rounds;
    }
}

void diagnosis_add(struct diagnosis *d, const struct member_times *times)
{
    struct stage *stage = &d->stage[d->current];
    for (int m = 0; m < d->members; m++)
        keep_times(d, stage, times, m);
    d->rounds++;
    if (++stage->done < stage->rounds)
        return;
    ratios_add(&stage->ratios, stage->seconds);
    stage->undecided = ratios_decide(&stage->ratios, d->alpha);
    stage->done = 0;
}

/* ---- the course of the search ---- */

/* Returns the number of partners outside the ring with which a member was judged. */
static int new_partners(const struct diagnosis *d, int member)
{
    int n = 0;
    for (const struct stage *stage = d->stage + 1; stage < d->stage + d->stages; stage++)
        n += search_state(d, stage, 0, SORT_MESSAGE, member, -1) != SERIES_NONE;
    return n;
}

/* Marks members of slow messages or round trips of the ring that need more new partners. Returns whether any do. */
static int mark_suspects(const struct diagnosis *d, char *suspect)
{
    int any = 0;
    for (int i = 0; i < d->ring; i++)
        for (int m = 0; m < d->members; m++) {
            int p = d->partner[i][m];
            if (p >= 0 && new_partners(d, m) < NEW_PARTNERS && search_pair_is(d, d->stage, i, m, p, SERIES_SLOW))
                suspect[m] = 1, any = 1;
        }
    return any;
}

/* Adds a stage for the suspects that need more new partners. Returns 0 if there are none, or no partners are left. */
static int add_suspects(struct diagnosis *d)
{
    char *suspect = allocate((size_t)d->members, 1);
    int *partner = allocate((size_t)d->members, sizeof *partner);
    int found = d->pairings < SEARCH_MOST_PAIRINGS && mark_suspects(d, suspect) &&
                pairing_suspects(d->members, suspect, d->partner, d->pairings, partner);
    if (found) {
        d->partner[d->pairings++] = partner;
        add_stage(d, d->pairings - 1, 1, suspect);
    } else
        free(partner);
    free(suspect);
    return found;
}

/* Returns the stage to repeat next; -1: none. If `late` is 1, the ring takes turns with suspects. */
static int next_stage(struct diagnosis *d, int late)
{
    int last = d->stages - 1, ring = d->stage[0].undecided > 0, suspects = last && d->stage[last].undecided;
    if (ring && (!late || (suspects && d->current)))
        return 0;
    if (suspects)
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
    return search_partners(d, stage, stage->done);
}

struct diagnosis_progress diagnosis_progress(const struct diagnosis *d)
{
    struct diagnosis_progress progress = {.rounds = d->rounds, .pairings = d->pairings, .ring = d->ring};
    size_t *const undecided[SORTS] = {&progress.messages, &progress.round_trips, &progress.products, &progress.copies};
    for (const struct stage *stage = d->stage; stage < d->stage + d->stages; stage++) {
        progress.undecided += stage->undecided;
        for (size_t c = 0; c < stage->ratios.columns; c++) {
            progress.series += stage->ratios.state[c] != SERIES_NONE;
            *undecided[sort_of(stage, c / (size_t)d->members)] += stage->ratios.state[c] == SERIES_UNDECIDED;
        }
    }
    return progress;
}

int diagnosis_partner(const struct diagnosis *d, int pairing, int member)
{
    int partner = d->partner[pairing][member];
    return partner >= 0 && pairing_met(d->partner, pairing, member, partner) ? -1 : partner;
}
