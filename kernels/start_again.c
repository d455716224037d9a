/* start_again.c - the program started again, with what its libraries should find in the environment. */
#include "kernels/start_again.h"

#include "kernels/early_option.h"
#include "kernels/launcher.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };
static const char *asked[MOST];
static int n;

void start_again_with(const char *name, const char *value)
{
    if (n < MOST && !getenv(name) && !setenv(name, value, 1))
        asked[n++] = name;
}

void start_again(char *const argv[])
{
    char path[PATH_MAX] = "";
    if (n && readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execv(path, argv); /* which keeps the name of the process */
    if (n)
        execv("/proc/self/exe", argv); /* its file was removed or moved: the process is called exe */
    while (n)
        unsetenv(asked[--n]);
}

/* ---- crowded machines ---- */

/* The threads that each rank is told to have; 0: as many as there are CPUs for. */
static long threads_wanted(int argc, char *const argv[])
{
    const char *threads = early_option(argc, argv, "threads", 0);
    if (!threads)
        threads = getenv("OMP_NUM_THREADS");
    return threads ? strtol(threads, NULL, 10) : 0;
}

/* The logical CPUs that a process may use; 0 if it is not known. */
static int cpus_of(pid_t process)
{
    cpu_set_t set;
    return sched_getaffinity(process, sizeof set, &set) ? 0 : CPU_COUNT(&set);
}

int start_again_is_crowded(long ranks, long threads, int cpus, int launcher_cpus)
{
    long sharing = cpus < launcher_cpus ? 1 : ranks; /* given CPUs of its own, a rank shares them with no other */
    return cpus > 0 && threads > 1 && sharing > 0 && threads > cpus / sharing;
}

void start_again_with_quiet_threads(int argc, char *const argv[])
{
    if (!start_again_is_crowded(launcher_ranks_here(), threads_wanted(argc, argv), cpus_of(0), cpus_of(getppid())) ||
        getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
        return;
    start_again_with("OMP_WAIT_POLICY", "passive");
    start_again_with("OPENBLAS_THREAD_TIMEOUT", "4"); /* the least: 2^4 cycles, and not 2^26 */
}
