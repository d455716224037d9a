/* payload.h - checks collectives: inputs whose reduction is exact in any order, and the correct results.
 *
 * For reductions every element e has a base h(e), to which each rank adds a value of an arithmetic ramp that is
 * symmetric about 0 and dealt out anew for each element: the sum over c ranks with the base is c h, the average h, the
 * largest h + the end of the ramp. All partial sums are whole numbers that are exact in the type, so the result must be
 * equal bit for bit in any order. Averages in bf16 have no base beyond 175 ranks. Other elements are whole numbers of a
 * rank. */
#ifndef BENCH_MEASURE_ALLREDUCE_PAYLOAD_H
#define BENCH_MEASURE_ALLREDUCE_PAYLOAD_H

#include "ddp/comm.h"

struct payload {
    struct collective collective; /* kind, dtype, op, count and root are read */
    int rank, ranks;
    int rounds_average; /* as in struct comm: averages over a number of ranks that is not a power of two are then
                           compared with a tolerance, the sum of n + 2 roundings */
    unsigned round;     /* each round has other numbers */
};

/* Elements of the result, as struct collective counts them. */
size_t payload_result(const struct collective *collective, int ranks);

/* Writes this rank's input: into `in`, or, for a collective in place (in NULL), where the buffer takes it. Every other
 * element of the buffer becomes a number that is not the result. */
void payload_fill(const struct payload *payload, void *in, void *buffer);

/* Returns the number of elements of the result that differ from the correct ones, bit for bit, or, averages with
 * rounds_average, by more than the tolerance. */
size_t payload_wrong(const struct payload *payload, const void *result);

#endif
