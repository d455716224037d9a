/* siblings.h - finds the processes of this host's ranks in /proc, for use before MPI starts and while it ends, when the
 * ranks share no memory.
 *
 * A process is a rank's if its environment has the launcher's variable for a rank, and if this process and it descend
 * from the same launcher. */
#ifndef KERNELS_SIBLINGS_H
#define KERNELS_SIBLINGS_H

#include <pthread.h>

/* The process of a rank. Where it has several, such as a shell and the program that the shell started, the one that
 * shows its waits, else one that runs the same program as this process, else the first. */
struct sibling {
    int process;      /* its id; 0: none on this host, or none that can be seen, and then all else is 0 */
    int runs;         /* 1: this program, or one that shows its waits; 0: another, such as a shell that starts it */
    int stopped;      /* by a signal or a debugger */
    long waits;       /* what siblings_show shows; -1: nothing */
    char program[16]; /* its name */
};

/* Finds ranks 0 to ranks - 1: sibling[ranks]. Without a launcher, or without /proc, it finds none. */
void siblings_find(struct sibling *sibling, int ranks);

/* Shows the siblings, as the name of a thread of this process, how many of the waits that all ranks share it has come
 * to: numbers below 16^10. */
void siblings_show(pthread_t thread, long waits);

/* Kills the programs of the other ranks of this host, also stopped ones, and waits until their launcher has seen them
 * end, for two seconds at most. A shell that started such a program is left alone. */
void siblings_kill(int rank, int ranks);

#endif
