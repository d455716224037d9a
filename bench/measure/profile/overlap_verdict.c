/* overlap_verdict.c - whether communication was hidden behind computation, and if not, why. */
#include "profile/findings.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

/* Rounds to whole percent, without a negative zero. */
static double percent(double x)
{
    return round(100 * x) + 0.0;
}

/* The first reason that applies. */
static const char *why_no_overlap(const struct profile_facts *facts, double tail, const struct controls *c,
                                  char text[192])
{
    double alone = c->comm_alone.median, backward = c->backward_none.median;
    if (facts->buckets == 1)
        return "a single bucket is complete only when backward ends: use a smaller --bucket-size-mb";
    if (!facts->on_gpu && facts->cores_per_rank < facts->threads)
        return "CPUs are oversubscribed: a rank has more threads than cores, so communication has to wait for one";
    if (tail > 0.8 * alone)
        snprintf(text, 192,
                 "no progress: the collectives, %.1f ms by themselves, ended %.1f ms after backward; try a smaller "
                 "--bucket-size-mb or %s",
                 1e3 * alone, 1e3 * tail,
                 facts->comm_on_device                           ? "another --nccl-max-ctas"
                 : facts->cores_per_rank >= facts->threads + 1.0 ? "--mpi-progress poll"
                                                                 : "another --mpi-progress sleep:US");
    else if (alone > backward)
        snprintf(text, 192, "communication alone (%.1f ms) is longer than backward (%.1f ms)", 1e3 * alone,
                 1e3 * backward);
    else
        return facts->hosts == 1 && !facts->on_gpu
                   ? "the ranks share one machine's memory: moving the gradients is work for the same cores, so there "
                     "is nothing to hide"
                   : "communication slows computation down as much as it is hidden";
    return text;
}

static void judge_efficiency(char text[OVERLAP_VERDICT], const struct profile_facts *facts, double tail,
                             const struct controls *c)
{
    const struct estimate *e = &c->overlap_efficiency;
    double beyond = c->comm_alone.median - c->backward_none.median;
    int is_shared_memory = facts->hosts == 1 && !facts->on_gpu, happened = e->ci_low > 0 && e->median >= 0.1, n;
    char reason[192], interval[96];
    const char *how = e->ci_low > 0 ? "hardly happened" : "did not happen",
               *why = why_no_overlap(facts, tail, c, reason);
    snprintf(interval, sizeof interval,
             "%.0f %% of what could be hidden%s95 %% interval %.0f to %.0f %%, n = %zu rounds)", percent(e->median),
             happened ? " (" : ", ", percent(e->ci_low), percent(e->ci_high), e->n);
    if (happened) {
        n = snprintf(text, OVERLAP_VERDICT, "Overlap happened: it saved %.1f ms a step, %s.", 1e3 * c->saved.median,
                     interval);
        if (beyond > 0)
            snprintf(text + n, OVERLAP_VERDICT - (size_t)n,
                     " Communication alone (%.1f ms) is longer than backward (%.1f ms), so %.1f ms cannot be hidden.",
                     1e3 * c->comm_alone.median, 1e3 * c->backward_none.median, 1e3 * beyond);
        return;
    }
    if (!(e->ci_low > 0) && e->ci_high > 0.1 && facts->buckets > 1) {
        how = "is not significantly different from none";
        why = is_shared_memory ? "run-to-run variation exceeds the effect; use more --rounds, but ranks that share one "
                                 "machine's memory usually have nothing to hide"
                               : "run-to-run variation exceeds the effect; use more --rounds";
    }
    snprintf(text, OVERLAP_VERDICT, "Overlap %s (%s: %s.", how, interval, why);
}

void overlap_verdict_write(char text[OVERLAP_VERDICT], const struct profile_facts *facts, double exposed_tail,
                           const struct controls *c)
{
    const char *name = facts->strategy->name;
    const struct estimate *e = &c->overlap_efficiency;
    if (facts->ranks == 1)
        snprintf(text, OVERLAP_VERDICT, "Overlap: n/a, one rank does not communicate.");
    else if (!facts->strategy->reduces)
        snprintf(text, OVERLAP_VERDICT, "Overlap: n/a, %s does not communicate.", name);
    else if (!facts->strategy->overlaps)
        snprintf(text, OVERLAP_VERDICT, "Overlap: none; by design, %s starts to communicate after backward.", name);
    else if (!c->rounds)
        snprintf(text, OVERLAP_VERDICT, "Overlap: not measured; use --rounds 6 or more.");
    else if (isfinite(e->ci_low))
        judge_efficiency(text, facts, exposed_tail, c);
    else
        snprintf(text, OVERLAP_VERDICT,
                 "Overlap: %.0f %% of what could be hidden, from %zu round%s: too few for an interval; use --rounds 6 "
                 "or more.",
                 percent(e->median), c->rounds, text_plural(c->rounds));
}
