/* link_model.c - cuts a sweep of collective times into the regimes that it shows, and fits a line to each. */
#include "allreduce/link_model.h"

#include "allreduce/link_line.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

/* ---- cuts ---- */

struct sweep {
    size_t n, sizes;
    struct link_point *point; /* [n], sorted by bytes */
    size_t *start;            /* [sizes + 1] the first point of each different size; n */
};

/* The best way to cut the sizes [0, end) into k regimes, by dynamic programming as Bai and Perron (Computation and
 * analysis of multiple structural change models, J. Appl. Econometrics 18 (2003) 1-22). */
struct cuts {
    double *squares[LINK_REGIMES + 1]; /* [k][end] the squared residuals that it leaves; INFINITY: too few sizes */
    size_t *last[LINK_REGIMES + 1];    /* [k][end] the first size of its last regime */
};

static void cuts_create(struct cuts *cuts, size_t sizes)
{
    for (int k = 0; k <= LINK_REGIMES; k++) {
        cuts->squares[k] = allocate(sizes + 1, sizeof *cuts->squares[k]);
        cuts->last[k] = allocate(sizes + 1, sizeof *cuts->last[k]);
    }
}

static void cuts_destroy(struct cuts *cuts)
{
    for (int k = 0; k <= LINK_REGIMES; k++) {
        free(cuts->squares[k]);
        free(cuts->last[k]);
    }
}

static void cuts_find(struct cuts *cuts, const struct sweep *sweep)
{
    for (int k = 0; k <= LINK_REGIMES; k++)
        for (size_t end = 0; end <= sweep->sizes; end++)
            cuts->squares[k][end] = k == 0 && end == 0 ? 0 : INFINITY;
    for (size_t end = LINK_SIZES; end <= sweep->sizes; end++) {
        struct link_sums sums = {0};
        for (size_t begin = end; begin-- > 0;) {
            for (size_t i = sweep->start[begin]; i < sweep->start[begin + 1]; i++)
                link_sums_add(&sums, &sweep->point[i]);
            double left = end - begin < LINK_SIZES ? INFINITY : link_line_left(&sums);
            for (int k = 1; k <= LINK_REGIMES; k++)
                if (cuts->squares[k - 1][begin] + left < cuts->squares[k][end]) {
                    cuts->squares[k][end] = cuts->squares[k - 1][begin] + left;
                    cuts->last[k][end] = begin;
                }
        }
    }
}

/* The points [border[i], border[i + 1]) are regime i of the best k. */
static void cuts_borders(const struct cuts *cuts, const struct sweep *sweep, int k, size_t border[LINK_REGIMES + 1])
{
    size_t end = sweep->sizes;
    border[k] = sweep->n;
    for (int r = k - 1; r >= 0; r--) {
        end = cuts->last[r + 1][end];
        border[r] = sweep->start[end];
    }
}

/* ---- how many regimes ---- */

/* What k regimes leave of the squares that k - 1 leave, in [0, 1]; with 0.5 % more residual on every point, as clocks
 * and schedulers make, so that exact times need no regime for a bend far below that. */
static double share_left(const struct cuts *cuts, const struct sweep *sweep, int k)
{
    double noise = (double)sweep->n * 0.005 * 0.005;
    return (cuts->squares[k][sweep->sizes] + noise) / (cuts->squares[k - 1][sweep->sizes] + noise);
}

/* P-value of that share by the F test for the two numbers of the added regime, (n - 2k) / 2 being half its degrees of
 * freedom: I_x(a, 1) = x^a (NIST DLMF 8.17). Times the number of ways to cut (Bonferroni). */
static double f_test(const struct sweep *sweep, double share, int k)
{
    double spare = (double)sweep->sizes - k * LINK_SIZES;
    double ways = k == 2 ? spare + 1 : (spare + 1) * (spare + 2) / 2;
    return ways * pow(share, (double)sweep->n / 2 - k);
}

/* A sweep as the k regimes could have left it: each point keeps how far it is from its regime's line, on a random side
 * of it. */
static void draw_sweep(struct sweep *drawn, const struct sweep *sweep, const struct cuts *cuts, int k, uint64_t *random)
{
    size_t border[LINK_REGIMES + 1];
    cuts_borders(cuts, sweep, k, border);
    for (int r = 0; r < k; r++) {
        struct link_line line = link_line_fit(&sweep->point[border[r]], border[r + 1] - border[r]);
        for (size_t i = border[r]; i < border[r + 1]; i++) {
            struct link_point p = sweep->point[i];
            double seconds = link_line_seconds(&line, p.bytes);
            if (random_bits(*random += RANDOM_STEP) >> 63)
                p.seconds = seconds * (seconds / p.seconds);
            drawn->point[i] = p;
        }
    }
}

/* P-value of the same share by a wild bootstrap (Davidson and Flachaire, The wild bootstrap, tamed at last,
 * J. Econometrics 146 (2008) 162-169): small messages that are noisier than large ones, or one late point, spoil the F
 * test, but not this one. Stops where it is above level. */
static double bootstrap(const struct sweep *sweep, const struct cuts *cuts, int k, double level)
{
    enum { DRAWS = 199 };
    struct sweep drawn = *sweep;
    struct cuts of_drawn;
    double share = share_left(cuts, sweep, k);
    uint64_t random = 0;
    int reached = 1;
    drawn.point = allocate(sweep->n, sizeof *drawn.point);
    cuts_create(&of_drawn, sweep->sizes);
    for (int i = 0; i < DRAWS && reached <= level * (DRAWS + 1); i++) {
        draw_sweep(&drawn, sweep, cuts, k - 1, &random);
        cuts_find(&of_drawn, &drawn);
        reached += share_left(&of_drawn, &drawn, k) <= share;
    }
    cuts_destroy(&of_drawn);
    free(drawn.point);
    return (double)reached / (DRAWS + 1);
}

/* Whether k regimes are shown over k - 1. */
static int are_shown(const struct sweep *sweep, const struct cuts *cuts, int k)
{
    const double level = 0.01, bootstrap_level = 0.05;
    return sweep->sizes >= (size_t)k * LINK_SIZES && f_test(sweep, share_left(cuts, sweep, k), k) <= level &&
           bootstrap(sweep, cuts, k, bootstrap_level) <= bootstrap_level;
}

/* Three may be shown where two are not: when the middle one alone differs. */
static int regimes_shown(const struct sweep *sweep, const struct cuts *cuts)
{
    for (int k = LINK_REGIMES; k > 1; k--)
        if (are_shown(sweep, cuts, k))
            return k;
    return 1;
}

/* ---- the model ---- */

/* Adds the residuals of p[n] to those of `points` points so far. */
static void add_residuals(struct link_residuals *r, size_t points, const struct link_line *line,
                          const struct link_point *p, size_t n)
{
    double squares = r->rms * r->rms * (double)points + link_line_squares(line, p, n);
    r->rms = sqrt(squares / (double)(points + n));
    for (size_t i = 0; i < n; i++) {
        double residual = link_line_residual(line, &p[i]);
        if (fabs(residual) > fabs(r->largest) || points + i == 0) {
            r->largest = residual;
            r->largest_at_bytes = p[i].bytes;
        }
    }
}

static void add_regime(struct link_model *model, const struct link_point *p, size_t n)
{
    struct link_line line = link_line_fit(p, n), low, high;
    link_line_intervals(p, n, &low, &high);
    struct link_regime *regime = &model->regime[model->regimes++];
    *regime = (struct link_regime){
        .from_bytes = p[0].bytes,
        .to_bytes = p[n - 1].bytes,
        .points = n,
        .latency_s = line.latency,
        .latency_low_s = low.latency,
        .latency_high_s = high.latency,
        .bandwidth = 1 / line.slope, /* of 0: INFINITY */
        .bandwidth_low = 1 / high.slope,
        .bandwidth_high = 1 / low.slope,
    };
    add_residuals(&regime->residuals, 0, &line, p, n);
    add_residuals(&model->residuals, model->points, &line, p, n);
    model->points += n;
}

static int by_bytes(const void *a, const void *b)
{
    const struct link_point *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void sweep_create(struct sweep *sweep, const double *bus_bytes, const double *seconds, size_t n)
{
    *sweep = (struct sweep){.n = n};
    sweep->point = allocate(n + 1, sizeof *sweep->point);
    sweep->start = allocate(n + 1, sizeof *sweep->start);
    for (size_t i = 0; i < n; i++)
        sweep->point[i] = (struct link_point){bus_bytes[i], seconds[i]};
    qsort(sweep->point, n, sizeof *sweep->point, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || sweep->point[i].bytes > sweep->point[i - 1].bytes)
            sweep->start[sweep->sizes++] = i;
    sweep->start[sweep->sizes] = n;
}

static struct link_model model_of(const struct sweep *sweep)
{
    struct link_model model = {.sizes = sweep->sizes};
    struct cuts cuts;
    size_t border[LINK_REGIMES + 1];
    cuts_create(&cuts, sweep->sizes);
    cuts_find(&cuts, sweep);
    int regimes = regimes_shown(sweep, &cuts);
    cuts_borders(&cuts, sweep, regimes, border);
    for (int r = 0; r < regimes; r++)
        add_regime(&model, &sweep->point[border[r]], border[r + 1] - border[r]);
    cuts_destroy(&cuts);
    return model;
}

int link_model_fit(struct link_model *model, const double *bus_bytes, const double *seconds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(bus_bytes[i] > 0 && seconds[i] > 0 && isfinite(bus_bytes[i]) && isfinite(seconds[i])))
            return -1;
    struct sweep sweep;
    sweep_create(&sweep, bus_bytes, seconds, n);
    int enough = sweep.sizes >= LINK_SIZES;
    if (enough)
        *model = model_of(&sweep);
    free(sweep.point);
    free(sweep.start);
    return enough ? 0 : -1;
}
