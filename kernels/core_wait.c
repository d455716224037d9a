/* core_wait.c - reads how long a thread has waited for a core, as the kernel's scheduler has counted it. */
#include "kernels/core_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Returns the second number of /proc/thread-self/schedstat; 0 if the file does not exist. */
static int64_t read_wait(void)
{
    enum { CLOSED = -1, ABSENT = -2 };
    static _Thread_local int file = CLOSED; /* the file stays open; each thread has a file of its own */
    char text[80], *end;
    if (file == CLOSED && (file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) < 0)
        file = ABSENT;
    ssize_t n = file >= 0 ? pread(file, text, sizeof text - 1, 0) : 0;
    if (n <= 0)
        return 0;
    text[n] = 0;
    strtoll(text, &end, 10); /* skips the first number, time on a core */
    return strtoll(end, NULL, 10);
}

int64_t core_wait_ns(void)
{
    static _Thread_local int64_t wait;
    static _Thread_local long switches = -1; /* the thread's context switches at the last reading */
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    if (usage.ru_nvcsw + usage.ru_nivcsw != switches)
        wait = read_wait();
    switches = usage.ru_nvcsw + usage.ru_nivcsw;
    return wait;
}
