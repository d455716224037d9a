/* alignment.c - one clock for all ranks. */
#include "ddp/alignment.h"

static int64_t rounded(double x)
{
    return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

double alignment_drift(const struct alignment *a)
{
    int64_t apart = a->after.at_ns - a->before.at_ns;
    return apart > 0 ? 1e9 * (double)(a->after.offset_ns - a->before.offset_ns) / (double)apart : 0;
}

double alignment_drift_error(const struct alignment *a)
{
    int64_t apart = a->after.at_ns - a->before.at_ns;
    return apart > 0 ? 1e9 * (double)(a->after.residual_ns + a->before.residual_ns) / (double)apart : 0;
}

int64_t alignment_apply(const struct alignment *a, int64_t ns)
{
    return ns + a->before.offset_ns + rounded(1e-9 * alignment_drift(a) * (double)(ns - a->before.at_ns));
}

int64_t alignment_residual_ns(const struct alignment *a)
{
    int64_t before = a->before.residual_ns, after = a->after.at_ns > a->before.at_ns ? a->after.residual_ns : 0;
    return before > after ? before : after;
}
