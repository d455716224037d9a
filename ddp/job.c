/* job.c - the control plane, by MPI. */
#include "ddp/job.h"

#include "ddp/backoff.h"
#include "ddp/cores.h"
#include "ddp/facts.h"
#include "ddp/watchdog.h"
#include "kernels/early_option.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"
#include "kernels/launcher.h"
#include "kernels/leave.h"
#include "kernels/siblings.h"
#include "kernels/threads.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { NAME = 256 };

enum { TAG_FACTS = 70, TAG_TURN, TAG_FIRST, TAG_CLOCK, TAG_BYTES };
static MPI_Comm machine_comm = MPI_COMM_NULL; /* the ranks of this machine */
static struct job_board doings;               /* the board on which each rank publishes what it does */
static int crowded;                           /* 1: waiting ranks sleep (job_set_crowded) */
static enum { NO_JOB, MPI_STARTS, JOB_RUNS } phase;

/* Tells the watchdog that a wait begins in which all ranks take part. */
static void wait_for_all(const struct job *job, const char *words, double grace_s)
{
    watchdog_wait(job->watchdog, words, watchdog_started(job->watchdog), grace_s);
}

/* If the job is crowded, sleeps until the request is complete: MPI would spin on a core that other ranks need. */
static void sleep_until_complete(MPI_Request request)
{
    unsigned pauses = 0;
    for (int done = !crowded; !done;) {
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            backoff_pause(1, &pauses);
    }
}

static void gather(const void *mine, int bytes, void *all)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
        return;
    }
    MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void reduce_some(const void *mine, void *of_all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm ranks)
{
    MPI_Request request;
    if (!crowded) {
        MPI_Allreduce(mine, of_all, n, type, op, ranks);
        return;
    }
    MPI_Iallreduce(mine, of_all, n, type, op, ranks, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Ends the job by MPI_Abort. The watchdog calls it even while another thread is inside MPI, which MPI_THREAD_SERIALIZED
 * does not allow. This is safe: MPICH and Open MPI take no lock in MPI_Abort and only ask the launcher to end the job,
 * and fatal() ends the process if MPI_Abort returns. */
static void end_job(int status)
{
    phase = NO_JOB; /* MPI_Abort may call exit */
    MPI_Abort(MPI_COMM_WORLD, status);
}

/* Compares the number of ranks in the launcher's environment variable with MPI's: an MPI library that does not know the
 * launcher reports 1 rank. */
static int refuse_singletons(int size)
{
    long started;
    const char *variable = launcher_of_several(&started);
    if (variable && size == 1)
        return error_report(
            "the launcher started %ld ranks (%s=%s) but each is a separate MPI job: this program is "
            "built with %.*s; launch it with the mpirun of that MPI (launch/run.sh: MPIRUN=...), or with srun "
            "--mpi=pmi2 (MPICH) or --mpi=pmix (Open MPI)",
            started, variable, getenv(variable), (int)strcspn(job_library(), ","), job_library());
    return 0;
}

int job_check_alone(const struct job *job)
{
    static const char *const variables[][2] = {{"SLURM_NTASKS", "tasks"}, {"SLURM_JOB_NUM_NODES", "nodes"}};
    if (job->size > 1 || launcher_started_this())
        return 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i][0]);
        if (text && strtol(text, NULL, 10) > 1)
            return error_report(
                "this Slurm job has %s %s (%s), but ddpbench runs as a single rank without a launcher; "
                "start it by srun --mpi=pmi2 (MPICH) or --mpi=pmix (Open MPI), or by mpirun; for a single "
                "rank, by mpirun -n 1",
                text, variables[i][1], variables[i][0]);
    }
    return 0;
}

/* Groups the ranks by name: group[r] becomes the number of rank r's name, in order of first occurrence. Returns the
 * number of names. */
static int group_by_name(const struct job *job, const char mine[NAME], int *group)
{
    char *all = allocate((size_t)job->size, NAME);
    int groups = 0;
    job_gather(job, mine, NAME, all);
    for (int r = 0; r < job->size; r++) {
        int first = 0;
        while (strcmp(all + (size_t)first * NAME, all + (size_t)r * NAME))
            first++;
        group[r] = first == r ? groups++ : group[first];
    }
    free(all);
    return groups;
}

/* Finds this rank's host, machine and clock. The kernel's boot id, or else the host's name, identifies a machine. */
static void find_places(struct job *job)
{
    char host[NAME] = "", machine[NAME] = "", clock[NAME] = "", namespace[64] = "";
    int *group = allocate((size_t)job->size, sizeof *group);
    gethostname(host, NAME - 1);
    job->hosts = group_by_name(job, host, group);
    job->host = group[job->rank];
    for (int r = 0; r < job->size; r++) {
        job->local_rank += r < job->rank && group[r] == job->host;
        job->local_size += group[r] == job->host;
    }
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!file || !fgets(machine, NAME, file))
        strcpy(machine, host);
    if (file)
        fclose(file);
    group_by_name(job, machine, group);
    job->machine = group[job->rank];
    for (int r = 0; r < job->size; r++)
        job->machine_size += group[r] == job->machine;
    /* kernels before 5.6 have no time namespaces, so all processes of a machine share one clock */
    if (readlink("/proc/self/ns/time", namespace, sizeof namespace - 1) < 0)
        *namespace = 0;
    snprintf(clock, NAME, "%.150s %s", machine, namespace);
    group_by_name(job, clock, group);
    job->clock = group[job->rank];
    free(group);
}

/* Warns if /dev/shm, where MPICH and Open MPI put shared memory, is nearly full: MPI would end the job at its start,
 * with a message that does not name the cause. */
static void warn_of_shared_memory(void)
{
    const double each = 8e6; /* bytes per rank; with MPICH 4.0, two ranks need at most 9 MB, four more than 16 MB */
    struct statvfs shared;
    if (launcher_rank_here() > 0 || statvfs("/dev/shm", &shared))
        return;
    double left = (double)shared.f_bavail * (double)shared.f_frsize, ranks = (double)launcher_ranks_here();
    if (left < each * ranks)
        fprintf(stderr,
                "ddpbench: /dev/shm has %.1f MB left, and MPI may not start with less than %.0f MB; free some of it\n",
                1e-6 * left, 1e-6 * each * ranks);
}

/* Finds this rank's share of CPUs. */
static void share_cores(struct job *job)
{
    struct cores_allowed mine, *all = allocate((size_t)job->size, sizeof *all);
    cores_read(&mine, job->machine);
    job_gather(job, &mine, sizeof mine, all);
    job->cpus = cores_by_affinity(all, job->size, job->rank);
    job->quota = cores_by_quota(all, job->size, job->rank);
    job->cores = fmin(job->cpus, job->quota);
    free(all);
}

/* Ends the other ranks of this host if this rank fails before MPI has started or after MPI_Finalize: the launcher would
 * let these ranks wait or continue. This rank ends after them, because Open MPI's mpirun may hang if a rank fails while
 * another rank is killed. */
static int siblings_rank, siblings_size;
static void end_siblings(int status)
{
    (void)status;
    siblings_kill(siblings_rank, siblings_size);
}

/* Makes fatal() end the ranks of this host without MPI. */
static void end_without_mpi(int rank, int size)
{
    siblings_rank = rank;
    siblings_size = size;
    fatal_set_job(rank, end_siblings);
}

/* An atexit handler: if a library ends the process, as MPI_Init and OpenMP do when they fail, explains the library's
 * message and ends the job. */
static void introduce_failure(void)
{
    if (phase == MPI_STARTS)
        fatal(NULL, 0,
              "MPI could not start, for the reason that it gave above; check its settings in the environment "
              "(MPIR_CVAR_*, UCX_*, FI_*), its launcher and /dev/shm");
    if (phase == JOB_RUNS)
        fatal(NULL, 0,
              "a library ended the process, for the reason that it gave above; if it could not start a thread, "
              "%s",
              THREADS_LIMITS);
}

static void start_mpi(const struct job *job)
{
    const double loading_s = 1; /* extra time to load libraries on busy cores */
    int provided;
    warn_of_shared_memory();
    atexit(introduce_failure);
    wait_for_all(job, "starting MPI", loading_s);
    phase = MPI_STARTS;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    phase = JOB_RUNS;
    watchdog_arrived(job->watchdog);
    if (provided < MPI_THREAD_SERIALIZED)
        FATAL("this MPI provides thread level %d, but ddpbench needs MPI_THREAD_SERIALIZED (%d); use another MPI",
              provided, MPI_THREAD_SERIALIZED);
}

/* Reads --timeout before the command line is parsed; returns the default if it is missing or wrong. */
static double early_timeout(int argc, char *const argv[])
{
    const char *text = early_option(argc, argv, "timeout", 'T');
    char *end = NULL;
    double seconds = text ? strtod(text, &end) : 0;
    int good = end && end != text && !*end && seconds >= 0 && seconds <= JOB_MOST_TIMEOUT_S; /* rejects inf and nan */
    return good ? seconds : strtod(JOB_TIMEOUT_S, NULL);
}

/* Receives bytes without keeping a core busy: other ranks may still load the program. */
static void receive(void *to, size_t bytes, int rank)
{
    MPI_Request request;
    MPI_Irecv(to, (int)bytes, MPI_BYTE, rank, TAG_FACTS, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) {
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(200);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Compares this rank's facts with rank 0's. All versions of the program exchange these messages, of these sizes, before
 * any other message. No message is part of a collective, because environment variables determine which messages a
 * collective sends. Returns 0; or -1 on every rank, reported by rank 0. */
static int compare_facts(const struct job *job, const struct facts *mine)
{
    struct {
        int32_t differs;
        char why[1020];
    } answer = {0}, first = {0};
    int failed = 0;
    wait_for_all(job, "comparing command lines (a rank whose program does not compare them does not answer)", 0);
    if (job->rank == 0) {
        for (int r = 1; r < job->size; r++)
            MPI_Send(mine, sizeof *mine, MPI_BYTE, r, TAG_FACTS, MPI_COMM_WORLD);
        for (int r = 1; r < job->size; r++) {
            receive(&answer, sizeof answer, r);
            if (answer.differs && !failed) {
                failed = r;
                first = answer;
            }
        }
        for (int r = 1; r < job->size; r++)
            MPI_Send(&first, sizeof first, MPI_BYTE, r, TAG_FACTS, MPI_COMM_WORLD);
    } else {
        struct facts *facts = allocate(1, sizeof *facts);
        receive(facts, sizeof *facts, 0);
        answer.differs = facts_check(facts, mine) != 0;
        snprintf(answer.why, sizeof answer.why, "%s", error_text());
        MPI_Send(&answer, sizeof answer, MPI_BYTE, 0, TAG_FACTS, MPI_COMM_WORLD);
        receive(&first, sizeof first, 0);
        free(facts);
    }
    watchdog_arrived(job->watchdog);
    if (!first.differs)
        return 0; /* keeps an error of the command line, which is reported later */
    error_clear();
    if (failed)
        fprintf(stderr, "ddpbench: rank %d: %s\n", failed, first.why);
    return -1;
}

int job_begin(struct job *job, int argc, char *const argv[], const struct facts *facts)
{
    long ranks;
    launcher_of_several(&ranks);
    *job = (struct job){.watchdog = watchdog_create((int)launcher_rank(), (int)ranks)};
    watchdog_limit(job->watchdog, early_timeout(argc, argv));
    end_without_mpi((int)launcher_rank(), (int)ranks);
    start_mpi(job);
    MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job->size);
    fatal_set_job(job->rank, end_job);
    exit_handlers_install(job->rank); /* install again, because MPI may have loaded libraries that handle signals */
    if (facts && compare_facts(job, facts))
        return -1; /* another version may exchange other messages from here on, and in a barrier */
    find_places(job);
    share_cores(job);
    job_set_crowded(job, job->cores < 1);
    wait_for_all(job, "sharing memory", 0);
    MPI_Comm_split(MPI_COMM_WORLD, job->machine, job->rank, &machine_comm);
    job_board_create(&doings, job, watchdog_board_bytes);
    watchdog_show(job->watchdog, job->rank, job->size, doings.part);
    watchdog_arrived(job->watchdog);
    return refuse_singletons(job->size);
}

static int ending_rank, ending_status;
static pthread_t ending_thread;

/* Ends this rank, which has nothing left to do, because MPI_Finalize does not return. */
static void leave(void)
{
    if (ending_rank == 0)
        fprintf(stderr, "ddpbench: MPI_Finalize does not return; all ranks are done, and end without it\n");
    leave_finalize(ending_thread, ending_status);
}

int job_end(struct job *job, int status)
{
    const double finalize_s = 3; /* leave_finalize takes 2 s more */
    fflush(NULL);                /* leave_finalize does not flush */
    if (machine_comm != MPI_COMM_NULL)
        job_barrier(job);
    ending_rank = job->rank;
    ending_status = status;
    ending_thread = pthread_self();
    watchdog_hide(job->watchdog);
    watchdog_doing(job->watchdog, "%s", "");
    /* Over UCX's TCP, MPICH 4.0 hangs now and then: a rank that waits in PMI's barrier for the others to disconnect
     * does not answer a rank that still has data to flush. */
    watchdog_wait_or_leave(job->watchdog, "ending MPI", watchdog_started(job->watchdog), finalize_s, leave);
    job_board_destroy(&doings);
    if (machine_comm != MPI_COMM_NULL)
        MPI_Comm_free(&machine_comm);
    end_without_mpi(job->rank, job->size);
    phase = NO_JOB;
    MPI_Finalize();
    watchdog_await(job->watchdog);
    watchdog_destroy(job->watchdog);
    return status;
}

void job_barrier(const struct job *job)
{
    wait_for_all(job, "a barrier", 0);
    int here = 1, all;
    if (crowded)
        reduce_some(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    watchdog_arrived(job->watchdog);
}

void job_gather(const struct job *job, const void *mine, size_t bytes, void *all)
{
    if (bytes > INT_MAX)
        FATAL("%zu bytes of each rank are too many for one gather", bytes);
    wait_for_all(job, "gathering from all ranks", 0);
    gather(mine, (int)bytes, all);
    watchdog_arrived(job->watchdog);
}

void job_gather_first(const struct job *job, const void *mine, size_t bytes, void *all)
{
    MPI_Request request;
    wait_for_all(job, "gathering on rank 0", 0);
    MPI_Igather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    watchdog_arrived(job->watchdog);
}

void job_scatter_first(const struct job *job, const void *all, size_t bytes, void *mine)
{
    MPI_Request request;
    wait_for_all(job, "scattering from rank 0", 0);
    MPI_Iscatter(all, (int)bytes, MPI_BYTE, mine, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    watchdog_arrived(job->watchdog);
}

static double reduce(const struct job *job, double value, MPI_Op op, MPI_Comm ranks)
{
    double result;
    wait_for_all(job, "reducing a number over all ranks", 0);
    reduce_some(&value, &result, 1, MPI_DOUBLE, op, ranks);
    watchdog_arrived(job->watchdog);
    return result;
}

int job_set_crowded(const struct job *job, int this_rank)
{
    crowded = job_max(job, this_rank) > 0;
    return crowded;
}

double job_sum_machine(const struct job *job, double value)
{
    return reduce(job, value, MPI_SUM, machine_comm);
}

double job_max(const struct job *job, double value)
{
    return reduce(job, value, MPI_MAX, MPI_COMM_WORLD);
}

void job_sum(const struct job *job, double *x, size_t n)
{
    if (n > INT_MAX)
        FATAL("%zu numbers are too many for one sum over the ranks", n);
    wait_for_all(job, "summing numbers over all ranks", 0);
    reduce_some(MPI_IN_PLACE, x, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    watchdog_arrived(job->watchdog);
}

/* Waits for a message from rank 0 without keeping a core busy. Returns the number in the message; 0 if it is empty. */
static int wait_first(int tag)
{
    int arrived = 0, value = 0;
    for (;;) {
        MPI_Iprobe(0, tag, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        if (arrived)
            break;
        usleep(500);
    }
    MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

static int from_first(const struct job *job, int value)
{
    if (job->rank)
        return wait_first(TAG_FIRST);
    for (int r = 1; r < job->size; r++)
        MPI_Send(&value, 1, MPI_INT, r, TAG_FIRST, MPI_COMM_WORLD);
    return value;
}

int job_from_first(const struct job *job, int value, double grace_s)
{
    wait_for_all(job, "waiting for rank 0", grace_s);
    value = from_first(job, value);
    watchdog_arrived(job->watchdog);
    return value;
}

/* ---- clocks ---- */

/* Tells a rank that it is its turn; then answers its requests with rank 0's time, until a request is 0. */
static void answer_clock(int64_t (*now)(void), int rank)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_TURN, MPI_COMM_WORLD);
    for (;;) {
        int64_t question, answer;
        MPI_Recv(&question, 1, MPI_INT64_T, rank, TAG_CLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!question)
            return;
        answer = now();
        MPI_Send(&answer, 1, MPI_INT64_T, rank, TAG_CLOCK, MPI_COMM_WORLD);
    }
}

/* Asks rank 0 for its time until several round trips are about as short as the shortest, for at most longest_ns. */
static void ask_clock(int64_t (*now)(void), int64_t longest_ns, struct clock_sample *sample)
{
    enum { ALIKE = 20 };
    int64_t begin = now(), shortest = INT64_MAX, question = 1, answer;
    for (int alike = 0; alike < ALIKE && now() - begin < longest_ns;) {
        sched_yield(); /* if this thread must yield its core, it does so here, not during a round trip */
        int64_t sent = now();
        MPI_Send(&question, 1, MPI_INT64_T, 0, TAG_CLOCK, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT64_T, 0, TAG_CLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int64_t received = now(), trip = received - sent;
        alike = trip < shortest - shortest / 4 ? 1 : alike + (trip <= shortest + shortest / 4);
        if (trip < shortest) {
            shortest = trip;
            sample->at_ns = sent + trip / 2;
            sample->offset_ns = answer - sample->at_ns;
            sample->residual_ns = (trip + 1) / 2;
        }
    }
    question = 0;
    MPI_Send(&question, 1, MPI_INT64_T, 0, TAG_CLOCK, MPI_COMM_WORLD);
}

/* Returns the first rank that reads the same clock as `rank`. */
static int find_first_reader(const int *clock, int rank)
{
    int first = 0;
    while (clock[first] != clock[rank])
        first++;
    return first;
}

void job_compare_clocks(const struct job *job, int64_t (*now)(void), struct clock_sample *sample)
{
    int *clock = allocate((size_t)job->size, sizeof *clock);
    struct clock_sample *all = allocate((size_t)job->size, sizeof *all);
    job_gather(job, &job->clock, sizeof job->clock, clock);
    int first = find_first_reader(clock, job->rank);
    int clocks = 1;
    for (int r = 1; r < job->size; r++)
        clocks += find_first_reader(clock, r) == r;
    const double all_s = 10;
    int64_t longest_ns = (int64_t)(1e9 * fmin(1, all_s / clocks));
    *sample = (struct clock_sample){now(), 0, 0};
    wait_for_all(job, "comparing clocks", clocks > 1 ? all_s : 0);
    if (job->rank == 0) {
        for (int r = 1; r < job->size; r++)
            if (find_first_reader(clock, r) == r)
                answer_clock(now, r);
    } else if (first == job->rank) {
        wait_first(TAG_TURN);
        ask_clock(now, longest_ns, sample);
    }
    from_first(job, 0); /* returns when all clocks have been compared */
    watchdog_arrived(job->watchdog);
    job_gather(job, sample, sizeof *sample, all);
    *sample = all[first];
    free(all);
    free(clock);
}

void job_send(const struct job *job, const void *bytes, size_t n)
{
    if (n > INT_MAX)
        FATAL("%zu bytes are too many for one message", n);
    watchdog_wait(job->watchdog, "sending to rank 0", 0, 0);
    MPI_Request request;
    MPI_Isend(bytes, (int)n, MPI_BYTE, 0, TAG_BYTES, MPI_COMM_WORLD, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    watchdog_arrived(job->watchdog);
}

size_t job_receive(const struct job *job, int rank, void *bytes, size_t capacity)
{
    int n;
    MPI_Status status;
    if (capacity > INT_MAX)
        FATAL("%zu bytes are too many for one message", capacity);
    char words[64];
    snprintf(words, sizeof words, "receiving from rank %d", rank);
    watchdog_wait(job->watchdog, words, 0, 0);
    MPI_Request request;
    MPI_Irecv(bytes, (int)capacity, MPI_BYTE, rank, TAG_BYTES, MPI_COMM_WORLD, &request);
    sleep_until_complete(request);
    MPI_Wait(&request, &status);
    watchdog_arrived(job->watchdog);
    MPI_Get_count(&status, MPI_BYTE, &n);
    return (size_t)n;
}

int job_agree(const struct job *job, int status)
{
    int first = status ? job->rank : job->size, failed;
    wait_for_all(job, "agreeing with all ranks", 0);
    reduce_some(&first, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    char text[1024] = ""; /* as long as error_report's longest message */
    if (job->rank == failed)
        snprintf(text, sizeof text, "%s", error_text());
    if (failed < job->size)
        MPI_Bcast(text, sizeof text, MPI_CHAR, failed, MPI_COMM_WORLD);
    watchdog_arrived(job->watchdog);
    if (failed == job->size)
        return 0;
    if (job->rank == 0 && failed == 0)
        fprintf(stderr, "ddpbench: %s\n", text);
    else if (job->rank == 0)
        fprintf(stderr, "ddpbench: rank %d: %s\n", failed, text);
    error_clear();
    return -1;
}

int job_agree_after(const struct job *job, int before, int status)
{
    if (!before)
        return job_agree(job, status);
    error_clear();
    return -1;
}

/* ---- the board ---- */

struct job_window {
    MPI_Comm sharing; /* the ranks that can share memory */
    MPI_Win window;
};

void job_board_create(struct job_board *board, const struct job *job, size_t bytes)
{
    void *mine;
    struct job_window *w = allocate(1, sizeof *w);
    *board = (struct job_board){.part = allocate((size_t)job->size, sizeof *board->part), .window = w};
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL, &w->sharing);
    MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, w->sharing, &mine, &w->window);
    memset(mine, 0, bytes);
    int n;
    MPI_Comm_size(w->sharing, &n);
    int *rank = allocate((size_t)n, sizeof *rank);
    MPI_Allgather(&job->rank, 1, MPI_INT, rank, 1, MPI_INT,
                  w->sharing); /* this call also makes the zeroed bytes of all ranks visible */
    for (int i = 0; i < n; i++) {
        MPI_Aint size;
        int unit;
        MPI_Win_shared_query(w->window, i, &size, &unit, &board->part[rank[i]]);
    }
    free(rank);
}

void job_board_destroy(struct job_board *board)
{
    if (board->window) {
        MPI_Win_free(&board->window->window);
        MPI_Comm_free(&board->window->sharing);
    }
    free(board->window);
    free(board->part);
    *board = (struct job_board){0};
}

const char *job_library(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = 0; /* keeps the first line, which has the name and version */
        else if (isspace((unsigned char)*c))
            *c = ' ';
    return text;
}
