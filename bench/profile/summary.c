/* summary.c - what a profile's summary says beside its tables: capture, clock, findings, and the list of figures. */
#include "base/json.h"
#include "base/text.h"
#include "profile/outcome.h"

#include <math.h>
#include <stdio.h>

/* ---- the capture ---- */

static void add_capture_facts(const struct profile *p, const char *missing, cJSON *summary)
{
    const struct capture *c = &p->capture;
    cJSON *capture = cJSON_AddObjectToObject(summary, "capture");
    cJSON *steps = cJSON_AddArrayToObject(capture, "steps");
    for (int i = 0; i < c->n; i++)
        cJSON_AddItemToArray(steps, cJSON_CreateNumber((double)c->step[i].number + 1));
    json_add_number(capture, "first_counted_step", (double)c->step[c->first].number + 1);
    json_add_number(capture, "counted_steps", p->figures.steps);
    json_add_number(capture, "slowest_rank", p->figures.slowest);
    cJSON_AddBoolToObject(capture, "buffer_full", c->full);
    cJSON_AddBoolToObject(capture, "interrupted", c->interrupted);
    if (*missing)
        json_add_text(capture, "missing_in_traces", missing);
}

/* Offsets and residuals in seconds, drifts in seconds per second. */
static void add_clock(const struct profile *p, cJSON *summary)
{
    double residual = 1e-9 * (double)p->capture.collectives.residual_ns;
    cJSON *clock = cJSON_AddObjectToObject(summary, "clock");
    json_add_number(clock, "residual", residual);
    cJSON *ranks = cJSON_AddArrayToObject(clock, "ranks");
    if (p->figures.ranks > 1)
        results_add_line(summary, "heading", "clock     all ranks on rank 0's; residual at most %.2f us",
                         1e6 * residual);
    for (int r = 0; r < p->figures.ranks; r++) {
        const struct alignment *a = &p->figures.rank[r].alignment;
        cJSON *rank = json_add_row(ranks);
        json_add_number(rank, "rank", r);
        json_add_number(rank, "offset", 1e-9 * (double)a->before.offset_ns);
        json_add_number(rank, "drift", 1e-9 * alignment_drift(a));
        json_add_number(rank, "drift_error", 1e-9 * alignment_drift_error(a));
        json_add_number(rank, "residual", 1e-9 * (double)alignment_residual_ns(a));
        if (r && r < 8)
            results_add_line(summary, "heading",
                             "          rank %d: offset %+.2f us, drift %+.3f us/s (+- %.3f), residual %.2f us", r,
                             1e-3 * (double)a->before.offset_ns, 1e-3 * alignment_drift(a),
                             1e-3 * alignment_drift_error(a), 1e-3 * (double)alignment_residual_ns(a));
    }
    if (p->figures.ranks > 8)
        results_add_line(summary, "heading", "          (the other ranks in summary.json)");
}

void profile_add_capture(const struct profile *p, cJSON *summary)
{
    const struct capture *c = &p->capture;
    char words[640];
    const char *missing = gpu_tracer_words(&c->gpu_tracer, words);
    int warmup = 0;
    for (int i = 0; i < c->n; i++)
        warmup += c->step[i].warmup;
    json_add_text(summary, "implementation", p->facts.label);
    results_add_line(
        summary, "heading",
        "profile   %s: %d step%s captured, ProfilerStep#%ld to #%ld: %d of warm-up epochs, %d of active ones",
        p->facts.label, c->n, text_plural((size_t)c->n), c->step[0].number + 1, c->step[c->n - 1].number + 1, warmup,
        c->n - warmup);
    if (c->full)
        results_add_line(summary, "heading",
                         "          then the buffer of %g MiB was full; use a larger --profile-buffer-mb",
                         p->options->buffer_mb);
    if (*missing)
        results_add_line(summary, "heading", "          %s", missing);
    add_capture_facts(p, missing, summary);
    add_clock(p, summary);
}

/* ---- findings ---- */

void profile_add_findings(const struct profile *p, cJSON *summary)
{
    const struct findings *f = &p->findings;
    const struct capture *c = &p->capture;
    json_add_text(summary, "overlap_happened", f->verdict.overlap);
    json_add_text(summary, "overlap_verdict", f->verdict.text);
    cJSON *list = cJSON_AddArrayToObject(summary, "findings");
    results_add_line(summary, "notes", "%s", "");
    results_add_line(summary, "notes", "%s", f->verdict.text);
    results_add_line(summary, "notes", "Findings in ProfilerStep#%ld to #%ld:%s", c->step[c->first].number + 1,
                     c->step[c->n - 1].number + 1, f->n ? "" : " none; no figure is beyond its threshold.");
    for (int i = 0; i < f->n; i++) {
        const struct finding *finding = &f->finding[i];
        cJSON *row = json_add_row(list);
        json_add_text(row, "name", finding->name);
        json_add_text(row, "level", level_name[finding->level]);
        json_add_number(row, "percent", finding->value);
        json_add_number(row, "threshold", finding->threshold);
        json_add_text(row, "text", finding->text);
        json_add_text(row, "advice", finding->advice);
        results_add_line(summary, "notes", "%s (%s): %s.", finding->name, level_name[finding->level], finding->text);
        results_add_line(summary, "notes", "  Try: %s.", finding->advice);
    }
}

/* ---- figures ---- */

/* A figure of the captured steps. */
static void add_figure(struct figure_list *list, const char *subject, const char *name, double bytes, const char *unit,
                       double value, size_t n, enum better better, int judged)
{
    struct figure figure = {
        .bytes = bytes, .value = value, .low = NAN, .high = NAN, .n = n, .better = better, .judged = judged};
    snprintf(figure.subject, sizeof figure.subject, "%s", subject);
    snprintf(figure.name, sizeof figure.name, "%s", name);
    snprintf(figure.unit, sizeof figure.unit, "%s", unit);
    figures_add(list, &figure);
}

static void add_steps(const struct profile *p, struct figure_list *list)
{
    const char *label = p->facts.label;
    const struct profile_figures *f = &p->figures;
    size_t n = (size_t)f->ranks * (size_t)f->steps;
    double step = f->phase[PHASES].mean;
    for (int i = 0; i <= PHASES; i++)
        add_figure(list, label, f->phase[i].name, 0, "s", f->phase[i].median, n, BETTER_LOWER, i == PHASES);
    figures_add_value(list, label, "tokens_per_second", "1/s", p->facts.tokens / step, n, BETTER_HIGHER);
    figures_add_value(list, label, "model_flops_per_second", "FLOP/s", p->facts.flops / step, n, BETTER_HIGHER);
    figures_add_value(list, label, "communication_ratio", "1", f->phase[PHASE_GRADIENT_SYNC].share, n, BETTER_LOWER);
}

/* Over all ranks together, a step. */
static void add_overlap(const struct profile *p, struct figure_list *list)
{
    const char *label = p->facts.label;
    const struct profile_figures *f = &p->figures;
    size_t n = (size_t)f->ranks * (size_t)f->steps;
    double per_step = 1e-9 / (double)n;
    struct overlap sum = {0};
    for (int r = 0; r < f->ranks; r++) {
        const struct overlap *o = &f->rank[r].sum;
        sum.step_ns += o->step_ns;
        sum.communication_ns += o->communication_ns;
        sum.compute_ns += o->compute_ns;
        sum.overlap_ns += o->overlap_ns;
        sum.exposed_tail_ns += o->exposed_tail_ns;
        sum.collectives += o->collectives;
    }
    figures_add_value(list, label, "comm_busy", "s", per_step * (double)sum.communication_ns, n, BETTER_LOWER);
    figures_add_value(list, label, "compute_busy", "s", per_step * (double)sum.compute_ns, n, BETTER_LOWER);
    figures_add_value(list, label, "overlap", "s", per_step * (double)sum.overlap_ns, n, BETTER_HIGHER);
    figures_add_value(list, label, "exposed", "s", per_step * (double)overlap_exposed(&sum), n, BETTER_LOWER);
    figures_add_value(list, label, "exposed_tail", "s", per_step * (double)sum.exposed_tail_ns, n, BETTER_LOWER);
    figures_add_value(list, label, overlap_span_name(p->facts.comm_on_device), "1", overlap_span(&sum), n,
                      BETTER_HIGHER);
    figures_add_value(list, label, "compute_coverage", "1", overlap_coverage(&sum), n, BETTER_HIGHER);
    figures_add_value(list, label, "utilisation", "1", overlap_utilisation(&sum), n, BETTER_HIGHER);
}

static void add_collectives(const struct profile *p, struct figure_list *list)
{
    const char *label = p->facts.label;
    for (int i = 0; i < p->figures.collectives; i++) {
        const struct collective_figure *c = &p->figures.collective[i];
        double bytes = (double)c->bytes;
        add_figure(list, label, "collective", bytes, "s", c->duration, c->calls, BETTER_LOWER, 0);
        add_figure(list, label, "wait", bytes, "s", c->wait, c->waited, BETTER_LOWER, 0);
        add_figure(list, label, "transfer", bytes, "s", c->transfer, c->calls, BETTER_LOWER, 0);
        add_figure(list, label, "algbw", bytes, "B/s", c->algbw, c->calls, BETTER_HIGHER, 0);
        add_figure(list, label, "busbw", bytes, "B/s", c->busbw, c->calls, BETTER_HIGHER, 0);
    }
}

static void add_controls(const struct profile *p, struct figure_list *list)
{
    const char *label = p->facts.label;
    const struct controls *c = &p->controls;
    figures_add_estimate(list, "untraced", "step", "s", &c->step_untraced, BETTER_LOWER, 1);
    figures_add_estimate(list, "after_backward", "step", "s", &c->step_after_backward, BETTER_LOWER, 1);
    figures_add_estimate(list, "none", "step", "s", &c->step_none, BETTER_LOWER, 1);
    figures_add_estimate(list, label, "sync_cost", "s", &c->sync_cost, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "backward_none", "s", &c->backward_none, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "comm_alone", "s", &c->comm_alone, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "comm_slowdown", "1", &c->comm_slowdown, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "overlap_efficiency", "1", &c->overlap_efficiency, BETTER_HIGHER, 0);
    figures_add_estimate(list, label, "step_to_none", "1", &c->step_to_none, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "compute_slowdown", "1", &c->compute_slowdown, BETTER_LOWER, 0);
    figures_add_estimate(list, label, "profiling_overhead", "1", &c->profiling_overhead, BETTER_LOWER, 0);
    figures_add_value(list, label, "attainable", "s", c->attainable, c->rounds, BETTER_NONE);
    figures_add_value(list, label, "communication_thread_cores", "1", p->comm_thread_cores, c->rounds, BETTER_LOWER);
}

void profile_add_figures(const struct profile *p, struct figure_list *list)
{
    add_steps(p, list);
    add_controls(p, list);
    add_overlap(p, list);
    add_collectives(p, list);
    figures_add_value(list, p->facts.label, "memory_peak", "B", (double)p->facts.peak_bytes, 1, BETTER_LOWER);
}
