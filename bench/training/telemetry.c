/* telemetry.c - a line of telemetry for each step. */
#include "training/telemetry.h"

#include "base/files.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* JSON knows no NaN and no infinity. */
static void print_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        fprintf(out, ", \"%s\": %.9g", name, value);
    else
        fprintf(out, ", \"%s\": null", name);
}

static void print_ms(FILE *out, const char *name, int64_t ns)
{
    fprintf(out, ", \"%s\": %.6f", name, 1e-6 * (double)ns);
}

static void print_times(FILE *out, const struct run *run, const struct step_times *step)
{
    print_number(out, "start", 1e-9 * (double)(step->start_ns - run->origin_ns));
    print_ms(out, "step_ms", step->end_ns - step->start_ns);
    for (int p = 0; p < PHASES; p++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ms", phase_name[p]);
        print_ms(out, name, step->phase_ns[p]);
    }
}

/* Computation is known of traced steps only. */
static void print_overlap(FILE *out, const struct run *run, const struct overlap *o, int traced)
{
    fprintf(out, ", \"collectives\": %zu", o->collectives);
    print_ms(out, "communication_ms", o->communication_ns);
    print_ms(out, "exposed_tail_ms", o->exposed_tail_ns);
    if (!traced)
        return;
    print_ms(out, "compute_ms", o->compute_ns);
    print_ms(out, "overlap_ms", o->overlap_ns);
    print_ms(out, "exposed_ms", overlap_exposed(o));
    print_number(out, overlap_span_name(run->comm->on_device), overlap_span(o));
    print_number(out, "compute_coverage", overlap_coverage(o));
    print_number(out, "utilisation", overlap_utilisation(o));
}

static FILE *begin(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (!out)
        FATAL("no memory for the metrics of a block");
    return out;
}

/* ---- blocks ---- */

int telemetry_write_block(struct results *results, const struct block_facts *block, const struct run *run,
                          const struct step_times *times, const struct overlap *overlap, const float *record)
{
    const struct schedule *schedule = &run->trainer.schedule;
    char *text = NULL;
    size_t length = 0;
    FILE *out = begin(&text, &length);
    for (int i = 0; i < block->steps; i++) {
        long at = block->schedule_step + i;
        int warmup = schedule_is_warmup(schedule, at);
        fprintf(out, "{\"implementation\": \"%s\", \"round\": %zu, \"block\": %zu, \"step\": %d, \"timed\": %s",
                block->implementation, block->round, block->block, i, i < block->discarded ? "false" : "true");
        fprintf(out, ", \"global_step\": %ld, \"epoch_kind\": \"%s\"", block->steps_before + i,
                warmup ? "warmup" : "active");
        print_times(out, run, &times[i]);
        print_number(out, "loss", (double)record[i * RECORDS + RECORD_LOSS]);
        print_number(out, "learning_rate", (double)schedule_learning_rate(schedule, at));
        if (warmup || run->options->log_grad_norm)
            print_number(out, "grad_norm", (double)record[i * RECORDS + RECORD_GRAD_NORM]);
        print_overlap(out, run, &overlap[i], block->traced);
        print_number(out, "cores_used_by_others", block->other_processes_cores);
        fprintf(out, "}\n");
    }
    fclose(out);
    return results_append(results, text, length);
}

/* ---- the capture ---- */

/* Joins intervals of a union that are less than `gap` apart. */
static size_t bridge(struct interval *v, size_t n, int64_t gap)
{
    size_t out = 0;
    for (size_t i = 0; i < n; i++)
        if (out && v[i].start - v[out - 1].end < gap)
            v[out - 1].end = v[i].end;
        else
            v[out++] = v[i];
    return out;
}

/* Whether a union holds t, which only grows from call to call. */
static int holds(const struct interval *v, size_t n, size_t *at, int64_t t)
{
    while (*at < n && v[*at].end <= t)
        ++*at;
    return *at < n && v[*at].start <= t;
}

/* The next moment after t at which the union of v[at] begins or ends. */
static int64_t next_change(const struct interval *v, size_t n, size_t at, int64_t t)
{
    if (at >= n)
        return INT64_MAX;
    return v[at].start > t ? v[at].start : v[at].end;
}

/* The pieces of the step in which the same lanes were active, where any was. */
static void print_segments(FILE *out, const struct interval *compute, size_t computes, const struct interval *comm,
                           size_t comms, const struct step_times *step)
{
    size_t i = 0, j = 0, printed = 0;
    fprintf(out, ", \"active_segments\": [");
    for (int64_t t = step->start_ns; t < step->end_ns;) {
        int a = holds(compute, computes, &i, t), b = holds(comm, comms, &j, t);
        int64_t x = next_change(compute, computes, i, t), y = next_change(comm, comms, j, t), end = x < y ? x : y;
        end = end < step->end_ns ? end : step->end_ns;
        if (a || b)
            fprintf(out, "%s{\"start_ms\": %.6f, \"end_ms\": %.6f, \"lanes\": [%s%s%s]}", printed++ ? ", " : "",
                    1e-6 * (double)(t - step->start_ns), 1e-6 * (double)(end - step->start_ns), a ? "\"compute\"" : "",
                    a && b ? ", " : "", b ? "\"communication\"" : "");
        t = end;
    }
    fprintf(out, "]");
}

int telemetry_write_capture(struct results *results, const struct run *run, const struct trace *trace,
                            const struct overlap *overlap)
{
    enum { GAP_NS = 10000 }; /* the moments between one operation and the next are no pause */
    const struct lane *compute = &trace->timeline->lane[LANE_COMPUTE];
    const struct lane *communication = &trace->timeline->lane[LANE_COMMUNICATION];
    struct interval *x = allocate(compute->n + 1, sizeof *x), *y = allocate(communication->n + 1, sizeof *y);
    size_t i = 0, j = 0, length = 0;
    char *text = NULL;
    FILE *out = begin(&text, &length);
    for (int s = 0; s < trace->steps; s++) {
        const struct captured_step *step = &trace->step[s];
        size_t nx = bridge(x, intervals_of_lane(compute, s, &i, x), GAP_NS),
               ny = intervals_of_lane(communication, s, &j, y);
        fprintf(out, "{\"implementation\": \"%s\", \"captured\": true, \"profiler_step\": %ld, \"global_step\": %ld",
                trace->implementation, step->number + 1, step->global_step);
        fprintf(out, ", \"epoch\": %ld, \"epoch_kind\": \"%s\"", step->epoch + 1, step->warmup ? "warmup" : "active");
        print_times(out, run, &trace->times[s]);
        print_number(out, "loss", (double)step->loss);
        print_number(out, "learning_rate", (double)step->learning_rate);
        if (isfinite(step->grad_norm))
            print_number(out, "grad_norm", (double)step->grad_norm);
        print_overlap(out, run, &overlap[s], 1);
        print_segments(out, x, nx, y, ny, &trace->times[s]);
        fprintf(out, "}\n");
    }
    fclose(out);
    free(x);
    free(y);
    return results_append(results, text, length);
}
