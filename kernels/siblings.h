/* siblings.h - the processes of the ranks of this host, as /proc shows them: for what has to be known without MPI and
 * memory in common, before MPI has started and while it ends.
 *
 * Ranks are told by the launcher's variable in their environments, and by the launcher, which is above all of them. */
#ifndef KERNELS_SIBLINGS_H
#define KERNELS_SIBLINGS_H

#include <pthread.h>

/* What a rank's process is. A rank that has several, such as a shell and the program that it started, is the one that
 * shows its waits, else the one that runs the same program as this process, else the first. */
struct sibling {
    int process;      /* its id; 0: none on this host, or none that can be seen */
    int same_program; /* whether it runs the program that this process runs */
    int stopped;
    long waits;       /* what siblings_show has shown of it; -1: nothing */
    char program[16]; /* the name of the process */
};

/* Looks for ranks 0 to ranks - 1: sibling[ranks]. Without a launcher, or without /proc, there are none. */
void siblings_find(struct sibling *sibling, int ranks);

/* Shows siblings, by the name of a thread, how many of the waits that all ranks share this rank has come to. */
void siblings_show(pthread_t thread, long waits);

/* Ends the processes of the other ranks of this host, also those that are stopped. */
void siblings_kill(int rank, int ranks);

#endif
