/* gradient_error.c - compares a reduced gradient with the exact sum, in pieces, so that it needs little memory. */
#include "ddp/gradient_error.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE = 1 << 18, PIECES = 4 }; /* numbers that are compared at a time; how many times, if the gradient is long */

/* Adds the squares of r - s and of s over an owned range, as far as it lies in floats [from, to) of the arena, whose
 * sums are s[to - from]. */
static void add_squares(const struct device *device, const struct owned_range *own, size_t from, size_t to,
                        const double *s, float *r, double square[2])
{
    size_t begin = own->offset > from ? own->offset : from, end = own->offset + own->count;
    end = end < to ? end : to;
    if (begin >= end)
        return;
    device->download(r, own->gradient + (begin - own->offset), (end - begin) * sizeof *r);
    for (size_t i = begin; i < end; i++) {
        double exact = s[i - from], apart = (double)r[i - begin] - exact;
        square[0] += apart * apart;
        square[1] += exact * exact;
    }
}

double gradient_error(const struct reducer *reducer, const struct job *job, const float *local)
{
    const struct device *device = reducer->model->device;
    size_t arena = reducer->model->arena, stride = arena / PIECES > PIECE ? arena / PIECES : PIECE;
    float *piece = allocate(PIECE, sizeof *piece);
    double *sum = allocate(PIECE, sizeof *sum), square[2] = {0, 0};
    for (size_t from = 0; from < arena; from += stride) {
        size_t to = arena - from < PIECE ? arena : from + PIECE;
        device->download(piece, local + from, (to - from) * sizeof *piece);
        for (size_t i = 0; i < to - from; i++)
            sum[i] = (double)piece[i];
        job_sum(job, sum, to - from);
        for (int i = 0; i < reducer->ranges; i++)
            add_squares(device, &reducer->owned[i], from, to, sum, piece, square);
    }
    job_sum(job, square, 2);
    free(piece);
    free(sum);
    return sqrt(square[0] / square[1]);
}
