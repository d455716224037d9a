/* files.c - writes files completely, and replaces files by way of temporary ones. */
#include "kernels/files.h"

#include "kernels/exit_handlers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int files_create(const char *path)
{
    struct stat status;
    int file = (int)TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode) && !status.st_size && status.st_nlink == 1)
        return file;
    if (file < 0 && errno != ELOOP && errno != ENXIO) /* ELOOP: a symbolic link; ENXIO: a pipe without a reader */
        return -1;
    if (file >= 0)
        close(file);
    errno = EEXIST;
    return -1;
}

int files_close(int file)
{
    return close(file) && errno != EINTR ? -1 : 0; /* Linux has closed the file even after EINTR */
}

int files_write(int file, const void *bytes, size_t n)
{
    for (const char *at = bytes, *end = at + n; at < end;) {
        ssize_t written = write(file, at, (size_t)(end - at));
        if (written >= 0)
            at += written;
        else if (errno != EINTR)
            return -1;
    }
    return 0;
}

/* ---- files with a temporary name ---- */

static const char first[] = ".ddpbench-", last[] = ".tmp";
enum { DIGITS = 8 };

/* Makes a new name on each call. Returns 0; or -1 if it is too long. files_begin tries again if the name is taken. */
static int choose_name(char *temporary, size_t size, const char *path)
{
    static atomic_uint calls;
    struct timespec now;
    const char *slash = strrchr(path, '/');
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t number = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    number = (number ^ (uint64_t)getpid() << 32) + atomic_fetch_add(&calls, 1);
    number *= 0x9e3779b97f4a7c15u; /* makes the upper half depend on all bits */
    int n = snprintf(temporary, size, "%.*s%s%0*x%s", slash ? (int)(slash - path) + 1 : 0, path, first, DIGITS,
                     (unsigned)(number >> 32), last);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

static int is_temporary(const char *name)
{
    size_t n = strlen(first);
    return !strncmp(name, first, n) && strspn(name + n, "0123456789abcdef") == DIGITS &&
           !strcmp(name + n + DIGITS, last);
}

/* Locks a file, so that files_remove_left in other processes does not remove it. Returns 0 if another process locked or
 * removed it first; otherwise 1, even if the file system does not support locks. */
static int lock_file(int file)
{
    struct stat status;
    return (!flock(file, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && !fstat(file, &status) && status.st_nlink;
}

int files_begin(char *temporary, size_t size, const char *path)
{
    for (int i = 0; i < 100; i++) {
        if (choose_name(temporary, size, path)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        exit_handlers_remove_file(temporary);
        int file = (int)TEMP_FAILURE_RETRY(open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)), why = errno;
        if (file >= 0 && lock_file(file))
            return file;
        if (file >= 0)
            (void)files_abandon(file, temporary);
        else
            exit_handlers_keep_file(temporary);
        errno = why;
        if (file < 0 && why != EEXIST)
            return -1;
    }
    errno = EBUSY;
    return -1;
}

int files_abandon(int file, const char *temporary)
{
    int status = unlink(temporary); /* removes the file while it is locked */
    if (files_close(file))
        status = -1;
    exit_handlers_keep_file(temporary);
    return status;
}

int files_publish(int file, const char *temporary, const char *path)
{
    int why = 0;
    if (TEMP_FAILURE_RETRY(fsync(file)) || TEMP_FAILURE_RETRY(rename(temporary, path))) {
        why = errno;
        (void)files_abandon(file, temporary);
    } else {
        exit_handlers_keep_file(temporary);
        if (files_close(file)) /* closed after the rename, because the file must stay locked until then */
            why = errno;
    }
    errno = why;
    return why ? -1 : 0;
}

void files_remove_left(const char *directory)
{
    struct stat status;
    DIR *all = opendir(directory);
    for (struct dirent *entry; all && (entry = readdir(all));) {
        if (!is_temporary(entry->d_name))
            continue;
        int file = openat(dirfd(all), entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode) && !flock(file, LOCK_EX | LOCK_NB))
            (void)unlinkat(dirfd(all), entry->d_name, 0);
        if (file >= 0)
            close(file);
    }
    if (all)
        closedir(all);
}

int files_filter(char *const argument[], const char *text, int out)
{
    posix_spawn_file_actions_t files;
    pid_t child = -1;
    int status = 255, error = EIO;
    FILE *in = tmpfile();
    if (in && fputs(text, in) >= 0 && !fseek(in, 0, SEEK_SET)) {
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, fileno(in), STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        error = posix_spawnp(&child, argument[0], &files, NULL, argument, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    if (in)
        fclose(in);
    errno = error;
    if (error)
        return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
