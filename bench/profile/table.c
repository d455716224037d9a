/* table.c - a profile in words and columns. */
#include "base/text.h"
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number in a column, or n/a. */
static void column(FILE *out, int width, int decimals, double value)
{
    if (isfinite(value))
        fprintf(out, " %*.*f", width, decimals, value);
    else
        fprintf(out, " %*s", width, "n/a");
}

static void print_capture(FILE *out, const struct profile *p)
{
    const struct capture *c = &p->capture;
    const struct captured_step *first = &c->step[0], *last = &c->step[c->n - 1];
    int warmup = 0;
    for (int i = 0; i < c->n; i++)
        warmup += c->step[i].warmup;
    fprintf(
        out,
        "profile   %s: %d step%s captured, from ProfilerStep#%ld to #%ld; %d of warm-up epochs, %d of active ones\n",
        p->run->options->implementation[0].label, c->n, c->n == 1 ? "" : "s", first->number + 1, last->number + 1,
        warmup, c->n - warmup);
    if (c->full)
        fprintf(out, "          the buffer of %g MiB was full then; --profile-buffer-mb makes it larger\n",
                p->run->options->profile_buffer_mb);
    char missing[640];
    if (*gpu_tracer_words(&c->gpu_tracer, missing))
        fprintf(out, "          %s\n", missing);
    if (p->run->job->size > 1)
        fprintf(out, "clock     all ranks on rank 0's; residual at most %.2f us\n",
                1e-3 * (double)c->collectives.residual_ns);
    for (int r = 1; r < p->figures.ranks && r < 8; r++) {
        const struct alignment *a = &p->figures.rank[r].alignment;
        fprintf(out, "          rank %d: offset %+.2f us, drift %+.3f us/s (+- %.3f), residual %.2f us\n", r,
                1e-3 * (double)a->before.offset_ns, 1e-3 * alignment_drift(a), 1e-3 * alignment_drift_error(a),
                1e-3 * (double)alignment_residual_ns(a));
    }
    if (p->figures.ranks > 8)
        fprintf(out, "          (the other ranks in summary.json)\n");
}

static void print_phases(FILE *out, const struct profile *p)
{
    static const char *const usual[PHASES] = {[PHASE_DATA_LOADING] = "up to 5-10 %",
                                              [PHASE_FORWARD] = "30-40 %",
                                              [PHASE_BACKWARD] = "40-50 %",
                                              [PHASE_OPTIMIZER] = "5-10 %"};
    const struct profile_figures *f = &p->figures;
    fprintf(out, "\nPhases of %d captured step%s of %s epochs on %d rank%s, ms a step\n", f->steps,
            f->steps == 1 ? "" : "s", p->capture.step[f->first].warmup ? "warm-up" : "active", f->ranks,
            f->ranks == 1 ? "" : "s");
    fprintf(out, "%-26s %10s %10s %10s %8s  %s\n", "", "mean", "median", "p95_steps", "share", "usual when well tuned");
    for (int i = 0; i <= PHASES; i++) {
        const struct phase_figure *phase = &f->phase[i];
        if (i == PHASE_CLIPPING && phase->mean == 0)
            continue;
        fprintf(out, "%-26s", i == PHASES ? "step" : phase_name[i]);
        column(out, 10, 3, 1e3 * phase->mean);
        column(out, 10, 3, 1e3 * phase->median);
        column(out, 10, 3, 1e3 * phase->p95_steps);
        fprintf(out, " %6.1f %%%s%s\n", 100 * phase->share, i < PHASES && usual[i] ? "  " : "",
                i < PHASES && usual[i] ? usual[i] : "");
    }
    double tokens = (double)(p->run->options->batch_size * p->run->options->context_length),
           step = f->phase[PHASES].mean;
    fprintf(out,
            "n = ranks x steps = %d; p95_steps is over the steps of rank %d, the slowest.\n"
            "%.0f tokens per second, %.1f GFLOP/s of the model; communication ratio (gradient_sync / step) %.3f.\n",
            f->ranks * f->steps, f->slowest, tokens / step, 1e-9 * model_flops(&p->run->model, (size_t)tokens) / step,
            f->phase[PHASE_GRADIENT_SYNC].share);
}

static void print_averages(FILE *out, const struct profile *p)
{
    const struct totals *a = &p->totals;
    fprintf(out, "\nOperations in the same steps, all ranks together, by %s (--profile-sort)\n",
            sort_name[p->run->options->profile_sort]);
    fprintf(out, "%-26s %-10s %8s %11s %11s %10s %7s %8s %7s\n", "name", "", "calls", "total ms", "self ms", "mean us",
            "self", "GFLOP/s", "GB/s");
    for (int i = 0; i < a->n; i++) {
        const struct name_total *row = &a->row[i];
        fprintf(out, "%-26s %-10s %8.0f %11.3f", row->name, total_kind_name[row->kind], row->calls,
                1e-6 * row->total_ns);
        column(out, 11, 3, 1e-6 * row->self_ns);
        fprintf(out, " %10.2f", 1e-3 * row->total_ns / row->calls);
        if (isnan(row->self_ns))
            fprintf(out, " %7s", "n/a");
        else
            fprintf(out, " %5.1f %%", 100 * row->self_ns / a->step_ns);
        column(out, 8, 1, row->flops > 0 && row->total_ns > 0 ? row->flops / row->total_ns : NAN);
        column(out, 7, 2, row->bytes > 0 && row->total_ns > 0 ? row->bytes / row->total_ns : NAN);
        fprintf(out, "\n");
    }
    fprintf(out,
            "self: without what ran inside under a name of its own, and its share of the steps. A collective runs\n"
            "beside %s.\n",
            p->run->comm->on_device ? "the operations, on a stream of its own"
                                    : "the training thread, from post to completion");
}

static void print_collectives(FILE *out, const struct profile *p)
{
    const struct profile_figures *f = &p->figures;
    enum { SHOWN = 16 };
    if (!f->collectives || f->ranks == 1)
        return;
    fprintf(out, "\nCollectives by size, all ranks; medians in us\n");
    fprintf(out, "%12s %11s %7s %10s %10s %10s %10s %8s %8s\n", "bytes", "parameters", "calls", "queued", "duration",
            "wait", "transfer", "algbw", "busbw");
    for (int i = 0; i < f->collectives && i < SHOWN; i++) {
        const struct collective_figure *c = &f->collective[i];
        fprintf(out, "%12zu %11zu %7zu", c->bytes, c->parameters, c->calls);
        column(out, 10, 1, 1e6 * c->queued);
        column(out, 10, 1, 1e6 * c->duration);
        column(out, 10, 1, 1e6 * c->wait);
        column(out, 10, 1, 1e6 * c->transfer);
        column(out, 8, 3, c->algbw);
        column(out, 8, 3, c->busbw);
        fprintf(out, "\n");
    }
    if (f->collectives > SHOWN)
        fprintf(out, "%12s (%d more sizes in summary.json)\n", "...", f->collectives - SHOWN);
    fprintf(out,
            "queued: before it was posted. duration: from post to completion. wait: for the rank that posts last, "
            "where it is\n"
            "beyond twice the clocks' residual. transfer: from when the last rank posts, where that is known. "
            "Each column is a\n"
            "median over the calls that it is known of. GB/s of the duration.%s\n",
            p->run->comm->on_device ? " Posted: the GPU came to it." : "");
}

static void print_stragglers(FILE *out, const struct profile *p)
{
    const struct collectives *r = &p->capture.collectives;
    if (r->ranks == 1 || !r->considered)
        return;
    fprintf(out, "\nStragglers in the same steps: who posts last (%zu of %zu collectives can be told)\n", r->attributed,
            r->considered);
    fprintf(out, "%6s %8s %8s %14s %14s %22s\n", "rank", "last", "share", "late by, us", "at most, us",
            "cost, ms a step");
    for (int i = 0; i < r->ranks; i++) {
        const struct straggler *s = &r->straggler[i];
        if (r->ranks > 16 && !s->last)
            continue;
        fprintf(out, "%6d %8zu %6.1f %% %14.1f %14.1f %22.3f\n", i, s->last,
                r->attributed ? 100.0 * (double)s->last / (double)r->attributed : 0, 1e-3 * s->late_ns,
                1e-3 * s->most_ns, 1e-6 * s->cost_ns / p->figures.steps);
    }
    fprintf(out, "late by: median, behind the last but one. cost: how long another rank stood still in gradient_sync\n"
                 "because this one had not posted yet (mean over the other ranks).\n");
}

/* ---- overlap ---- */

static void print_ranks(FILE *out, const struct profile *p)
{
    const struct profile_figures *f = &p->figures;
    int on_device = p->run->comm->on_device;
    enum { SHOWN = 16 };
    fprintf(out, "\nOverlap in the captured steps of %s epochs, ms a step\n",
            p->capture.step[f->first].warmup ? "warm-up" : "active");
    fprintf(out, "%6s %10s %10s %10s %10s %10s %12s %10s %8s\n", "rank", "compute", "comm", "overlap", "exposed",
            "exposed", on_device ? "hidden" : "span overlap", "compute", "busy");
    fprintf(out, "%6s %10s %10s %10s %10s %10s %12s %10s %8s\n", "", "busy", "busy", "", "", "tail",
            on_device ? "ratio" : "(upper bound)", "coverage", "");
    for (int r = 0; r < f->ranks && r < SHOWN; r++) {
        const struct overlap *o = &f->rank[r].sum;
        double per_step = 1e-6 / f->steps;
        fprintf(out, "%6d", r);
        column(out, 10, 3, per_step * (double)o->compute_ns);
        column(out, 10, 3, per_step * (double)o->communication_ns);
        column(out, 10, 3, per_step * (double)o->overlap_ns);
        column(out, 10, 3, per_step * (double)overlap_exposed(o));
        column(out, 10, 3, per_step * (double)o->exposed_tail_ns);
        column(out, 12, 3, overlap_span(o));
        column(out, 11, 3, overlap_coverage(o));
        fprintf(out, " %6.1f %%\n", 100 * overlap_utilisation(o));
    }
    if (f->ranks > SHOWN)
        fprintf(out, "%6s (%d more ranks in summary.json)\n", "...", f->ranks - SHOWN);
    if (on_device)
        fprintf(out,
                "comm busy: when the GPU was at collectives, waiting for other ranks included. hidden ratio: the part "
                "of it\nbeside operations.\n");
    else
        fprintf(out,
                "comm busy: from post to completion; MPI does not show when data moves, so span overlap bounds what "
                "was\nhidden from above and decides nothing. %s\n",
                p->controls.rounds ? "The controls below do." : "Controls would (--rounds).");
}

/* A figure with its interval; nothing where it does not apply. */
static void print_control(FILE *out, const char *name, double value, double low, double high, const char *meaning)
{
    if (!isfinite(value))
        return;
    fprintf(out, "  %-20s %9.3f", name, value);
    if (isfinite(low))
        fprintf(out, " [%.3f, %.3f]", low, high);
    fprintf(out, "  %s\n", meaning);
}

static void print_paired(FILE *out, const char *name, const struct paired *x, const char *meaning)
{
    print_control(out, name, x->ratio, x->ci_low, x->ci_high, meaning);
}

static void print_summary(FILE *out, const char *name, double scale, const struct estimate *x, const char *meaning)
{
    print_control(out, name, scale * x->median, scale * x->ci_low, scale * x->ci_high, meaning);
}

static void print_controls(FILE *out, const struct profile *p)
{
    const struct controls *c = &p->controls;
    const struct run *run = p->run;
    double none = 1e3 * c->step_none.median;
    if (!c->rounds)
        return;
    fprintf(out, "\nControls, interleaved with it in %zu round%s of %zu timed steps (95 %% intervals)\n", c->rounds,
            c->rounds == 1 ? "" : "s", run->options->block_steps);
    print_summary(out, "step", 1e3, &c->step_on, "ms");
    print_summary(out, "after backward", 1e3, &c->step_off, "ms a step with the same collectives, all after backward");
    print_summary(out, "none", 1e3, &c->step_none, "ms a step without communication");
    print_control(out, "sync cost", none * (c->step_to_none.ratio - 1), none * (c->step_to_none.ci_low - 1),
                  none * (c->step_to_none.ci_high - 1), "ms: (geometric mean of step / step of none - 1) x none");
    print_paired(out, "compute slowdown", &c->compute_slowdown, "x the time of operations without communication");
    if (run->comm_cpu_seconds > 0 && run->job->size > 1)
        fprintf(out, "  %-20s %9.3f  cores used by rank 0's communication thread (progress %s)\n", "comm thread",
                run->comm_cpu_seconds / run->comm_seconds, run->comm->progress);
    print_summary(out, "comm alone", 1e3, &c->comm_alone, "ms a step, each collective by itself");
    print_summary(out, "comm slowdown", 1, &c->comm_slowdown,
                  "x the duration of a collective alone, waiting for a late rank included");
    print_control(out, "attainable", 1e3 * c->attainable, NAN, NAN, "ms a step with perfect overlap of this plan");
    print_control(out, "step / attainable", c->step_on.median / c->attainable, NAN, NAN, "x; 1 is as good as it gets");
    if (c->step_on.median < 0.95 * c->attainable)
        fprintf(out,
                "  (below 1: several collectives in flight hide each other's latency, or the machine was less busy "
                "then)\n");
    print_summary(out, "overlap efficiency", 1, &c->efficiency,
                  "of the smaller of comm alone and backward, saved by overlap");
    print_paired(out, "profiling overhead", &c->overhead,
                 "x the step without tracing, which records phases and collectives alone");
}

/* ---- memory, findings ---- */

static void print_memory(FILE *out, const struct profile *p)
{
    char words[CELL];
    fprintf(out, "\nMemory of a rank, estimated by part:");
    for (int i = 0; i < MEMORY_PARTS; i++)
        fprintf(out, "%s %s %s", i ? "," : "", memory_part_name[i], text_memory(words, p->run->memory[i]));
    fprintf(out, "; together %s.", text_memory(words, memory_total(p->run->memory)));
    fprintf(out, " Measured %s: %s.\n",
            p->run->opened.on_gpu ? "on the fullest GPU, at the end" : "peak of the largest rank",
            text_memory(words, p->peak_bytes));
}

static void print_findings(FILE *out, const struct profile *p)
{
    const struct findings *f = &p->findings;
    fprintf(out, "\n%s\n", f->verdict.text);
    fprintf(out, "Findings in ProfilerStep#%ld to #%ld: %s\n", p->capture.step[p->figures.first].number + 1,
            p->capture.step[p->capture.n - 1].number + 1, f->n ? "" : "none; no figure is beyond its threshold.");
    for (int i = 0; i < f->n; i++)
        fprintf(out, "%s (%s): %s.\n  Try: %s.\n", f->finding[i].name, level_name[f->finding[i].level],
                f->finding[i].text, f->finding[i].advice);
    if (p->run->cores_per_rank < p->run->threads)
        fprintf(out, "Warning: a rank has %d thread%s and %.2g logical CPUs: times are full of waiting for a CPU.\n",
                p->run->threads, p->run->threads == 1 ? "" : "s", p->run->cores_per_rank);
    if (p->run->blocks_with_other_processes && !p->run->options->monitor_cpu) /* which tells more */
        fprintf(out, "Note: %zu of %zu blocks ran beside other work on the machine (up to %.1f cores).\n",
                p->run->blocks_with_other_processes, p->run->blocks, p->run->other_processes_cores);
    monitor_findings_print(out, &p->run->monitored);
}

void profile_report(FILE *out, const struct profile *p)
{
    print_capture(out, p);
    print_phases(out, p);
    print_averages(out, p);
    print_collectives(out, p);
    print_stragglers(out, p);
    print_ranks(out, p);
    print_controls(out, p);
    print_memory(out, p);
    print_findings(out, p);
}
