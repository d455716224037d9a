/* search.c - successive halving over candidates. */
#include "benchmark/benchmark.h"

#include <math.h>

enum {
    KEPT = 4,         /* at most this many candidates enter the final */
    STAGE_ROUNDS = 8, /* most rounds in one stage of halving */
    LEAST_ROUNDS = 8, /* fewest rounds before a final may end early */
    FEW_ROUNDS = 20,  /* a final with time for fewer rounds compares only at its end, with narrower intervals */
    SHORT_FINAL = STATS_LEAST, /* fewest rounds of a final: with fewer there are no intervals */
    FEW_SIZES = 4              /* if there are at most this many bucket sizes, none is left out */
};
static const double halving_share = 0.4; /* share of the time limit for the stages before the final */

int search_count(const struct search *s, enum search_state state)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->row[i].state == state;
    return n;
}

int search_has_plans(const struct search *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->row[i].is_plan && s->row[i].state == SEARCH_IN)
            return 1;
    return 0;
}

/* Returns the number of rows that run in the next round. */
static int running(const struct search *s)
{
    return search_count(s, SEARCH_IN) + search_count(s, SEARCH_CONTROL);
}

/* Returns the number of halvings until at most KEPT of n candidates are left. */
static int stages_of(int n)
{
    int stages = 0;
    for (; n > KEPT; stages++)
        n = (n + 1) / 2;
    return stages;
}

static void forget_comparisons(struct search *s)
{
    for (int i = 0; i < s->n; i++)
        s->row[i].against = (struct against_best){.ratio = {NAN, NAN, NAN, NAN, NAN, 0}};
}

void search_begin(struct search *s, double limit, double block_seconds)
{
    s->limit = limit;
    s->best = -1;
    forget_comparisons(s);
    int controls = search_count(s, SEARCH_CONTROL), sizes = 0;
    for (int i = 0; i < s->n; i++)
        sizes += s->row[i].series && s->row[i].state == SEARCH_IN;
    for (int left = sizes; left > FEW_SIZES; left = (left + 1) / 2) {
        /* blocks of the shortest search: one round per stage (in all about 2 blocks a candidate) and a final of two */
        int in = search_count(s, SEARCH_IN), blocks = 2 * in + stages_of(in) * controls + SHORT_FINAL * (2 + controls);
        if (blocks * block_seconds <= limit)
            break;
        for (int i = 0, size = 0; i < s->n; i++) {
            size = i && s->row[i].series == s->row[i - 1].series ? size : 0;
            if (s->row[i].series && s->row[i].state == SEARCH_IN && size++ % 2)
                s->row[i].state = SEARCH_LEFT_OUT;
        }
    }
    s->stages = stages_of(search_count(s, SEARCH_IN));
}

/* ---- comparisons ---- */

/* Finds the best of the rows in state IN over rounds [from, s->rounds), which all of them ran, and the ratios of the
 * others to it, by medians if `anytime` is 1. Returns the index of the best. */
static int find_best(struct search *s, const double *const *step, size_t from, int anytime)
{
    struct against_best against[MAX_IMPLEMENTATIONS];
    const double *sample[MAX_IMPLEMENTATIONS] = {0};
    int number[MAX_IMPLEMENTATIONS] = {0}, k = 0;
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN) {
            sample[k] = step[i] + from;
            number[k++] = i;
        }
    int best = number[best_of(sample, k, s->rounds - from, anytime, against)];
    for (int j = 0; j < k; j++)
        s->row[number[j]].against = against[j];
    return best;
}

/* Finds the best row over the rounds of the final, and compares each row of the final with it, over the rounds of both.
 * Rows that are significantly slower become SLOWER. */
static void compare(struct search *s, const double *const *step)
{
    int family = search_count(s, SEARCH_IN) + search_count(s, SEARCH_SLOWER);
    size_t from = s->stage_from;
    s->best = find_best(s, step, from, s->looks);
    for (int i = 0; i < s->n; i++) {
        struct search_row *row = &s->row[i];
        if (i == s->best || (row->state != SEARCH_IN && row->state != SEARCH_SLOWER))
            continue;
        row->against = best_compare(step[i] + from, step[s->best] + from, row->to - from, family, s->looks);
        if (row->against.slower)
            row->state = SEARCH_SLOWER;
    }
}

/* Drops the slowest rows until `left` rows are in state IN. */
static void drop_slowest(struct search *s, int left)
{
    for (int in = search_count(s, SEARCH_IN); in > left; in--) {
        int slowest = s->best;
        for (int i = 0; i < s->n; i++)
            if (s->row[i].state == SEARCH_IN && i != s->best &&
                (slowest == s->best || s->row[i].against.ratio.median > s->row[slowest].against.ratio.median))
                slowest = i;
        s->row[slowest].state = SEARCH_DROPPED;
    }
}

static int all_are_close(const struct search *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN && i != s->best &&
            verdict_judge(&s->row[i].against, VERDICT_WITHIN) == VERDICT_UNDECIDED)
            return 0;
    return 1;
}

/* ---- stages ---- */

/* Returns whether row i is another size of the best row's strategy, and has not run. */
static int has_not_run(const struct search *s, int i)
{
    return i >= 0 && i < s->n && s->row[i].series == s->row[s->best].series && !s->row[i].is_plan &&
           (s->row[i].state == SEARCH_RESERVE || s->row[i].state == SEARCH_LEFT_OUT);
}

/* On each side of the best size, adds to the final the size halfway between the best and the next size that has run. */
static void take_neighbours(struct search *s)
{
    for (int side = -1; side <= 1 && s->row[s->best].series; side += 2) {
        int apart = 1;
        while (has_not_run(s, s->best + side * apart))
            apart++;
        if (apart > 1)
            s->row[s->best + side * (apart / 2)].state = SEARCH_IN;
    }
}

/* Adds the plans of the best row's strategy to the final, if there is time for FEW_ROUNDS rounds with them. */
static void take_plans(struct search *s, double blocks_left)
{
    int series = s->row[s->best].series, plans = 0;
    for (int i = 0; i < s->n; i++)
        plans += s->row[i].is_plan && s->row[i].series == series;
    if (blocks_left < FEW_ROUNDS * (running(s) + plans))
        return;
    for (int i = 0; i < s->n; i++)
        if (s->row[i].is_plan && s->row[i].series == series)
            s->row[i].state = SEARCH_IN;
}

static void begin_final(struct search *s, double seconds)
{
    double block = seconds / (double)s->blocks, left = s->limit - seconds;
    for (int in = search_count(s, SEARCH_IN); in > 2 && left < SHORT_FINAL * block * running(s);)
        drop_slowest(s, --in); /* fewer candidates with intervals rather than more without */
    if (left < SHORT_FINAL * block * running(s)) {
        s->end = SEARCH_TIME;
        return;
    }
    if (left >= LEAST_ROUNDS * block * (running(s) + 2))
        take_neighbours(s);
    take_plans(s, left / block);
    forget_comparisons(s); /* the comparisons of the stages selected the rows */
    s->final = 1;
    s->looks = left >= FEW_ROUNDS * block * running(s);
}

static void end_stage(struct search *s, const double *const *step, int over, double seconds)
{
    int half = (search_count(s, SEARCH_IN) + 1) / 2;
    s->best = find_best(s, step, 0, 1);
    if (over) {
        s->end = SEARCH_TIME;
        return;
    }
    drop_slowest(s, half > KEPT ? half : KEPT);
    s->stage++;
    s->stage_from = s->rounds;
    s->stage_seconds = seconds;
    if (search_count(s, SEARCH_IN) <= KEPT) {
        s->stage = s->stages;
        begin_final(s, seconds);
    }
}

static void look(struct search *s, const double *const *step, int over)
{
    size_t made = s->rounds - s->stage_from;
    int is_due = s->looks && made >= LEAST_ROUNDS && made % (made / 20 + 1) == 0;
    if (!over && !is_due)
        return;
    compare(s, step);
    if (search_count(s, SEARCH_IN) == 1)
        s->end = SEARCH_BEST;
    else if (all_are_close(s))
        s->end = SEARCH_WITHIN;
    else
        s->end = over ? SEARCH_TIME : SEARCH_GOES_ON;
}

void search_round(struct search *s, const double *const *step, size_t rounds, double seconds)
{
    s->rounds = rounds;
    s->seconds = seconds;
    s->blocks += (size_t)running(s);
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN || s->row[i].state == SEARCH_CONTROL) {
            s->row[i].from = s->final ? s->stage_from : 0;
            s->row[i].to = rounds;
        }
    double round = seconds / (double)s->blocks * running(s); /* estimated seconds of the next round */
    int over = seconds + round > s->limit;
    if (s->final) {
        look(s, step, over);
        return;
    }
    int stages = s->stages - s->stage > 1 ? s->stages - s->stage : 1;
    double budget = (halving_share * s->limit - s->stage_seconds) / stages;
    if (over || rounds - s->stage_from >= STAGE_ROUNDS || seconds + round - s->stage_seconds > budget)
        end_stage(s, step, over, seconds);
}
