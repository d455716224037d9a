/* controls.c - compares a captured implementation with its controls, and judges whether communication overlapped. */
#include "profile/summary.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD(field) offsetof(struct controls, field)
/* clang-format off */
const struct control_result control_results[CONTROL_RESULTS] = {
    {NULL, "step", NULL, "traced, as captured", "s", FIELD(step), BETTER_LOWER},
    {"untraced", "step", "untraced", "records only phases and collectives", "s", FIELD(step_untraced), BETTER_LOWER},
    {"before_tracer", "step", "before tracing", "untraced, before the GPU's tracer first started", "s",
     FIELD(step_before_tracer), BETTER_LOWER},
    {"after_backward", "step", "after backward", "the same reductions, all after backward", "s",
     FIELD(step_after_backward), BETTER_LOWER},
    {"none", "step", "none", "without communication", "s", FIELD(step_none), BETTER_LOWER},
    {NULL, "backward_none", "backward of none", NULL, "s", FIELD(backward_none), BETTER_LOWER},
    {NULL, "sync_cost", "sync cost", "step - step of none", "s", FIELD(sync_cost), BETTER_LOWER},
    {NULL, "comm_alone", "comm alone", "each reduction by itself, ranks otherwise idle", "s", FIELD(comm_alone),
     BETTER_LOWER},
    {NULL, "attainable", "attainable", "with perfect overlap of this plan", "s", FIELD(attainable), BETTER_NONE},
    {NULL, "saved_by_overlap", "saved by overlap", "after backward - as captured", "s", FIELD(saved), BETTER_HIGHER},
    {NULL, "step_to_attainable", "step / attainable", "1: as with perfect overlap", "1", FIELD(step_to_attainable),
     BETTER_LOWER},
    {NULL, "overlap_efficiency", "overlap efficiency", "saved by overlap / the smaller of comm alone and backward of none", "1",
     FIELD(overlap_efficiency), BETTER_HIGHER},
    {NULL, "comm_slowdown", "comm slowdown", "duration of a collective / alone, waiting for a straggler included", "1",
     FIELD(comm_slowdown), BETTER_LOWER},
    {NULL, "step_to_none", "step / none", NULL, "1", FIELD(step_to_none), BETTER_LOWER},
    {NULL, "compute_slowdown", "compute slowdown", "time of computation / without communication", "1",
     FIELD(compute_slowdown), BETTER_LOWER},
    {NULL, "profiling_overhead", "profiling overhead", "step / untraced step", "1", FIELD(profiling_overhead), BETTER_LOWER},
    {NULL, "tracer_residue", "tracer residue", "untraced step / step before the first tracing; all rows but `before tracing` contain it", "1",
     FIELD(tracer_residue), BETTER_LOWER},
};
/* clang-format on */

void controls_create(struct controls *controls, size_t room)
{
    double **series[] = {&controls->compute, &controls->compute_none, &controls->exposed, &controls->overlap,
                         &controls->alone,   &controls->slowdown,     &controls->peak};
    controls->all_series = allocate(sizeof series / sizeof *series * room + 1, sizeof **series[0]);
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        *series[i] = controls->all_series + i * room;
}

void controls_destroy(struct controls *controls)
{
    free(controls->all_series);
    *controls = (struct controls){0};
}

static double mean_over_ranks(const struct job *job, double mine)
{
    return pool_steps(job, &mine, 1).mean;
}

int controls_include(const struct controls *c, int row)
{
    return row == c->rows.captured || row == c->rows.untraced || row == c->rows.after_backward || row == c->rows.none;
}

int controls_measure_alone(const struct controls *c, int row)
{
    return c->communicates && (row == c->rows.captured || row == c->rows.none);
}

void controls_add_block(struct controls *c, const struct job *job, const struct timeline *timeline,
                        const struct block *b, int timed)
{
    size_t round = b->round;
    struct overlap mean = overlap_mean(b->overlap, DISCARDED_STEPS, timed);
    if (b->implementation == c->rows.none)
        c->compute_none[round] = mean_over_ranks(job, mean.compute);
    if (b->implementation != c->rows.captured)
        return;
    c->compute[round] = mean_over_ranks(job, mean.compute);
    c->exposed[round] = mean_over_ranks(job, mean.exposed);
    c->overlap[round] = mean_over_ranks(job, mean.overlap);
    double peak = job_max(job, (double)b->peak_bytes);
    c->peak[round] = peak > 0 ? peak - (double)c->others_bytes : NAN;
    if (!c->communicates)
        return;
    double alone, slowdown = attainable_slowdown(c->attainable_of, timeline, b, &alone);
    c->slowdown[round] = mean_over_ranks(job, slowdown);
    c->alone[round] = job_max(job, alone);
}

/* Estimates a figure from the rounds in which the figure is known. */
static struct estimate estimate_known(const double *figure, size_t n)
{
    double *known = allocate(n + 1, sizeof *known);
    size_t k = 0;
    for (size_t r = 0; r < n; r++)
        if (isfinite(figure[r]))
            known[k++] = figure[r];
    struct estimate estimate = stats_estimate(known, k);
    free(known);
    return estimate;
}

void controls_compute(struct controls *c, const struct job *job, const struct measurements *m)
{
    /* A result that does not apply is estimated from n = 0 rounds, so the row given for it is not read. */
    size_t n = c->rounds = m->rounds, of_none = c->rows.none < 0 ? 0 : n, of_communication = c->communicates ? n : 0;
    size_t of_overlap = c->rows.after_backward < 0 ? 0 : of_communication;
    int none_row = of_none ? c->rows.none : 0, after_backward_row = of_overlap ? c->rows.after_backward : 0;
    const double *step = measurements_of(m, c->rows.captured, FIGURE_STEP),
                 *none = measurements_of(m, none_row, FIGURE_STEP);
    const double *untraced = measurements_of(m, c->rows.untraced, FIGURE_STEP);
    const double *after_backward = measurements_of(m, after_backward_row, FIGURE_STEP);
    const double *backward = measurements_of(m, none_row, PHASE_BACKWARD);
    double *attainable = allocate(n + 1, sizeof *attainable);
    c->step = stats_geometric(step, n);
    c->step_before_tracer = stats_geometric(c->before, c->n_before);
    c->step_untraced = stats_geometric(untraced, n);
    c->step_after_backward = stats_geometric(after_backward, of_overlap);
    c->step_none = stats_geometric(none, of_none);
    c->backward_none = stats_geometric(backward, of_none);
    c->forward = stats_geometric(measurements_of(m, c->rows.captured, PHASE_FORWARD), n);
    c->backward = stats_geometric(measurements_of(m, c->rows.captured, PHASE_BACKWARD), n);
    c->exposed_of_rounds = estimate_known(c->exposed, of_communication);
    c->overlap_of_rounds = estimate_known(c->overlap, of_communication);
    c->peak_bytes = estimate_known(c->peak, n);
    c->comm_alone = stats_geometric(c->alone, of_communication);
    c->comm_slowdown = stats_geometric(c->slowdown, of_communication);
    c->saved = stats_excess(after_backward, step, of_overlap, 0);
    double could = fmin(c->comm_alone.median, c->backward_none.median);
    c->overlap_efficiency = (struct estimate){
        c->saved.median / could, c->saved.ci_low / could, c->saved.ci_high / could, NAN, NAN, c->saved.n};
    c->profiling_overhead = stats_ratios(step, untraced, n, 0);
    c->tracer_residue = stats_unpaired_ratio(untraced, n, c->before, c->n_before);
    c->step_to_none = stats_ratios(step, none, of_none, 0);
    c->compute_slowdown = stats_ratios(c->compute, c->compute_none, of_none, 0);
    c->sync_cost = stats_excess(step, none, of_none ? of_communication : 0, 0);
    attainable_rounds(c->attainable_of, job, c->rows.captured, of_communication, attainable);
    c->attainable = stats_geometric(attainable, of_communication);
    c->step_to_attainable = stats_ratios(step, attainable, of_communication, 0);
    free(attainable);
}

/* ---- the verdict on overlap ---- */

/* Returns the reason why nothing overlaps (the first that applies); may use `text` for it. */
static const char *why_no_overlap(const struct profile *p, char text[192])
{
    const struct profile_facts *facts = &p->facts;
    double alone = p->controls.comm_alone.median, backward = p->controls.backward_none.median;
    double tail = p->figures.rank->mean.exposed_tail; /* of rank 0 */
    if (facts->buckets == 1)
        return "a single bucket is complete only when backward ends: use a smaller --bucket-size-mb";
    if (!facts->on_gpu && facts->cores_per_rank < facts->threads)
        return "CPUs are oversubscribed: a rank has more threads than cores, so communication has to wait for a core";
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

static void judge_efficiency(struct profile *p)
{
    char *text = p->overlap;
    const struct controls *c = &p->controls;
    const struct estimate *e = &c->overlap_efficiency, *saved = &c->saved;
    double alone = c->comm_alone.median, backward = c->backward_none.median;
    int is_shared_memory = p->facts.hosts == 1 && !p->facts.on_gpu;
    char reason[192], interval[CELL], share[CELL] = "all";
    const char *how = e->ci_low > 0 ? "hardly happened" : "did not happen", *why = why_no_overlap(p, reason);
    text_milliseconds(interval, saved->median, saved->ci_low, saved->ci_high);
    if (e->ci_low > 0 && e->median >= 0.1) {
        if (e->median < 1)
            snprintf(share, sizeof share, "%.0f %%", 100 * e->median);
        snprintf(text, OVERLAP_VERDICT,
                 "Overlap happened: it saved %s a step, %s of the %.1f ms that could be hidden (n = %zu rounds).",
                 interval, share, 1e3 * fmin(alone, backward), e->n);
        if (alone > backward)
            text_append(
                text, OVERLAP_VERDICT,
                " Communication alone (%.1f ms) is longer than backward (%.1f ms), so %.1f ms cannot be hidden.",
                1e3 * alone, 1e3 * backward, 1e3 * (alone - backward));
        return;
    }
    if (!(e->ci_low > 0) && e->ci_high > 0.1 && p->facts.buckets > 1) {
        how = "is not significantly different from none";
        why = is_shared_memory ? "run-to-run variation exceeds the effect; use more --rounds, but ranks that share one "
                                 "machine's memory usually have nothing to hide"
                               : "run-to-run variation exceeds the effect; use more --rounds";
    }
    snprintf(text, OVERLAP_VERDICT, "Overlap %s (saved: %s a step, n = %zu rounds): %s.", how, interval, e->n, why);
}

void overlap_verdict_write(struct profile *p)
{
    char *text = p->overlap;
    const struct profile_facts *facts = &p->facts;
    const char *name = facts->row->strategy->name;
    size_t rounds = p->controls.rounds;
    if (facts->ranks == 1)
        snprintf(text, OVERLAP_VERDICT, "Overlap: N/A, one rank does not communicate.");
    else if (!facts->traits->reduces)
        snprintf(text, OVERLAP_VERDICT, "Overlap: N/A, %s does not communicate.", name);
    else if (!facts->traits->overlaps)
        snprintf(text, OVERLAP_VERDICT, "Overlap: none; by design, %s starts to communicate after backward.", name);
    else if (!rounds)
        snprintf(text, OVERLAP_VERDICT, "Overlap: not measured; use --rounds 6 or more.");
    else if (isfinite(p->controls.overlap_efficiency.ci_low))
        judge_efficiency(p);
    else
        snprintf(text, OVERLAP_VERDICT,
                 "Overlap: not known; %zu round%s too few for an interval; use --rounds 6 or more.", rounds,
                 rounds == 1 ? " is" : "s are");
}
