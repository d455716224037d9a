/* loading.c - too little memory for the libraries. Where the memory of a process is limited (ulimit -v), OpenBLAS
 * asks for it for ever while it is loaded, and UCX aborts in the middle of MPI_Init: both are refused in words. */
#include "kernels/launcher.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* What loading may take of the cores; usual is less than 0.2 s. What MPI and the first products of OpenBLAS take of the
 * address space, most of it for threads: about 200 MB. */
enum { LOADING_S = 2, MPI_AND_BLAS_BYTES = 300000000 };

/* RLIM_INFINITY where there is none. */
static rlim_t limit_of_address_space(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* The first rank of a machine says so for all of it. Safe in a signal's handler. */
static void refuse(void)
{
    static const char words[] =
        "ddpbench: the limit of memory (ulimit -v) leaves less than 300 MB for MPI and BLAS to start\n";
    if (launcher_rank_here() == 0)
        (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(1);
}

static void libraries_hang(int number)
{
    (void)number;
    refuse();
}

static void before_libraries(void)
{
    const struct sigaction hanging = {.sa_handler = libraries_hang};
    const struct itimerval limit = {.it_value.tv_sec = LOADING_S};
    if (limit_of_address_space() != RLIM_INFINITY) {
        sigaction(SIGPROF, &hanging, NULL);
        setitimer(ITIMER_PROF, &limit, NULL);
    }
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_libraries;

/* The program's own, which runs when all libraries are loaded. */
__attribute__((constructor)) static void after_libraries(void)
{
    unsigned long pages = 0;
    rlim_t limit = limit_of_address_space();
    if (limit == RLIM_INFINITY)
        return;
    setitimer(ITIMER_PROF, &(const struct itimerval){0}, NULL);
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) == 1 && pages * (rlim_t)sysconf(_SC_PAGESIZE) + MPI_AND_BLAS_BYTES > limit)
        refuse();
    if (file)
        fclose(file);
}
