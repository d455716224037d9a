/* memory.c - the memory that a run needs, and the nearest sizes that fit. */
#include "training/memory.h"

#include "base/text.h"
#include "kernels/error.h"
#include "spans/spans.h"
#include "training/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const memory_part_name[MEMORY_PARTS] = {"weights",       "gradients", "optimizer", "activations",
                                                    "communication", "staging",   "data",      "records"};

size_t memory_collectives(const struct training_options *o, const struct model *model)
{
    int most = 1;
    for (int i = 0; i < o->n; i++)
        if (o->implementation[i].strategy->collectives > most)
            most = o->implementation[i].strategy->collectives;
    return (size_t)most * (size_t)model->tensors; /* a bucket holds one tensor at least */
}

size_t memory_captured_steps(const struct training_options *o, const struct model *model,
                             const struct recording *recording)
{
    size_t spans[TIMELINE_LANES], bytes = 0, steps = o->num_epochs * o->steps_per_epoch;
    step_spans(model, o->grad_accumulation, memory_collectives(o, model), 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes += spans[i] * sizeof(struct span);
    double room = recording->buffer_mb * 1048576 / (double)bytes;
    return room < (double)steps ? (size_t)room : steps;
}

void memory_spans(const struct training_options *o, const struct model *model, const struct recording *recording,
                  size_t spans[TIMELINE_LANES])
{
    enum { ALLOCATIONS = 16 }; /* of model, trainer and optimizer, at set-up */
    size_t steps = DISCARDED_STEPS + o->block_steps, captured = memory_captured_steps(o, model, recording);
    step_spans(model, o->grad_accumulation, memory_collectives(o, model), recording->operations, spans);
    for (int i = 0; i < TIMELINE_LANES; i++) /* one more, for a step that a capture does not keep */
        spans[i] *= (captured > steps ? captured : steps) + 1;
    spans[LANE_MEMORY] = recording->allocations ? ALLOCATIONS + (size_t)o->n : 0;
}

void memory_estimate(const struct memory_conditions *c, const struct training_options *o, const struct model *model,
                     size_t bytes[MEMORY_PARTS])
{
    size_t arena = model->arena * sizeof(float), ranks = (size_t)c->ranks;
    bytes[MEMORY_WEIGHTS] = 2 * arena;
    if (model->compute_bytes < sizeof(float))
        bytes[MEMORY_WEIGHTS] += model->arena * model->compute_bytes;
    bytes[MEMORY_GRADIENTS] = arena;
    bytes[MEMORY_OPTIMIZER] = 2 * arena;
    bytes[MEMORY_ACTIVATIONS] = model->activation_bytes;
    bytes[MEMORY_COMMUNICATION] = bytes[MEMORY_STAGING] = 0;
    for (int i = 0; i < o->n; i++)
        if (o->implementation[i].strategy->stages)
            bytes[MEMORY_COMMUNICATION] += model->arena * comm_dtype_bytes(o->workload.grad_dtype);
    if (c->stages)
        bytes[MEMORY_STAGING] = arena + bytes[MEMORY_COMMUNICATION];
    if (ranks > 1 && (c->stages || !c->on_gpu)) /* MPI's copy */
        bytes[c->stages ? MEMORY_STAGING : MEMORY_COMMUNICATION] += arena;

    const struct model_sizes *sizes = &model->sizes;
    bytes[MEMORY_DATA] = data_bytes(sizes->batch, sizes->context, (int)o->data_workers, (int)o->prefetch);
    if (o->checkpoint_every && c->rank == 0)
        bytes[MEMORY_DATA] += 2 * checkpoint_piece_bytes(); /* the first one is read back */
    size_t spans[TIMELINE_LANES], rows = (size_t)o->n, steps = DISCARDED_STEPS + o->block_steps;
    size_t series = rows * FIGURES; /* numbers of a round */
    series += o->attainable || c->recording->operations ? (rows + 1) * (size_t)model->tensors : 0;
    bytes[MEMORY_RECORDS] =
        steps * (sizeof(struct step_times) + (ranks + 4) * sizeof(double)) + o->rounds * series * sizeof(double);
    memory_spans(o, model, c->recording, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes[MEMORY_RECORDS] += spans[i] * sizeof(struct span);
}

static size_t sum_of_parts(const size_t bytes[MEMORY_PARTS], int from, int to)
{
    size_t total = 0;
    for (int i = from; i < to; i++)
        total += bytes[i];
    return total;
}

size_t memory_total(const size_t bytes[MEMORY_PARTS])
{
    return sum_of_parts(bytes, 0, MEMORY_PARTS);
}

const char *memory_words(const size_t bytes[MEMORY_PARTS], int from, int to, char text[256])
{
    char part[CELL];
    size_t at = 0;
    *text = 0;
    for (int i = from; i < to && at < 256; i++)
        if (bytes[i])
            at += (size_t)snprintf(text + at, 256 - at, "%s%s %s", at ? ", " : "", memory_part_name[i],
                                   text_memory(part, bytes[i]));
    return text;
}

/* ---- whether it fits, and what would ---- */

/* The first part that is in the host's memory. */
static int first_host_part(int on_gpu)
{
    return on_gpu ? MEMORY_STAGING : 0;
}

void memory_places(const struct job *job, const struct open_device *opened, struct memory_place place[2])
{
    place[0] = (struct memory_place){.ranks = opened->on_gpu ? opened->sharing : 1};
    snprintf(place[0].name, sizeof place[0].name, "beside what its libraries take, %s", opened->gpu.name);
    place[0].available = opened->on_gpu ? open_device_available(opened) : 0;
    place[1] = (struct memory_place){"this machine", host_memory_available(), job->machine_size, 0};
    for (int i = 0; i < 2; i++)
        place[i].least = -job_max(job, -(double)place[i].available / place[i].ranks);
}

/* Whether a run with other options fits on every rank. */
static int fits(const struct memory_conditions *c, const struct training_options *o, const struct memory_place place[2])
{
    enum { PERCENT = 95 }; /* the free memory changes all the time */
    const struct model_sizes sizes =
        workload_sizes(&o->workload, o->batch_size / (size_t)c->ranks / o->grad_accumulation);
    struct model model;
    size_t bytes[MEMORY_PARTS];
    int host = first_host_part(c->on_gpu);
    model_plan(&model, &sizes, c->compute_bytes);
    memory_estimate(c, o, &model, bytes);
    model_destroy(&model);
    return 100 * (double)sum_of_parts(bytes, 0, host) <= PERCENT * place[0].least &&
           100 * (double)sum_of_parts(bytes, host, MEMORY_PARTS) <= PERCENT * place[1].least;
}

/* The largest k below `most` for which the run fits when `field` of the options is k * unit; 0 if there is none. Leaves
 * the field as it was. */
static size_t largest_fitting(const struct memory_conditions *c, struct training_options *o, size_t *field, size_t unit,
                              size_t most, const struct memory_place place[2])
{
    size_t asked = *field, fitting = 0;
    while (fitting + 1 < most) {
        size_t middle = fitting + (most - fitting) / 2;
        *field = middle * unit;
        if (fits(c, o, place))
            fitting = middle;
        else
            most = middle;
    }
    *field = asked;
    return fitting;
}

/* The largest preset that fits without other sizes; NULL if none does. */
static const char *find_preset(const struct memory_conditions *c, const struct training_options *asked,
                               const struct memory_place place[2])
{
    const char *found = NULL;
    for (int p = PRESETS - 1; p > PRESET_AUTO && !found; p--) {
        struct training_options o = *asked;
        o.workload.preset = (enum preset_number)p;
        training_options_use_preset(&o, NULL, 0);
        if (p != PRESET_DEFAULT && !training_options_fit(&o, c->ranks) && !workload_check(&o.workload, o.data) &&
            fits(c, &o, place))
            found = preset_name[p];
    }
    error_clear(); /* the batch of a preset may not divide over the ranks */
    return found;
}

/* Writes the options with the sizes nearest to the given ones that fit; "" if there are none. */
static void find_sizes(const struct memory_conditions *c, const struct training_options *asked,
                       const struct memory_place place[2], char text[256])
{
    struct training_options o = *asked;
    size_t ranks = (size_t)c->ranks, unit = ranks * o.grad_accumulation, at = 0;
    size_t batch = largest_fitting(c, &o, &o.batch_size, unit, o.batch_size / unit, place);
    if (!batch)
        o.batch_size = unit; /* the smallest, with fewer layers */
    size_t layers = largest_fitting(c, &o, &o.workload.num_layers, 1, o.workload.num_layers, place);
    const char *option = o.batch_size_per_rank ? "--batch-size-per-rank" : "--batch-size";
    size_t value = (batch ? batch : 1) * unit / (o.batch_size_per_rank ? ranks : 1);
    const char *preset = find_preset(c, asked, place);
    *text = 0;
    if (batch)
        at += (size_t)snprintf(text, 256, "%s %zu", option, value);
    if (batch && layers)
        at += (size_t)snprintf(text + at, 256 - at, ", or --num-layers %zu", layers);
    else if (layers)
        at += (size_t)snprintf(text, 256, "--num-layers %zu with %s %zu", layers, option, value);
    if (preset)
        snprintf(text + at, 256 - at, "%s--preset %s without other sizes", at ? ", or " : "", preset);
}

int memory_check(const struct memory_conditions *c, const struct training_options *o, const size_t bytes[MEMORY_PARTS],
                 const struct memory_place place[2])
{
    static const char *const advice[2] = {"--dtype bf16, or more GPUs",
                                          "fewer --steps-per-block or --data-workers, or more hosts"};
    const int from[3] = {0, first_host_part(c->on_gpu), MEMORY_PARTS};
    for (int i = 0; i < 2; i++) {
        const struct memory_place *p = &place[i];
        double needed = (double)sum_of_parts(bytes, from[i], from[i + 1]) * p->ranks;
        char need[CELL], have[CELL], parts[256], fit[256];
        if (needed <= (double)p->available)
            continue;
        find_sizes(c, o, place, fit);
        return error_report("%s has %s of memory free and %d rank%s on it need%s %s: a rank needs %s; %s%s%suse a "
                            "smaller --d-model or --context-length, %s",
                            p->name, text_memory(have, p->available), p->ranks, text_plural((size_t)p->ranks),
                            p->ranks > 1 ? "" : "s", text_memory(need, (size_t)fmin(needed, 1e19)),
                            memory_words(bytes, from[i], from[i + 1], parts), *fit ? "these fit: " : "", fit,
                            *fit ? "; or " : "", advice[i]);
    }
    return 0;
}
