/* payload.h - checks collectives: inputs whose reduction is exact in any order, and the correct results.
 *
 * For a reduction, the values of a ramp (an arithmetic sequence symmetric about 0) are dealt to all or some ranks, anew
 * for each element e. In addition c ranks contribute a base h(e): for a sum those with a value of the ramp, else all
 * ranks. So the sum is c h, the average h, and the maximum h + the last value of the ramp. All partial sums are whole
 * numbers that the type holds exactly, so the result must be bitwise equal in any order. Averages in bf16 have base 0
 * beyond 175 ranks. For other collectives an element is a whole number that depends on its index and its rank. */
#ifndef BENCH_MEASURE_ALLREDUCE_PAYLOAD_H
#define BENCH_MEASURE_ALLREDUCE_PAYLOAD_H

#include "ddp/comm.h"

struct payload {
    struct collective collective; /* only kind, dtype, op, count and root are used */
    int rank, ranks;
    int rounds_average; /* as in struct comm; if 1, averages over n ranks, n not a power of two, are compared with a
                           tolerance of n + 2 roundings */
    unsigned round;     /* number of the round; the values differ between rounds */
};

/* Returns the number of elements in the result of a collective of `ranks` ranks. */
size_t payload_result(const struct collective *collective, int ranks);

/* Writes this rank's input into `in`; or if `in` is NULL (in place), into the part of the buffer that holds the input.
 * Fills all other elements of the buffer with values that differ from the result. */
void payload_fill(const struct payload *payload, void *in, void *buffer);

/* Returns the number of wrong elements in the result: those that are not bitwise equal to the correct value; or, for
 * averages with rounds_average, those that differ by more than the tolerance. */
size_t payload_wrong(const struct payload *payload, const void *result);

#endif
