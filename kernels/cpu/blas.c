/* blas.c - sets the number of threads of the BLAS.
 *
 * Each library has a different function for this. These functions are looked up by name at run time, so that the
 * program works with any library. A library with none of them obeys OMP_NUM_THREADS or has one thread. */
#include "kernels/cpu/cpu.h"

#include <dlfcn.h>
#include <omp.h>
#include <string.h>

/* Stores the symbol's address in a function pointer by memcpy: ISO C has no cast from void *, and POSIX guarantees the
 * same bits. */
int cpu_blas_look_up(const char *name, void *function, size_t size)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &address, size);
    return address != NULL;
}

void cpu_blas_set_threads(int threads)
{
    static const char *const with_int[] = {"openblas_set_num_threads", "MKL_Set_Num_Threads",
                                           "flexiblas_set_num_threads"};
    void (*set_int)(int);
    omp_set_num_threads(threads); /* for a BLAS that asks OpenMP for the number of threads */
    for (size_t i = 0; i < sizeof with_int / sizeof *with_int; i++)
        if (cpu_blas_look_up(with_int[i], &set_int, sizeof set_int))
            set_int(threads);
    void (*set_int64)(int64_t); /* BLIS's dim_t */
    if (cpu_blas_look_up("bli_thread_set_num_threads", &set_int64, sizeof set_int64))
        set_int64(threads);
}
