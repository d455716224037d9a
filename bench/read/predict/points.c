/* points.c - predicts steps: replays of the run's rounds with the times of a link. */
#include "predict/points.h"

#include "base/stats.h"
#include "kernels/error.h"
#include "kernels/random.h"

#include <math.h>
#include <stdlib.h>

/* ---- the run's own steps ---- */

/* Replays a row's rounds; their steps go to step[rounds], unless that is NULL. Adds to *hidden the seconds in which
 * communication was hidden. Returns the sum of the squared logarithms of replayed / measured step. */
static double replay_rounds(const struct trained *t, const struct trained_row *row, struct replay_overlap overlap,
                            double *step, double *hidden)
{
    struct replay_plan plan = row->plan;
    double squares = 0;
    for (size_t r = 0; r < t->profile.steps; r++, plan.bucket += plan.n) {
        struct replay_step of = replay(&t->profile.step[r], &plan, overlap, NULL);
        if (step)
            step[r] = of.step;
        *hidden += of.hidden;
        squares += pow(log(of.step / row->step[r]), 2);
    }
    return squares;
}

/* Tries a progress of 100 %, 99 %, ..., 10 %, each with the slowdown that gives the measured extra time of forward and
 * backward. Returns the pair whose replayed steps are closest to the measured ones (least squares of logarithms). */
static struct replay_overlap find_overlap(const struct trained *t)
{
    struct replay_overlap best = {0, 1};
    double extra = 0, least = INFINITY;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t r = 0; r < t->profile.steps && !t->row[i].plan.after_backward; r++)
            extra += t->row[i].computing[r] - t->row[t->rows].computing[r];
    for (int percent = 100; percent >= 10; percent--) {
        struct replay_overlap o = {0, percent / 100.0};
        double squares = 0, part = 0;
        for (int turn = 0; turn < 5; turn++) { /* the slowdown depends on what is hidden, which depends on it */
            double hidden = 0;
            o.slowdown = part / (1 - part);
            squares = 0;
            for (size_t i = 0; i < t->rows; i++)
                if (!t->row[i].plan.after_backward)
                    squares += replay_rounds(t, &t->row[i], o, NULL, &hidden);
            part = hidden > 0 ? fmin(0.9, fmax(0, extra / hidden)) : 0;
        }
        if (squares < least) {
            least = squares;
            best = o;
        }
    }
    return best;
}

void points_replay(struct points_model *model)
{
    const struct trained *t = &model->trained;
    double *step = allocate(t->profile.steps, sizeof *step), unused = 0, squares = 0, of_means = 0;
    model->overlap = find_overlap(t);
    for (struct trained_row *row = t->row; row < t->row + t->rows; row++) {
        squares += replay_rounds(t, row, model->overlap, step, &unused);
        row->measured = stats_geometric(row->step, t->profile.steps).median;
        row->replayed = stats_geometric(step, t->profile.steps).median;
        row->error = row->replayed / row->measured - 1;
        of_means += pow(log1p(row->error), 2) / (double)t->rows;
        model->overlaps |= !row->plan.after_backward;
    }
    t->row[t->rows].measured = stats_geometric(t->row[t->rows].step, t->profile.steps).median;
    model->speed = 1;
    model->drift = stats_log_ratio(t->row[t->rows].step, NULL, t->profile.steps).error * sqrt((double)t->profile.steps);
    model->error = t->rows ? sqrt(squares / (double)(t->profile.steps * t->rows)) : 0;
    model->mean_error = sqrt(of_means + pow(model->error, 2) / (double)t->profile.steps);
    free(step);
}

/* ---- a point: its computation and its plan ---- */

/* Returns the mean of the largest of n standard normal numbers. */
static double largest_normal(size_t n)
{
    return stats_t_quantile(((double)n - 0.375) / ((double)n + 0.25), 1e9);
}

/* Returns the factor of all times of computation: `speed` x the slowest of `ranks` ranks / the slowest of the run's. */
static double slowness(const struct points_model *m, size_t ranks)
{
    double spread = isfinite(m->trained.spread) ? m->trained.spread : 0;
    return m->speed * exp(spread * (largest_normal(ranks) - largest_normal(m->trained.ranks)));
}

/* Sets the times of the buckets' collectives: on model->intra within hosts, else on `link`; multiplied by `factor`.
 * Returns how they were obtained: the least certain one's basis. */
static enum link_basis time_plan(const struct points_model *model, const struct point *p, const struct link *link,
                                 double factor, struct replay_plan *plan)
{
    const struct traits *traits = p->strategy->traits[p->variant];
    int is_staged = traits->staged && model->ranks_per_host > 1;
    size_t local = is_staged ? model->ranks_per_host : 1;
    enum link_basis basis = LINK_MEASURED;
    for (struct replay_bucket *b = plan->bucket; b < plan->bucket + plan->n; b++) {
        enum comm_kind kind = traits->shards ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE;
        b->reduce = factor * link_seconds(link, kind, p->ranks / local, b->bytes, &basis);
        if (traits->shards)
            b->gather = factor * link_seconds(link, COMM_ALL_GATHER, p->ranks, plan->gather_share * b->bytes, &basis);
        if (is_staged)
            b->within = factor * (link_seconds(&model->intra, COMM_REDUCE_SCATTER, local, b->bytes, &basis) +
                                  link_seconds(&model->intra, COMM_ALL_GATHER, local, b->bytes, &basis));
    }
    return basis;
}

void points_plan(const struct points_model *model, const struct point *p, struct replay_plan *plan,
                 struct step_compute *compute)
{
    const struct trained *t = &model->trained;
    *plan = trained_cut(t, p->strategy, p->variant, &p->caps, p->ranks);
    time_plan(model, p, &model->link, 1, plan);
    *compute = (struct step_compute){.ready = allocate((size_t)t->profile.tensors, sizeof *compute->ready)};
    for (size_t r = 0; r < t->profile.steps; r++)
        step_compute_add(compute, &t->profile.step[r], slowness(model, p->ranks) / (double)t->profile.steps, 1);
}

/* Returns the seconds of a step without communication, in which a rank does its share of the update. */
static double compute_seconds(const struct step_compute *compute, const struct replay_plan *plan)
{
    return compute->backward_end + compute->update * plan->update_share + compute->rest;
}

/* Returns what shortens a point's step most if it is twice as good. Overwrites the times of the plan's buckets. */
static const char *find_limit(const struct points_model *m, const struct point *p, const struct step_compute *compute,
                              struct replay_plan *plan)
{
    static const char *const name[] = {"bandwidth", "latency", "stragglers"};
    double least = 0.98 * p->at.step;
    const char *limit = "computation";
    for (int i = 0; i < 3; i++) {
        struct link better = m->link;
        better.bandwidth_scale *= i == 0 ? 2 : 1;
        better.latency_scale /= i == 1 ? 2 : 1;
        time_plan(m, p, &better, 1, plan);
        double step = i == 2 ? p->at.step - p->compute * (1 - 1 / sqrt(slowness(m, p->ranks) / slowness(m, 1)))
                             : replay(compute, plan, m->overlap, NULL).step;
        limit = step < least ? name[i] : limit;
        least = fmin(least, step);
    }
    return limit;
}

void points_bandwidths(const struct points_model *model, struct point *p)
{
    static const double share[POINT_SHARES] = {0.5, 0.75, 0.9, 0.95, 0.99};
    const double least = 1e3, most = 1e15;
    struct replay_plan plan;
    struct step_compute compute;
    struct link link = model->link;
    const double busbw = link.fitted_bandwidth / link.bandwidth; /* of the sweep's ranks */
    points_plan(model, p, &plan, &compute);
    for (int i = 0; i < POINT_SHARES; i++) {
        double low = log(least), high = log(most);
        for (int halvings = 40; halvings; halvings--) {
            double middle = (low + high) / 2;
            link.bandwidth_scale = exp(middle) / link.bandwidth;
            time_plan(model, p, &link, 1, &plan);
            double step = replay(&compute, &plan, model->overlap, NULL).step;
            *(compute_seconds(&compute, &plan) >= share[i] * step ? &high : &low) = middle;
        }
        p->bandwidth[i] = high < log(most) ? exp(high) * busbw : INFINITY;
    }
    free(plan.bucket);
    free(compute.ready);
}

/* ---- intervals ---- */

/* Returns a number uniform in (0, 1), the same for the same stream and number. */
static double uniform(uint64_t stream, uint64_t number)
{
    return ((double)(random_bits(random_bits(stream * RANDOM_STEP) + number * RANDOM_STEP) >> 12) + 0.5) * 0x1p-52;
}

static double normal(uint64_t stream, uint64_t number)
{
    return sqrt(-2 * log(uniform(stream, 2 * number))) * cos(2 * 3.14159265358979324 * uniform(stream, 2 * number + 1));
}

enum { RESAMPLES = 1000 };
enum { STREAM_ROUNDS, STREAM_LINK, STREAM_DRIFT, STREAM_REPLAY }; /* of random numbers; then a stream for each point */

/* Fills replayed[rounds] with the logarithms of a point's steps, and sets the members that follow from the replay.
 * Returns by how much the logarithm of the step grows if all times of the link are one standard deviation longer. */
static double replay_point(const struct points_model *m, struct point *p, double *replayed)
{
    const struct trained *t = &m->trained;
    struct replay_plan plan;
    struct step_compute compute;
    double longer[2];
    points_plan(m, p, &plan, &compute);
    p->buckets = (size_t)plan.n;
    p->compute = compute_seconds(&compute, &plan);
    p->at = replay(&compute, &plan, m->overlap, NULL);
    p->efficiency = p->compute / p->at.step;
    p->attainable = replay(&compute, &plan, (struct replay_overlap){0, 1}, NULL).step;
    p->sum = p->compute + p->at.communication;
    p->limit = find_limit(m, p, &compute, &plan);
    for (int i = 0; i < 2; i++) {
        time_plan(m, p, &m->link, exp((1 - 2 * i) * m->link.error), &plan);
        longer[i] = log(replay(&compute, &plan, m->overlap, NULL).step);
    }
    p->basis = link_basis_name[time_plan(m, p, &m->link, 1, &plan)];
    for (size_t r = 0; r < t->profile.steps; r++) {
        step_compute_add(&compute, &t->profile.step[r], slowness(m, p->ranks), 0);
        replayed[r] = replay(&compute, &plan, m->overlap, NULL).step;
    }
    p->step = stats_geometric(replayed, t->profile.steps).median;
    double *const part[] = {&p->at.slowed, &p->at.exposed, &p->at.gather_wait,
                            &p->compute,   &p->attainable, &p->sum}; /* of the mean round */
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i] *= p->step / p->at.step;
    for (size_t r = 0; r < t->profile.steps; r++)
        replayed[r] = log(replayed[r]);
    free(plan.bucket);
    free(compute.ready);
    return (longer[0] - longer[1]) / 2;
}

/* Fills sample[RESAMPLES] with log(step). In resample i, all points share rounds, the link's error and the drift. */
static void resample_point(const struct points_model *model, const double *replayed, double by_link, uint64_t stream,
                           double *sample)
{
    const struct trained_row *none = &model->trained.row[model->trained.rows];
    size_t rounds = model->trained.profile.steps;
    int calibrated = model->calibration.strategy != NULL;
    double of_machine = calibrated ? model->calibration.error : model->drift;
    for (size_t i = 0; i < RESAMPLES; i++) {
        double sum = 0;
        for (size_t r = 0; r < rounds; r++) {
            size_t drawn = (size_t)(uniform(STREAM_ROUNDS, i * rounds + r) * (double)rounds);
            sum += replayed[drawn] - calibrated * log(none->step[drawn] / none->measured);
        }
        sample[i] = sum / (double)rounds + by_link * normal(STREAM_LINK, i) + of_machine * normal(STREAM_DRIFT, i) +
                    model->mean_error * normal(STREAM_REPLAY + stream, i);
    }
}

int points_calibrate(struct points_model *m)
{
    struct calibration *c = &m->calibration;
    const struct trained *t = &m->trained;
    struct point p = {.strategy = c->strategy, .ranks = c->ranks};
    double *replayed = allocate(t->profile.steps, sizeof *replayed), waits = 0,
           step = t->row[t->rows].measured * slowness(m, c->ranks);
    if (c->strategy->traits[VARIANT_PLAIN]->reduces) {
        replay_point(m, &p, replayed);
        step = p.step;
        waits = p.at.exposed;
    }
    free(replayed);
    if (!(c->step > waits))
        return error_report("--calibrate: a step of %s takes %.2f ms, less than its all-reduce on this link, %.2f ms; "
                            "give the sweeps of the link of that run",
                            c->strategy->name, 1e3 * c->step, 1e3 * waits);
    m->speed = (c->step - waits) / (step - waits);
    c->error *= c->step / (c->step - waits);
    return 0;
}

struct point *points_shortest(struct point *point, size_t n, const struct point *of)
{
    struct point *best = NULL;
    for (struct point *p = point; p < point + n; p++)
        if ((!of || (p->strategy == of->strategy && p->variant == of->variant)) && (!best || p->step < best->step))
            best = p;
    return best;
}

void points_predict(const struct points_model *model, struct point *point, size_t n)
{
    double *replayed = allocate(model->trained.profile.steps, sizeof *replayed);
    double *sample = allocate(n * RESAMPLES, sizeof *sample), shortest[RESAMPLES];
    for (size_t p = 0; p < n; p++) {
        double *of = sample + p * RESAMPLES, by_link = replay_point(model, &point[p], replayed);
        resample_point(model, replayed, by_link, p, of);
        for (size_t i = 0; i < RESAMPLES; i++)
            shortest[i] = p ? fmin(shortest[i], of[i]) : of[i];
        point[p].low = exp(stats_quantile(of, RESAMPLES, 0.05));
        point[p].high = exp(stats_quantile(of, RESAMPLES, 0.95));
        point[p].near = 0;
        point[p].mark = "";
    }
    for (size_t i = 0; i < n * RESAMPLES; i++)
        point[i / RESAMPLES].near += sample[i] <= shortest[i % RESAMPLES] + log(1.02) ? 1.0 / RESAMPLES : 0;
    points_shortest(point, n, NULL)->mark = "*";
    free(sample);
    free(replayed);
}
