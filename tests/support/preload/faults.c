/* faults.c - a library to preload: makes one call on files below a directory fail, or ends the process after the call.
 *
 * In the environment: FAULT_UNDER, part of the directory's path (only calls on files that are written below it are
 * counted); FAULT_CALL, one of open, write, fsync, ftruncate, rename, close, mkdir, or pthread_create, which needs no
 * FAULT_UNDER; FAULT_AT, which of these calls fails, from 1, or each: every second one, from the first; FAULT_HOW, the
 * name of an error (ENOSPC, EIO, EINTR, EMFILE, EAGAIN), half-ENOSPC (a write accepts half of its bytes, and later
 * writes fail) or kill (the call is made, then SIGKILL ends the process); FAULT_RANK, the only rank with faults,
 * signals and stops (default: all ranks); FAULT_LOG, a file that gets a line for each call that is to fail.
 *
 * FAULT_CLOCK: seconds by which the time of day jumps after its first reading.
 *
 * FAULT_SIGNAL: the number of a signal that the rank gets while libraries are loaded, before main.
 *
 * FAULT_STOP: where the rank stops (SIGSTOP): finalize, before MPI_Finalize; finalized, after MPI_Finalize; exit, at
 * the end of the program.
 *
 * FAULT_HANG: if all, MPI_Finalize does not return on any rank; if rank, it does not return on FAULT_RANK. A rank that
 * calls _exit then appends its status to the file FAULT_EXITS; FAULT_RANK does so a second later than the others. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 4096 };
enum fault { NONE, FAIL, HALF, KILL };

static atomic_int watched[FILES]; /* watched[descriptor]: 1 if it writes to a file below FAULT_UNDER */
static atomic_long calls;
static atomic_int full; /* 1 after a write accepted only half of its bytes; later writes fail */

static int is_rank(void)
{
    static const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    const char *wanted = getenv("FAULT_RANK"), *rank = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && !rank; i++)
        rank = getenv(variables[i]);
    return !wanted || !strcmp(wanted, rank ? rank : "0");
}

__attribute__((constructor)) static void signal_while_loading(void)
{
    const char *number = getenv("FAULT_SIGNAL");
    if (number && is_rank())
        kill(getpid(), (int)strtol(number, NULL, 10));
}

static void stop_at(const char *place)
{
    const char *wanted = getenv("FAULT_STOP");
    if (wanted && !strcmp(wanted, place) && is_rank())
        raise(SIGSTOP);
}

__attribute__((destructor)) static void stop_at_exit(void)
{
    stop_at("exit");
}

static int is_below(const char *path)
{
    const char *under = getenv("FAULT_UNDER");
    return under && path && strstr(path, under) != NULL;
}

static int error_number(const char *how)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(how, known[i].name))
            return known[i].number;
    fprintf(stderr, "faults.c: unknown FAULT_HOW=%s\n", how);
    abort();
}

static void append_line(const char *path, const char *line)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0)
        abort();
    dprintf(file, "%s\n", line);
    close(file);
}

/* Returns the fault to inject into this call on a file below FAULT_UNDER; sets errno if the call has to fail. */
static enum fault fault_of(const char *call)
{
    const char *wanted = getenv("FAULT_CALL"), *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");
    const char *log = getenv("FAULT_LOG");
    if (!wanted || !at || !how || strcmp(wanted, call) != 0 || !is_rank())
        return NONE;
    if (atomic_load(&full) && !strcmp(call, "write")) {
        errno = ENOSPC;
        return FAIL;
    }
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (strcmp(at, "each") ? number != strtol(at, NULL, 10) : number % 2 == 0)
        return NONE;
    if (log)
        append_line(log, call);
    if (!strcmp(how, "kill"))
        return KILL;
    if (!strcmp(how, "half-ENOSPC")) {
        atomic_store(&full, 1);
        return HALF;
    }
    errno = error_number(how);
    return FAIL;
}

static void end_after(enum fault fault)
{
    if (fault == KILL)
        raise(SIGKILL);
}

#define NEXT(name) (__extension__(__typeof__(&(name))) dlsym(RTLD_NEXT, #name))

int MPI_Finalize(void)
{
    stop_at("finalize");
    const char *hang = getenv("FAULT_HANG");
    while (hang && (!strcmp(hang, "all") || is_rank()))
        pause();
    int status = NEXT(MPI_Finalize)();
    stop_at("finalized");
    return status;
}

void _exit(int status)
{
    if (getenv("FAULT_HANG")) {
        char line[32];
        sleep(is_rank() ? 1 : 0);
        snprintf(line, sizeof line, "_exit(%d)", status);
        append_line(getenv("FAULT_EXITS"), line);
    }
    NEXT(_exit)(status);
    abort(); /* not reached */
}

static int opened(int file, const char *path)
{
    if (file >= 0 && file < FILES)
        atomic_store(&watched[file], is_below(path));
    return file;
}

static int is_watched(int file)
{
    return file >= 0 && file < FILES && atomic_load(&watched[file]);
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;                                   \
        va_end(arguments);                                                                                             \
        enum fault fault = is_below(path) && (flags & O_ACCMODE) != O_RDONLY ? fault_of("open") : NONE;                \
        if (fault == FAIL)                                                                                             \
            return -1;                                                                                                 \
        int file = opened(NEXT(name)(path, flags, mode), (flags & O_ACCMODE) != O_RDONLY ? path : NULL);               \
        end_after(fault);                                                                                              \
        return file;                                                                                                   \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *bytes, size_t n)
{
    enum fault fault = is_watched(file) ? fault_of("write") : NONE;
    if (fault == FAIL)
        return -1;
    ssize_t written = NEXT(write)(file, bytes, fault == HALF ? n / 2 : n);
    end_after(fault);
    return written;
}

int fsync(int file)
{
    enum fault fault = is_watched(file) ? fault_of("fsync") : NONE;
    if (fault == FAIL)
        return -1;
    int status = NEXT(fsync)(file);
    end_after(fault);
    return status;
}

int ftruncate(int file, off_t length)
{
    enum fault fault = is_watched(file) ? fault_of("ftruncate") : NONE;
    if (fault == FAIL)
        return -1;
    int status = NEXT(ftruncate)(file, length);
    end_after(fault);
    return status;
}

/* Closes the file even if the close fails, as Linux does. */
int close(int file)
{
    enum fault fault = is_watched(file) ? fault_of("close") : NONE;
    int why = errno, status = (opened(file, NULL), NEXT(close)(file));
    end_after(fault);
    if (fault != FAIL)
        return status;
    errno = why;
    return -1;
}

int rename(const char *from, const char *to)
{
    enum fault fault = is_below(to) ? fault_of("rename") : NONE;
    if (fault == FAIL)
        return -1;
    int status = NEXT(rename)(from, to);
    end_after(fault);
    return status;
}

int mkdir(const char *path, mode_t mode)
{
    enum fault fault = is_below(path) && access(path, F_OK) ? fault_of("mkdir") : NONE;
    if (fault == FAIL)
        return -1;
    int status = NEXT(mkdir)(path, mode);
    end_after(fault);
    return status;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int before = errno;
    if (fault_of("pthread_create") != FAIL)
        return NEXT(pthread_create)(thread, attributes, run, argument);
    int why = errno;
    errno = before;
    return why;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static atomic_long readings;
    const char *jump = getenv("FAULT_CLOCK");
    int status = NEXT(clock_gettime)(clock, now);
    if (jump && clock == CLOCK_REALTIME && atomic_fetch_add(&readings, 1))
        now->tv_sec += strtol(jump, NULL, 10);
    return status;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}
