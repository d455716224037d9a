/* busy.h - whether other processes used the machine while a run measured, and the sentence on it. */
#ifndef BENCH_RESULTS_BUSY_H
#define BENCH_RESULTS_BUSY_H

#include <cJSON.h>

#define BUSY_SHARE 0.1 /* a machine is busy if other processes used more than this share of its cores, on average */

/* What other processes used, on the machine of the run where their share of the cores is largest. NAN: unknown. */
struct busy {
    double share, cores; /* mean cores that they used / cores of that machine; its number of cores */
};

/* Reads other_processes of summary.json. If an older run has cores only, the share is of the machine of fewest CPUs. */
struct busy busy_of(const cJSON *summary, const cJSON *run);
#define BUSY_ADVICE "measure again on an idle machine" /* in place of any advice from a busy machine's times */

int busy_is(struct busy busy); /* whether the machine was busy; 0 if that is unknown */

/* Writes into text, and returns, the sentence that comes before every verdict; "" if the machine was not busy. where:
 * words after "on average", such as " in 2node"; or "". */
enum { BUSY_WORDS = 400 };
const char *busy_sentence(char text[BUSY_WORDS], struct busy busy, const char *where);

#endif
