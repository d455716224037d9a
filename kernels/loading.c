/* loading.c - ends the process with a message if its limit of memory (ulimit -v) is too low for the libraries.
 * Otherwise OpenBLAS would retry allocations forever while it is loaded, and UCX would abort inside MPI_Init. */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* The CPU time allowed for loading, which usually takes less than 0.2 s; and the address space required for MPI and the
 * first products of OpenBLAS, which take about 200 MB, mostly for threads. */
enum { LOADING_S = 2, MPI_AND_BLAS_BYTES = 300000000 };

/* Returns the limit of the address space; RLIM_INFINITY: no limit. */
static rlim_t limit_of_address_space(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

/* Ends the process with the reason. Safe in a signal handler. */
static void exit_for_memory(void)
{
    static const char words[] =
        "ddpbench: the limit of memory (ulimit -v) leaves less than 300 MB for MPI and BLAS to start\n";
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(1);
}

static void libraries_hang(int number)
{
    (void)number;
    exit_for_memory();
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

/* Runs after the constructors of all libraries: stops the timer and checks the memory that is left. */
__attribute__((constructor)) static void after_libraries(void)
{
    unsigned long pages = 0;
    rlim_t limit = limit_of_address_space();
    if (limit == RLIM_INFINITY)
        return;
    setitimer(ITIMER_PROF, &(const struct itimerval){0}, NULL);
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu", &pages) == 1 && pages * (rlim_t)sysconf(_SC_PAGESIZE) + MPI_AND_BLAS_BYTES > limit)
        exit_for_memory();
    if (file)
        fclose(file);
}
