/* files.c - files that are written: calls that were interrupted or wrote a part. */
#include "kernels/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int files_create(const char *path)
{
    if (TEMP_FAILURE_RETRY(unlink(path)) && errno != ENOENT)
        return -1;
    return (int)TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

int files_close(int file)
{
    return close(file) && errno != EINTR ? -1 : 0; /* Linux has closed it */
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

int files_publish(int file, const char *temporary, const char *path)
{
    struct stat ours, now;
    int why = fstat(file, &ours) ? errno : 0;
    if (files_close(file) && !why)
        why = errno;
    if (!why && lstat(temporary, &now))
        why = errno;
    if (!why && (now.st_dev != ours.st_dev || now.st_ino != ours.st_ino)) {
        errno = EBUSY; /* and the file there is the other's */
        return -1;
    }
    if (!why && TEMP_FAILURE_RETRY(rename(temporary, path)))
        why = errno;
    if (!why)
        return 0;
    unlink(temporary);
    errno = why;
    return -1;
}

int files_put(const char *path, const void *bytes, size_t n)
{
    char temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    int file = files_create(temporary);
    if (file < 0)
        return -1;
    if (!files_write(file, bytes, n))
        return files_publish(file, temporary, path);
    int why = errno;
    files_close(file);
    unlink(temporary);
    errno = why;
    return -1;
}
