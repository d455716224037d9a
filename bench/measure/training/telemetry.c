/* telemetry.c - writes rank_<r>_metrics.jsonl, with a line of JSON for each step. */
#include "training/training.h"

#include <math.h>
#include <stdio.h>

/* Writes null for NAN and infinity, which JSON does not have. */
void telemetry_print_number(FILE *out, const char *name, double value)
{
    fprintf(out, isfinite(value) ? ", \"%s\": %.9g" : ", \"%s\": null", name, value);
}

static void print_ms(FILE *out, const char *name, double seconds)
{
    fprintf(out, ", \"%s\": %.6f", name, 1e3 * seconds);
}

void telemetry_print_grad_norm(FILE *out, double norm, double max_norm)
{
    telemetry_print_number(out, "grad_norm", norm);
    telemetry_print_number(out, "grad_norm_clipped", norm * fmin(1, max_norm / (norm + 1e-6)));
}

void telemetry_print_times(FILE *out, int64_t origin_ns, const struct step_times *step)
{
    telemetry_print_number(out, "start", 1e-9 * (double)(step->start_ns - origin_ns));
    print_ms(out, "step_ms", 1e-9 * (double)(step->end_ns - step->start_ns));
    for (int p = 0; p < PHASES; p++)
        if (p < PHASE_CHECKPOINT || step->phase_ns[p])
            fprintf(out, ", \"%s_ms\": %.6f", phase_name[p], 1e-6 * (double)step->phase_ns[p]);
}

void telemetry_print_overlap(FILE *out, const struct overlap *o, int traced, int on_device)
{
    fprintf(out, ", \"collectives\": %.0f", o->collectives);
    print_ms(out, "communication_ms", o->communication);
    for (int kind = 0; kind < COMM_KINDS; kind++) {
        if (o->kind[kind].communication <= 0)
            continue;
        fprintf(out, ", \"%s_ms\": %.6f", comm_kind_name[kind], 1e3 * o->kind[kind].communication);
        if (isfinite(o->kind[kind].overlap))
            fprintf(out, ", \"%s_overlap_ms\": %.6f", comm_kind_name[kind], 1e3 * o->kind[kind].overlap);
    }
    print_ms(out, "exposed_tail_ms", o->exposed_tail);
    if (!traced)
        return;
    telemetry_print_number(out, "compute_ms", 1e3 * o->compute);
    telemetry_print_number(out, "overlap_ms", 1e3 * o->overlap);
    telemetry_print_number(out, "exposed_ms", 1e3 * o->exposed);
    telemetry_print_number(out, "compute_alone_ms", 1e3 * o->alone);
    telemetry_print_number(out, "idle_ms", 1e3 * o->idle);
    telemetry_print_number(out, overlap_span_name(on_device), o->span);
    telemetry_print_number(out, "compute_coverage", o->coverage);
    telemetry_print_number(out, "utilisation", o->utilisation);
}

int telemetry_write_block(struct results *results, const struct training *t, const struct block *block)
{
    const struct training_options *o = t->run.options;
    const struct lr_schedule *schedule = &t->engine.trainer.schedule;
    const struct implementation *row = &o->implementation[block->implementation];
    FILE *out = results_begin(results);
    for (int i = 0; i < DISCARDED_STEPS + (int)t->run.block_steps; i++) {
        const float *record = block->record + i * RECORDS;
        int warmup = schedule_is_warmup(schedule, o->block_start + i);
        fprintf(out, "{\"implementation\": \"%s\", \"round\": %zu, \"block\": %zu, \"step\": %d, \"timed\": %s",
                row->label, block->round, block->number, i, i < DISCARDED_STEPS ? "false" : "true");
        fprintf(out, ", \"global_step\": %ld, \"epoch_kind\": \"%s\"", block->first_step + i,
                warmup ? "warmup" : "active");
        telemetry_print_times(out, t->harness.origin_ns, &block->times[i]);
        telemetry_print_number(out, "loss", (double)record[RECORD_LOSS]);
        telemetry_print_number(out, "learning_rate", (double)schedule_learning_rate(schedule, o->block_start + i));
        if (warmup)
            telemetry_print_grad_norm(out, (double)record[RECORD_GRAD_NORM], o->max_norm);
        telemetry_print_overlap(out, &block->overlap[i], row->traced, t->engine.comm->on_device);
        telemetry_print_number(out, "other_processes_cores", block->other_cores);
        telemetry_print_number(out, "quota_throttled_periods", block->stops.periods);
        telemetry_print_number(out, "quota_throttled_ms", block->stops.ms);
        print_ms(out, "block_ms", block->seconds);
        telemetry_print_number(out, "peak_memory_bytes", block->peak_bytes ? (double)block->peak_bytes : NAN);
        fprintf(out, "}\n");
    }
    return results_end(results);
}
