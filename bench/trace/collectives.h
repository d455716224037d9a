/* collectives.h - collectives in a trace: the arguments that tools look for, and the lanes of a library on the host. */
#ifndef BENCH_TRACE_COLLECTIVES_H
#define BENCH_TRACE_COLLECTIVES_H

#include "trace/rows.h"

/* Assigns a lane to each collective, so that those of one lane do not overlap: slot[n]. Returns the number of lanes. */
int trace_choose_slots(const struct collectives *collectives, int *slot);

/* The thread number of a lane: the comm's own thread for the first, if it has one. */
long trace_slot_thread(long comm_thread, int slot);

/* The ranks 0 to ranks - 1 as a list; abbreviated: the first of many and the last, as Kineto does. */
void trace_put_group(struct trace_text *out, int ranks, int abbreviated);

/* The arguments of collective i, behind others. */
void trace_put_collective(struct trace_writer *w, size_t i);

/* The collectives of a library that runs on the host, on lanes of their own. */
void trace_put_collectives(struct trace_writer *w);

/* The training thread's calls of collectives that run on the GPU. */
void trace_put_calls_of_collectives(struct trace_writer *w);

#endif
