/* memory.c - the memory that a run needs, and whether that much is free. */
#include "training/memory.h"

#include "base/text.h"
#include "kernels/error.h"
#include "spans/spans.h"
#include "training/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const memory_part_name[MEMORY_PARTS] = {"weights", "gradients", "optimizer", "activations", "communication",
                                                    "staging", "data",      "records",   "program"};

size_t memory_collectives(const struct training_options *o, const struct model *model)
{
    size_t most = 1;
    for (int i = 0; i < o->n; i++) {
        size_t collectives = strategy_collectives(implementation_traits(&o->implementation[i]), o->grad_accumulation);
        most = collectives > most ? collectives : most;
    }
    return most * (size_t)model->tensors; /* at most one bucket per tensor */
}

/* Sets spans[i] to the largest number of spans of lane i in a step of any implementation. */
static void spans_of_step(const struct training_options *o, const struct model *model, int traced,
                          size_t spans[TIMELINE_LANES])
{
    int releases = 0;
    for (int i = 0; i < o->n; i++)
        releases |= implementation_traits(&o->implementation[i])->releases;
    step_spans(model, o->grad_accumulation, memory_collectives(o, model), traced, releases, spans);
}

size_t memory_captured_steps(const struct training_options *o, const struct model *model,
                             const struct recording *recording)
{
    size_t spans[TIMELINE_LANES], bytes = 0, steps = o->num_epochs * o->steps_per_epoch;
    spans_of_step(o, model, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes += spans[i] * sizeof(struct span);
    double room = recording->buffer_mb * 1048576 / (double)bytes;
    return room < (double)steps ? (size_t)room : steps;
}

void memory_spans(const struct training_options *o, const struct model *model, const struct recording *recording,
                  size_t spans[TIMELINE_LANES])
{
    enum { ALLOCATIONS = 16 }; /* most allocations at set-up by model, trainer and optimizer */
    size_t steps = DISCARDED_STEPS + o->block_steps, captured = memory_captured_steps(o, model, recording);
    spans_of_step(o, model, recording->operations, spans);
    for (int i = 0; i < TIMELINE_LANES; i++) /* + 1: a capture also records a step that it discards */
        spans[i] *= (captured > steps ? captured : steps) + 1;
    spans[LANE_MEMORY] = recording->operations ? ALLOCATIONS + 2 * (size_t)o->n : 0;
}

/* Estimates the bytes of each part for a rank that trains a planned model. */
static void estimate(const struct memory_conditions *c, const struct training_options *o, const struct model *model,
                     size_t bytes[MEMORY_PARTS])
{
    size_t arena = model->arena * sizeof(float), ranks = (size_t)c->ranks;
    bytes[MEMORY_WEIGHTS] = 2 * arena;
    if (model->compute_bytes < sizeof(float))
        bytes[MEMORY_WEIGHTS] += model->arena * model->compute_bytes;
    bytes[MEMORY_GRADIENTS] = training_needs_gradient(o) ? arena : 0;
    int sharding = implementations_sharding(o->implementation, o->n);
    bytes[MEMORY_OPTIMIZER] = o->infers ? 0 : 2 * arena / (sharding == o->n ? ranks : 1);
    bytes[MEMORY_ACTIVATIONS] = model->activation_bytes;
    bytes[MEMORY_COMMUNICATION] = 0;
    bytes[MEMORY_STAGING] = 0;
    for (int i = 0; i < o->n; i++) {
        const struct implementation *row = &o->implementation[i];
        size_t gradients, all = reducer_memory(row->strategy, row->variant, model, c->ranks, c->local_size,
                                               &row->size.caps, row->number, &gradients);
        bytes[MEMORY_GRADIENTS] += gradients;
        bytes[MEMORY_COMMUNICATION] += all - gradients;
    }
    if (c->stages)
        bytes[MEMORY_STAGING] = bytes[MEMORY_GRADIENTS] + bytes[MEMORY_COMMUNICATION] +
                                (sharding ? model->arena * model->compute_bytes : 0);
    if (ranks > 1 && (c->stages || !c->on_gpu)) /* MPI's temporary copy of the gradients in flight */
        bytes[c->stages ? MEMORY_STAGING : MEMORY_COMMUNICATION] +=
            bytes[MEMORY_GRADIENTS] < arena ? bytes[MEMORY_GRADIENTS] : arena;

    bytes[MEMORY_PROGRAM] = c->on_gpu ? 0 : host_peak_memory();
    const struct model_sizes *sizes = &model->sizes;
    bytes[MEMORY_DATA] = data_bytes(sizes->batch, sizes->context, sizes->vocabulary, (int)o->data_workers);
    if (o->infers)
        bytes[MEMORY_DATA] += model->source->output_bytes(model);
    size_t spans[TIMELINE_LANES], rows = (size_t)o->n, steps = DISCARDED_STEPS + o->block_steps;
    size_t series = rows * FIGURES; /* numbers stored per round */
    series += o->attainable || c->recording->operations ? (2 * rows + 1) * (size_t)model->tensors : 0;
    bytes[MEMORY_RECORDS] =
        steps * (sizeof(struct step_times) + (ranks + 4) * sizeof(double)) + o->rounds * series * sizeof(double);
    if (o->checkpoint_every && c->rank == 0)
        bytes[MEMORY_RECORDS] += 2 * checkpoint_piece_bytes(); /* twice: the first checkpoint is also read back */
    memory_spans(o, model, c->recording, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes[MEMORY_RECORDS] += spans[i] * sizeof(struct span);
}

int memory_plan(struct model *model, const struct memory_conditions *c, const struct training_options *o,
                size_t compute_bytes, size_t bytes[MEMORY_PARTS])
{
    const struct workload *w = &o->workload;
    size_t batch = training_options_micro_batch(o, c->ranks), shards = 1;
    int sharding = implementations_sharding(o->implementation, o->n);
    for (int i = 0; i < o->n; i++)
        if (strategy_parts(implementation_traits(&o->implementation[i]), c->ranks, c->local_size))
            shards = (size_t)c->ranks;
    for (const struct delay *d = o->delays.item; d < o->delays.item + o->delays.n; d++)
        if (d->phase == PHASE_PARAMETER_GATHER && !sharding)
            return error_report("--inject-delay phase=%s: only steps of %s have that phase", phase_name[d->phase],
                                strategy_ddp_sharded.name);
    double tokens = (double)batch * (double)w->context_length, width = (double)(w->d_model + w->d_ff);
    if (tokens * (double)w->vocab_size > 1e17 || tokens * width * (double)w->num_layers > 1e16 ||
        width * width * (double)w->num_layers > 1e17)
        return error_report("this model needs more than 10^17 numbers; no machine has that much memory");
    workload_plan(model, w, batch, shards, compute_bytes, c->rank);
    estimate(c, o, model, bytes);
    int on_wrong_device = c->recording->gpu_option && !c->on_gpu;
    int is_too_small = c->recording->operations && !memory_captured_steps(o, model, c->recording);
    if (on_wrong_device || is_too_small)
        model_destroy(model);
    if (on_wrong_device)
        return error_report("--%s is for runs on GPUs, and this one is on the CPU", c->recording->gpu_option);
    if (is_too_small)
        return error_report("--profile-buffer-mb %g holds no step of this model; use a larger one",
                            c->recording->buffer_mb);
    return 0;
}

size_t memory_sum(const size_t bytes[MEMORY_PARTS], int from, int to, char words[MEMORY_WORDS])
{
    char part[CELL];
    size_t sum = 0;
    *words = 0;
    for (int i = from; i < to; i++) {
        sum += bytes[i];
        if (bytes[i])
            text_append(words, MEMORY_WORDS, "%s%s %s", *words ? ", " : "", memory_part_name[i],
                        text_memory(part, bytes[i]));
    }
    return sum;
}

/* ---- whether the memory suffices ---- */

int memory_check(const struct job *job, const struct open_device *opened, const size_t bytes[MEMORY_PARTS])
{
    const int first_of_host = opened->on_gpu ? MEMORY_STAGING : 0;
    char gpu[300];
    snprintf(gpu, sizeof gpu, "apart from its libraries, %s", opened->gpu.name);
    const struct place {
        const char *name;
        size_t available;
        int ranks, from, to; /* `ranks` ranks share this memory, which holds the parts [from, to) of each rank */
        const char *advice;
    } place[] = {{gpu, open_device_available(opened), opened->sharing, 0, first_of_host, "--dtype bf16, or more GPUs"},
                 {"this machine", host_memory_available(), job->machine_size, first_of_host, MEMORY_PROGRAM,
                  "fewer --steps-per-block or --data-workers, or more hosts"}};
    for (const struct place *p = place; p < place + 2; p++) {
        char need[CELL], have[CELL], parts[MEMORY_WORDS];
        double needed = (double)memory_sum(bytes, p->from, p->to, parts) * p->ranks;
        if (needed > (double)p->available)
            return error_report(
                "%s has %s of memory free and %d rank%s on it need%s %s: a rank needs %s; use a smaller "
                "--preset, --batch-size, --num-layers, --d-model or --context-length, %s",
                p->name, text_memory(have, p->available), p->ranks, text_plural((size_t)p->ranks),
                p->ranks > 1 ? "" : "s", text_memory(need, (size_t)fmin(needed, 1e19)), parts, p->advice);
    }
    return 0;
}
