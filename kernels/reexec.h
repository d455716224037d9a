/* reexec.h - sets environment variables that libraries read when they are loaded, before main, by executing the program
 * again.
 *
 * The process keeps its id, its arguments and its open files. Call these functions first in main, before MPI starts. */
#ifndef KERNELS_REEXEC_H
#define KERNELS_REEXEC_H

/* Requests a variable for the environment of the next execution; one that is already set keeps its value. */
void reexec_setenv(const char *name, const char *value);

/* If the ranks of this machine have more threads than there are logical CPUs, requests that waiting threads of OpenMP
 * and OpenBLAS sleep: a thread that spins holds the CPU that the awaited thread needs. Otherwise requests nothing,
 * because sleeping more than halves the speed of a small model. */
void reexec_set_passive_threads(int argc, char *const argv[]);

/* Executes the program again if a variable was requested. Returns if no variable was, or if the execution failed. */
void reexec_if_needed(char *const argv[]);

/* Returns 1 if `ranks` ranks of `threads` threads each need more CPUs than there are, else 0. cpus: the number that
 * this rank may use; launcher_cpus: the number that its launcher may use, which is larger if the launcher bound each
 * rank to CPUs of its own. threads 0: as many as this rank's share of the CPUs, so the answer is 0. */
int reexec_is_oversubscribed(long ranks, long threads, int cpus, int launcher_cpus);

#endif
