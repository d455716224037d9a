/* watchdog.h - ends the job when a collective does not return, and says on each rank where it stands. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include <stdint.h>

struct watchdog;

/* Makes the thread that watches; every rank has its own. While it watches, a rank that makes no mark for timeout_s
 * seconds prints where it stands; all that are stuck have two more seconds to say so, then the job ends with status 1,
 * unless a mark was made meanwhile (the job may only have been suspended). timeout_s 0: never. */
struct watchdog *watchdog_create(double timeout_s, int rank);
void watchdog_destroy(struct watchdog *watchdog); /* NULL is fine */

/* Collectives begin, as the words say (such as "timed iteration"): it watches from now on. */
void watchdog_begin(struct watchdog *watchdog, const char *words, const char *of_what);

/* Iteration i begins now. Two stores, no system call. */
void watchdog_mark(struct watchdog *watchdog, int64_t now_ns, long i);

/* What follows is no collective: it does not watch. */
void watchdog_rest(struct watchdog *watchdog);

#endif
