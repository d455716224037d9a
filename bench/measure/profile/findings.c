/* findings.c - what a profile's figures mean. */
#include "profile/findings.h"

#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const level_name[] = {[LEVEL_NOTE] = "note", [LEVEL_WARNING] = "warning", [LEVEL_HIGH] = "high"};

/* ---- did overlap happen? ---- */

/* Whole percent, without a negative zero. */
static double percent(double x)
{
    return round(100 * x) + 0.0;
}

/* Why communication was not hidden, as far as the run shows; tail is the exposed tail of a step in seconds. */
static const char *why_no_overlap(const struct profile_facts *facts, double tail, const struct controls *c,
                                  char text[192])
{
    double alone = c->comm_alone.median, backward = c->backward_none.median;
    if (facts->buckets == 1)
        return "a single bucket is complete only when backward ends: use a smaller --bucket-size-mb";
    if (!facts->on_gpu && facts->cores_per_rank < facts->threads)
        return "CPUs are oversubscribed: a rank has more threads than cores, so communication has to wait for one";
    if (!(tail > 0.8 * alone) && !(alone > backward))
        return facts->hosts == 1 && !facts->on_gpu
                   ? "the ranks share one machine's memory: moving the gradients is work for the same cores, so there "
                     "is nothing to hide"
                   : "communication slows computation down as much as it is hidden";
    if (tail > 0.8 * alone)
        snprintf(text, 192,
                 "no progress: the collectives, %.1f ms by themselves, ended %.1f ms after backward; try a smaller "
                 "--bucket-size-mb%s",
                 1e3 * alone, 1e3 * tail,
                 facts->comm_on_device                           ? " or another --nccl-max-ctas"
                 : facts->cores_per_rank >= facts->threads + 1.0 ? " or --mpi-progress poll"
                                                                 : " or another --mpi-progress sleep:US");
    else
        snprintf(text, 192, "communication alone (%.1f ms) is longer than backward (%.1f ms)", 1e3 * alone,
                 1e3 * backward);
    return text;
}

/* From the overlap efficiency, which has an interval. */
static void judge_efficiency(struct findings *f, const struct profile_facts *facts, double tail,
                             const struct controls *c)
{
    const struct estimate *e = &c->overlap_efficiency;
    double alone = c->comm_alone.median, backward = c->backward_none.median;
    char text[192] = "";
    if (e->ci_low > 0 && e->median >= 0.1) {
        if (alone > backward)
            snprintf(text, sizeof text,
                     " Communication alone (%.1f ms) is longer than backward (%.1f ms), so %.1f ms cannot be hidden.",
                     1e3 * alone, 1e3 * backward, 1e3 * (alone - backward));
        f->overlap = "yes";
        snprintf(f->verdict, sizeof f->verdict,
                 "Overlap happened: it saved %.1f ms a step, %.0f %% of what could be hidden (95 %% interval %.0f to "
                 "%.0f %%, n = %zu rounds).%s",
                 1e3 * c->saved.median, percent(e->median), percent(e->ci_low), percent(e->ci_high), e->n, text);
        return;
    }
    const char *words = "Overlap did not happen", *why = why_no_overlap(facts, tail, c, text);
    f->overlap = "no";
    if (e->ci_low > 0)
        words = "Overlap hardly happened";
    else if (e->ci_high > 0.1 && facts->buckets > 1) {
        f->overlap = "unclear";
        words = "Overlap is not significantly different from none";
        why = facts->hosts > 1 || facts->on_gpu
                  ? "run-to-run variation exceeds the effect; use more --rounds"
                  : "run-to-run variation exceeds the effect; use more --rounds, but ranks that share one machine's "
                    "memory usually have nothing to hide";
    }
    snprintf(f->verdict, sizeof f->verdict,
             "%s (%.0f %% of what could be hidden, 95 %% interval %.0f to %.0f %%, n = %zu rounds): %s.", words,
             percent(e->median), percent(e->ci_low), percent(e->ci_high), e->n, why);
}

static void judge_overlap(struct findings *f, const struct profile_facts *facts, const struct profile_figures *figures,
                          const struct controls *c)
{
    const struct estimate *e = &c->overlap_efficiency;
    int nothing = facts->ranks == 1 || !facts->strategy->reduces;
    f->overlap = nothing ? "n/a" : !facts->strategy->overlaps ? "no" : "unclear";
    if (facts->ranks == 1)
        snprintf(f->verdict, sizeof f->verdict, "Overlap: n/a, one rank does not communicate.");
    else if (!facts->strategy->reduces)
        snprintf(f->verdict, sizeof f->verdict, "Overlap: n/a, %s communicates nothing.", facts->strategy->name);
    else if (!facts->strategy->overlaps)
        snprintf(f->verdict, sizeof f->verdict,
                 "Overlap: none, %s starts to communicate when backward is over, by design.", facts->strategy->name);
    else if (!c->rounds)
        snprintf(f->verdict, sizeof f->verdict, "Overlap: not measured; use --rounds 6 or more.");
    else if (!isfinite(e->ci_low))
        snprintf(f->verdict, sizeof f->verdict,
                 "Overlap: %.0f %% of what could be hidden was, but %zu round%s %s too few for an interval; use "
                 "--rounds 6 or more.",
                 percent(e->median), c->rounds, text_plural(c->rounds), c->rounds == 1 ? "is" : "are");
    else
        judge_efficiency(f, facts, figures->rank[0].mean.exposed_tail, c);
}

/* ---- thresholds ---- */

/* Adds one with printf's text; values are percent, gain is in seconds. */
__attribute__((format(printf, 8, 9))) static void add_finding(struct findings *f, const char *name, enum level level,
                                                              double value, double threshold, double gain,
                                                              const char *advice, const char *format, ...)
{
    struct finding *finding = &f->finding[f->n++];
    va_list arguments;
    *finding = (struct finding){
        .name = name, .level = level, .value = value, .threshold = threshold, .gain = gain, .advice = advice};
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

/* Lists the ranks that have more exposed communication than the threshold, or with `busy` less computation, such as
 * "0, 2, 3"; returns their number. extreme is that of the rank with the most, or least. All in percent of a step. */
static int list_ranks(const struct profile_figures *figures, int busy, double threshold, char text[96], double *extreme)
{
    int n = 0;
    size_t at = 0;
    *text = 0;
    *extreme = NAN;
    for (int r = 0; r < figures->ranks; r++) {
        const struct overlap *o = &figures->rank[r].mean;
        double value = 100 * (busy ? o->utilisation : o->exposed / o->step);
        *extreme = busy ? fmin(*extreme, value) : fmax(*extreme, value);
        if (!(busy ? value < threshold : value > threshold))
            continue;
        if (n++ < 8)
            at += (size_t)snprintf(text + at, 96 - at, "%s%d", n > 1 ? ", " : "", r);
    }
    if (n > 8)
        snprintf(text + at, 96 - at, " and %d more", n - 8);
    return n;
}

static void check_busy(struct findings *f, double threshold, const struct profile_figures *figures)
{
    char ranks[96];
    double value;
    if (list_ranks(figures, 1, threshold, ranks, &value))
        add_finding(f, "device_busy", value < threshold * 5 / 7 ? LEVEL_HIGH : LEVEL_WARNING, value, threshold, NAN,
                    "see in the table of phases what the rest is: a larger --batch-size gives computation more weight, "
                    "overlap and a faster link give communication less",
                    "operations ran in only %.1f %% of the step on the rank with the least (threshold %g %%; below it: "
                    "rank %s)",
                    value, threshold, ranks);
}

static void check_data(struct findings *f, double threshold, const struct profile_facts *facts,
                       const struct profile_figures *figures)
{
    double value = 100 * figures->phase[PHASE_DATA_LOADING].share,
           limit = value > threshold ? threshold : threshold / 3;
    enum level level = value > threshold * 5 / 3 ? LEVEL_HIGH : value > threshold ? LEVEL_WARNING : LEVEL_NOTE;
    if (value > limit)
        add_finding(f, "data_loading", level, value, limit, figures->phase[PHASE_DATA_LOADING].most,
                    facts->synthetic
                        ? "synthetic batches are made by threads of their own (--data-workers), which lack a core: use "
                          "fewer --threads or ranks"
                        : "put --data on a faster disk, let more --data-workers fetch further ahead (--prefetch), or "
                          "train longer on each batch",
                    "data loading takes %.1f %% of the step (threshold %g %%; all ranks)", value, limit);
}

static void check_exposed(struct findings *f, double threshold, const struct profile_figures *figures,
                          const struct collectives *collectives)
{
    static const char *const advice = "compare ddp_bucketed at several --bucket-size-mb in the benchmark; use a faster "
                                      "link, a larger batch, or --grad-accumulation";
    char ranks[96];
    double value, note = threshold * 3 / 4;
    int n = list_ranks(figures, 0, threshold, ranks, &value);
    double of_backward = value * figures->phase[PHASES].mean / figures->phase[PHASE_BACKWARD].mean, gain = 0;
    double waited = 0;
    char waiting[80] = "";
    for (int r = 0; r < figures->ranks; r++) { /* what a rank waits for others is theirs to mend */
        double waits = 0;
        for (int q = 0; q < figures->ranks; q++)
            waits += collectives->stall[r * figures->ranks + q];
        if (figures->rank[r].mean.exposed - waits > gain)
            gain = figures->rank[r].mean.exposed - waits;
        waited = fmax(waited, waits);
    }
    if (waited > 0.1 * gain)
        snprintf(waiting, sizeof waiting, "; a rank waits up to %.2f ms a step for later ones", 1e3 * waited);
    if (n)
        add_finding(f, "exposed_communication", LEVEL_WARNING, value, threshold, gain, advice,
                    "exposed communication takes %.1f %% of the step on the rank with the most (threshold %g %%; above "
                    "it: rank %s)%s",
                    value, threshold, ranks, waiting);
    else if (of_backward > note)
        add_finding(
            f, "exposed_communication", LEVEL_NOTE, of_backward, note, gain, advice,
            "exposed communication takes %.2f ms on the rank with the most, %.1f %% of backward (threshold %g %%)%s",
            10 * value * figures->phase[PHASES].mean, of_backward, note, waiting);
}

static void check_collectives(struct findings *f, const struct controls *c)
{
    double value = 100 * c->comm_alone.median / c->backward_none.median, threshold = 15;
    if (value > threshold) /* not without controls, which is NAN */
        add_finding(f, "collectives", value > 2 * threshold ? LEVEL_HIGH : LEVEL_NOTE, value, threshold, NAN,
                    "a faster link, fewer bytes (ddp_individual_v2 with --grad-dtype bf16), or more computation for "
                    "each reduction",
                    "the collectives alone take %.1f ms on the slowest rank, %.1f %% of the backward pass of `none` "
                    "(threshold %g %%, high above %g %%; %zu rounds)",
                    1e3 * c->comm_alone.median, value, threshold, 2 * threshold, c->rounds);
}

static void check_memory(struct findings *f, double threshold, const struct profile_facts *facts)
{
    static const char *const advice = "use a smaller --batch-size or --context-length, or --grad-accumulation";
    int sharing = facts->on_gpu ? 1 : facts->machine_ranks;
    double value = 100 * (double)facts->peak_bytes * sharing / (double)facts->memory_bytes;
    if (!facts->memory_bytes || !(value > threshold))
        return;
    if (facts->on_gpu)
        add_finding(f, "memory", LEVEL_WARNING, value, threshold, NAN, advice,
                    "%.1f %% of the memory of the fullest GPU is in use, by all processes (threshold %g %%)", value,
                    threshold);
    else
        add_finding(f, "memory", LEVEL_WARNING, value, threshold, NAN, advice,
                    "the %d ranks of rank 0's machine together reach %.1f %% of its memory (threshold %g %%; the whole "
                    "run)",
                    sharing, value, threshold);
}

/* The phases in which a rank is late by more than `least` seconds, the worst first, such as "forward_pass (5.20 ms) and
 * data_loading (5.06 ms)"; at least the worst one. */
static const char *late_phases(const struct rank_figure *rank, double least, char text[160])
{
    struct rank_figure rest = *rank; /* without the phases that were named */
    size_t at = 0;
    for (int n = 0; n < 3; n++) {
        double *worst = &rest.late_in[rank_latest_in(&rest)];
        if (n && *worst <= least)
            break;
        at += (size_t)snprintf(text + at, 160 - at, "%s%s (%.2f ms)", n ? " and " : "",
                               phase_name[worst - rest.late_in], 1e3 * *worst);
        *worst = 0;
    }
    return text;
}

/* By how much a rank is late in a phase, where that is most. */
static double most_late_in(const struct rank_figure *rank)
{
    return rank->late_in[rank_latest_in(rank)];
}

/* By how much longer a rank had no core in a step than the one that had it most. */
static double core_wait_beyond(const struct profile_figures *figures, const struct rank_figure *rank)
{
    double least = rank->core_wait;
    for (int r = 0; r < figures->ranks; r++)
        least = fmin(least, figures->rank[r].core_wait);
    return rank->core_wait - least;
}

/* The rank that cost most, and the one that is late in most steps, which need not be the same where other work is on
 * the cores of all. Where communication takes so long that this costs little, it is a note. */
static void check_stragglers(struct findings *f, const struct profile_figures *figures, const struct collectives *c)
{
    double threshold = 5;
    int rank = 0; /* the costliest */
    for (int r = 1; r < c->ranks; r++)
        if (c->straggler[r].cost > c->straggler[rank].cost)
            rank = r;
    const struct straggler *s = &c->straggler[rank];
    double step = figures->phase[PHASES].mean, value = 100 * s->cost / step;
    double work = figures->phase[PHASES].median - figures->phase[PHASE_GRADIENT_SYNC].median;
    double least = work * threshold / 100; /* for a rank to be late by */
    char late[256] = "", next[256] = "", phases[160];
    const struct rank_figure *first = &figures->rank[rank], *second = NULL, *latest = first;
    double most = most_late_in(first);
    for (const struct rank_figure *r = figures->rank; r < figures->rank + c->ranks; r++) {
        if (r != first && most_late_in(r) > (second ? most_late_in(second) : least))
            second = r;
        latest = r->late > latest->late ? r : latest;
        most = fmax(most, most_late_in(r));
    }
    if (!(value > threshold) && !(most > 2 * least))
        return;
    int explained = latest == first && first->late > s->cost / 2; /* by its own work */
    double without_core = core_wait_beyond(figures, first);
    int by_core = first->late > 0 && without_core > first->late / 2;
    size_t at = 0;
    if (first->late > 0)
        at = (size_t)snprintf(late, sizeof late, "; it works %.2f ms a step longer than the fast ranks",
                              1e3 * first->late);
    if (by_core)
        at += (size_t)snprintf(late + at, sizeof late - at, ", and had no core for %.2f ms more than others",
                               1e3 * without_core);
    if (most_late_in(first) > least)
        snprintf(late + at, sizeof late - at, at ? ", most in %s" : "; it is late in most steps in %s",
                 late_phases(first, least, phases));
    if (second)
        snprintf(next, sizeof next, "; rank %d is late in most steps in %s", second->rank,
                 late_phases(second, least, phases));
    add_finding(f, "straggler",
                value > 4 * threshold ? LEVEL_HIGH
                : value > threshold   ? LEVEL_WARNING
                                      : LEVEL_NOTE,
                value, threshold, explained ? first->saves : s->cost,
                by_core ? "leave its cores to it: bind ranks to cores, use fewer threads, or stop what else runs there"
                        : "look at what that rank does in its trace: other work on its cores, a slower clock, or more "
                          "data to load",
                "rank %d came last in %zu of %zu collectives, by up to %.2f ms, and stalled the others for %.1f %% of "
                "the step (threshold %g %%)%s%s",
                rank, s->last, c->attributed, 1e3 * s->most, value, threshold, late, next);
}

/* Whether threads that could run had no core. */
static void check_cores(struct findings *f, const struct profile_facts *facts, const struct profile_figures *figures)
{
    double threshold = 10;
    const struct rank_figure *worst = figures->rank;
    for (const struct rank_figure *r = figures->rank; r < figures->rank + figures->ranks; r++)
        worst = r->core_wait > worst->core_wait ? r : worst;
    double value = 100 * worst->core_wait / figures->phase[PHASES].median;
    if (!(value > threshold))
        return;
    add_finding(
        f, "without_a_core", value > 3 * threshold ? LEVEL_HIGH : LEVEL_WARNING, value, threshold, worst->core_wait,
        "bind ranks to cores, use fewer ranks or threads, or stop what else runs there",
        "the training thread of rank %d could run and had no core for %.2f ms, %.1f %% of the median step (threshold "
        "%g %%; %d thread%s a rank, %.2g logical CPUs); other work takes its cores, or other ranks do",
        worst->rank, 1e3 * worst->core_wait, value, threshold, facts->threads, text_plural((size_t)facts->threads),
        facts->cores_per_rank);
}

/* The median rate of the other hosts, sending or receiving. */
static double others_rate(const struct link_rates *link, int hosts, int host, int receiving)
{
    double *rate = allocate((size_t)hosts, sizeof *rate);
    size_t n = 0;
    for (int h = 0; h < hosts; h++)
        if (h != host)
            rate[n++] = receiving ? link[h].receive : link[h].send;
    double median = stats_median(rate, n);
    free(rate);
    return median;
}

/* The host whose sending or receiving side is the slowest, compared with the others'. Of two, what one sends the other
 * receives. */
static void check_links(struct findings *f, const struct link_rates *link, int hosts)
{
    double threshold = 50, value = 100, others = NAN;
    const struct link_rates *slowest = NULL;
    int receives = 0;
    for (int i = 0; i < (hosts > 2 ? 2 * hosts : hosts); i++) {
        double rate = i < hosts ? link[i].send : link[i - hosts].receive;
        double median = others_rate(link, hosts, i % hosts, i >= hosts);
        if (!(100 * rate / median < value))
            continue;
        value = 100 * rate / median;
        others = median;
        slowest = &link[i % hosts];
        receives = i >= hosts;
    }
    if (!slowest || !(value < threshold))
        return;
    char other[64] = "";
    if (hosts == 2)
        snprintf(other, sizeof other, " (or the receiving side of rank %d's)", link[slowest == link].rank);
    add_finding(
        f, "slow_link", LEVEL_WARNING, value, threshold, NAN,
        "look at that host's interface and port: negotiated speed, errors, what else it carries",
        "the %s side of rank %d's host%s reaches %.1f MB/s, %.0f %% of the %.1f MB/s of the other hosts (threshold "
        "%g %%; 1 MiB to and from its neighbours, nothing else in flight)",
        receives ? "receiving" : "sending", slowest->rank, other, 1e-6 * (receives ? slowest->receive : slowest->send),
        value, 1e-6 * others, threshold);
}

static int by_weight(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    double gain_x = isnan(x->gain) ? 0 : x->gain, gain_y = isnan(y->gain) ? 0 : y->gain;
    if (x->level != y->level)
        return (int)y->level - (int)x->level;
    return gain_x == gain_y ? strcmp(x->name, y->name) : gain_x < gain_y ? 1 : -1;
}

void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls)
{
    *findings = (struct findings){0};
    judge_overlap(findings, facts, figures, controls);
    check_busy(findings, thresholds->busy, figures);
    check_data(findings, thresholds->data_loading, facts, figures);
    check_exposed(findings, thresholds->exposed, figures, collectives);
    check_collectives(findings, controls);
    check_memory(findings, thresholds->memory, facts);
    check_stragglers(findings, figures, collectives);
    check_cores(findings, facts, figures);
    if (links)
        check_links(findings, links, facts->hosts);
    qsort(findings->finding, (size_t)findings->n, sizeof *findings->finding, by_weight);
}
