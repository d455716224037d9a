/* read_fully.c - reads a range of a file, repeating short and interrupted reads. */
#include "ddp/read_fully.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

int read_fully(int fd, void *to, size_t bytes, size_t offset)
{
    for (char *at = to; bytes > 0;) {
        ssize_t n = pread(fd, at, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return -1;
        at += n;
        bytes -= (size_t)n;
        offset += (size_t)n;
    }
    return 0;
}
