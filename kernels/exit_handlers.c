/* exit_handlers.c - prints a line and a text, and removes temporary files, when the process ends early. */
#include "kernels/exit_handlers.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 8, WORDS = 4096 + 64 };

static const struct {
    int number;
    const char *name;
} ends[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"},
            {SIGUSR2, "SIGUSR2"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}};
enum { ENDS = sizeof ends / sizeof *ends };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while files[] changes */
static struct {
    atomic_int used; /* 1 once path is complete */
    char path[PATH_MAX];
} files[FILES];
static atomic_int is_ending;        /* 1: a signal ends the process, so no thread may make another file */
static char line[ENDS][WORDS + 64]; /* formatted beforehand: printf is not safe in a handler */
static _Atomic(char *) results;     /* printed on stdout at the end; NULL: nothing */
static int my_rank;
static struct sigaction given[ENDS]; /* the signal actions at the start of the process */
static sigset_t given_mask;

/* Blocks the signals of ends[] until all libraries are loaded; after_libraries restores their former actions. Libraries
 * install handlers while they are loaded (UCX installs one for SIGHUP that changes its log level). */
static void before_libraries(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < ENDS; i++) {
        sigaction(ends[i].number, NULL, &given[i]);
        sigaddset(&set, ends[i].number);
    }
    sigprocmask(SIG_BLOCK, &set, &given_mask);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_libraries;

/* Runs after the constructors of all libraries: restores the former signal actions. */
__attribute__((constructor)) static void after_libraries(void)
{
    for (int i = 0; i < ENDS; i++)
        sigaction(ends[i].number, &given[i], NULL);
    sigprocmask(SIG_SETMASK, &given_mask, NULL);
}

void exit_handlers_remove_file(const char *path)
{
    while (is_ending)
        pause();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FILES; i++)
        if (!files[i].used && strlen(path) < PATH_MAX) {
            strcpy(files[i].path, path);
            files[i].used = 1;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void exit_handlers_keep_file(const char *path)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FILES; i++)
        if (files[i].used && !strcmp(files[i].path, path))
            files[i].used = 0;
    pthread_mutex_unlock(&lock);
}

void exit_handlers_remove_files(void)
{
    for (int i = 0; i < FILES; i++)
        if (files[i].used)
            unlink(files[i].path);
}

void exit_handlers_set_message(const char *format, ...)
{
    char words[WORDS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    for (int i = 0; i < ENDS; i++)
        snprintf(line[i], sizeof line[i], "ddpbench: rank %d: ended by %s%s\n", my_rank, ends[i].name, words);
}

void exit_handlers_set_results(char *text)
{
    free(atomic_exchange(&results, text));
}

void exit_handlers_print_results(void)
{
    is_ending = 1;
    const char *text = atomic_exchange(&results, NULL);
    size_t left = text ? strlen(text) : 0;
    for (ssize_t n; left && (n = write(STDOUT_FILENO, text, left)) > 0; left -= (size_t)n)
        text += n;
}

/* Tests whether all ranks got the signal: the launcher, their parent, sent it, or the kernel sent it because a key was
 * pressed in the terminal. If a library's handler has replaced this one, it calls this one without naming the sender;
 * MPICH's handler of SIGUSR1 does so during MPI_Init. The signal's action is then the library's handler, and not the
 * default, to which SA_RESETHAND resets the action of this handler. */
static int came_to_all(int number, const siginfo_t *info)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler == SIG_DFL && (info->si_code == SI_KERNEL || info->si_pid == getppid());
}

static void handle_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int i = 0;
    while (i < ENDS - 1 && ends[i].number != number)
        i++;
    is_ending = 1;
    exit_handlers_remove_files();
    if (my_rank == 0 || number == SIGXCPU || !came_to_all(number, info)) {
        (void)!write(STDERR_FILENO, line[i], strlen(line[i]));
        exit_handlers_print_results();
    } else /* lets rank 0 print first: MPI may abort rank 0 once this rank has ended */
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    signal(number, SIG_DFL); /* the signal is delivered once this handler returns, even if another handler called it */
    raise(number);
}

void exit_handlers_install(int rank)
{
    const struct sigaction ending = {.sa_sigaction = handle_signal, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    const struct sigaction ignoring = {.sa_handler = SIG_IGN};
    my_rank = rank;
    exit_handlers_set_message("%s", "");
    sigaction(SIGXFSZ, &ignoring, NULL);
    for (int i = 0; i < ENDS; i++)
        sigaction(ends[i].number, given[i].sa_handler == SIG_IGN ? &ignoring : &ending, NULL);
}
