/* error.c - keeps the words of an error until they are printed, and ends the job when nothing can be mended. */
#include "kernels/error.h"

#include "kernels/ending.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[1024];
static int job_rank;
static void (*end_job)(int status);

int error_report(const char *format, ...)
{
    pthread_mutex_lock(&lock);
    if (!text[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&lock);
    return -1;
}

const char *error_text(void)
{
    return text;
}

void error_clear(void)
{
    pthread_mutex_lock(&lock);
    text[0] = 0;
    pthread_mutex_unlock(&lock);
}

void fatal(const char *file, int line, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "ddpbench: rank %d: %s:%d: %s\n", job_rank, file, line, message);
    fflush(stderr);
    ending_remove_files();
    if (end_job) {
        nanosleep(&(struct timespec){0, 200000000},
                  NULL); /* launchers drop what they have not read when the job ends */
        end_job(1);
    }
    _Exit(1);
}

void fatal_set_job(int rank, void (*end)(int status))
{
    job_rank = rank;
    end_job = end;
}

void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);
    if (!memory)
        FATAL("no memory for %zu elements of %zu bytes", n, size);
    return memory;
}

void *allocate_more(void *list, size_t n, size_t size)
{
    if (n & (n - 1)) /* below the next power of two */
        return list;
    size_t room = n ? 2 * n : 1;
    list = reallocarray(list, room, size);
    if (!list)
        FATAL("no memory for %zu elements of %zu bytes", room, size);
    return list;
}
