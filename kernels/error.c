/* error.c - keeps an error message until it is printed, and ends the job after a fatal error. */
#include "kernels/error.h"

#include "kernels/exit_handlers.h"
#include "kernels/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[1024]; /* the message kept until it is printed; "": none */
static int job_rank;
static void (*end_job)(int status);

/* ---- a message on one line ---- */

/* Tests whether the byte continues a UTF-8 character. */
static int continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Prints a message into line[size] as one line: control characters are escaped as \n or \x1b, and a long message is
 * shortened in the middle, because its end explains what is allowed. */
static void print_line(char *line, size_t size, const char *format, va_list arguments)
{
    char *words = NULL, *plain = NULL;
    if (vasprintf(&words, format, arguments) < 0 || !(plain = malloc(4 * strlen(words) + 1))) {
        snprintf(line, size, "out of memory while an error message was written");
    } else {
        size_t n = 0, head = size / 4, tail = size - size / 4 - sizeof "...";
        for (const char *c = words; *c;) {
            int length = utf8_character(c);
            if (length)
                memcpy(plain + n, c, (size_t)length);
            else
                sprintf(plain + n, *c == '\n' ? "\\n" : "\\x%02x", (unsigned char)*c);
            n += length ? (size_t)length : strlen(plain + n);
            c += length ? length : 1;
        }
        plain[n] = 0;
        while (n >= size && continues_character(plain[head]))
            head--;
        while (n >= size && continues_character(plain[n - tail]))
            tail--;
        snprintf(line, size, "%.*s%s%s", n < size ? (int)n : (int)head, plain, n < size ? "" : "...",
                 n < size ? "" : plain + n - tail);
    }
    free(words);
    free(plain);
}

/* ---- errors ---- */

int error_report(const char *format, ...)
{
    pthread_mutex_lock(&lock);
    if (!kept[0]) {
        va_list arguments;
        va_start(arguments, format);
        print_line(kept, sizeof kept, format, arguments);
        va_end(arguments);
    }
    pthread_mutex_unlock(&lock);
    return -1;
}

int error_place(const char *place)
{
    char message[sizeof kept];
    if (!place)
        return -1;
    snprintf(message, sizeof message, "%s", kept);
    error_clear();
    return error_report("%s: %s", place, message);
}

const char *error_text(void)
{
    return kept;
}

void error_clear(void)
{
    pthread_mutex_lock(&lock);
    kept[0] = 0;
    pthread_mutex_unlock(&lock);
}

void error_print(void)
{
    if (*kept)
        fprintf(stderr, "ddpbench: %s\n", kept);
    error_clear();
}

/* Prints the message and ends every rank. If all ranks have the same error, only the lowest rank prints it: the others
 * wait a little, and are killed while they wait. */
static void print_and_end(const char *place, const char *message) __attribute__((noreturn));
static void print_and_end(const char *place, const char *message)
{
    const int turn_ms = 300, most_turns = 8;
    const struct timespec read_ms = {.tv_nsec = 200000000}; /* lets the launcher read the line before the job ends */
    int wait_ms = turn_ms * (job_rank < most_turns ? job_rank : most_turns);
    nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000}, NULL);
    fprintf(stderr, "ddpbench: rank %d: %s%s\n", job_rank, place, message);
    fflush(stderr);
    exit_handlers_remove_files();
    exit_handlers_print_results();
    if (end_job) {
        nanosleep(&read_ms, NULL);
        end_job(1);
    }
    _Exit(1);
}

void fatal(const char *file, int line, const char *format, ...)
{
    char message[1024], place[256] = "";
    va_list arguments;
    va_start(arguments, format);
    print_line(message, sizeof message, format, arguments);
    va_end(arguments);
    if (file)
        snprintf(place, sizeof place, "%s:%d: ", file, line);
    print_and_end(place, message);
}

void fatal_no_memory(size_t n, size_t size)
{
    double bytes = (double)n * (double)size;
    char amount[48] = "", message[128];
    if (bytes > 0)
        snprintf(amount, sizeof amount, " for %.1f MB", 1e-6 * bytes);
    snprintf(message, sizeof message, "no memory%s; free some, or use a smaller model, batch or input", amount);
    print_and_end("", message);
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
        fatal_no_memory(n, size);
    return memory;
}

void *allocate_more(void *list, size_t n, size_t size)
{
    if (n & (n - 1)) /* n is not a power of two, so there is capacity left */
        return list;
    size_t room = n ? 2 * n : 1;
    list = reallocarray(list, room, size);
    if (!list)
        fatal_no_memory(room, size);
    return list;
}
