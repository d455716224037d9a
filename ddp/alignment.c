/* alignment.c - converts a rank's clock to rank 0's. */
#include "ddp/alignment.h"

#include <math.h>
#include <stdlib.h>

static const double most_drift = 200e3; /* ns per second between two clock crystals, each wrong by at most 100 ppm */

static int64_t rounded(double x)
{
    return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct alignment alignment_from(const struct clock_sample *sample)
{
    return (struct alignment){
        .at_ns = sample->at_ns, .offset_ns = sample->offset_ns, .residual_ns = sample->residual_ns};
}

struct alignment alignment_between(const struct clock_sample *before, const struct clock_sample *after)
{
    double apart = (double)(after->at_ns - before->at_ns);
    int64_t change = after->offset_ns - before->offset_ns, errors = after->residual_ns + before->residual_ns;
    struct alignment a = alignment_from(after->residual_ns < before->residual_ns ? after : before);
    if (llabs(change) > errors && fabs(1e9 * (double)change / apart) <= most_drift) {
        a.drift = 1e9 * (double)change / apart;
        a.drift_error = 1e9 * (double)errors / apart;
    }
    int64_t other = errors - a.residual_ns; /* residual of the sample that was not chosen */
    if (a.drift == 0)
        other += llabs(change);
    if (llabs(change) <= errors) /* between the samples, crystals change the offset by at most most_drift * apart */
        other = smaller(other, a.residual_ns + rounded(1e-9 * most_drift * apart));
    a.residual_ns = larger(a.residual_ns, other);
    return a;
}

int64_t alignment_apply(const struct alignment *a, int64_t ns)
{
    return ns + a->offset_ns + rounded(1e-9 * a->drift * (double)(ns - a->at_ns));
}

void alignment_bound(struct alignment *a, int64_t least, int64_t most)
{
    int64_t low = larger(least, -a->residual_ns), high = smaller(most, a->residual_ns);
    int64_t shift = low > high ? (low + high) / 2 : larger(low, smaller(high, 0));
    a->offset_ns += shift;
    a->residual_ns = low > high ? a->residual_ns + low - high : larger(high - shift, shift - low);
}
