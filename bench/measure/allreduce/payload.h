/* payload.h - what collectives are checked with: inputs whose reduction is exact in any order, and what it comes to.
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
    int rounds_average; /* as in struct comm: then totals of a number of ranks that is no power of two are compared
                           with a tolerance, what n + 2 roundings may add up to */
    unsigned round;     /* another one, other numbers */
};

/* Elements of the result, as struct collective counts them. */
size_t payload_result(const struct collective *collective, int ranks);

/* Writes this rank's input: into `in`, or, for a collective in place (in NULL), where the buffer takes it. Every other
 * element of the buffer becomes a number that is not the result. */
void payload_fill(const struct payload *payload, void *in, void *buffer);

/* How many elements of the result differ from what they have to be, bit for bit; but for totals with rounds_average,
 * which may be off by the tolerance. */
size_t payload_wrong(const struct payload *payload, const void *result);

#endif
