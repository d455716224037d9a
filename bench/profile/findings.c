/* findings.c - what a profile's figures mean. */
#include "profile/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const level_name[] = {[LEVEL_NOTE] = "note", [LEVEL_WARNING] = "warning", [LEVEL_HIGH] = "high"};

/* ---- did overlap happen? ---- */

/* Why communication was not hidden, as far as the run can tell. */
static void why_not(const struct run *run, const struct capture *capture, const struct controls *c, char text[192])
{
    const struct overlap sum = overlap_sum(capture->overlap, capture->first, capture->n - capture->first);
    double tail = 1e-9 * (double)sum.exposed_tail_ns / (capture->n - capture->first), alone = c->comm_alone.median;
    if (run->reducer[0].plan.n == 1)
        snprintf(text, 192, "a single bucket is complete only when backward ends: use a smaller --bucket-size-mb");
    else if (!run->opened.on_gpu && run->cores_per_rank < run->threads)
        snprintf(text, 192,
                 "the cores are oversubscribed: a rank has more threads than cores, and communication gets "
                 "no turn");
    else if (tail > 0.8 * alone)
        snprintf(text, 192, "no progress: %.1f ms of the collectives' %.1f ms came after backward; try %s", 1e3 * tail,
                 1e3 * alone,
                 run->comm->on_device ? "a smaller --bucket-size-mb or another --nccl-max-ctas"
                                      : "--mpi-progress poll or another sleep:US");
    else if (alone > c->backward_none.median)
        snprintf(text, 192, "communication alone (%.1f ms) is longer than backward (%.1f ms)", 1e3 * alone,
                 1e3 * c->backward_none.median);
    else if (run->job->hosts == 1 && !run->opened.on_gpu)
        snprintf(text, 192,
                 "the ranks share one machine's memory: moving the gradients is work for the same cores, so "
                 "there is nothing to hide");
    else
        snprintf(text, 192, "communication slows computation down as much as it is hidden");
}

static void say(struct verdict *verdict, const char *overlap, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(struct verdict *verdict, const char *overlap, const char *format, ...)
{
    va_list arguments;
    verdict->overlap = overlap;
    va_start(arguments, format);
    vsnprintf(verdict->text, sizeof verdict->text, format, arguments);
    va_end(arguments);
}

/* Whole percent, without a negative zero. */
static double percent(double x)
{
    return round(100 * x) + 0.0;
}

static void judge(struct verdict *v, const struct run *run, const struct capture *capture, const struct controls *c)
{
    const struct estimate *e = &c->efficiency;
    double longer = c->comm_alone.median / c->backward_none.median;
    char rest[192] = "", why[192];
    if (run->job->size == 1)
        say(v, "n/a", "Overlap: n/a, one rank communicates with nobody.");
    else if (!run->reducer[0].strategy->reduces)
        say(v, "n/a", "Overlap: n/a, %s communicates nothing.", run->reducer[0].strategy->name);
    else if (!run->reducer[0].strategy->overlaps)
        say(v, "no", "Overlap: none, %s starts to communicate when backward is over, by design.",
            run->reducer[0].strategy->name);
    else if (!c->rounds)
        say(v, "unclear", "Overlap: not measured; that takes --rounds 6 or more.");
    else if (!isfinite(e->ci_low))
        say(v, "unclear",
            "Overlap: %.0f %% of what could be hidden was, but %zu rounds are too few for an interval; use --rounds 6 "
            "or more.",
            percent(e->median), c->rounds);
    else if (e->ci_low > 0 && e->median >= 0.1) {
        if (longer > 1)
            snprintf(rest, sizeof rest,
                     " Communication alone (%.1f ms) is longer than backward (%.1f ms), so %.1f ms cannot be hidden.",
                     1e3 * c->comm_alone.median, 1e3 * c->backward_none.median,
                     1e3 * (c->comm_alone.median - c->backward_none.median));
        say(v, "yes",
            "Overlap happened: it saved %.1f ms a step, %.0f %% of what could be hidden (95 %% interval %.0f to %.0f "
            "%%, n = %zu rounds).%s",
            1e3 * (c->step_off.median - c->step_on.median), percent(e->median), percent(e->ci_low), percent(e->ci_high),
            e->n, rest);
    } else {
        int little = e->ci_low > 0, unclear = !little && e->ci_high > 0.1 && run->reducer[0].plan.n > 1;
        why_not(run, capture, c, why);
        say(v, unclear ? "unclear" : "no",
            "%s (%.0f %% of what could be hidden, 95 %% interval %.0f to %.0f %%, n = %zu rounds): %s.",
            little    ? "Overlap hardly happened"
            : unclear ? "Overlap cannot be told from none"
                      : "Overlap did not happen",
            percent(e->median), percent(e->ci_low), percent(e->ci_high), e->n,
            !unclear ? why
            : run->job->hosts == 1 && !run->opened.on_gpu
                ? "the steps differ more by themselves; more --rounds would tell, but ranks that "
                  "share one machine's memory usually have nothing to hide"
                : "the steps differ more by themselves; more --rounds would tell");
    }
}

/* ---- thresholds ---- */

static struct finding *add(struct findings *f, const char *name, enum level level, double value, double threshold,
                           const char *advice)
{
    struct finding *finding = &f->finding[f->n < FINDINGS_MOST ? f->n++ : FINDINGS_MOST - 1];
    *finding = (struct finding){.name = name, .level = level, .value = value, .threshold = threshold, .advice = advice};
    return finding;
}

/* Ranks for which a figure is beyond its threshold, such as "0, 2, 3", and their number. */
static int list_ranks(const struct profile_figures *figures, double (*figure)(const struct overlap *), double threshold,
                      int below, char *text, size_t size)
{
    int n = 0;
    size_t at = 0;
    *text = 0;
    for (int r = 0; r < figures->ranks; r++) {
        double value = 100 * figure(&figures->rank[r].sum);
        if (!(below ? value < threshold : value > threshold))
            continue;
        if (n < 8)
            at += (size_t)snprintf(text + at, size - at, "%s%d", n ? ", " : "", r);
        n++;
    }
    if (n > 8)
        snprintf(text + at, size - at, " and %d more", n - 8);
    return n;
}

static double exposed(const struct overlap *o)
{
    return (double)overlap_exposed(o) / (double)o->step_ns;
}

static double worst(const struct profile_figures *figures, double (*figure)(const struct overlap *), int least)
{
    double value = figure(&figures->rank[0].sum);
    for (int r = 1; r < figures->ranks; r++) {
        double other = figure(&figures->rank[r].sum);
        value = least ? fmin(value, other) : fmax(value, other);
    }
    return 100 * value;
}

static void check_busy(struct findings *f, const struct run *run, const struct profile_figures *figures)
{
    char ranks[96];
    double threshold = run->options->thresholds.busy, value = worst(figures, overlap_utilisation, 1);
    if (!list_ranks(figures, overlap_utilisation, threshold, 1, ranks, sizeof ranks))
        return;
    struct finding *finding =
        add(f, "device_busy", value < threshold * 5 / 7 ? LEVEL_HIGH : LEVEL_WARNING, value, threshold,
            "see in the table of phases what the rest is: a larger --batch-size gives computation more weight, "
            "overlap and a faster link give communication less");
    snprintf(
        finding->text, sizeof finding->text,
        "operations ran in only %.1f %% of the step on the rank with the least (threshold %g %%; below it: rank %s)",
        value, threshold, ranks);
}

static void check_data(struct findings *f, const struct run *run, const struct profile_figures *figures)
{
    double threshold = run->options->thresholds.data_loading, note = threshold / 3;
    double value = 100 * figures->phase[PHASE_DATA_LOADING].share;
    if (!(value > note))
        return;
    struct finding *finding = add(f, "data_loading",
                                  value > threshold * 5 / 3 ? LEVEL_HIGH
                                  : value > threshold       ? LEVEL_WARNING
                                                            : LEVEL_NOTE,
                                  value, value > threshold ? threshold : note,
                                  "put --data on a faster disk, or train longer on each batch; the next batch is "
                                  "already fetched while this one trains");
    snprintf(finding->text, sizeof finding->text, "data loading takes %.1f %% of the step (threshold %g %%; all ranks)",
             value, finding->threshold);
}

static void check_exposed(struct findings *f, const struct run *run, const struct profile_figures *figures)
{
    static const char *const advice = "compare ddp_bucketed at several --bucket-size-mb in the benchmark; use a faster "
                                      "link, a larger batch, or --grad-accumulation";
    char ranks[96];
    double threshold = run->options->thresholds.exposed, value = worst(figures, exposed, 0);
    double of_backward = value * figures->phase[PHASES].mean / figures->phase[PHASE_BACKWARD].mean;
    if (list_ranks(figures, exposed, threshold, 0, ranks, sizeof ranks)) {
        struct finding *finding = add(f, "exposed_communication", LEVEL_WARNING, value, threshold, advice);
        snprintf(finding->text, sizeof finding->text,
                 "communication that nothing computes beside takes %.1f %% of the step on the rank with the most "
                 "(threshold %g %%; above it: rank %s)",
                 value, threshold, ranks);
    } else if (of_backward > threshold * 3 / 4) {
        struct finding *finding = add(f, "exposed_communication", LEVEL_NOTE, of_backward, threshold * 3 / 4, advice);
        snprintf(finding->text, sizeof finding->text,
                 "communication that nothing computes beside is %.1f %% of backward (a note from %g %%)", of_backward,
                 finding->threshold);
    }
}

static void check_collectives(struct findings *f, const struct controls *c)
{
    double value = 100 * c->comm_alone.median / c->backward_none.median, threshold = 15;
    if (!(value > threshold)) /* also without controls, which is NAN */
        return;
    struct finding *finding = add(f, "collectives", value > 2 * threshold ? LEVEL_HIGH : LEVEL_NOTE, value, threshold,
                                  "a faster link, fewer bytes (ddp_individual_v2 with --grad-dtype bf16), or more "
                                  "computation for each reduction");
    snprintf(finding->text, sizeof finding->text,
             "the collectives alone take %.1f ms on the slowest rank, %.1f %% of the backward pass of `none` (a note "
             "from %g %%, high "
             "from %g %%; "
             "%zu rounds)",
             1e3 * c->comm_alone.median, value, threshold, 2 * threshold, c->rounds);
}

static void check_memory(struct findings *f, const struct run *run, size_t peak_bytes)
{
    int on_gpu = run->opened.on_gpu, sharing = on_gpu ? 1 : run->job->machine_size;
    size_t whole = on_gpu ? run->opened.gpu.total_memory : run->host.memory_bytes;
    double threshold = run->options->thresholds.memory, value = 100 * (double)peak_bytes * sharing / (double)whole;
    if (!whole || !(value > threshold))
        return;
    struct finding *finding = add(f, "memory", LEVEL_WARNING, value, threshold,
                                  "use a smaller --batch-size or --context-length, or --grad-accumulation");
    if (on_gpu)
        snprintf(finding->text, sizeof finding->text,
                 "%.1f %% of the memory of the fullest GPU is in use (threshold %g %%; by whomever)", value, threshold);
    else
        snprintf(
            finding->text, sizeof finding->text,
            "the %d ranks of rank 0's machine together reach %.1f %% of its memory (threshold %g %%; the whole run)",
            run->job->machine_size, value, threshold);
}

static void check_stragglers(struct findings *f, const struct capture *capture, const struct profile_figures *figures)
{
    const struct collectives *r = &capture->collectives;
    double step = 1e9 * figures->phase[PHASES].mean * figures->steps, threshold = 5;
    int rank = 0; /* the costliest */
    for (int q = 1; q < r->ranks; q++)
        if (r->straggler[q].cost_ns > r->straggler[rank].cost_ns)
            rank = q;
    const struct straggler *s = &r->straggler[rank];
    double value = 100 * s->cost_ns / step;
    if (!(value > threshold))
        return;
    struct finding *finding = add(f, "straggler", LEVEL_WARNING, value, threshold,
                                  "look at that rank's phases in its trace: other work on its cores, a slower "
                                  "clock, or more data to load");
    snprintf(finding->text, sizeof finding->text,
             "rank %d came last in %zu of %zu collectives, by up to %.2f ms, and the others stood still for %.1f %% of "
             "the step because of it (threshold %g %%)",
             rank, s->last, r->attributed, 1e-6 * s->most_ns, value, threshold);
}

void findings_create(struct findings *findings, const struct run *run, const struct capture *capture,
                     const struct profile_figures *figures, const struct controls *controls, size_t peak_bytes)
{
    *findings = (struct findings){0};
    judge(&findings->verdict, run, capture, controls);
    check_busy(findings, run, figures);
    check_data(findings, run, figures);
    check_exposed(findings, run, figures);
    check_collectives(findings, controls);
    check_memory(findings, run, peak_bytes);
    check_stragglers(findings, capture, figures);
}
