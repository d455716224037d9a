/* core_wait.c - reads what the kernel's scheduler has counted for a thread. */
#include "kernels/core_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int64_t core_wait_ns(void)
{
    enum { CLOSED = -1, ABSENT = -2 };
    static _Thread_local int file = CLOSED; /* kept open */
    char text[80], *end;
    if (file == CLOSED && (file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) < 0)
        file = ABSENT;
    ssize_t n = file >= 0 ? pread(file, text, sizeof text - 1, 0) : 0;
    if (n <= 0)
        return 0;
    text[n] = 0;
    strtoll(text, &end, 10); /* on a core */
    return strtoll(end, NULL, 10);
}
