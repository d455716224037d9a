/* collectives.h - the rows of collectives. */
#ifndef BENCH_MEASURE_TRACE_COLLECTIVES_H
#define BENCH_MEASURE_TRACE_COLLECTIVES_H

#include "trace/rows.h"

/* Collectives of the host's library may overlap, and rows of a thread may not, so each has the first free of these
 * lanes. The others are asynchronous events, which may overlap; for analysers that read rows of threads only, one
 * further lane shows when there were any. */
enum { TRACE_SLOTS = 8 };

/* Chooses the lanes (free w->slot); names them; writes the rows of all collectives on the host. */
void trace_choose_slots(struct trace_writer *w);
void trace_put_slots(struct trace_writer *w);
void trace_put_collectives(struct trace_writer *w);

/* Writes the ranks 0 to ranks - 1 as a list; abbreviated: the first ones and the last, as Kineto does. */
void trace_put_group(struct trace_writer *w, int abbreviated);

/* Writes the arguments of collective i after others. */
void trace_put_collective(struct trace_writer *w, size_t i);

/* Writes a counter of the collectives that are posted and not complete. */
void trace_put_in_flight(struct trace_writer *w);

/* The thread of the row of collective i on the host, and its times as ts. For a collective on the GPU it is the
 * training thread's call, which has no row if it takes no time. */
long trace_collective_row(const struct trace_writer *w, size_t i, struct interval *ts);

#endif
