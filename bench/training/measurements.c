/* measurements.c - the samples of a run. */
#include "training/measurements.h"

#include "kernels/error.h"

#include <stdlib.h>

void measurements_create(struct measurements *m, int n, size_t capacity)
{
    *m = (struct measurements){n, capacity, 0, allocate((size_t)n * FIGURES * capacity, sizeof *m->seconds)};
}

void measurements_destroy(struct measurements *m)
{
    free(m->seconds);
    *m = (struct measurements){0};
}

double *measurements_of(const struct measurements *m, int implementation, int figure)
{
    return m->seconds + ((size_t)implementation * FIGURES + (size_t)figure) * m->capacity;
}
