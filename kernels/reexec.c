/* reexec.c - executes the program again with environment variables that its libraries read when they are loaded. */
#include "kernels/reexec.h"

#include "kernels/control_group.h"
#include "kernels/early_option.h"
#include "kernels/launcher.h"
#include "kernels/omp_threads.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 8 };
static const char *asked[MOST];
static int n;     /* number of variables asked for */
static int fewer; /* 1: variables were removed */

void reexec_setenv(const char *name, const char *value)
{
    if (n < MOST && !getenv(name) && !setenv(name, value, 1))
        asked[n++] = name;
}

void reexec_if_needed(char *const argv[])
{
    char path[PATH_MAX] = "";
    int needed = n || fewer;
    fewer = 0;
    if (needed && readlink("/proc/self/exe", path, sizeof path - 1) > 0)
        execv(path, argv); /* keeps the name of the process */
    if (needed)
        execv("/proc/self/exe", argv); /* reached if the file was removed or moved; the process is then named exe */
    while (n)
        unsetenv(asked[--n]);
}

/* ---- CPUs that libraries bind to ---- */

static cpu_set_t given; /* the CPUs of the first thread before any library was loaded */
static int is_given;

static void before_libraries(void)
{
    is_given = !sched_getaffinity(0, sizeof given, &given);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_libraries;

void reexec_unbind(void)
{
    static const char *const variables[][2] = {{"OMP_PROC_BIND", "DDPBENCH_IGNORED_OMP_PROC_BIND"},
                                               {"OMP_PLACES", "DDPBENCH_IGNORED_OMP_PLACES"},
                                               {"GOMP_CPU_AFFINITY", "DDPBENCH_IGNORED_GOMP_CPU_AFFINITY"}};
    cpu_set_t now;
    if (!is_given || sched_getaffinity(0, sizeof now, &now) || CPU_EQUAL(&now, &given))
        return;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i][0]);
        if (!value)
            continue;
        if (!launcher_rank_here())
            fprintf(stderr,
                    "ddpbench: %s=%s in the environment is ignored: OpenMP would bind the training and communication "
                    "threads of a rank to one CPU, the same one for all ranks that share their CPUs; bind ranks by "
                    "the launcher instead (mpirun -bind-to core, srun --cpu-bind=cores)\n",
                    variables[i][0], value);
        setenv(variables[i][1], value, 1); /* shows which ranks had it */
        unsetenv(variables[i][0]);
        fewer = 1;
    }
    if (fewer)
        sched_setaffinity(0, sizeof given, &given);
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

enum waiting reexec_waiting(long ranks, long threads, int cpus, int launcher_cpus, double quota)
{
    long sharing = cpus < launcher_cpus ? 1 : ranks; /* a rank bound to its own CPUs does not share them */
    if (cpus <= 0 || ranks <= 0)
        return WAIT_SPINNING;
    long of_cpus = cpus / sharing, own = (long)fmin((double)of_cpus, quota / (double)ranks);
    long team = threads ? threads : own;
    return team <= 1 ? WAIT_SPINNING : team > own ? WAIT_SLEEPING : WAIT_SPINNING_BRIEFLY;
}

void reexec_set_waiting(int argc, char *const argv[])
{
    enum waiting waiting = reexec_waiting(launcher_ranks_here(), threads_wanted(argc, argv), cpus_of(0),
                                          cpus_of(getppid()), control_group_cpus(""));
    if (waiting == WAIT_SPINNING || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME"))
        return;
    if (waiting == WAIT_SPINNING_BRIEFLY) {
        reexec_setenv("GOMP_SPINCOUNT", "1000"); /* some us instead of some ms, the default of libgomp */
        return;
    }
    reexec_setenv("OMP_WAIT_POLICY", "passive");
    reexec_setenv("OPENBLAS_THREAD_TIMEOUT", "4"); /* spin for 2^4 cycles, the minimum, instead of 2^26, the default */
}
