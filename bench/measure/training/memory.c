/* memory.c - what a run will need, by part. */
#include "training/parts.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const memory_part_name[MEMORY_PARTS] = {"weights",       "gradients", "optimizer", "activations",
                                                    "communication", "staging",   "data",      "records"};

size_t run_most_collectives(const struct run *run)
{
    int most = 1;
    for (int i = 0; i < run->options->n; i++)
        if (run->options->implementation[i].strategy->collectives > most)
            most = run->options->implementation[i].strategy->collectives;
    return (size_t)most * (size_t)run->model.tensors; /* a bucket holds one tensor at least */
}

size_t run_capture_room(const struct run *run)
{
    size_t spans[TIMELINE_LANES], bytes = 0, steps = run->options->num_epochs * run->options->steps_per_epoch;
    step_spans(&run->model, run->options->grad_accumulation, run_most_collectives(run), 1, spans);
    for (int i = 0; i < TIMELINE_LANES; i++)
        bytes += spans[i] * sizeof(struct span);
    double room = run->recording.buffer_mb * 1048576 / (double)bytes;
    return room < (double)steps ? (size_t)room : steps;
}

void memory_spans(const struct run *run, size_t spans[TIMELINE_LANES])
{
    enum { ALLOCATIONS = 16 }; /* of model, trainer and optimizer, at set-up */
    size_t steps = DISCARDED_STEPS + run->options->block_steps, room = run_capture_room(run);
    step_spans(&run->model, run->options->grad_accumulation, run_most_collectives(run), run->recording.operations,
               spans);
    for (int i = 0; i < TIMELINE_LANES; i++) /* one more: a capture throws steps away behind those that it keeps */
        spans[i] *= (room > steps ? room : steps) + 1;
    spans[LANE_MEMORY] = run->recording.allocations ? ALLOCATIONS + (size_t)run->options->n : 0;
}

/* Fills run->memory from the planned model. */
static void estimate_memory(struct run *run, int stages)
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

void memory_plan(struct run *run, int stages)
{
    const struct training_options *o = run->options;
    const struct model_sizes sizes =
        workload_sizes(&o->workload, o->batch_size / (size_t)run->job->size / o->grad_accumulation);
    model_plan(&run->model, &sizes, run->device->compute_bytes);
    estimate_memory(run, stages);
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

/* ---- whether it fits, and what would ---- */

/* On a GPU the first parts are in its memory, the others in the host's. */
static int parts_of_gpu(const struct run *run)
{
    return run->opened.on_gpu ? MEMORY_STAGING : 0;
}

struct memory_share memory_least(const struct job *job, const struct open_device *opened)
{
    double gpu = opened->on_gpu ? (double)open_device_available(opened) / opened->sharing : 0;
    double host = (double)host_memory_available() / job->machine_size;
    return (struct memory_share){-job_max(job, -gpu), -job_max(job, -host)};
}

/* A run like this one but for its options, as it would be planned. */
struct trial {
    struct run run;
    struct training_options options;
    int stages;
    struct memory_share least;
};

static int trial_fits(struct trial *trial)
{
    enum { PERCENT = 95 }; /* what is free changes all the time */
    struct run *run = &trial->run;
    run->options = &trial->options;
    memory_plan(run, trial->stages);
    model_destroy(&run->model);
    int of_gpu = parts_of_gpu(run);
    return 100 * (double)memory_total(run->memory, 0, of_gpu) <= PERCENT * trial->least.gpu &&
           100 * (double)memory_total(run->memory, of_gpu, MEMORY_PARTS) <= PERCENT * trial->least.host;
}

/* The largest k below `most` with which k * unit in that option fits; 0 if none does. */
static size_t largest_fitting(struct trial *trial, size_t *option, size_t unit, size_t most)
{
    size_t asked = *option, fits = 0;
    while (fits + 1 < most) {
        size_t middle = fits + (most - fits) / 2;
        *option = middle * unit;
        if (trial_fits(trial))
            fits = middle;
        else
            most = middle;
    }
    *option = asked;
    return fits;
}

/* The sizes nearest to these that fit, as one would ask for them; "" if there are none. */
static void find_sizes(struct trial *trial, char text[256])
{
    const struct training_options asked = trial->options;
    struct training_options *o = &trial->options;
    size_t ranks = (size_t)trial->run.job->size, unit = ranks * o->grad_accumulation, at = 0;
    size_t sequences = largest_fitting(trial, &o->batch_size, unit, o->batch_size / unit), shown;
    const char *option = o->batch_size_per_rank ? "--batch-size-per-rank" : "--batch-size";
    *text = 0;
    if (!sequences)
        o->batch_size = unit;
    shown = (sequences ? sequences : 1) * unit / (o->batch_size_per_rank ? ranks : 1);
    size_t layers = largest_fitting(trial, &o->workload.num_layers, 1, o->workload.num_layers);
    if (sequences)
        at += (size_t)snprintf(text, 256, "%s %zu", option, shown);
    if (layers && sequences)
        at += (size_t)snprintf(text + at, 256 - at, ", or --num-layers %zu", layers);
    else if (layers)
        at += (size_t)snprintf(text, 256, "--num-layers %zu with %s %zu", layers, option, shown);
    for (int p = PRESETS - 1; p > PRESET_AUTO; p--) {
        *o = asked;
        o->workload.preset = (enum preset_number)p;
        training_options_use_preset(o, NULL, 0);
        if (p == PRESET_DEFAULT || training_options_fit(o, (int)ranks) || workload_check(&o->workload, o->data) ||
            !trial_fits(trial))
            continue;
        snprintf(text + at, 256 - at, "%s--preset %s without other sizes", at ? ", or " : "", preset_name[p]);
        break;
    }
    error_clear(); /* a batch of some preset may not suit these ranks */
}

/* Whether parts [from, to) of so many ranks fit into what is available in a place. */
static int check_parts(const struct run *run, struct trial *trial, const char *place, size_t available, int ranks,
                       int from, int to, const char *advice)
{
    double needed = (double)memory_total(run->memory, from, to) * ranks;
    char need[CELL], have[CELL], parts[256], fit[256];
    if (needed <= (double)available)
        return 0;
    find_sizes(trial, fit);
    return error_report("%s has %s of memory free and %d rank%s on it need%s %s: a rank needs %s; %s%s%suse a smaller "
                        "--d-model or --context-length, %s",
                        place, text_memory(have, available), ranks, text_plural((size_t)ranks), ranks > 1 ? "" : "s",
                        text_memory(need, (size_t)fmin(needed, 1e19)), memory_words(run->memory, from, to, parts),
                        *fit ? "these fit: " : "", fit, *fit ? "; or " : "", advice);
}

int memory_check(const struct run *run, int stages, const struct memory_share *least)
{
    const struct open_device *opened = &run->opened;
    int of_gpu = parts_of_gpu(run);
    struct trial *trial = allocate(1, sizeof *trial);
    *trial = (struct trial){*run, *run->options, stages, *least};
    char gpu[300];
    snprintf(gpu, sizeof gpu, "beside what its libraries take, %s", opened->gpu.name);
    int status = check_parts(run, trial, gpu, open_device_available(opened), opened->sharing, 0, of_gpu,
                             "--dtype bf16, or more GPUs");
    if (!status)
        status = check_parts(run, trial, "this machine", host_memory_available(), run->job->machine_size, of_gpu,
                             MEMORY_PARTS, "fewer --steps-per-block or --data-workers, or more hosts");
    free(trial);
    return status;
}
