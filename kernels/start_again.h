/* start_again.h - settings that libraries read from the environment when they are loaded, which is before main: they
 * are set, and the program is started again with them.
 *
 * The process keeps its id, its arguments and its open files. Call both functions first in main, before MPI starts. */
#ifndef KERNELS_START_AGAIN_H
#define KERNELS_START_AGAIN_H

/* Asks for a variable in the environment. One that is set already, by the user or by this, is kept. */
void start_again_with(const char *name, const char *value);

/* Where the ranks of a machine have more threads than there are logical CPUs, a thread that waits without pause holds
 * the CPU that it waits for: asks for OpenMP and OpenBLAS to let threads that wait sleep. Elsewhere that would cost a
 * small model more than half of its speed, so nothing is asked for. */
void start_again_with_quiet_threads(int argc, char *const argv[]);

/* Starts the program again if anything was asked for; returns if not, or where that is not possible. */
void start_again(char *const argv[]);

/* What decides: whether so many threads of each of the ranks that a launcher started here are too many. cpus: those
 * that this rank may use; launcher_cpus: those that its launcher may use, which are more where the launcher has given
 * ranks CPUs of their own. threads 0: as many as there are CPUs for. */
int start_again_is_crowded(long ranks, long threads, int cpus, int launcher_cpus);

#endif
