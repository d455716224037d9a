/* regimes.c - watches the figures of a series of nights together. */
#include "compare/regimes.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* Begins the levels of night t, and marks the changes before those that are accepted. */
static void begin_levels(struct regimes *r, size_t t)
{
    const int anew = r->begins[t];
    r->left = anew ? 1 : r->left;
    for (size_t f = 0; f < r->nights->figures; f++) {
        const unsigned char begins = r->nights->series[f].begins[t];
        const int accepted = r->nights->night[t].accepted || begins == LEVEL_ACCEPTED;
        struct level *level = &r->level[f];
        level->weight = anew ? 0 : level->weight;
        if (anew || begins) {
            level->n = 0;
            level->evidence = (struct evidence){0};
        }
        for (size_t i = 0; accepted && i < r->changes; i++)
            r->change[i].accepted |= r->change[i].figure == f;
    }
}

/* Gives weights to the figures whose first night this is. */
static void weigh_new(struct regimes *r, size_t t)
{
    const struct night_series *series = r->nights->series;
    size_t new = 0;
    for (size_t f = 0; f < r->nights->figures; f++)
        new += !isnan(series[f].y[t]) && r->level[f].weight == 0;
    if (!new)
        return;
    r->left /= 2;
    for (size_t f = 0; f < r->nights->figures; f++)
        if (!isnan(series[f].y[t]) && r->level[f].weight == 0)
            r->level[f].weight = r->left / (double)new;
}

/* Adds night t to the figures. Returns the joint evidence. */
static double add_night(struct regimes *r, size_t t)
{
    double joint = 0;
    for (size_t f = 0; f < r->nights->figures; f++) {
        const struct night_series *series = &r->nights->series[f];
        struct level *level = &r->level[f];
        if (!isnan(series->y[t])) {
            double u = evidence_uniform(series->name, r->nights->night[t].name);
            level->night[level->n] = t;
            level->y[level->n++] = r->direction * series->y[t];
            evidence_add(&level->evidence, evidence_rank(level->y, level->n, u));
        }
        joint += level->weight * evidence_value(&level->evidence);
    }
    return joint + r->left;
}

/* Adds the change of figure f that night t found. since: the night of its level on which it began; 0: the likeliest. */
static void add_change(struct regimes *r, size_t f, size_t t, enum change_kind kind, size_t since)
{
    const struct level *level = &r->level[f];
    const double seed = evidence_uniform(r->nights->series[f].name, "first night");
    const struct first_night night =
        since ? (struct first_night){since, since, since} : evidence_first_night(level->y, level->n, seed);
    const size_t before = night.first, *at = level->night;
    struct measured shift = evidence_shift(level->y, before, level->y + before, level->n - before);
    if (kind == CHANGE_ALSO && !(shift.low > 0))
        return;
    if (r->direction < 0)
        shift = (struct measured){-shift.value, -shift.high, -shift.low};
    r->change = allocate_more(r->change, r->changes, sizeof *r->change);
    r->change[r->changes++] = (struct change){f, t, at[before], at[night.low], at[night.high], shift, kind, 0};
}

/* Adds the figures that moved since the first night of r->change[from], too, and are not among r->change[from..]. */
static void add_others(struct regimes *r, size_t from, size_t t)
{
    const size_t known = r->changes;
    for (size_t f = 0; f < r->nights->figures; f++) {
        const struct level *level = &r->level[f];
        size_t i = from, k = 0;
        while (i < known && r->change[i].figure != f)
            i++;
        while (k < level->n && level->night[k] < r->change[from].first)
            k++;
        if (i == known && k > 0 && k < level->n && evidence_value(&level->evidence) > 1)
            add_change(r, f, t, CHANGE_ALSO, k);
    }
}

/* Describes the figures that night t found to have changed: those that closed testing names or, if there are none, the
 * one with the most evidence; and those that moved with the first of them. A figure with one night has no night before
 * a change. Returns whether there is any. */
static int describe(struct regimes *r, size_t t)
{
    const size_t n = r->nights->figures, before = r->changes;
    double *value = allocate(2 * n, sizeof *value), *weight = value + n;
    size_t most = 0;
    for (size_t f = 0; f < n; f++) {
        value[f] = evidence_value(&r->level[f].evidence);
        weight[f] = r->level[f].weight;
        most = value[f] > value[most] ? f : most;
    }
    for (size_t f = 0; f < n; f++)
        if (r->level[f].n > 1 && evidence_names(value, weight, n, f))
            add_change(r, f, t, CHANGE_NAMED, 0);
    if (r->level[most].n > 1 && r->changes == before)
        add_change(r, most, t, CHANGE_LIKELY, 0);
    free(value);
    if (r->changes > before)
        add_others(r, before, t);
    return r->changes > before;
}

void regimes_create(struct regimes *regimes, const struct nights *nights, int direction, const unsigned char *begins)
{
    const size_t n = nights->n, figures = nights->figures;
    *regimes = (struct regimes){.nights = nights,
                                .direction = direction,
                                .evidence = allocate(n, sizeof(double)),
                                .begins = allocate(n + 1, 1),
                                .level = allocate(figures, sizeof(struct level))};
    for (size_t f = 0; f < figures; f++) {
        regimes->level[f].y = allocate(n, sizeof(double));
        regimes->level[f].night = allocate(n, sizeof(size_t));
    }
    regimes->begins[0] = 1;
    for (size_t t = 0; t < n; t++) {
        regimes->begins[t] |= (unsigned char)(nights->night[t].accepted || (begins && begins[t]));
        begin_levels(regimes, t);
        weigh_new(regimes, t);
        regimes->evidence[t] = add_night(regimes, t);
        if (regimes->evidence[t] >= EVIDENCE_ALARM)
            regimes->begins[t + 1] = (unsigned char)describe(regimes, t);
    }
}

void regimes_destroy(struct regimes *regimes)
{
    for (size_t f = 0; regimes->nights && f < regimes->nights->figures; f++) {
        free(regimes->level[f].y);
        free(regimes->level[f].night);
    }
    free(regimes->change);
    free(regimes->evidence);
    free(regimes->begins);
    free(regimes->level);
    *regimes = (struct regimes){0};
}
