/* omp_threads.h - reads OMP_NUM_THREADS by the rule of OpenMP. */
#ifndef KERNELS_OMP_THREADS_H
#define KERNELS_OMP_THREADS_H

enum { OMP_MOST_THREADS = 4096 };

/* Returns the first number of a value of OMP_NUM_THREADS. The value has a number from 1 to OMP_MOST_THREADS for each
 * level of nested threads, separated by commas and optional white space. Returns 0 for NULL or an empty text; -1, not
 * reported, for any other text. threads_of_list in launch/run.sh has the same rule. */
int omp_threads_of_list(const char *list);

#endif
