/* memory.c - what a run will need, by part. */
#include "memory.h"

#include "error.h"
#include "host.h"

#include <stdio.h>

const char *const memory_part_name[MEMORY_PARTS] = {
    [MEMORY_WEIGHTS] = "weights",         [MEMORY_GRADIENTS] = "gradients",         [MEMORY_OPTIMIZER] = "optimizer",
    [MEMORY_ACTIVATIONS] = "activations", [MEMORY_COMMUNICATION] = "communication",
};

void memory_estimate(size_t bytes[MEMORY_PARTS], const struct model *model, const struct options *options, int ranks)
{
    size_t arena = model->arena * sizeof(float);
    bytes[MEMORY_WEIGHTS] = 2 * arena;
    bytes[MEMORY_GRADIENTS] = arena;
    bytes[MEMORY_OPTIMIZER] = 2 * arena;
    bytes[MEMORY_ACTIVATIONS] = model->activation_bytes;
    bytes[MEMORY_COMMUNICATION] = ranks > 1 ? arena : 0;
    for (int i = 0; i < options->n; i++)
        if (options->implementation[i].strategy->stages)
            bytes[MEMORY_COMMUNICATION] += model->arena * comm_dtype_bytes(options->grad_dtype);
}

size_t memory_total(const size_t bytes[MEMORY_PARTS])
{
    size_t total = 0;
    for (int i = 0; i < MEMORY_PARTS; i++)
        total += bytes[i];
    return total;
}

const char *memory_words(size_t bytes, char text[16])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    int i = 0;
    while (value >= 1000 && i < 5) {
        value /= 1024;
        i++;
    }
    snprintf(text, 16, i && value < 100 ? "%.1f %s" : "%.0f %s", value, unit[i]);
    return text;
}

int memory_check(const size_t bytes[MEMORY_PARTS], const struct job *job)
{
    char need[16], have[16], part[MEMORY_PARTS][16];
    double needed = (double)memory_total(bytes) * job->local_size;
    size_t available = host_memory_available();
    if (needed <= (double)available)
        return 0;
    for (int i = 0; i < MEMORY_PARTS; i++)
        memory_words(bytes[i], part[i]);
    return report(
        "the %d ranks of this host need %s of memory together and it has %s: a rank needs %s for weights, %s for "
        "gradients, %s for the optimizer, %s for activations, %s for communication; use a smaller --batch-size, "
        "--context-length, --num-layers or --d-model, or more hosts",
        job->local_size, memory_words((size_t)needed, need), memory_words(available, have), part[MEMORY_WEIGHTS],
        part[MEMORY_GRADIENTS], part[MEMORY_OPTIMIZER], part[MEMORY_ACTIVATIONS], part[MEMORY_COMMUNICATION]);
}
