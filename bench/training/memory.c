/* memory.c - what a run will need, by part. */
#include "training/parts.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>

const char *const memory_part_name[MEMORY_PARTS] = {
    [MEMORY_WEIGHTS] = "weights",         [MEMORY_GRADIENTS] = "gradients",         [MEMORY_OPTIMIZER] = "optimizer",
    [MEMORY_ACTIVATIONS] = "activations", [MEMORY_COMMUNICATION] = "communication", [MEMORY_RECORDS] = "records",
};

size_t memory_capture_room(const struct recording *recording, const struct training_options *o,
                           const struct model *model)
{
    size_t spans[TIMELINE_LANES], bytes = 0, steps = o->num_epochs * o->steps_per_epoch;
    step_spans(model, o->grad_accumulation, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes += spans[i] * sizeof(struct span);
    double room = recording->buffer_mb * 1048576 / (double)bytes;
    return room < (double)steps ? (size_t)room : steps;
}

void memory_spans(const struct recording *recording, const struct training_options *o, const struct model *model,
                  size_t spans[TIMELINE_LANES])
{
    enum { ALLOCATIONS = 16 }; /* of model, trainer and optimizer, at set-up */
    size_t steps = DISCARDED_STEPS + o->block_steps, room = memory_capture_room(recording, o, model);
    step_spans(model, o->grad_accumulation, recording->operations, spans);
    for (int i = 0; i < TIMELINE_LANES; i++) /* one more: a capture throws steps away behind those that it keeps */
        spans[i] *= (room > steps ? room : steps) + 1;
    spans[LANE_MEMORY] = recording->allocations ? ALLOCATIONS + (size_t)o->n : 0;
}

void memory_estimate(size_t bytes[MEMORY_PARTS], const struct recording *recording, const struct training_options *o,
                     const struct model *model, int ranks)
{
    size_t arena = model->arena * sizeof(float);
    bytes[MEMORY_WEIGHTS] = 2 * arena;
    if (model->compute_bytes < sizeof(float))
        bytes[MEMORY_WEIGHTS] += model->arena * model->compute_bytes;
    bytes[MEMORY_GRADIENTS] = arena;
    bytes[MEMORY_OPTIMIZER] = 2 * arena;
    bytes[MEMORY_ACTIVATIONS] = model->activation_bytes;
    bytes[MEMORY_COMMUNICATION] = ranks > 1 ? arena : 0;
    for (int i = 0; i < o->n; i++)
        if (o->implementation[i].strategy->stages)
            bytes[MEMORY_COMMUNICATION] += model->arena * comm_dtype_bytes(o->workload.grad_dtype);

    size_t spans[TIMELINE_LANES], step = sizeof(struct step_times), recorded = 0;
    memory_spans(recording, o, model, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        recorded += spans[i] * sizeof(struct span);
    size_t rows = (size_t)o->n, tensors = (size_t)model->tensors;
    size_t series = rows * FIGURES; /* numbers a round */
    series += o->attainable || recording->operations ? (rows + 1) * tensors : 0;
    bytes[MEMORY_RECORDS] = recorded +
                            (o->block_steps + DISCARDED_STEPS) * (step + (size_t)(ranks + 4) * sizeof(double)) +
                            o->rounds * series * sizeof(double);
}

size_t memory_total(const size_t bytes[MEMORY_PARTS])
{
    size_t total = 0;
    for (int i = 0; i < MEMORY_PARTS; i++)
        total += bytes[i];
    return total;
}

const char *memory_words(const size_t bytes[MEMORY_PARTS], char text[256])
{
    char part[CELL];
    size_t at = 0;
    for (int i = 0; i < MEMORY_PARTS && at < 256; i++)
        at += (size_t)snprintf(text + at, 256 - at, "%s%s %s", i ? ", " : "", memory_part_name[i],
                               text_memory(part, bytes[i]));
    return text;
}

int memory_check(const struct run *run)
{
    const struct gpu_facts *gpu = run->opened.on_gpu ? &run->opened.gpu : NULL;
    int ranks = gpu ? run->opened.sharing : run->job->machine_size;
    size_t available = gpu ? gpu->free_memory : host_memory_available();
    double needed = (double)(memory_total(run->memory) - (gpu ? run->memory[MEMORY_RECORDS] : 0)) * ranks;
    char need[CELL], have[CELL], parts[256];
    if (needed <= (double)available)
        return 0;
    return error_report("%s has %s of memory free and %d rank%s on it need%s %s: a rank needs %s; use a smaller "
                        "--batch-size, --context-length, --num-layers or --d-model, %s",
                        gpu ? gpu->name : "this machine", text_memory(have, available), ranks,
                        text_plural((size_t)ranks), ranks > 1 ? "" : "s", text_memory(need, (size_t)fmin(needed, 1e19)),
                        memory_words(run->memory, parts),
                        gpu ? "--dtype bf16, or more GPUs" : "fewer --steps-per-block, or more hosts");
}
