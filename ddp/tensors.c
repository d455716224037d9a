/* tensors.c - shapes of parameter tensors, and their places in the arenas. */
#include "ddp/tensors.h"

#include <stdarg.h>
#include <stdio.h>

size_t tensor_matrix_rows(const struct tensor *t)
{
    return (size_t)t->joined * t->rows + t->padding;
}

void tensor_set(struct tensor *t, int layer, size_t rows, size_t columns, int joined, const char *format, ...)
{
    va_list arguments;
    *t = (struct tensor){.layer = layer, .rows = rows, .columns = columns, .count = rows * columns, .joined = joined};
    va_start(arguments, format);
    vsnprintf(t->name, sizeof t->name, format, arguments);
    va_end(arguments);
}

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

size_t tensors_place(struct tensor *tensor, int n, size_t shards)
{
    size_t arena = 0, alignment = TENSOR_ALIGNMENT * shards;
    for (int i = n - 1; i >= 0; i--) {
        if (tensor[i].joined)
            arena = round_up(arena, alignment);
        tensor[i].offset = arena;
        arena += tensor[i].count + tensor[i].padding * tensor[i].columns;
    }
    return round_up(arena, alignment);
}
