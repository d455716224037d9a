/* findings.c - where the captured steps lose time. */
#include "profile/summary.h"

#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum level level_above(double value, double warning, double high)
{
    return value > high ? LEVEL_HIGH : value > warning ? LEVEL_WARNING : LEVEL_NOTE;
}

/* Adds a finding without text or loss. percent: value of its figure; threshold: the limit that the value is beyond. */
static struct finding *add_finding(struct profile *p, const char *name, enum level level, double percent,
                                   double threshold, const char *advice)
{
    struct finding *finding = &p->finding[p->findings++];
    *finding = (struct finding){
        .level = level, .percent = percent, .threshold = threshold, .loss = {NAN, NAN, NAN}, .share = NAN};
    snprintf(finding->name, sizeof finding->name, "%s", name);
    snprintf(finding->advice, sizeof finding->advice, "%s", advice);
    return finding;
}

/* Sets a finding's loss and its share of `step`: the step time over the same steps and ranks, by the same statistic. */
static void set_loss(struct finding *finding, struct measured loss, double step)
{
    finding->loss = loss;
    finding->share = loss.value / step;
}

/* Returns `other`; but if the ranks compute on CPUs and have fewer cores than threads, advice on cores. */
static const char *advise_on_cores(const struct profile_facts *facts, const char *other)
{
    return !facts->on_gpu && facts->cores_per_rank < facts->threads
               ? "give each rank as many logical CPUs as it has threads: fewer ranks on a machine, fewer --threads, or "
                 "more machines"
               : other;
}

/* ---- shares of the step, in percent ---- */

typedef double share_of_rank(const struct rank_figure *rank);

static double minus_busy(const struct rank_figure *rank)
{
    return -100 * rank->mean.utilisation;
}

static double exposed_share(const struct rank_figure *rank)
{
    return 100 * rank->mean.exposed / rank->mean.step;
}

static double most_of(const struct profile *p, share_of_rank *share)
{
    double most = NAN;
    for (int r = 0; r < p->figures.ranks; r++)
        most = fmax(most, share(&p->figures.rank[r]));
    return most;
}

/* Appends a list such as "ranks 0, 2, 3)": the first 8 ranks whose share is above a limit, and a closing bracket. */
static void append_ranks(struct finding *finding, const struct profile *p, share_of_rank *share, double limit)
{
    int n = 0, all = 0;
    for (int r = 0; r < p->figures.ranks; r++)
        all += share(&p->figures.rank[r]) > limit;
    for (int r = 0; r < p->figures.ranks; r++)
        if (share(&p->figures.rank[r]) > limit && n++ < 8)
            finding_append(finding, "%s%d", n > 1 ? ", " : all > 1 ? "ranks " : "rank ", r);
    if (n > 8)
        finding_append(finding, " and %d more", n - 8);
    finding_append(finding, ")");
}

static void check_busy(struct profile *p)
{
    double threshold = p->options->thresholds.busy, least = -most_of(p, minus_busy);
    if (!(least < threshold))
        return;
    struct finding *finding =
        add_finding(p, "idle device", least < threshold * 5 / 7 ? LEVEL_HIGH : LEVEL_WARNING, least, threshold,
                    "see in the table of phases what takes the rest; a larger --batch-size raises the share of "
                    "computation, overlap and a faster link lower the share of communication");
    finding_append(finding,
                   "operations ran in only %.1f %% of the step on the least busy rank (threshold %g %%; below it: ",
                   least, threshold);
    append_ranks(finding, p, minus_busy, -threshold);
}

static void check_data(struct profile *p)
{
    const struct phase_figure *loading = &p->figures.phase[PHASE_DATA_LOADING];
    double threshold = p->options->thresholds.data_loading, value = 100 * loading->share;
    double limit = value > threshold ? threshold : threshold / 3;
    if (!(value > limit))
        return;
    struct finding *finding =
        add_finding(p, "data loading", level_above(value, threshold, threshold * 5 / 3), value, limit,
                    p->facts.has_synthetic_data
                        ? "the --data-workers, which make the synthetic batches, need cores of their own: use "
                          "fewer --threads or ranks"
                        : "put --data on a faster disk, use more --data-workers, or train longer on "
                          "each batch");
    set_loss(finding, (struct measured){loading->mean, NAN, NAN}, p->figures.phase[PHASES].mean);
    finding_append(finding, "data loading takes %.1f %% of the step (threshold %g %%; mean over all ranks)", value,
                   limit);
}

static void check_memory(struct profile *p)
{
    const struct profile_facts *facts = &p->facts;
    int sharing = facts->on_gpu ? 1 : facts->machine_ranks;
    double threshold = p->options->thresholds.memory;
    double value = 100 * (double)facts->peak_bytes * sharing / (double)facts->memory_bytes;
    if (!facts->memory_bytes || !(value > threshold))
        return;
    struct finding *finding = add_finding(p, "little memory left", LEVEL_WARNING, value, threshold,
                                          "use a smaller --batch-size or --context-length, or --grad-accumulation");
    if (facts->on_gpu)
        finding_append(finding, "all processes together use %.1f %% of the memory of the fullest GPU", value);
    else
        finding_append(finding, "the %d ranks of rank 0's machine together reach %.1f %% of its memory", sharing,
                       value);
    finding_append(finding, " (threshold %g %%; the whole run)", threshold);
}

/* ---- communication ---- */

/* Returns the exposed communication of a rank, s a step, without waits for other ranks, which "straggler" counts. */
static double exposed_alone(const struct rank_figure *rank, const struct collectives *collectives)
{
    double waits = 0;
    for (int q = 0; q < collectives->ranks; q++)
        waits += collectives->stall[rank->rank * collectives->ranks + q];
    return fmax(0, rank->mean.exposed - waits);
}

/* Adds "exposed communication", or returns NULL. Its loss is the sync cost if above 0, else the most exposed_alone. */
static struct finding *check_exposed(struct profile *p)
{
    const struct collectives *collectives = &p->capture.collectives;
    const struct rank_figure *ranks = p->figures.rank, *most = ranks, *alone = ranks;
    const struct estimate *cost = &p->controls.sync_cost;
    double threshold = p->options->thresholds.exposed, exposed = most_of(p, exposed_share), note = threshold * 3 / 4;
    for (const struct rank_figure *r = ranks; r < ranks + p->figures.ranks; r++) {
        most = r->mean.exposed / r->backward > most->mean.exposed / most->backward ? r : most;
        alone = exposed_alone(r, collectives) > exposed_alone(alone, collectives) ? r : alone;
    }
    double to_backward = 100 * most->mean.exposed / most->backward, loss = exposed_alone(alone, collectives);
    int is_above = exposed > threshold;
    if (!is_above && !(to_backward > note))
        return NULL;
    char advice[TUNE_COMMAND + 160];
    snprintf(advice, sizeof advice,
             "run `%s` to find the strategy and bucket size that cost least; use a faster link, a larger batch, or "
             "--grad-accumulation",
             p->facts.tune);
    struct finding *finding =
        add_finding(p, "exposed communication", is_above ? LEVEL_WARNING : LEVEL_NOTE, is_above ? exposed : to_backward,
                    is_above ? threshold : note, advise_on_cores(&p->facts, advice));
    set_loss(finding, (struct measured){loss, NAN, NAN}, alone->mean.step);
    int has_cost = cost->median > 0 && isfinite(cost->ci_low);
    if (has_cost) {
        char ms[CELL];
        set_loss(finding, (struct measured){cost->median, cost->ci_low, cost->ci_high}, p->controls.step.median);
        finding_append(finding, "a step is %s slower than without communication%s; ",
                       text_milliseconds(ms, cost->median, cost->ci_low, cost->ci_high),
                       finding_is_significant(finding) ? "" : ", which is not significant");
    }
    finding_append(finding, "exposed communication takes ");
    if (is_above) {
        finding_append(finding, "%.1f %% of the step on the rank with the most (threshold %g %%; above it: ", exposed,
                       threshold);
        append_ranks(finding, p, exposed_share, threshold);
    } else
        finding_append(finding,
                       "%.2f ms on rank %d, and its backward pass %.2f ms: a ratio of %.1f %% (threshold %g %%)",
                       1e3 * most->mean.exposed, most->rank, 1e3 * most->backward, to_backward, note);
    if (!has_cost)
        finding_append(finding, "; without waits for late ranks at most %.2f ms, on rank %d", 1e3 * loss, alone->rank);
    return finding;
}

/* Adds at most one finding: "exposed communication", whose text includes slow collectives; or "slow collectives". */
static void check_communication(struct profile *p)
{
    const struct controls *c = &p->controls;
    double value = 100 * c->comm_alone.median / c->backward_none.median, limit = 15; /* value: NAN without controls */
    struct finding *exposed = check_exposed(p);
    struct finding *finding = exposed;
    if (value > limit) {
        if (!exposed)
            finding = add_finding(p, "slow collectives", LEVEL_NOTE, value, limit,
                                  "use a faster link, fewer bytes (--wire-dtype bf16), or more "
                                  "computation for each reduction");
        finding_append(finding,
                       "%sthe reductions alone take %.1f ms on the slowest rank, and the backward pass of `none` "
                       "%.1f ms: a ratio of %.1f %% (threshold %g %%, high above %g %%; %zu rounds)",
                       exposed ? "; " : "", 1e3 * c->comm_alone.median, 1e3 * c->backward_none.median, value, limit,
                       2 * limit, c->rounds);
        finding->level = value > 2 * limit ? LEVEL_HIGH : finding->level;
    }
    if (exposed && !finding_is_significant(exposed))
        exposed->level = LEVEL_NOTE;
}

/* ---- late ranks ---- */

/* Returns by how many seconds a rank is late in the phase in which it is latest. */
static double most_late_in(const struct rank_figure *rank)
{
    return rank->late_in[rank_latest_in(rank)];
}

/* Returns the mean step of all ranks but one: those that this one can stall. */
static double step_of_others(const struct profile_figures *figures, const struct rank_figure *one)
{
    return (figures->ranks * figures->phase[PHASES].mean - one->mean.step) / (figures->ranks - 1);
}

/* Names the rank that costs other ranks most. If no cost exceeds the threshold, because communication takes longer than
 * the delays, notes the rank that is latest in any phase, if that is at least 10 % of the work. */
static void check_stragglers(struct profile *p)
{
    const struct profile_figures *figures = &p->figures;
    const struct collectives *c = &p->capture.collectives;
    const struct rank_figure *rank = figures->rank, *straggler = rank, *latest = rank, *in_phase = rank;
    double threshold = 5, least_wait = rank->core_wait;
    double work = figures->phase[PHASES].median - figures->phase[PHASE_GRADIENT_SYNC].median -
                  figures->phase[PHASE_PARAMETER_GATHER].median;
    for (const struct rank_figure *r = rank; r < rank + c->ranks; r++) {
        straggler = c->straggler[r - rank].cost > c->straggler[straggler - rank].cost ? r : straggler;
        latest = r->late > latest->late ? r : latest;
        in_phase = most_late_in(r) > most_late_in(in_phase) ? r : in_phase;
        least_wait = fmin(least_wait, r->core_wait);
    }
    int is_costly = 100 * c->straggler[straggler - rank].cost / step_of_others(figures, straggler) > threshold;
    if (!is_costly && !(100 * most_late_in(in_phase) > 2 * threshold * work))
        return;
    straggler = is_costly ? straggler : in_phase;
    const struct straggler *s = &c->straggler[straggler - rank];
    double others = step_of_others(figures, straggler), value = 100 * s->cost / others, late = straggler->late,
           core_wait = straggler->core_wait - least_wait;
    int is_explained = straggler == latest && late > s->cost / 2, is_by_cores = late > 0 && core_wait > late / 2;
    /* its work takes no longer, and it is not later than the others step by step (a test for each rank) */
    int is_chance = is_costly && !(late > s->cost / 2) && !(s->p * c->ranks <= 0.05);
    struct finding *finding = add_finding(
        p, "straggler", is_chance || is_by_cores ? LEVEL_NOTE : level_above(value, threshold, 4 * threshold), value,
        threshold,
        is_by_cores ? "free its cores: bind ranks to cores, use fewer threads, or stop what else runs there"
                    : "look at what that rank does in its trace: other work on its cores, a slower clock, or more data "
                      "to load");
    set_loss(finding, (struct measured){is_explained ? straggler->saves : s->cost, NAN, NAN},
             is_explained ? straggler->step : others);
    finding_append(
        finding,
        "rank %d came last in %zu of %zu collectives%s, by up to %.2f ms, and stalled the others for %.1f %% "
        "of their step (threshold %g %%)",
        straggler->rank, s->last, c->attributed, is_chance ? ", which may be chance" : "", 1e3 * s->most, value,
        threshold);
    if (late > 0)
        finding_append(finding, "; it works %.2f ms a step longer than the fast ranks", 1e3 * late);
    if (is_by_cores)
        finding_append(finding, ", because of CPU contention: it had no core for %.2f ms more than others",
                       1e3 * core_wait);
    if (100 * most_late_in(straggler) > threshold * work)
        finding_append(finding, "%s%s (%.2f ms)",
                       late >= most_late_in(straggler) ? ", most in " : "; it is late in most steps in ",
                       phase_name[rank_latest_in(straggler)], 1e3 * most_late_in(straggler));
    if (is_explained)
        finding_append(finding, "; if it were as fast as the next rank, a step would be %.2f ms shorter",
                       1e3 * straggler->saves);
    for (const struct delay *d = p->facts.delays.item; d < p->facts.delays.item + p->facts.delays.n; d++)
        if (d->rank == straggler->rank)
            finding_append(finding, "; --inject-delay adds %g ms to its %s", d->ms, phase_name[d->phase]);
}

static void check_cores(struct profile *p)
{
    double threshold = 10;
    const struct profile_facts *facts = &p->facts;
    const struct rank_figure *rank = p->figures.rank, *worst = rank;
    for (const struct rank_figure *r = rank; r < rank + p->figures.ranks; r++)
        worst = r->core_wait / r->step > worst->core_wait / worst->step ? r : worst;
    double value = 100 * worst->core_wait / worst->step;
    if (!(value > threshold))
        return;
    struct finding *finding = add_finding(
        p, "CPU contention", level_above(value, threshold, 3 * threshold), value, threshold,
        advise_on_cores(facts, "bind ranks to cores, use fewer ranks or threads, or stop what else runs there"));
    set_loss(finding, (struct measured){worst->core_wait, NAN, NAN}, worst->step);
    finding_append(
        finding,
        "the training thread of rank %d was ready but had no core for %.2f ms, %.1f %% of its median step "
        "(threshold %g %%; %d thread%s and %.4g logical CPU%s a rank); other processes or other ranks used its "
        "cores",
        worst->rank, 1e3 * worst->core_wait, value, threshold, facts->threads, text_plural((size_t)facts->threads),
        facts->cores_per_rank, facts->cores_per_rank == 1 ? "" : "s");
    if (facts->stops.periods > 0)
        finding_append(finding, ", or a CPU quota stopped it (up to %.0f periods of a rank)", facts->stops.periods);
}

/* ---- links ---- */

/* Adds a finding on the host whose send or receive rate is lowest compared with the median of the other hosts, if below
 * 50 %. With two hosts only sending is compared, since one host receives what the other sends. */
static void check_links(struct profile *p)
{
    const struct link_rates *link = p->links;
    int hosts = p->facts.hosts;
    double threshold = 50, value = threshold, rate = 0, reached = NAN, others = NAN;
    double *other = allocate((size_t)hosts, sizeof *other);
    int slowest = -1, receives = 0;
    for (int i = 0; i < (hosts > 2 ? 2 : 1) * hosts; i++) {
        int side = i / hosts, host = i % hosts;
        size_t n = 0;
        for (int h = 0; h < hosts; h++)
            *(h == host ? &rate : &other[n++]) = side ? link[h].receive : link[h].send;
        double median = stats_median(other, n);
        if (!(100 * rate / median < value))
            continue;
        value = 100 * rate / median;
        reached = rate;
        others = median;
        slowest = host;
        receives = side;
    }
    free(other);
    if (slowest < 0)
        return;
    struct finding *finding =
        add_finding(p, "slow link", LEVEL_WARNING, value, threshold,
                    "look at that host's interface and port: negotiated speed, errors, what else it carries");
    finding_append(finding, "the %s side of rank %d's host", receives ? "receiving" : "sending", link[slowest].rank);
    if (hosts == 2)
        finding_append(finding, " (or the receiving side of rank %d's)", link[!slowest].rank);
    finding_append(finding,
                   " reaches %.1f MB/s, %.0f %% of the %.1f MB/s of the other hosts (threshold %g %%; 1 MiB to and "
                   "from its neighbours, nothing else in flight)",
                   1e-6 * reached, value, 1e-6 * others, threshold);
}

void findings_create(struct profile *p)
{
    p->findings = 0;
    check_busy(p);
    check_data(p);
    check_communication(p);
    check_stragglers(p);
    check_cores(p);
    if (p->links)
        check_links(p);
    for (struct finding *f = p->finding; p->facts.busy && f < p->finding + p->findings; f++) {
        finding_append(f, "; a note, since the machine was busy");
        finding_lower(f);
    }
    check_memory(p); /* other processes' use of the CPUs does not change it */
    qsort(p->finding, (size_t)p->findings, sizeof *p->finding, finding_compare);
}
