/* arrows.h - the arrows between rows of the host. */
#ifndef BENCH_MEASURE_TRACE_ARROWS_H
#define BENCH_MEASURE_TRACE_ARROWS_H

#include "trace/rows.h"

void trace_put_arrows(struct trace_writer *w);

#endif
