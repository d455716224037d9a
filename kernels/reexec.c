/* reexec.c - executes the program again with environment variables that its libraries read when they are loaded. */
#include "kernels/reexec.h"

#include "kernels/early_option.h"
#include "kernels/launcher.h"
#include "kernels/omp_threads.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };
static const char *asked[MOST];
static int n;

void reexec_setenv(const char *name, const char *value)
{
    if (n < MOST && !getenv(name) && !setenv(name, value, 1))
        asked[n++] = name;
}

void reexec_if_needed(char *const argv[])
{
    char path[PATH_MAX] = "";
    if (n && readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execv(path, argv); /* keeps the name of the process */
    if (n)
        execv("/proc/self/exe", argv); /* reached if the file was removed or moved; the process is then named exe */
    while (n)
        unsetenv(asked[--n]);
}

/* ---- threads that wait for others ---- */

/* Returns the number of threads requested for each rank; 0 if no number is requested. */
static long threads_wanted(int argc, char *const argv[])
{
    const char *option = early_option(argc, argv, "threads", 0);
    long threads = option ? strtol(option, NULL, 10) : 0;
    if (!threads)
        threads = omp_threads_of_list(getenv("OMP_NUM_THREADS"));
    return threads < 0 ? 0 : threads; /* a wrong number is refused later */
}

/* Returns the number of logical CPUs that a process may use; 0 if unknown. */
static int cpus_of(pid_t process)
{
    cpu_set_t set;
    return sched_getaffinity(process, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

enum waiting reexec_waiting(long ranks, long threads, int cpus, int launcher_cpus)
{
    long sharing = cpus < launcher_cpus ? 1 : ranks; /* a rank bound to its own CPUs does not share them */
    if (cpus <= 0 || sharing <= 0)
        return WAIT_SPINNING;
    long own = cpus / sharing, team = threads ? threads : own;
    return team <= 1 ? WAIT_SPINNING : team > own ? WAIT_SLEEPING : WAIT_SPINNING_BRIEFLY;
}

void reexec_set_waiting(int argc, char *const argv[])
{
    enum waiting waiting =
        reexec_waiting(launcher_ranks_here(), threads_wanted(argc, argv), cpus_of(0), cpus_of(getppid()));
    if (waiting == WAIT_SPINNING || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
        return;
    if (waiting == WAIT_SPINNING_BRIEFLY) {
        reexec_setenv("GOMP_SPINCOUNT", "1000"); /* some us instead of some ms, the default of libgomp */
        return;
    }
    reexec_setenv("OMP_WAIT_POLICY", "passive");
    reexec_setenv("OPENBLAS_THREAD_TIMEOUT", "4"); /* spin for 2^4 cycles, the minimum, instead of 2^26, the default */
}
