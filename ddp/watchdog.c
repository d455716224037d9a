/* watchdog.c - ends the job if a rank waits too long. */
#include "ddp/watchdog.h"

#include "kernels/clock.h"
#include "kernels/error.h"
#include "kernels/siblings.h"
#include "kernels/threads.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LAST_WORDS_S = 2, OFTEN_S = 1, DOING = 128 };

/* What a rank publishes for the others of its host. While a rank writes, the others may read a mixture of old and new
 * text in `doing`. */
struct shown {
    _Atomic long started;      /* the last number that watchdog_started returned on this rank */
    _Atomic long ending;       /* 1: this rank is ending the job after a timeout or an error of a library */
    _Atomic int64_t beat_ns;   /* time of the last check by this rank's watchdog */
    _Atomic long mark;         /* the number set by watchdog_mark */
    _Atomic char doing[DOING]; /* the text set by watchdog_doing */
};

const size_t watchdog_board_bytes = (sizeof(struct shown) + 7) / 8 * 8;

/* A call of watchdog_look that has not ended. */
struct looked {
    void (*look)(void *state, struct watched *watched);
    void *state;
    struct looked *before;
};

struct watchdog {
    int rank, ranks;
    struct shown *mine;  /* this rank's state: board[rank], in memory shared by the host's ranks; or &hidden */
    void **board;        /* [ranks]; NULL for a rank of another host, and for all ranks if there is no board */
    struct shown hidden; /* used by this rank while there is no board */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t wake;
    double timeout_s;
    struct looked *looked; /* the last of watchdog_look; NULL: none */
    struct watched wait;   /* the current wait, set by watchdog_wait */
    void (*leave)(void);   /* ends the process if the current wait lasts too long; NULL: nothing does */
    int stop;
    timer_t stopped_too_long; /* kills this process; used if is_last */
    int is_last;              /* 1: stopped_too_long exists */
};

/* Sleeps for `seconds`, or until `wake` is signalled (a new limit, or the end); the caller holds the lock. */
static void sleep_until_stopped(struct watchdog *w, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (int64_t)(1e9 * seconds);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

/* Returns what this rank waits for: what watchdog_wait began, or else a collective of the comm. */
static struct watched find_wait(struct watchdog *w)
{
    struct watched now = {.since_ns = INT64_MAX};
    atomic_store(&w->mine->beat_ns, clock_now_ns());
    if (w->looked)
        w->looked->look(w->looked->state, &now);
    if (w->wait.since_ns != INT64_MAX) { /* this wait may have a grace period, but the collectives in it have none */
        char broken[sizeof now.broken];
        memcpy(broken, now.broken, sizeof broken);
        now = w->wait;
        memcpy(now.broken, broken, sizeof broken);
    }
    return now;
}

/* Returns the processes of all ranks that are visible in /proc; the caller frees the list. */
static struct sibling *find_siblings(const struct watchdog *w)
{
    struct sibling *sibling = allocate((size_t)w->ranks, sizeof *sibling);
    siblings_find(sibling, w->ranks);
    return sibling;
}

/* ---- messages ---- */

/* Describes what a rank does, including the number set by watchdog_mark; "" if unknown. */
static void describe_activity(const struct shown *shown, char *words, size_t size)
{
    char text[DOING];
    for (size_t i = 0; i < DOING; i++)
        text[i] = atomic_load_explicit(&shown->doing[i], memory_order_relaxed);
    text[DOING - 1] = 0;
    const char *number = strchr(text, '#');
    if (number)
        snprintf(words, size, "%.*s%ld%s", (int)(number - text), text, atomic_load(&shown->mark), number + 1);
    else
        snprintf(words, size, "%s", text);
}

/* Appends formatted text, truncated to the size of the buffer. */
static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, size - at, format, arguments);
    va_end(arguments);
}

/* Returns how many seconds ago a stopped rank's watchdog made its last check; 0 if the rank's process runs or is ending
 * the job. */
static double seconds_stopped(const struct shown *shown)
{
    double seconds = clock_seconds_since(atomic_load(&shown->beat_ns));
    return seconds > 2 * OFTEN_S && !atomic_load(&shown->ending) ? seconds : 0;
}

/* The list of missing ranks. named: the number of missing ranks, of which the text has at most NAMED; elsewhere: the
 * number of ranks that this rank cannot see. */
struct missing {
    char *text; /* names the first NAMED missing ranks */
    size_t size;
    int named, elsewhere;
};
enum { NAMED = 4 };

/* If a rank has not started the wait or is stopped, adds it to the list. Returns 1 if it appended the rank's number. */
static int name_rank(struct missing *missing, int rank, int started, double stopped)
{
    if ((started && stopped == 0) || missing->named++ >= NAMED)
        return 0;
    add(missing->text, missing->size, "%srank %d", missing->named > 1 ? "; " : "", rank);
    return 1;
}

/* Describes a rank by its entry on the board, if the rank is awaited or stopped. */
static void name_shown(struct missing *missing, int rank, const struct shown *shown, long number)
{
    char words[DOING + 24];
    double stopped = seconds_stopped(shown);
    int started = atomic_load(&shown->started) >= number;
    if (!name_rank(missing, rank, started, stopped))
        return;
    describe_activity(shown, words, sizeof words);
    if (number)
        add(missing->text, missing->size, " has %sstarted it", started ? "" : "not ");
    if (*words)
        add(missing->text, missing->size, "%s is in %s", number ? ": it" : "", words);
    if (stopped > 0)
        add(missing->text, missing->size, "%s process has not run for %.0f s",
            *words   ? ", and its"
            : number ? ": its"
                     : "'s",
            stopped);
}

/* If a rank without an entry on the board is awaited or stopped, describes it by its process in /proc. */
static void name_sibling(struct missing *missing, int rank, const struct sibling *sibling, long number)
{
    int started = sibling->waits >= number || !number;
    missing->elsewhere += !sibling->process || !number;
    if (!sibling->process || !name_rank(missing, rank, started, sibling->stopped))
        return;
    if (number)
        add(missing->text, missing->size, " has %sstarted it: its", started ? "" : "not ");
    add(missing->text, missing->size, "%s process %d (%s) %s", number ? "" : "'s", sibling->process, sibling->program,
        sibling->stopped ? "is stopped" : "runs");
}

/* Lists the ranks of this host that are stopped or have not started operation number `number` of all ranks (0: no
 * operation), and what they do. */
static void list_missing_ranks(const struct watchdog *w, long number, char *text, size_t size)
{
    struct missing missing = {.text = text, .size = size};
    struct sibling *sibling = NULL; /* filled only if needed: reading /proc may block on a process that hangs */
    for (int r = 0; r < w->ranks; r++) {
        const struct shown *shown = w->board[r];
        if (r == w->rank)
            continue;
        if (shown && atomic_load(&shown->beat_ns)) {
            name_shown(&missing, r, shown, number);
        } else { /* a rank that publishes on another board does not publish in /proc */
            sibling = sibling ? sibling : find_siblings(w);
            name_sibling(&missing, r, &sibling[r], shown || w->mine == &w->hidden ? number : 0);
        }
    }
    free(sibling);
    if (missing.named > NAMED)
        add(text, size, "; and %d more", missing.named - NAMED);
    if (number && !missing.named)
        add(text, size, "all ranks%s have started it", missing.elsewhere ? " that can be seen here" : "");
    if (number && missing.elsewhere)
        add(text, size, "; ranks of other hosts print their own lines if they wait as long");
}

/* Prints what this rank waits for; the caller holds the lock. */
static void print_position(const struct watchdog *w, const struct watched *now)
{
    char host[64] = "", doing[DOING + 24], who[1024] = "";
    gethostname(host, sizeof host - 1);
    describe_activity(w->mine, doing, sizeof doing);
    list_missing_ranks(w, now->number, who, sizeof who);
    fprintf(stderr, "ddpbench: rank %d on %s has waited for %.0f s in %s%s%s%s%s\n", w->rank, host,
            clock_seconds_since(now->since_ns), doing, *doing && *now->words ? ": " : "", now->words, *who ? "; " : "",
            who);
}

/* ---- the thread ---- */

/* Prints what this rank waits for, gives the other ranks time to print theirs, and ends the job unless there was
 * progress meanwhile; the caller holds the lock. */
static void report_and_end(struct watchdog *w, const struct watched *stuck)
{
    print_position(w, stuck);
    atomic_store(&w->mine->ending, 1);
    int64_t end = clock_now_ns() + (int64_t)LAST_WORDS_S * 1000000000;
    while (!w->stop && clock_now_ns() < end)
        sleep_until_stopped(w, 0.1);
    if (*stuck->broken)
        fatal(NULL, 0, "%s, in %s", stuck->broken, stuck->words);
    struct watched now = find_wait(w);
    if (!w->stop && now.since_ns == stuck->since_ns)
        fatal(NULL, 0, "--timeout: no progress for %.0f s", clock_seconds_since(now.since_ns));
    atomic_store(&w->mine->ending, 0);
}

/* Tests whether a rank of this host is about to end the job. */
static int is_ending(const struct watchdog *w)
{
    int ending = 0;
    for (int r = 0; r < w->ranks; r++) {
        const struct shown *shown = w->board[r];
        ending |= shown && atomic_load(&shown->ending);
    }
    return ending;
}

/* Restarts the timer, if there is one. It kills this process if the process stays suspended (SIGSTOP); a process that
 * runs ends the job itself, and prints why. */
static void restart_timer(const struct watchdog *w)
{
    const struct itimerspec limit = {.it_value.tv_sec = (time_t)ceil(w->timeout_s) + 2 * LAST_WORDS_S};
    if (w->is_last)
        timer_settime(w->stopped_too_long, 0, &limit, NULL);
}

/* Tests whether a rank of this host is stopped. */
static int is_any_stopped(const struct watchdog *w)
{
    struct sibling *sibling = find_siblings(w);
    int stopped = 0;
    for (int r = 0; r < w->ranks; r++)
        stopped |= sibling[r].runs && sibling[r].stopped;
    free(sibling);
    return stopped;
}

static void *watch_progress(void *argument)
{
    struct watchdog *w = argument;
    int printed = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        struct watched now = find_wait(w);
        double left = OFTEN_S;
        restart_timer(w);
        if (w->leave && clock_seconds_since(now.since_ns) >= 0 && !is_any_stopped(w))
            w->leave();
        if (now.since_ns != INT64_MAX && w->timeout_s > 0)
            left = w->timeout_s - clock_seconds_since(now.since_ns);
        if (*now.broken || left <= 0) {
            report_and_end(w, &now);
            continue;
        }
        int ending = is_ending(w);
        if (ending && !printed && now.since_ns != INT64_MAX)
            print_position(w, &now);
        printed = ending;
        if (w->leave && clock_seconds_since(now.since_ns) < 0) /* ranks leave at the same time */
            left = fmin(left, -clock_seconds_since(now.since_ns));
        sleep_until_stopped(w, left < OFTEN_S ? left : OFTEN_S);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct watchdog *watchdog_create(int rank, int ranks)
{
    struct watchdog *w = allocate(1, sizeof *w);
    w->rank = rank;
    w->ranks = ranks;
    w->board = allocate((size_t)ranks, sizeof *w->board);
    w->mine = &w->hidden;
    w->wait.since_ns = INT64_MAX;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    threads_start(&w->thread, watch_progress, w, "the watchdog's thread");
    siblings_show(w->thread, 0);
    return w;
}

void watchdog_destroy(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    while (w->looked)
        watchdog_look(w, NULL, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w->board);
    free(w);
}

/* ---- functions for the watched threads ---- */

void watchdog_limit(struct watchdog *w, double timeout_s)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->timeout_s = timeout_s;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void watchdog_show(struct watchdog *w, int rank, int ranks, void *const *board)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->rank = rank;
    w->ranks = ranks;
    free(w->board);
    w->board = allocate((size_t)ranks, sizeof *w->board);
    memcpy(w->board, board, (size_t)ranks * sizeof *w->board);
    w->mine = w->board[rank];
    atomic_store(&w->mine->started, atomic_load(&w->hidden.started));
    atomic_store(&w->mine->beat_ns, clock_now_ns()); /* tells the other ranks to look for this rank on the board */
    pthread_mutex_unlock(&w->lock);
}

void watchdog_hide(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    memcpy(&w->hidden, w->mine, sizeof w->hidden);
    siblings_show(w->thread, atomic_load(&w->hidden.started));
    atomic_store(&w->mine->beat_ns, 0); /* from now on the other ranks look for this rank in /proc */
    memset(w->board, 0, (size_t)w->ranks * sizeof *w->board);
    w->mine = &w->hidden;
    pthread_mutex_unlock(&w->lock);
}

void watchdog_look(struct watchdog *w, void (*look_at)(void *state, struct watched *watched), void *state)
{
    struct looked *ended = NULL, *begun = look_at && w ? allocate(1, sizeof *begun) : NULL;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    if (begun) {
        *begun = (struct looked){look_at, state, w->looked};
        w->looked = begun;
    } else if ((ended = w->looked))
        w->looked = ended->before;
    pthread_mutex_unlock(&w->lock);
    free(ended);
}

/* Tests whether another running rank of this host has not yet started operation `number` (see watchdog_started). */
static int is_awaited(const struct watchdog *w, long number)
{
    struct sibling *sibling = find_siblings(w);
    int awaited = 0;
    for (int r = 0; r < w->ranks; r++)
        awaited |= r != w->rank && sibling[r].runs && sibling[r].waits < number;
    free(sibling);
    return awaited;
}

void watchdog_await(struct watchdog *w)
{
    /* time between two checks; a check of many processes takes milliseconds */
    const long shortest_ns = 200000, longest_ns = 20000000;
    struct timespec pause = {.tv_nsec = shortest_ns};
    if (!w)
        return;
    long number = watchdog_started(w);
    watchdog_wait(w, "waiting for the other ranks to end", number, 0);
    while (is_awaited(w, number)) {
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < longest_ns ? 2 * pause.tv_nsec : longest_ns;
    }
}

long watchdog_started(struct watchdog *w)
{
    if (!w)
        return 0;
    long started = atomic_fetch_add_explicit(&w->mine->started, 1, memory_order_relaxed) + 1;
    if (w->mine == &w->hidden)
        siblings_show(w->thread, started);
    return started;
}

static void begin_wait(struct watchdog *w, const char *words, long number, double grace_s, void (*leave)(void))
{
    struct watched wait = {.since_ns = clock_now_ns() + (int64_t)(1e9 * grace_s), .number = number};
    snprintf(wait.words, sizeof wait.words, "%s", words);
    pthread_mutex_lock(&w->lock);
    w->wait = wait;
    w->leave = leave;
    pthread_mutex_unlock(&w->lock);
}

void watchdog_wait(struct watchdog *w, const char *words, long number, double grace_s)
{
    if (w)
        begin_wait(w, words, number, grace_s, NULL);
}

void watchdog_wait_or_leave(struct watchdog *w, const char *words, long number, double grace_s, void (*leave)(void))
{
    struct sigevent killing = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_last = w->timeout_s > 0 && !timer_create(CLOCK_MONOTONIC, &killing, &w->stopped_too_long);
    restart_timer(w);
    pthread_mutex_unlock(&w->lock);
    begin_wait(w, words, number, grace_s, leave);
}

void watchdog_arrived(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->wait.since_ns = INT64_MAX;
    pthread_mutex_unlock(&w->lock);
}

void watchdog_doing(struct watchdog *w, const char *format, ...)
{
    char words[DOING] = "";
    if (!w)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < DOING; i++)
        atomic_store_explicit(&w->mine->doing[i], words[i], memory_order_relaxed);
    pthread_mutex_unlock(&w->lock);
}

void watchdog_mark(struct watchdog *w, long i)
{
    if (w)
        atomic_store_explicit(&w->mine->mark, i, memory_order_relaxed);
}
