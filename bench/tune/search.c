/* search.c - successive halving over candidates. */
#include "tune/search.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum {
    KEPT = 4,         /* go into the final, at most */
    STAGE_ROUNDS = 8, /* of halving, at most */
    LEAST_ROUNDS = 8, /* of a final that may end early, and between two looks a twentieth of those made */
    FEW_ROUNDS = 20,  /* a final that has time for fewer has one look, at its end, whose intervals are narrower then */
    SHORT_FINAL = 3,  /* rounds; with less time there is none */
    FEW_SIZES = 4     /* are not thinned out */
};
static const double halving_share = 0.4; /* of the time */
static const double close = 1.01;        /* within 1 % of the best */

int search_count(const struct search *s, enum search_state state)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->row[i].state == state;
    return n;
}

int search_running(const struct search *s)
{
    return search_count(s, SEARCH_IN) + search_count(s, SEARCH_CONTROL);
}

/* Halvings until at most KEPT of n are left. */
static int stages_of(int n)
{
    int stages = 0;
    for (; n > KEPT; stages++)
        n = (n + 1) / 2;
    return stages;
}

void search_begin(struct search *s, double limit, double block_seconds)
{
    s->limit = limit;
    s->best = -1;
    for (int i = 0; i < s->n; i++)
        s->row[i].against.paired.ratio = NAN;
    int controls = search_count(s, SEARCH_CONTROL), sizes = 0;
    for (int i = 0; i < s->n; i++)
        sizes += s->row[i].has_size && s->row[i].state == SEARCH_IN;
    for (int left = sizes; left > FEW_SIZES; left = (left + 1) / 2) {
        /* a round of each stage takes twice the blocks of its first one, about; and a short final */
        int in = search_count(s, SEARCH_IN),
            blocks = 2 * in + stages_of(in) * controls + SHORT_FINAL * (KEPT + controls);
        if (blocks * block_seconds <= limit)
            break;
        for (int i = 0, size = 0; i < s->n; i++)
            if (s->row[i].has_size && s->row[i].state == SEARCH_IN && size++ % 2)
                s->row[i].state = SEARCH_LEFT_OUT;
    }
    s->stages = stages_of(search_count(s, SEARCH_IN));
}

/* ---- comparisons ---- */

/* The rows that are in, and their samples in the rounds from one on, which they all have: each divided by the median of
 * all in its round, so that a drift of the machine, which ratios of two rows leave out, does not choose the best. */
struct field {
    int k, number[SEARCH_ROWS];
    size_t n;
    double *sample[SEARCH_ROWS]; /* [k][n] */
};

static struct field field_of(const struct search *s, const double *const *step, size_t from)
{
    struct field field = {.n = s->rounds - from};
    double now[SEARCH_ROWS];
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN) {
            field.sample[field.k] = allocate(field.n, sizeof(double));
            field.number[field.k++] = i;
        }
    for (size_t r = 0; r < field.n; r++) {
        for (int j = 0; j < field.k; j++)
            now[j] = step[field.number[j]][from + r];
        double middle = stats_median(now, (size_t)field.k);
        for (int j = 0; j < field.k; j++)
            field.sample[j][r] = now[j] / middle;
    }
    return field;
}

static void field_release(struct field *field)
{
    for (int j = 0; j < field->k; j++)
        free(field->sample[j]);
}

/* Ranks those that are in by the medians of all rounds. */
static void rank(struct search *s, const double *const *step)
{
    struct field field = field_of(s, step, 0);
    double least = INFINITY;
    for (int j = 0; j < field.k; j++) {
        double median = stats_median(field.sample[j], field.n);
        s->best = median < least ? field.number[j] : s->best;
        least = fmin(least, median);
        s->row[field.number[j]].against = (struct against_best){.paired = {median, NAN, NAN, 1, field.n}};
    }
    for (int j = 0; j < field.k; j++)
        s->row[field.number[j]].against.paired.ratio /= least;
    field_release(&field);
}

/* Compares those that are in by the rounds of the final; what is slower is dropped. */
static void compare(struct search *s, const double *const *step)
{
    struct field field = field_of(s, step, s->stage_from);
    struct against_best against[SEARCH_ROWS] = {{.paired = {.ratio = 1}}};
    const double *sample[SEARCH_ROWS] = {0};
    for (int j = 0; j < field.k; j++)
        sample[j] = field.sample[j];
    s->best = field.number[field.k > 1 ? best_of(sample, field.k, field.n, s->looks, against) : 0];
    for (int j = 0; j < field.k; j++) {
        s->row[field.number[j]].against = against[j];
        if (against[j].slower)
            s->row[field.number[j]].state = SEARCH_SLOWER;
    }
    field_release(&field);
}

/* Until only so many are in: the slowest. */
static void drop_slowest(struct search *s, int left)
{
    for (int in = search_count(s, SEARCH_IN); in > left; in--) {
        int slowest = s->best; /* until another one is looked at */
        for (int i = 0; i < s->n; i++)
            if (s->row[i].state == SEARCH_IN && i != s->best &&
                (slowest == s->best || s->row[i].against.paired.ratio > s->row[slowest].against.paired.ratio))
                slowest = i;
        s->row[slowest].state = SEARCH_DROPPED;
    }
}

static int all_are_close(const struct search *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN && i != s->best && !(s->row[i].against.paired.ci_high <= close))
            return 0;
    return 1;
}

/* ---- stages ---- */

static int has_not_run(const struct search *s, int i)
{
    return i >= 0 && i < s->n && s->row[i].has_size &&
           (s->row[i].state == SEARCH_RESERVE || s->row[i].state == SEARCH_LEFT_OUT);
}

/* Takes in, below and above the best size, the one in the middle of those between it and the next that has run. */
static void take_neighbours(struct search *s)
{
    for (int side = -1; side <= 1 && s->row[s->best].has_size; side += 2) {
        int apart = 1;
        while (has_not_run(s, s->best + side * apart))
            apart++;
        if (apart > 1)
            s->row[s->best + side * (apart / 2)].state = SEARCH_IN;
    }
}

static void begin_final(struct search *s, double seconds)
{
    double block = seconds / (double)s->blocks, left = s->limit - seconds;
    if (left < SHORT_FINAL * block * search_running(s)) {
        s->end = SEARCH_TIME;
        return;
    }
    if (left >= LEAST_ROUNDS * block * (search_running(s) + 2))
        take_neighbours(s);
    s->final = 1;
    s->looks = left >= FEW_ROUNDS * block * search_running(s);
}

static void end_stage(struct search *s, const double *const *step, int over, double seconds)
{
    int half = (search_count(s, SEARCH_IN) + 1) / 2;
    rank(s, step);
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
    s->blocks += (size_t)search_running(s);
    for (int i = 0; i < s->n; i++)
        if (s->row[i].state == SEARCH_IN || s->row[i].state == SEARCH_CONTROL) {
            s->row[i].from = s->final ? s->stage_from : 0;
            s->row[i].to = rounds;
        }
    double round = seconds / (double)s->blocks * search_running(s); /* the next one */
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
