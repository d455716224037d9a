/* nominal_share.h - the rate of the median message of a run of `isolate` as a share of --nominal, which shows if most
 * members are equally slow. Rank 0 only. */
#ifndef BENCH_MEASURE_ISOLATE_NOMINAL_SHARE_H
#define BENCH_MEASURE_ISOLATE_NOMINAL_SHARE_H

#include "base/nominal.h"
#include "isolate/output.h"

/* Adds to a summary notes on the nominal rate and on the share, and to a list the figure nominal_share of "all": bytes
 * / (median seconds of the ring's messages x rate). If the link joins hosts, only messages between hosts count, unless
 * there are none. Adds nothing if no rate was given, and only the first note if nothing was measured. */
void nominal_share_add(const struct outcome *outcome, const struct nominal *nominal, cJSON *summary,
                       struct figure_list *figures);

#endif
