/* json.c - a profile as summary.json. */
#include "base/json.h"
#include "base/version.h"
#include "profile/profile.h"

#include <math.h>
#include <string.h>

static cJSON *add_item(cJSON *array)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(array, item);
    return item;
}

static void add_ms(cJSON *json, const char *name, int64_t ns)
{
    cJSON_AddNumberToObject(json, name, 1e-6 * (double)ns);
}

static void add_capture(cJSON *json, const struct profile *p)
{
    const struct capture *c = &p->capture;
    cJSON *capture = cJSON_AddObjectToObject(json, "capture");
    cJSON *steps = cJSON_AddArrayToObject(capture, "steps");
    for (int i = 0; i < c->n; i++)
        cJSON_AddItemToArray(steps, cJSON_CreateNumber((double)c->step[i].number + 1));
    cJSON_AddNumberToObject(capture, "first_counted_step", (double)c->step[p->figures.first].number + 1);
    cJSON_AddNumberToObject(capture, "counted_steps", p->figures.steps);
    cJSON_AddBoolToObject(capture, "buffer_full", c->full);
    char missing[640];
    if (*gpu_tracer_words(&c->gpu_tracer, missing))
        cJSON_AddStringToObject(capture, "missing_in_traces", missing);
}

static void add_clock(cJSON *json, const struct profile *p)
{
    cJSON *clock = cJSON_AddObjectToObject(json, "clock");
    cJSON_AddNumberToObject(clock, "residual_us", 1e-3 * (double)p->capture.collectives.residual_ns);
    cJSON *ranks = cJSON_AddArrayToObject(clock, "ranks");
    for (int r = 0; r < p->figures.ranks; r++) {
        const struct alignment *a = &p->figures.rank[r].alignment;
        cJSON *rank = add_item(ranks);
        cJSON_AddNumberToObject(rank, "rank", r);
        cJSON_AddNumberToObject(rank, "offset_us", 1e-3 * (double)a->before.offset_ns);
        cJSON_AddNumberToObject(rank, "drift_us_per_s", 1e-3 * alignment_drift(a));
        cJSON_AddNumberToObject(rank, "drift_error_us_per_s", 1e-3 * alignment_drift_error(a));
        cJSON_AddNumberToObject(rank, "residual_us", 1e-3 * (double)alignment_residual_ns(a));
    }
}

static void add_phases(cJSON *json, const struct profile *p)
{
    cJSON *phases = cJSON_AddObjectToObject(json, "phases");
    for (int i = 0; i <= PHASES; i++) {
        const struct phase_figure *f = &p->figures.phase[i];
        cJSON *phase = cJSON_AddObjectToObject(phases, i == PHASES ? "step" : phase_name[i]);
        json_add_number(phase, "mean_ms", 1e3 * f->mean);
        json_add_number(phase, "median_ms", 1e3 * f->median);
        json_add_number(phase, "p95_steps_ms", 1e3 * f->p95_steps);
        json_add_number(phase, "share", f->share);
    }
    cJSON_AddNumberToObject(json, "phase_samples", p->figures.ranks * p->figures.steps);
    cJSON_AddNumberToObject(json, "slowest_rank", p->figures.slowest);
    size_t tokens = p->run->options->batch_size * p->run->options->context_length;
    double step = p->figures.phase[PHASES].mean;
    json_add_number(json, "communication_ratio", p->figures.phase[PHASE_GRADIENT_SYNC].share);
    json_add_number(json, "tokens_per_second", (double)tokens / step);
    json_add_number(json, "model_gflops", 1e-9 * model_flops(&p->run->model, tokens) / step);
}

static void add_operations(cJSON *json, const struct profile *p)
{
    cJSON *list = cJSON_AddArrayToObject(json, "operations");
    for (int i = 0; i < p->totals.n; i++) {
        const struct name_total *a = &p->totals.row[i];
        cJSON *row = add_item(list);
        cJSON_AddStringToObject(row, "name", a->name);
        cJSON_AddStringToObject(row, "kind", total_kind_name[a->kind]);
        cJSON_AddNumberToObject(row, "calls", a->calls);
        cJSON_AddNumberToObject(row, "total_ms", 1e-6 * a->total_ns);
        json_add_number(row, "self_ms", 1e-6 * a->self_ns);
        cJSON_AddNumberToObject(row, "mean_us", 1e-3 * a->total_ns / a->calls);
        json_add_number(row, "share", a->self_ns / p->totals.step_ns);
        json_add_number(row, "gflops", a->flops > 0 && a->total_ns > 0 ? a->flops / a->total_ns : NAN);
        json_add_number(row, "gbs", a->bytes > 0 && a->total_ns > 0 ? a->bytes / a->total_ns : NAN);
    }
}

static void add_collectives(cJSON *json, const struct profile *p)
{
    cJSON *list = cJSON_AddArrayToObject(json, "collectives");
    for (int i = 0; i < p->figures.collectives; i++) {
        const struct collective_figure *c = &p->figures.collective[i];
        cJSON *row = add_item(list);
        cJSON_AddNumberToObject(row, "bytes", (double)c->bytes);
        cJSON_AddNumberToObject(row, "parameters", (double)c->parameters);
        cJSON_AddNumberToObject(row, "calls", (double)c->calls);
        cJSON_AddNumberToObject(row, "calls_that_waited", (double)c->waited);
        json_add_number(row, "queued_us", 1e6 * c->queued);
        json_add_number(row, "duration_us", 1e6 * c->duration);
        json_add_number(row, "wait_us", 1e6 * c->wait);
        json_add_number(row, "transfer_us", 1e6 * c->transfer);
        json_add_number(row, "algbw", c->algbw);
        json_add_number(row, "busbw", c->busbw);
    }
}

/* Sums over the counted steps. */
static void add_ranks(cJSON *json, const struct profile *p)
{
    cJSON *list = cJSON_AddArrayToObject(json, "ranks");
    for (int r = 0; r < p->figures.ranks; r++) {
        const struct overlap *o = &p->figures.rank[r].sum;
        cJSON *row = add_item(list);
        cJSON_AddNumberToObject(row, "rank", r);
        add_ms(row, "step_ms", o->step);
        add_ms(row, "comm_busy_ms", o->communication);
        add_ms(row, "compute_busy_ms", o->compute);
        add_ms(row, "overlap_ms", o->overlap);
        add_ms(row, "exposed_ms", overlap_exposed(o));
        add_ms(row, "exposed_tail_ms", o->exposed_tail);
        json_add_number(row, overlap_span_name(p->run->comm->on_device), overlap_span(o));
        json_add_number(row, "compute_coverage", overlap_coverage(o));
        json_add_number(row, "utilisation", overlap_utilisation(o));
        cJSON_AddNumberToObject(row, "collectives", (double)o->collectives);
    }
}

static void add_stragglers(cJSON *json, const struct profile *p)
{
    const struct collectives *r = &p->capture.collectives;
    cJSON *stragglers = cJSON_AddObjectToObject(json, "stragglers");
    cJSON_AddNumberToObject(stragglers, "collectives", (double)r->counted);
    cJSON_AddNumberToObject(stragglers, "told", (double)r->told);
    cJSON *list = cJSON_AddArrayToObject(stragglers, "ranks");
    for (int i = 0; i < r->ranks; i++) {
        cJSON *row = add_item(list);
        cJSON_AddNumberToObject(row, "rank", i);
        cJSON_AddNumberToObject(row, "last", (double)r->straggler[i].last);
        cJSON_AddNumberToObject(row, "late_us", 1e-3 * r->straggler[i].late_ns);
        cJSON_AddNumberToObject(row, "late_most_us", 1e-3 * r->straggler[i].most_ns);
        cJSON_AddNumberToObject(row, "cost_ms_per_step", 1e-6 * r->straggler[i].cost_ns / p->figures.steps);
    }
}

static void add_summary(cJSON *json, const char *name, double scale, const struct estimate *s, const char *unit)
{
    cJSON *item = cJSON_AddObjectToObject(json, name);
    json_add_number(item, "median", scale * s->median);
    json_add_number(item, "ci_low", scale * s->ci_low);
    json_add_number(item, "ci_high", scale * s->ci_high);
    cJSON_AddNumberToObject(item, "n", (double)s->n);
    cJSON_AddStringToObject(item, "unit", unit);
}

static void add_paired(cJSON *json, const char *name, const struct paired *x)
{
    cJSON *item = cJSON_AddObjectToObject(json, name);
    json_add_number(item, "ratio", x->ratio);
    json_add_number(item, "ci_low", x->ci_low);
    json_add_number(item, "ci_high", x->ci_high);
    cJSON_AddNumberToObject(item, "n", (double)x->n);
}

static void add_controls(cJSON *json, const struct profile *p)
{
    const struct controls *c = &p->controls;
    cJSON *controls = cJSON_AddObjectToObject(json, "controls");
    cJSON_AddNumberToObject(controls, "rounds", (double)c->rounds);
    if (!c->rounds)
        return;
    double none = c->step_none.median;
    struct estimate cost = {none * (c->step_to_none.ratio - 1),
                            none * (c->step_to_none.ci_low - 1),
                            none * (c->step_to_none.ci_high - 1),
                            NAN,
                            NAN,
                            c->step_to_none.n};
    add_summary(controls, "step", 1e3, &c->step_on, "ms");
    add_summary(controls, "step_after_backward", 1e3, &c->step_off, "ms");
    add_summary(controls, "step_none", 1e3, &c->step_none, "ms");
    add_summary(controls, "backward_none", 1e3, &c->backward_none, "ms");
    add_summary(controls, "sync_cost", 1e3, &cost, "ms");
    add_paired(controls, "step_to_none", &c->step_to_none);
    add_paired(controls, "compute_slowdown", &c->compute_slowdown);
    add_summary(controls, "comm_alone", 1e3, &c->comm_alone, "ms");
    add_summary(controls, "comm_slowdown", 1, &c->comm_slowdown, "1");
    add_summary(controls, "overlap_efficiency", 1, &c->efficiency, "1");
    json_add_number(controls, "attainable_ms", 1e3 * c->attainable);
    if (!p->run->comm->on_device)
        json_add_number(controls, "communication_thread_cores", p->run->comm_cpu_seconds / p->run->comm_seconds);
    add_paired(json, "profiling_overhead", &c->overhead);
}

static void add_findings(cJSON *json, const struct profile *p)
{
    cJSON_AddStringToObject(json, "overlap_happened", p->findings.verdict.overlap);
    cJSON_AddStringToObject(json, "overlap_verdict", p->findings.verdict.text);
    cJSON *list = cJSON_AddArrayToObject(json, "findings");
    for (int i = 0; i < p->findings.n; i++) {
        const struct finding *f = &p->findings.finding[i];
        cJSON *row = add_item(list);
        cJSON_AddStringToObject(row, "name", f->name);
        cJSON_AddStringToObject(row, "level", level_name[f->level]);
        cJSON_AddNumberToObject(row, "percent", f->value);
        cJSON_AddNumberToObject(row, "threshold", f->threshold);
        cJSON_AddStringToObject(row, "text", f->text);
        cJSON_AddStringToObject(row, "advice", f->advice);
    }
}

int profile_write_json(const struct results *results, const struct profile *p)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "schema_version", RESULTS_SCHEMA);
    cJSON_AddStringToObject(json, "mode", "profile");
    cJSON_AddStringToObject(json, "label", p->run->options->label);
    cJSON_AddStringToObject(json, "implementation", p->run->options->implementation[0].label);
    add_capture(json, p);
    add_clock(json, p);
    add_phases(json, p);
    add_operations(json, p);
    add_collectives(json, p);
    add_ranks(json, p);
    add_stragglers(json, p);
    add_controls(json, p);
    cJSON *memory = cJSON_AddObjectToObject(json, "memory_bytes");
    for (int i = 0; i < MEMORY_PARTS; i++)
        cJSON_AddNumberToObject(memory, memory_part_name[i], (double)p->run->memory[i]);
    cJSON_AddNumberToObject(memory, "peak", (double)p->peak_bytes);
    add_findings(json, p);
    cJSON_AddNumberToObject(json, "blocks", (double)p->run->blocks);
    cJSON_AddNumberToObject(json, "blocks_beside_foreign_work", (double)p->run->blocks_with_other_processes);
    monitor_findings_describe(&p->run->monitored, json);
    return results_replace_json(results, "summary.json", json);
}
