/* watchdog.h - ends the job when a collective does not return, and says on each rank where it stands. */
#ifndef WATCHDOG_H
#define WATCHDOG_H

#include <stdint.h>

struct watchdog;

/* Starts the thread that watches. A rank that makes no mark for timeout_s seconds prints where it stands; all that are
 * stuck have two more seconds to say so, then the job ends with status 1. timeout_s 0: never. Every rank has its own.
 */
struct watchdog *watchdog_create(double timeout_s);
void watchdog_destroy(struct watchdog *watchdog); /* NULL is fine */

/* Says in words what is about to happen; counts as a mark. */
void watchdog_at(struct watchdog *watchdog, const char *words);

/* Iteration i of what the words say begins now. Two stores, no system call. */
void watchdog_mark(struct watchdog *watchdog, int64_t now_ns, long i);

#endif
