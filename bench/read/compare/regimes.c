/* regimes.c - watches the figures of a series of nights together. */
#include "compare/regimes.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* The figures while they are watched. */
struct state {
    const struct watch *watch;
    struct regimes *regimes;
    struct evidence *evidence; /* [figures] */
    double left;               /* 1 - the sum of the weights */
};

static void begin_level(struct state *s, size_t f)
{
    s->evidence[f] = (struct evidence){0};
    s->regimes->level[f].n = 0;
    s->regimes->level[f].evidence = 1;
}

static void begin_regime(struct state *s)
{
    s->left = 1;
    for (size_t f = 0; f < s->watch->figures; f++) {
        begin_level(s, f);
        s->regimes->level[f].weight = 0;
    }
}

/* Gives weights to the figures whose first night this is. */
static void weigh_new(struct state *s, size_t t)
{
    const struct watch *w = s->watch;
    size_t new = 0;
    for (size_t f = 0; f < w->figures; f++)
        new += !isnan(w->figure[f].y[t]) && s->regimes->level[f].weight == 0;
    double weight = new ? s->left / 2 / (double)new : 0;
    for (size_t f = 0; f < w->figures; f++)
        if (!isnan(w->figure[f].y[t]) && s->regimes->level[f].weight == 0)
            s->regimes->level[f].weight = weight;
    s->left = new ? s->left / 2 : s->left;
}

/* Adds night t to the figures. Returns the joint evidence. */
static double add_night(struct state *s, size_t t)
{
    const struct watch *w = s->watch;
    double joint = 0;
    weigh_new(s, t);
    for (size_t f = 0; f < w->figures; f++) {
        const struct watched *figure = &w->figure[f];
        struct level *level = &s->regimes->level[f];
        if (figure->begins[t])
            begin_level(s, f);
        if (!isnan(figure->y[t])) {
            level->night[level->n] = t;
            level->y[level->n++] = w->direction * figure->y[t];
            evidence_add(&s->evidence[f],
                         evidence_rank(level->y, level->n, evidence_uniform(figure->name, w->night[t])));
            level->evidence = evidence_value(&s->evidence[f]);
        }
        joint += level->weight * level->evidence;
    }
    return joint + s->left;
}

static void add_change(struct state *s, size_t f, size_t t, int named)
{
    struct regimes *r = s->regimes;
    const struct level *level = &r->level[f];
    double seed = evidence_uniform(s->watch->figure[f].name, "first night");
    struct first_night first = evidence_first_night(level->y, level->n, seed);
    struct measured shift = evidence_shift(level->y, first.first, level->y + first.first, level->n - first.first);
    int up = s->watch->direction > 0;
    r->change = allocate_more(r->change, r->changes, sizeof *r->change);
    r->change[r->changes++] = (struct change){f,
                                              t,
                                              level->night[first.first],
                                              level->night[first.low],
                                              level->night[first.high],
                                              first.first,
                                              up ? shift : (struct measured){-shift.value, -shift.high, -shift.low},
                                              named};
}

/* Describes the figures that night t found to have changed: those that closed testing names or, if there are none, the
 * one with the most evidence. */
static void describe(struct state *s, size_t t)
{
    const struct regimes *r = s->regimes;
    size_t n = s->watch->figures, most = 0, named = 0;
    double *value = allocate(2 * n, sizeof *value), *weight = value + n;
    for (size_t f = 0; f < n; f++) {
        value[f] = r->level[f].evidence;
        weight[f] = r->level[f].weight;
        most = value[f] > value[most] ? f : most;
    }
    for (size_t f = 0; f < n; f++)
        if (evidence_names(value, weight, n, f)) {
            add_change(s, f, t, 1);
            named++;
        }
    if (!named)
        add_change(s, most, t, 0);
    free(value);
}

void regimes_create(struct regimes *regimes, const struct watch *watch)
{
    struct state s = {watch, regimes, allocate(watch->figures + 1, sizeof *s.evidence), 1};
    *regimes = (struct regimes){.evidence = allocate(watch->nights + 1, sizeof *regimes->evidence),
                                .begins = allocate(watch->nights + 1, sizeof *regimes->begins),
                                .level = allocate(watch->figures + 1, sizeof *regimes->level),
                                .figures = watch->figures};
    for (size_t f = 0; f < watch->figures; f++) {
        regimes->level[f].y = allocate(watch->nights + 1, sizeof(double));
        regimes->level[f].night = allocate(watch->nights + 1, sizeof(size_t));
    }
    regimes->begins[0] = 1;
    for (size_t t = 0; t < watch->nights; t++) {
        regimes->begins[t] |= watch->anew[t];
        if (regimes->begins[t])
            begin_regime(&s);
        regimes->evidence[t] = add_night(&s, t);
        if (regimes->evidence[t] >= EVIDENCE_ALARM) {
            describe(&s, t);
            regimes->begins[t + 1] = 1;
        }
    }
    free(s.evidence);
}

void regimes_destroy(struct regimes *regimes)
{
    for (size_t f = 0; f < regimes->figures; f++) {
        free(regimes->level[f].y);
        free(regimes->level[f].night);
    }
    free(regimes->change);
    free(regimes->evidence);
    free(regimes->begins);
    free(regimes->level);
    *regimes = (struct regimes){0};
}
