/* live.h - --live: what a run is doing, as Prometheus text, while it does it.
 *
 * Rank 0 serves http://ADDRESS:PORT/metrics, or replaces a file once a second for the textfile collector of
 * node_exporter. A thread of its own sleeps in poll() until somebody asks, and makes the text then: those that measure
 * only store numbers, between blocks, where the parts of the page take them from. Knows nothing of what is measured. */
#ifndef BENCH_LIVE_LIVE_H
#define BENCH_LIVE_LIVE_H

#include "base/option_table.h"
#include "ddp/job.h"

#include <stdio.h>

/* --live, into *target: "" for none; a port of 127.0.0.1, ADDRESS:PORT, or a file that ends in .prom. */
struct option_section live_options_section(const char **target);

/* NULL where nothing is wanted, and on ranks other than 0; all functions take that. */
struct live;

/* On rank 0: opens the port, or writes the file for the first time. Returns 0; or -1, reported: an address that
 * there is not, a port in use, a file that cannot be written. Release with live_destroy in either case. */
int live_open(struct live **live, const struct job *job, const char *target);

/* Before the start: the page has a part that `print` adds, from the thread of this, in whole metrics
 * (base/exposition.h). What it reads it takes under a lock of its own. The context must outlive live_stop. */
void live_add(struct live *live, void (*print)(void *context, FILE *out), void *context);

/* From now on the page is served, and stderr says where, or the file replaced; it says of which mode the run is, with
 * its label. */
void live_start(struct live *live, const char *mode, const char *label);

/* How far the run is: `done` units of `planned` (of: "blocks"; static), and about how many seconds are left; NAN:
 * unknown. May be called at any time. Takes less than a microsecond. */
void live_progress(struct live *live, const char *of, double done, double planned, double left_seconds);

/* Ends the thread and closes the port; the file is replaced for the last time, and stays. Returns 0; or -1, reported:
 * the file could not be written. A stopped one is fine. */
int live_stop(struct live *live);
void live_destroy(struct live *live); /* stops it, if need be */

#endif
