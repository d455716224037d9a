/* siblings.h - finds the processes of this host's ranks in /proc, before MPI starts and while it ends, when the ranks
 * share no memory.
 *
 * A process belongs to a rank if its environment has the launcher's variable for the rank, and it descends from the
 * same launcher as this process. */
#ifndef KERNELS_SIBLINGS_H
#define KERNELS_SIBLINGS_H

#include <pthread.h>

/* The process of a rank. If a rank has several, such as a shell and the program that it started, this is the process
 * that publishes `waits` (siblings_show), else a process that runs the same program as this one, else the first. */
struct sibling {
    int process;      /* process id; 0: none is visible on this host, and all other members are 0 */
    int runs;         /* 1: it runs this program or publishes `waits`; 0: it runs another program, such as a shell */
    int stopped;      /* 1: stopped by a signal or a debugger */
    long waits;       /* the number that siblings_show published; -1: none */
    char program[16]; /* name of the program */
};

/* Fills sibling[ranks]. Finds no process without a launcher or without /proc. */
void siblings_find(struct sibling *sibling, int ranks);

/* Publishes `waits`, the number of operations of all ranks that this process has started (watchdog_started), below
 * 16^10, as the name of `thread`. */
void siblings_show(pthread_t thread, long waits);

/* Kills the programs of the other ranks of this host, even stopped ones, and waits until their launcher has reaped
 * them, two seconds at most. Does not kill shells that started them. */
void siblings_kill(int rank, int ranks);

#endif
