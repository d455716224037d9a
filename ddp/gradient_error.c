/* gradient_error.c - compares a reduced gradient with the exact sum, in pieces, so that it needs little memory. */
#include "ddp/gradient_error.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

/* PIECE: numbers compared at a time. MOST: about how many numbers of a longer gradient are compared. PARTS: parts of a
 * tensor, at whose beginnings these numbers lie. */
enum { PIECE = 1 << 18, MOST = 4 * PIECE, PARTS = 4 };

/* Adds the squares of r - s and of s over the part of an owned range that lies in floats [from, to) of the arena. s[to
 * - from] holds the exact sums of these floats. */
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
    const struct model *model = reducer->model;
    double share = fmin(1, MOST / (double)model->parameters);
    float *piece = allocate(PIECE, sizeof *piece);
    double *sum = allocate(PIECE, sizeof *sum), square[2] = {0, 0};
    for (int i = 0; i < PARTS * model->tensors; i++) {
        const struct tensor *t = &model->tensor[i / PARTS];
        size_t k = (size_t)i % PARTS, from = t->offset + t->count * k / PARTS,
               next = t->offset + t->count * (k + 1) / PARTS;
        size_t end = from + (size_t)ceil(share * (double)(next - from));
        for (size_t to; from < end; from = to) {
            to = end - from < PIECE ? end : from + PIECE;
            model->device->download(piece, local + from, (to - from) * sizeof *piece);
            for (size_t n = 0; n < to - from; n++)
                sum[n] = (double)piece[n];
            job_sum(job, sum, to - from);
            for (int r = 0; r < reducer->ranges; r++)
                add_squares(model->device, &reducer->owned[r], from, to, sum, piece, square);
        }
    }
    job_sum(job, square, 2);
    free(piece);
    free(sum);
    return sqrt(square[0] / square[1]);
}
