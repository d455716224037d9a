/* findings.c - where the captured steps lose time. */
#include "profile/summary.h"

#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Adds a finding if the criterion is beyond a limit; else returns NULL. A high one names the limit of the warning, or
 * else of the note. */
static struct finding *add_crossed(struct profile *p, const struct criterion *c, const char *name, const char *advice)
{
    int level = criterion_level(c), is_note = level == LEVEL_NOTE || isnan(c->limit[LEVEL_WARNING]);
    return level < LEVEL_NOTE ? NULL
                              : add_finding(p, name, (enum level)level, c->percent,
                                            c->limit[is_note ? LEVEL_NOTE : LEVEL_WARNING], advice);
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

static double exposed_to_backward(const struct rank_figure *rank)
{
    return 100 * rank->mean.exposed / rank->backward;
}

static double copies_share(const struct rank_figure *rank)
{
    return 100 * rank->copies / rank->mean.step;
}

/* Fills p->criterion: values, reasons for missing values, and limits in proportion to --thresholds. */
static void measure_criteria(struct profile *p)
{
    const struct profile_facts *facts = &p->facts;
    const struct thresholds *t = &p->options->thresholds;
    const struct phase_figure *phase = p->figures.phase;
    const struct overlap *mean = &p->figures.mean;
    double memory = facts->memory_bytes ? (double)facts->peak_bytes / (double)facts->memory_bytes : NAN;
    int trains = phase[PHASE_BACKWARD].mean > 0;
    const struct {
        double percent;
        const char *missing; /* NULL: if the value is missing, CUPTI's records are */
        double threshold;    /* for the warning; 0: not an option */
    } value[CRITERIA] = {
        [CRITERION_BUSY] = {-most_of(p, minus_busy), NULL, t->busy},
        [CRITERION_DATA] = {100 * phase[PHASE_DATA_LOADING].share, NULL, t->data_loading},
        [CRITERION_EXPOSED] = {most_of(p, exposed_share), NULL, t->exposed},
        [CRITERION_TO_BACKWARD] = {most_of(p, exposed_to_backward), trains ? NULL : "no backward pass", t->exposed},
        [CRITERION_COLLECTIVES] = {100 * p->controls.comm_alone.median / p->controls.backward_none.median,
                                   facts->ranks > 1 ? "no rounds with `none`" : "one rank"},
        [CRITERION_COPIES] = {most_of(p, copies_share), facts->on_gpu ? NULL : "no GPU to copy to"},
        [CRITERION_MEMORY] = {100 * memory * (facts->on_gpu ? 1 : facts->machine_ranks), "its size is unknown",
                              t->memory},
        [CRITERION_OCCUPANCY] = {NAN, facts->on_gpu ? "launch/ncu.sh measures it" : "no GPU"},
        [CRITERION_FORWARD] = {100 * phase[PHASE_FORWARD].share, NULL},
        [CRITERION_BACKWARD] = {100 * phase[PHASE_BACKWARD].share, NULL},
        [CRITERION_OPTIMIZER] = {100 * phase[PHASE_OPTIMIZER].share, NULL},
        [CRITERION_ALONE] = {100 * mean->alone / mean->step, NULL},
        [CRITERION_BOTH] = {100 * mean->overlap / mean->step, NULL},
        [CRITERION_COMM_ALONE] = {100 * mean->exposed / mean->step, NULL},
        [CRITERION_IDLE] = {100 * mean->idle / mean->step, NULL},
    };
    memcpy(p->criterion, criteria, sizeof criteria);
    for (int i = 0; i < CRITERIA; i++) {
        p->criterion[i].percent = value[i].percent;
        if (!trains) /* what is usual is of training */
            p->criterion[i].usual[0] = p->criterion[i].usual[1] = NAN;
        p->criterion[i].missing = value[i].missing ? value[i].missing : "no records of CUPTI";
        double by =
            value[i].threshold / criteria[i == CRITERION_TO_BACKWARD ? CRITERION_EXPOSED : i].limit[LEVEL_WARNING];
        for (double *limit = p->criterion[i].limit; limit <= &p->criterion[i].limit[LEVEL_HIGH] && by > 0; limit++)
            *limit = isnan(*limit) ? NAN : fmin(100, by * *limit);
    }
}

/* Adds a finding if a criterion is beyond a limit: "WHAT 12.3 % of WHOLE (threshold 10 %; above it: rank 1)". share: of
 * a rank, in percent; NULL: no ranks are named. */
static struct finding *check_share(struct profile *p, int criterion, const char *name, const char *what,
                                   const char *whole, share_of_rank *share, const char *advice)
{
    const struct criterion *c = &p->criterion[criterion];
    struct finding *finding = add_crossed(p, c, name, advice);
    if (!finding)
        return NULL;
    finding_append(finding, "%s %.1f %% of %s (threshold %g %%%s", what, c->percent, whole, finding->threshold,
                   !share        ? ")"
                   : c->is_floor ? "; below it: "
                                 : "; above it: ");
    if (share)
        append_ranks(finding, p, share, c->is_floor ? -finding->threshold : finding->threshold);
    return finding;
}

static void check_shares(struct profile *p)
{
    const struct phase_figure *loading = &p->figures.phase[PHASE_DATA_LOADING];
    check_share(p, CRITERION_BUSY, "idle device", "operations ran in only", "the step on the least busy rank",
                minus_busy,
                "see in the table of phases what takes the rest; a larger --batch-size raises the share of "
                "computation, overlap and a faster link lower the share of communication");
    check_share(p, CRITERION_COPIES, "host-device copies", "copies between host and device run in",
                "the step on the rank with most", copies_share,
                "use --comm nccl, which sends from the GPU's memory, or train longer on each batch");
    struct finding *data = check_share(
        p, CRITERION_DATA, "data loading", "data loading takes", "the step, on average over all ranks", NULL,
        p->facts.has_synthetic_data
            ? "the --data-workers, which make the synthetic batches, need cores of their own: use "
              "fewer --threads or ranks"
            : "put --data on a faster disk, use more --data-workers, or train longer on each batch");
    if (data)
        set_loss(data, (struct measured){loading->mean, NAN, NAN}, p->figures.phase[PHASES].mean);
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
    int is_above = criterion_level(&p->criterion[CRITERION_EXPOSED]) >= LEVEL_NOTE;
    for (const struct rank_figure *r = ranks; r < ranks + p->figures.ranks; r++) {
        most = exposed_to_backward(r) > exposed_to_backward(most) ? r : most;
        alone = exposed_alone(r, collectives) > exposed_alone(alone, collectives) ? r : alone;
    }
    double loss = exposed_alone(alone, collectives);
    char advice[TUNE_COMMAND + 160];
    snprintf(advice, sizeof advice,
             "run `%s` to find the strategy and bucket size that cost least; use a faster link, a larger batch, or "
             "--grad-accumulation",
             p->facts.tune);
    struct finding *finding = add_crossed(p, &p->criterion[is_above ? CRITERION_EXPOSED : CRITERION_TO_BACKWARD],
                                          "exposed communication", advise_on_cores(&p->facts, advice));
    if (!finding)
        return NULL;
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
        finding_append(finding,
                       "%.1f %% of the step on the rank with the most (threshold %g %%; above it: ", finding->percent,
                       finding->threshold);
        append_ranks(finding, p, exposed_share, finding->threshold);
    } else
        finding_append(
            finding, "%.2f ms on rank %d, and its backward pass %.2f ms: a ratio of %.1f %% (threshold %g %%)",
            1e3 * most->mean.exposed, most->rank, 1e3 * most->backward, finding->percent, finding->threshold);
    if (!has_cost)
        finding_append(finding, "; without waits for late ranks at most %.2f ms, on rank %d", 1e3 * loss, alone->rank);
    return finding;
}

/* Adds at most one finding: "exposed communication", whose text includes slow collectives; or "slow collectives". */
static void check_communication(struct profile *p)
{
    const struct controls *c = &p->controls;
    const struct criterion *alone = &p->criterion[CRITERION_COLLECTIVES];
    struct finding *exposed = check_exposed(p);
    struct finding *finding = exposed;
    int level = criterion_level(alone);
    if (level >= LEVEL_NOTE) {
        if (!exposed)
            finding = add_crossed(p, alone, "slow collectives",
                                  "use a faster link, fewer bytes (--wire-dtype bf16), or more "
                                  "computation for each reduction");
        finding_append(finding,
                       "%sthe reductions alone take %.1f ms on the slowest rank, and the backward pass of `none` "
                       "%.1f ms: a ratio of %.1f %% (threshold %g %%, high above %g %%; %zu rounds)",
                       exposed ? "; " : "", 1e3 * c->comm_alone.median, 1e3 * c->backward_none.median, alone->percent,
                       alone->limit[LEVEL_NOTE], alone->limit[LEVEL_HIGH], c->rounds);
        finding->level = level == LEVEL_HIGH ? LEVEL_HIGH : finding->level;
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
    measure_criteria(p);
    check_shares(p);
    check_communication(p);
    check_stragglers(p);
    check_cores(p);
    if (p->links)
        check_links(p);
    for (struct finding *f = p->finding; p->facts.busy && f < p->finding + p->findings; f++) {
        finding_append(f, "; a note, since the machine was busy");
        finding_lower(f);
    }
    check_share(p, CRITERION_MEMORY, "little memory left", /* other processes' use of the CPUs does not change it */
                p->facts.on_gpu ? "all processes together use" : "the ranks of rank 0's machine together reach",
                p->facts.on_gpu ? "the memory of the fullest GPU" : "its memory", NULL,
                "use a smaller --batch-size or --context-length, or --grad-accumulation");
    qsort(p->finding, (size_t)p->findings, sizeof *p->finding, finding_compare);
}
