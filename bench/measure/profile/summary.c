/* summary.c - the summary of a profile except its tables: the capture, the findings, and the list of figures. */
#include "profile/summary.h"
#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- capture and findings ---- */

/* Adds how the time of a step divides into phases: those of 5 % or more, and gradient_sync if ranks communicate. */
static void add_step(const struct profile *p, cJSON *summary)
{
    const struct phase_figure *phase = p->figures.phase;
    char text[320] = "", step[CELL];
    double rest = 1;
    for (int i = 0; i < PHASES; i++)
        if (phase[i].share >= 0.05 || (i == PHASE_GRADIENT_SYNC && p->controls.communicates)) {
            rest -= phase[i].share;
            text_append(text, sizeof text, "%.0f %% %s, ", 100 * phase[i].share, phase_name[i]);
        }
    results_add_sentence(summary, "answers",
                         "A captured step takes %s on average: %s%.0f %% other phases (table below).",
                         text_value_like(step, phase[PHASES].mean, "s", phase[PHASES].mean), text, fabs(100 * rest));
}

/* Adds which steps were captured, and what their traces lack. */
static void add_capture(const struct profile *p, cJSON *summary)
{
    const struct capture *c = &p->capture;
    const struct captured_step *first = c->trace.step, *last = &first[c->trace.steps - 1];
    int warmup = 0;
    cJSON *capture = cJSON_AddObjectToObject(summary, "capture");
    cJSON *steps = cJSON_AddArrayToObject(capture, "steps");
    for (int i = 0; i < c->trace.steps; i++) {
        cJSON_AddItemToArray(steps, cJSON_CreateNumber((double)first[i].number + 1));
        warmup += first[i].warmup;
    }
    json_add_number(capture, "first_counted_step", (double)first[p->figures.first].number + 1);
    json_add_number(capture, "counted_steps", p->figures.steps);
    json_add_number(capture, "clock_residual", 1e-9 * (double)c->collectives.residual_ns);
    json_add_number(capture, "impossible_collectives", (double)c->collectives.impossible);
    json_add_number(capture, "impossible_by", 1e-9 * (double)c->collectives.impossible_ns);
    cJSON_AddBoolToObject(capture, "buffer_full", c->full);
    cJSON_AddBoolToObject(capture, "interrupted", c->interrupted);
    results_add_sentence(summary, "notes", "Captured: %d step%s, ProfilerStep#%ld to #%ld; %d of warm-up epochs.",
                         c->trace.steps, text_plural((size_t)c->trace.steps), first->number + 1, last->number + 1,
                         warmup);
    if (isfinite(first->loss)) /* a replayed model has none */
        results_add_sentence(summary, "notes", "Loss of rank 0: %.4f in ProfilerStep#%ld, %.4f in #%ld.",
                             (double)first->loss, first->number + 1, (double)last->loss, last->number + 1);
    if (c->full)
        results_add_sentence(summary, "notes",
                             "The capture ended when the buffer of %g MiB was full; use a larger --profile-buffer-mb.",
                             p->options->buffer_mb);
    if (c->interrupted)
        results_add_sentence(summary, "notes", "The run was interrupted; there are no controls.");
    if (c->collectives.impossible)
        results_add_sentence(summary, "notes",
                             "%zu of %zu collectives end on a rank before another rank posts them, by up to %.2f us: "
                             "the clocks are not aligned to better than that. Who waited for whom in these is N/A.",
                             c->collectives.impossible, c->collectives.n, 1e-3 * (double)c->collectives.impossible_ns);
    if (*c->missing)
        results_add_sentence(summary, "notes", "%s.", c->missing);
}

static void add_findings(const struct profile *p, cJSON *summary)
{
    const struct captured_step *step = p->capture.trace.step;
    results_add_sentence(summary, "answers", "Findings in ProfilerStep#%ld to #%ld%s",
                         step[p->figures.first].number + 1, step[p->capture.trace.steps - 1].number + 1,
                         p->findings ? " (high: far beyond its threshold; warning: beyond it; note: worth knowing):"
                                     : ": none; no figure is beyond its threshold.");
    cJSON *list = cJSON_AddArrayToObject(summary, "findings");
    for (const struct finding *finding = p->finding; finding < p->finding + p->findings; finding++) {
        const struct measured *loss = &finding->loss;
        char ms[CELL], of_step[CELL + 24] = "";
        finding_write(list, finding);
        if (isfinite(loss->value))
            snprintf(of_step, sizeof of_step, ", %s%s of a step", isfinite(loss->low) ? "" : "up to ",
                     text_milliseconds(ms, loss->value, loss->low, loss->high));
        results_add_sentence(summary, "answers", "%s (%s%s): %s.", finding->name, level_name[finding->level], of_step,
                             finding->text);
        if (finding + 1 == p->finding + p->findings || strcmp(finding->advice, finding[1].advice) != 0)
            results_add_sentence(summary, "answers", "Try: %s.", finding->advice);
    }
}

/* ---- figures ---- */

/* Adds the figures of the captured steps, over all ranks together. */
static void add_captured(const struct profile *p, struct figure_list *list)
{
    const struct profile_figures *f = &p->figures;
    size_t n = (size_t)f->ranks * (size_t)f->steps;
    double step = f->phase[PHASES].mean;
    for (int i = 0; i < PHASES + !p->controls.rounds; i++) { /* i = PHASES: the step, unless controls time it */
        const struct phase_figure *phase = &f->phase[i];
        double seconds = i == PHASE_CHECKPOINT ? phase->mean : phase->median; /* checkpoints are rare: median 0 */
        if (phase->mean > 0)
            figures_add_estimate(list, p->facts.label, phase->name, "s",
                                 &(struct estimate){seconds, NAN, NAN, NAN, NAN, n}, BETTER_LOWER, i == PHASES);
    }
    const struct {
        const char *name, *unit;
        double value;
        enum better better;
    } figures[] = {
        {"tokens_per_second", "1/s", p->facts.tokens / step, BETTER_HIGHER},
        {"model_flops_per_second", "FLOP/s", p->facts.flops / step, BETTER_HIGHER},
        {"communication_ratio", "1", f->communication_ratio, BETTER_LOWER},
        {"comm_busy", "s", f->mean.communication, BETTER_LOWER},
        {"compute_busy", "s", f->mean.compute, BETTER_LOWER},
        {"overlap", "s", f->mean.overlap, BETTER_HIGHER},
        {"exposed", "s", f->mean.exposed, BETTER_LOWER},
        {"compute_alone", "s", f->mean.alone, BETTER_LOWER},
        {"idle", "s", f->mean.idle, BETTER_LOWER},
        {"exposed_tail", "s", f->mean.exposed_tail, BETTER_LOWER},
        {overlap_span_name(p->facts.comm_on_device), "1", f->mean.span, BETTER_HIGHER},
        {"compute_coverage", "1", f->mean.coverage, BETTER_HIGHER},
        {"utilisation", "1", f->mean.utilisation, BETTER_HIGHER},
        {"product_peak", "FLOP/s", p->facts.limits.flops, BETTER_HIGHER},
        {"memory_bandwidth", "B/s", p->facts.limits.bandwidth, BETTER_HIGHER},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        figures_add_value(list, p->facts.label, figures[i].name, figures[i].unit, figures[i].value, n,
                          figures[i].better);
    for (const struct name_total *t = p->totals.row; t < p->totals.row + p->totals.n; t++) {
        char name[sizeof t->name + 8];
        if (t->kind != KIND_OPERATION)
            continue;
        snprintf(name, sizeof name, "%.40s_self", t->name); /* self time: seconds per step and rank */
        figures_add_value(list, p->facts.label, name, "s", t->self / (double)n, n, BETTER_LOWER);
        snprintf(name, sizeof name, "%.40s_memory", t->name);
        if (t->memory > 0)
            figures_add_value(list, p->facts.label, name, "B", t->memory, n, BETTER_LOWER);
    }
}

/* Figures are named after the kind of collective if there are several kinds, because these may have equal sizes. */
static void add_collectives(const struct profile *p, struct figure_list *list)
{
    for (int i = 0; i < p->figures.collectives; i++) {
        const struct collective_figure *c = &p->figures.collective[i];
        double bytes = (double)c->bytes;
        struct figure figures[] = {
            {"", "collective", "s", bytes, c->duration, NAN, NAN, c->calls, BETTER_LOWER, 0},
            {"", "wait", "s", bytes, c->wait, NAN, NAN, c->known, BETTER_LOWER, 0},
            {"", "transfer", "s", bytes, c->transfer, NAN, NAN, c->known, BETTER_LOWER, 0},
            {"", "algbw", "B/s", bytes, c->algbw, NAN, NAN, c->calls, BETTER_HIGHER, 0},
            {"", "busbw", "B/s", bytes, c->busbw, NAN, NAN, c->calls, BETTER_HIGHER, 0},
        };
        for (struct figure *f = figures; f < figures + sizeof figures / sizeof *figures; f++) {
            char name[sizeof f->name];
            snprintf(name, sizeof name, "%.20s", f->name);
            if (p->figures.several_kinds)
                snprintf(f->name, sizeof f->name, f == figures ? "%.20s" : "%.20s_%.20s", c->kind_name, name);
            snprintf(f->subject, sizeof f->subject, "%s", p->facts.label);
            figures_add(list, f);
        }
    }
}

void profile_add_results(const struct profile *p, cJSON *summary, struct figure_list *list)
{
    add_capture(p, summary);
    json_add_text(summary, "implementation", p->facts.label);
    add_step(p, summary);
    results_add_sentence(summary, "answers", "%s", p->overlap);
    add_findings(p, summary);
    add_captured(p, list);
    for (const struct control_result *r = control_results; r < control_results + CONTROL_RESULTS; r++)
        figures_add_estimate(list, r->subject ? r->subject : p->facts.label, r->figure, r->unit,
                             control_estimate(&p->controls, r), r->better, !strcmp(r->figure, "step"));
    add_collectives(p, list);
    figures_add_value(list, p->facts.label, "memory_peak", "B", (double)p->facts.peak_bytes, 1, BETTER_LOWER);
}
