/* watchdog.h - ends the job when a rank waits for too long, and prints on each rank where it waits and for whom.
 *
 * What a rank can wait in: a collective of the comm (which tells by `look`), the control plane (job.c calls
 * watchdog_wait), a batch of its data, or a file that it writes. Each rank shows the others of its host what it
 * does, so that a rank that hangs, or was stopped, is named by those that wait for it. */
#ifndef DDP_WATCHDOG_H
#define DDP_WATCHDOG_H

#include <stddef.h>
#include <stdint.h>

/* What a rank is waiting for. */
struct watched {
    int64_t since_ns; /* without progress since then; INT64_MAX: it waits for nothing */
    long number;      /* of what does not end, as watchdog_started counted it; 0: it has none */
    char words[160];  /* what that is: a collective, a barrier, a file, connecting to the other ranks */
    char broken[256]; /* the library's error; "": none */
};

struct watchdog;

/* Bytes of each rank on the board that watchdog_show takes. */
extern const size_t watchdog_board_bytes;

/* Starts the thread that watches this rank; every rank has its own, from before MPI starts until after it has ended.
 * rank and ranks are the launcher's.
 *
 * About once a second it looks what this rank waits for. After timeout_s seconds without progress (watchdog_limit) the
 * rank prints where it waits, and which ranks of its host have not come there, what they do, and whether they run at
 * all: by the board (watchdog_show), and while there is none by what /proc shows of their processes
 * (kernels/siblings.h). With a board the waiting ranks of its host print the same then. Two seconds later the job ends
 * with status 1, unless there was progress meanwhile (the job may only have been suspended). When a library reports an
 * error, the rank prints at once. */
struct watchdog *watchdog_create(int rank, int ranks);
void watchdog_destroy(struct watchdog *watchdog); /* NULL, here and below, does nothing */

/* Seconds without progress that end the job; 0, as at first: only an error of a library does. */
void watchdog_limit(struct watchdog *watchdog, double timeout_s);

/* From now on ranks show each other on the board what they do. rank and ranks are MPI's. board[ranks]: the zeroed bytes
 * of each rank, which the ranks of a host share; NULL for a rank that shares no memory with this one. They stay the
 * caller's, and are in use until watchdog_hide. */
void watchdog_show(struct watchdog *watchdog, int rank, int ranks, void *const *board);
void watchdog_hide(struct watchdog *watchdog);

/* Returns when the other ranks of this host have called it, too, or have ended, so that a rank that is stopped while it
 * ends is still named by another. When no other rank is left, the kernel kills a process that is stopped for longer
 * than the limit and a few seconds. Comes after watchdog_hide, as the last wait of a process. */
void watchdog_await(struct watchdog *watchdog);

/* From now on calls `look` too, on the watchdog's thread, with *watched as waiting for nothing; NULL: no longer. */
void watchdog_look(struct watchdog *watchdog, void (*look)(void *state, struct watched *watched), void *state);

/* This rank starts something that all ranks do in the same order, such as a collective: returns its number, which
 * counts from 1 and is the same on every rank. */
long watchdog_started(struct watchdog *watchdog);

/* From now on this rank waits; words and number as in struct watched. The first grace_s seconds are not counted. */
void watchdog_wait(struct watchdog *watchdog, const char *words, long number, double grace_s);

/* The wait has ended. There is one at a time. */
void watchdog_arrived(struct watchdog *watchdog);

/* What this rank does from now on, for messages: printf's format. A # in it stands for the number of watchdog_mark. */
void watchdog_doing(struct watchdog *watchdog, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Number i of that begins: one store, no system call. */
void watchdog_mark(struct watchdog *watchdog, long i);

#endif
