/* files.c - files that are written: calls that were interrupted or wrote a part. */
#include "kernels/files.h"

#include <errno.h>
#include <fcntl.h>
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
