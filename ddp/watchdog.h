/* watchdog.h - ends the job when a collective does not return, and prints on each rank where it waits. */
#ifndef DDP_WATCHDOG_H
#define DDP_WATCHDOG_H

#include "ddp/comm.h"
#include "ddp/job.h"

#include <stdint.h>

/* What a comm is waiting for. */
struct watched {
    int64_t since_ns;       /* without progress since then; INT64_MAX: nothing is in flight */
    long number;            /* of what does not end, as watchdog_started counted it */
    char words[COMM_WORDS]; /* what that is: a collective, or connecting to the other ranks or parting from them */
    char broken[256];       /* the library's error; "": none */
};

struct watchdog;

/* Starts the thread that watches; every rank has its own, and all ranks call. About once a second it calls `look`, with
 * *watched as nothing in flight. When a collective makes no progress for timeout_s seconds, the rank prints where it
 * waits and which ranks of its host have not started that collective. All ranks that wait have two more seconds to
 * print the same; then the job ends with status 1, unless there was progress meanwhile (the job may only have been
 * suspended). When the library reports an error, the rank prints at once, and so do the ranks of the same host that
 * wait. With timeout_s 0 only that is watched for. */
struct watchdog *watchdog_create(double timeout_s, const struct job *job,
                                 void (*look)(void *state, struct watched *watched), void *state);
void watchdog_destroy(struct watchdog *watchdog); /* all ranks; NULL, here and below, does nothing */

/* This rank starts a collective, or to connect or to part: returns its number, which counts from 1 and is the same on
 * every rank. */
long watchdog_started(struct watchdog *watchdog);

/* A caller may be watched as well, also in its barriers. Begins iterations of that name (such as "timed iteration"). */
void watchdog_begin(struct watchdog *watchdog, const char *words, const char *of_what);

/* Iteration i begins now. Two stores, no system call. */
void watchdog_mark(struct watchdog *watchdog, int64_t now_ns, long i);

/* Iterations are over. */
void watchdog_rest(struct watchdog *watchdog);

#endif
