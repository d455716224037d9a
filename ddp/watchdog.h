/* watchdog.h - ends the job if a rank waits too long; each rank prints what it waits for, and for which ranks.
 *
 * The watchdog covers collectives of the comm (watchdog_look), waits in the control plane (job.c calls watchdog_wait),
 * and waits for a batch of data or a file. Each rank publishes what it does to the other ranks of its host, so that
 * they can name a rank that hangs or was stopped. */
#ifndef DDP_WATCHDOG_H
#define DDP_WATCHDOG_H

#include <stddef.h>
#include <stdint.h>

/* What a rank is waiting for. */
struct watched {
    int64_t since_ns; /* time of the last progress; INT64_MAX: this rank does not wait */
    long number;      /* the awaited operation's number, from watchdog_started; 0: not an operation of all ranks */
    char words[160];  /* describes the wait: a collective, a barrier, a file, connecting to the other ranks */
    char broken[256]; /* error message of the library; "": none */
};

struct watchdog;

/* Size of the board for watchdog_show, in bytes per rank. */
extern const size_t watchdog_board_bytes;

/* Starts the thread that watches this rank. Every rank has one watchdog, from before MPI starts until after MPI has
 * ended. rank and ranks: according to the launcher.
 *
 * The thread checks about once a second what this rank waits for. After timeout_s seconds without progress
 * (watchdog_limit) the rank prints what it waits for, which ranks of its host have not arrived, what they do, and
 * whether their processes run, according to the board (watchdog_show) or, without a board, to /proc
 * (kernels/siblings.h). With a board, other waiting ranks of its host print their own lines at the same time. Two
 * seconds later the job ends with status 1, unless there was progress meanwhile (the job may only have been suspended).
 * If a library reports an error, the rank prints at once. */
struct watchdog *watchdog_create(int rank, int ranks);
void watchdog_destroy(struct watchdog *watchdog); /* all functions ignore a watchdog of NULL */

/* Sets how many seconds without progress end the job; 0, the initial value: only an error of a library ends the job. */
void watchdog_limit(struct watchdog *watchdog, double timeout_s);

/* After watchdog_show this rank publishes what it does on the board; after watchdog_hide it uses /proc again. rank and
 * ranks: according to MPI. board[r] points to rank r's zeroed bytes, shared by the ranks of a host; it is NULL if rank
 * r shares no memory with this rank. The caller owns the bytes; they are in use until watchdog_hide. */
void watchdog_show(struct watchdog *watchdog, int rank, int ranks, void *const *board);
void watchdog_hide(struct watchdog *watchdog);

/* Returns when every other rank of this host has called this function or has ended. Until then this rank can report a
 * rank that is stopped while ending. Call it after watchdog_wait_or_leave, as the process's last wait. */
void watchdog_await(struct watchdog *watchdog);

/* From now on the watchdog's thread also calls `look`, which fills *watched if the comm waits; before each call,
 * *watched describes a rank that does not wait. look NULL: ends these calls, and resumes those of the function set
 * before, so that a comm is watched again when a later comm is destroyed. */
void watchdog_look(struct watchdog *watchdog, void (*look)(void *state, struct watched *watched), void *state);

/* Call it when this rank starts an operation that all ranks do in the same order, for example a collective. Returns its
 * number, which counts from 1 and is the same on every rank. */
long watchdog_started(struct watchdog *watchdog);

/* Begins a wait of this rank; words and number as in struct watched. The first grace_s seconds do not count. */
void watchdog_wait(struct watchdog *watchdog, const char *words, long number, double grace_s);

/* Begins the wait for MPI to end, during which no other rank needs this rank; call it after watchdog_hide. If it lasts
 * longer than grace_s, and no rank of this host is stopped, the watchdog's thread calls `leave`, which ends the
 * process. From now on the kernel kills this process if it is stopped for a few seconds longer than the limit, because
 * no other rank may be left to report it. */
void watchdog_wait_or_leave(struct watchdog *watchdog, const char *words, long number, double grace_s,
                            void (*leave)(void));

/* Ends the wait begun by watchdog_wait. Waits cannot be nested. */
void watchdog_arrived(struct watchdog *watchdog);

/* Sets what this rank does from now on, for messages, by printf's format. A # in the text stands for the number set by
 * watchdog_mark. */
void watchdog_doing(struct watchdog *watchdog, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the number for the # in the text of watchdog_doing: one store, no system call. */
void watchdog_mark(struct watchdog *watchdog, long i);

#endif
