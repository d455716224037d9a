/* memory.c - what a run will need, by part. */
#include "training/parts.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>

const char *const memory_part_name[MEMORY_PARTS] = {"weights",       "gradients", "optimizer", "activations",
                                                    "communication", "staging",   "data",      "records"};

size_t run_capture_room(const struct run *run)
{
    size_t spans[TIMELINE_LANES], bytes = 0, steps = run->options->num_epochs * run->options->steps_per_epoch;
    step_spans(&run->model, run->options->grad_accumulation, 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes += spans[i] * sizeof(struct span);
    double room = run->recording.buffer_mb * 1048576 / (double)bytes;
    return room < (double)steps ? (size_t)room : steps;
}

void memory_spans(const struct run *run, size_t spans[TIMELINE_LANES])
{
    enum { ALLOCATIONS = 16 }; /* of model, trainer and optimizer, at set-up */
    size_t steps = DISCARDED_STEPS + run->options->block_steps, room = run_capture_room(run);
    step_spans(&run->model, run->options->grad_accumulation, run->recording.operations, spans);
    for (int i = 0; i < TIMELINE_LANES; i++) /* one more: a capture throws steps away behind those that it keeps */
        spans[i] *= (room > steps ? room : steps) + 1;
    spans[LANE_MEMORY] = run->recording.allocations ? ALLOCATIONS + (size_t)run->options->n : 0;
}

void memory_estimate(struct run *run, int stages)
{
    const struct training_options *o = run->options;
    const struct model *model = &run->model;
    size_t arena = model->arena * sizeof(float), ranks = (size_t)run->job->size, *bytes = run->memory;
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
    if (stages)
        bytes[MEMORY_STAGING] = arena + bytes[MEMORY_COMMUNICATION];
    if (ranks > 1 && (stages || !run->opened.on_gpu)) /* MPI's copy */
        bytes[stages ? MEMORY_STAGING : MEMORY_COMMUNICATION] += arena;

    const struct model_sizes *sizes = &model->sizes;
    bytes[MEMORY_DATA] = data_bytes(sizes->batch, sizes->context, (int)o->data_workers, (int)o->prefetch);
    if (o->checkpoint_every && run->job->rank == 0)
        bytes[MEMORY_DATA] += 2 * checkpoint_piece_bytes(); /* the first one is read back */
    size_t spans[TIMELINE_LANES], rows = (size_t)o->n, steps = DISCARDED_STEPS + o->block_steps;
    size_t series = rows * FIGURES; /* numbers a round */
    series += o->attainable || run->recording.operations ? (rows + 1) * (size_t)model->tensors : 0;
    bytes[MEMORY_RECORDS] =
        steps * (sizeof(struct step_times) + (ranks + 4) * sizeof(double)) + o->rounds * series * sizeof(double);
    memory_spans(run, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes[MEMORY_RECORDS] += spans[i] * sizeof(struct span);
}

size_t memory_total(const size_t bytes[MEMORY_PARTS], int from, int to)
{
    size_t total = 0;
    for (int i = from; i < to; i++)
        total += bytes[i];
    return total;
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

/* Whether parts [from, to) of so many ranks fit into what is available in a place, in words. */
static int check_parts(const struct run *run, const char *place, size_t available, int ranks, int from, int to,
                       const char *advice)
{
    double needed = (double)memory_total(run->memory, from, to) * ranks;
    char need[CELL], have[CELL], parts[256];
    if (needed <= (double)available)
        return 0;
    return error_report("%s has %s of memory free and %d rank%s on it need%s %s: a rank needs %s; use a smaller "
                        "--batch-size, --context-length, --num-layers or --d-model, %s",
                        place, text_memory(have, available), ranks, text_plural((size_t)ranks), ranks > 1 ? "" : "s",
                        text_memory(need, (size_t)fmin(needed, 1e19)), memory_words(run->memory, from, to, parts),
                        advice);
}

int memory_check(const struct run *run)
{
    const struct open_device *opened = &run->opened;
    int of_host = opened->on_gpu ? MEMORY_STAGING : 0; /* the parts from there on */
    char place[300];
    snprintf(place, sizeof place, "beside what its libraries take, %s", opened->gpu.name);
    if (check_parts(run, place, open_device_available(opened), opened->sharing, 0, of_host,
                    "--dtype bf16, or more GPUs"))
        return -1;
    return check_parts(run, "this machine", host_memory_available(), run->job->machine_size, of_host, MEMORY_PARTS,
                       "fewer --steps-per-block or --data-workers, or more hosts");
}
