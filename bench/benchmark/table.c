/* table.c - the comparison in words and columns. */
#include "benchmark/table.h"

#include "base/text.h"
#include "base/version.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

void heading_print(FILE *out, const struct run *run)
{
    const struct options *o = run->options;
    const struct job *job = run->job;
    char words[CELL], on[300];
    fprintf(out, "ddpbench %s on %d rank%s x %d thread%s on %d host%s (%s), comm %s, %s%s\n", version_text(), job->size,
            job->size == 1 ? "" : "s", run->threads, run->threads == 1 ? "" : "s", job->hosts,
            job->hosts == 1 ? "" : "s",
            run->opened.on_gpu ? open_device_words(&run->opened, on)
            : run->host.cpu[0] ? run->host.cpu
                               : run->host.name,
            run->comm->name, run->comm->on_device ? "" : "progress ", run->comm->progress);
    fprintf(out,
            "model     %zu layers, d_model %zu, %zu heads, d_ff %zu, vocabulary %zu, context %zu: %.2f M parameters\n",
            o->num_layers, o->d_model, o->num_heads, o->d_ff, o->vocab_size, o->context_length,
            1e-6 * (double)run->model.parameters);
    fprintf(out, "batch     %zu sequences a step = %d ranks x %zu micro-batch%s x %zu\n", o->batch_size, job->size,
            o->grad_accumulation, o->grad_accumulation == 1 ? "" : "es", run->model.sizes.batch);
    if (data_tokens(run->data))
        fprintf(out, "data      %s, %zu tokens\n", o->data, data_tokens(run->data));
    else
        fprintf(out, "data      synthetic\n");
    if (o->profile)
        fprintf(out, "epochs    %zu of %zu step%s, %zu of them warm-up; controls run in %s epochs\n", o->num_epochs,
                o->steps_per_epoch, o->steps_per_epoch == 1 ? "" : "s", o->warmup_epochs,
                o->regime == REGIME_WARMUP ? "warm-up" : "active");
    else
        fprintf(out, "regime    %s\n",
                o->regime == REGIME_WARMUP ? "warmup: the learning rate ramps and gradients are clipped"
                                           : "active: constant learning rate, no clipping");
    fprintf(out, "memory    %s on each rank (estimated):", text_memory(words, memory_total(run->memory)));
    for (int i = 0; i < MEMORY_PARTS; i++)
        fprintf(out, "%s %s %s", i ? "," : "", memory_part_name[i], text_memory(words, run->memory[i]));
    fprintf(out, "\n\n");
}

/* ---- the table ---- */

static void print_ms(FILE *out, int width, double seconds)
{
    if (isfinite(seconds))
        fprintf(out, " %*.*f", width, seconds < 10 ? 2 : 0, 1e3 * seconds);
    else
        fprintf(out, " %*s", width, "n/a");
}

static void print_row(FILE *out, int width, const char *label, const struct row *row, int with_attainable)
{
    char interval[64];
    fprintf(out, "%-*s", width, label);
    print_ms(out, 9, row->seconds[PHASE_FORWARD].median);
    print_ms(out, 9, row->seconds[PHASE_BACKWARD].median);
    print_ms(out, 9, row->seconds[PHASE_GRADIENT_SYNC].median);
    print_ms(out, 9, row->seconds[PHASE_OPTIMIZER].median);
    print_ms(out, 9, row->seconds[FIGURE_STEP].median);
    if (row->communication_ratio.n)
        fprintf(out, " %6.1f %%", 100 * row->communication_ratio.median);
    else
        fprintf(out, " %8s", "n/a");
    fprintf(out, " %9.0f", row->tokens_per_second.median);
    print_ms(out, 9, row->sync_cost);
    if (isfinite(row->sync_cost_low))
        snprintf(interval, sizeof interval, "[%.2f, %.2f]", 1e3 * row->sync_cost_low, 1e3 * row->sync_cost_high);
    else
        snprintf(interval, sizeof interval, "%s", isfinite(row->sync_cost) ? "[n < 2]" : "");
    if (with_attainable && isfinite(row->attainable))
        fprintf(out, " %-18s %8.2f %6.2f\n", interval, 1e3 * row->attainable,
                row->seconds[FIGURE_STEP].median / row->attainable);
    else if (with_attainable)
        fprintf(out, " %-18s %8s %6s\n", interval, "n/a", "n/a");
    else
        fprintf(out, "%s%s\n", *interval ? " " : "", interval);
}

static void print_table(FILE *out, const struct run *run, const struct ranking *c)
{
    const struct implementation *implementation = run->options->implementation;
    int width = 14, bound = run->options->attainable;
    for (int i = 0; i < c->n; i++)
        if ((int)strlen(implementation[i].label) > width)
            width = (int)strlen(implementation[i].label);
    const char *format = "%-*s %9s %9s %9s %9s %9s %8s %9s %9s %s\n";
    fprintf(out, format, width, "implementation", "forward", "backward", "sync", "optimizer", "step", "comm", "tokens",
            "sync cost", bound ? "[95 %               attain-   step" : "[95 %");
    fprintf(out, format, width, "", "ms", "ms", "ms", "ms", "ms", "ratio", "per s", "ms",
            bound ? "interval]           able ms  /att." : "interval]");
    for (int i = 0; i < c->n; i++)
        print_row(out, width, implementation[i].label, &c->row[i], bound);
    fprintf(out, "Medians over %zu round%s; a sample is the mean of %zu timed step%s.\n", c->rounds,
            c->rounds == 1 ? "" : "s", run->options->block_steps, run->options->block_steps == 1 ? "" : "s");
    fprintf(out, "sync: what of the reduction is still visible after backward. sync cost: (geometric mean, over the "
                 "rounds,\nof the step time over that of "
                 "`none` in the same round - 1) x the median step of `none`.\n");
}

/* Why a step may beat its bound. */
static void print_bound_note(FILE *out, const struct ranking *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->row[i].seconds[FIGURE_STEP].median < 0.95 * c->row[i].attainable) {
            fprintf(out, "attainable counts the collectives one after the other, each as long as it took alone. A step "
                         "below it had "
                         "several in\nflight at once, which hides the latency of each, or ran while the machine was "
                         "less busy.\n");
            return;
        }
}

static void print_buckets(FILE *out, const struct run *run)
{
    enum { SHOWN = 8 };
    char words[CELL];
    int title = 0;
    for (int i = 0; i < run->options->n; i++) {
        if (!run->options->implementation[i].strategy->buckets)
            continue;
        const struct plan *plan = &run->reducer[i].plan;
        if (!title++)
            fprintf(out, "\nBuckets in the order of their reduction, bytes (number of parameter tensors):\n");
        fprintf(out, "  %s: %d bucket%s:", run->options->implementation[i].label, plan->n, plan->n == 1 ? "" : "s");
        for (int s = 0; s < plan->n && s < SHOWN; s++)
            fprintf(out, "%s %s (%d)", s ? "," : "", text_memory(words, plan->bucket[s].count * sizeof(float)),
                    plan->bucket[s].tensors);
        if (plan->n > SHOWN)
            fprintf(out, ", ... (all in run.json)");
        if (plan->n == 1)
            fprintf(out, ": one bucket cannot overlap; use a smaller --bucket-size-mb");
        fprintf(out, "\n");
    }
}

/* ---- the verdict ---- */

static const struct pair *pair_of(const struct ranking *c, int a, int b)
{
    for (int i = 0; i < c->pairs; i++)
        if ((c->pair[i].a == a && c->pair[i].b == b) || (c->pair[i].a == b && c->pair[i].b == a))
            return &c->pair[i];
    return NULL;
}

/* "X 3.2 % [2.1, 4.4]" how much slower than the fastest. */
static void print_slower(FILE *out, const struct ranking *c, const char *label, int i)
{
    const struct pair *pair = pair_of(c, i, c->fastest);
    double ratio = pair->paired.ratio, low = pair->paired.ci_low, high = pair->paired.ci_high;
    if (pair->a != i) {
        double upper = 1 / low;
        low = 1 / high;
        high = upper;
        ratio = 1 / ratio;
    }
    fprintf(out, "%s %+.1f %% [%+.1f, %+.1f]", label, 100 * (ratio - 1), 100 * (low - 1), 100 * (high - 1));
}

static void print_verdict(FILE *out, const struct run *run, const struct ranking *c)
{
    const struct implementation *implementation = run->options->implementation;
    int slower = 0, reducing = 0;
    for (int i = 0; i < c->n; i++)
        if (implementation[i].strategy->reduces) {
            reducing++;
            slower += ranking_slower(c, i);
        }
    fprintf(out, "\nVerdict: ");
    if (run->job->size == 1)
        fprintf(out, "one rank has nothing to reduce; differences are the strategies' own work. ");
    if (reducing < 2) {
        fprintf(out, "fewer than two strategies that reduce, so nothing to compare.\n");
        return;
    }
    if (c->rounds < 2) {
        fprintf(out, "one round decides nothing; use --rounds 6 or more.\n");
        return;
    }
    fprintf(out, "%s is the fastest on average (n = %zu rounds)", implementation[c->fastest].label, c->rounds);
    for (int i = 0, shown = 0; i < c->n; i++)
        if (implementation[i].strategy->reduces && i != c->fastest && !ranking_slower(c, i)) {
            fprintf(out, shown++ ? "; " : ", but cannot be told apart from: ");
            print_slower(out, c, implementation[i].label, i);
        }
    fprintf(out, ".\n");
    if (slower) {
        fprintf(out, "Slower than %s: ", implementation[c->fastest].label);
        for (int i = 0, shown = 0; i < c->n; i++)
            if (implementation[i].strategy->reduces && ranking_slower(c, i)) {
                fprintf(out, "%s", shown++ ? "; " : "");
                print_slower(out, c, implementation[i].label, i);
            }
        fprintf(out, ".\n");
    }
    fprintf(out,
            "(step time against the fastest, paired by round, with a 95 %% interval each; slower: at the 5 %% level "
            "over all %d "
            "pair%s together)\n",
            c->pairs, c->pairs == 1 ? "" : "s");
}

static void print_notes(FILE *out, const struct run *run)
{
    char words[CELL];
    const struct losses *l = &run->losses;
    if (l->not_a_number)
        fprintf(out, "Warning: a loss was not a finite number: training diverged.\n");
    else if (l->difference == 0)
        fprintf(out, "Losses of all synchronising fp32 strategies are identical, step by step.\n");
    else if (isfinite(l->difference))
        fprintf(out, "Losses of the synchronising fp32 strategies differ by at most %.1e, relatively.\n",
                l->difference);
    for (int i = 0; i < run->options->n; i++)
        if (run->reducer[i].staged && run->reducer[i].staged_dtype == COMM_BF16)
            fprintf(out, "%s sends bfloat16 (--grad-dtype); its losses are its own.\n",
                    run->options->implementation[i].label);
    if (run->cores_per_rank < run->threads)
        fprintf(out, "Warning: a rank has %d thread%s and %.2g logical CPUs: times are full of waiting for a CPU.\n",
                run->threads, run->threads == 1 ? "" : "s", run->cores_per_rank);
    if (run->blocks_with_other_processes && !run->options->monitor_cpu) /* which tells more */
        fprintf(out,
                "Note: %zu of %zu blocks ran beside other work on the machine (up to %.1f cores): trust intervals, "
                "not single figures.\n",
                run->blocks_with_other_processes, run->blocks, run->other_processes_cores);
    monitor_findings_print(out, &run->monitored);
    if (run->comm_cpu_seconds > 0)
        fprintf(out, "The communication thread of rank 0 used %.2f cores beside the computation (progress %s).\n",
                run->comm_cpu_seconds / run->comm_seconds, run->comm->progress);
    if (run->dropped_spans)
        fprintf(out, "Warning: %d spans found the timeline full; phase times are incomplete.\n", run->dropped_spans);
    fprintf(out, "%s, measured: %s.\n",
            run->opened.on_gpu ? "Memory in use on the GPU of rank 0" : "Peak memory of rank 0",
            text_memory(words, open_device_memory(&run->opened)));
}

void ranking_print(FILE *out, const struct run *run, const struct ranking *comparison)
{
    print_table(out, run, comparison);
    print_bound_note(out, comparison);
    print_buckets(out, run);
    print_verdict(out, run, comparison);
    print_notes(out, run);
}
