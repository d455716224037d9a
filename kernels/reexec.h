/* reexec.h - sets environment variables that libraries read when they are loaded, before main, by executing the program
 * again.
 *
 * The process keeps its id, its arguments and its open files. Call these functions first in main, before MPI starts. */
#ifndef KERNELS_REEXEC_H
#define KERNELS_REEXEC_H

/* Requests a variable for the environment of the next execution; one that is already set keeps its value. */
void reexec_setenv(const char *name, const char *value);

/* Requests how threads of libgomp (and, if they should sleep, of OpenBLAS) wait for each other (reexec_waiting), unless
 * the user's environment already sets it (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME). */
void reexec_set_waiting(int argc, char *const argv[]);

/* Undoes the binding of the first thread to CPUs by a library that was just loaded, as OpenMP binds it for
 * OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY. Otherwise every rank of a host would bind its first thread, and all
 * threads that this thread starts later, to the same CPU. Restores the CPUs that the launcher gave, and requests an
 * environment with these variables under other names, DDPBENCH_IGNORED_*. The first rank of a host names them on
 * stderr. Does nothing if the thread's CPUs are unchanged. Call it before reexec_set_waiting. */
void reexec_unbind(void);

/* Executes the program again if a change of the environment was requested. Returns if none was, or if the execution
 * failed. */
void reexec_if_needed(char *const argv[]);

/* How threads should wait. A thread that spins holds the CPU that the awaited thread may need: on an oversubscribed
 * machine threads sleep. Otherwise they spin for some microseconds before they sleep. Sleeping at once would more than
 * halve the speed of a small model. Spinning for long would hold CPUs that other processes would leave to the awaited
 * thread. The only thread of a rank never waits (WAIT_SPINNING: nothing is requested). */
enum waiting { WAIT_SPINNING, WAIT_SPINNING_BRIEFLY, WAIT_SLEEPING };

/* Returns how the threads of `ranks` ranks of `threads` threads each should wait; WAIT_SLEEPING: they need more CPUs
 * than there are. cpus: the number that this rank may use; launcher_cpus: the number that its launcher may use, which
 * is larger if the launcher bound each rank to CPUs of its own. quota: CPUs that the ranks' control group may use
 * (INFINITY: no quota). threads 0: one thread for each CPU of this rank's share. */
enum waiting reexec_waiting(long ranks, long threads, int cpus, int launcher_cpus, double quota);

#endif
