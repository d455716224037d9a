/* test_watchdog.c - a rank's watchdog, with made-up shared memory and a made-up library: which rank it reports, when it
 * ends the job, when it does not, and that the training thread may run while the watchdog reads. */
#include "ddp/watchdog.h"

#include "kernels/clock.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, LOCAL = 2 };

static void *board[RANKS]; /* where each rank publishes what it does; NULL: the last rank is on another host */
static struct watchdog *watchdog[LOCAL];

static void setup(void)
{
    for (int r = 0; r < LOCAL; r++)
        board[r] = allocate(1, watchdog_board_bytes);
    for (int r = 0; r < LOCAL; r++)
        watchdog[r] = watchdog_create(r, RANKS);
    for (int r = 0; r < LOCAL; r++)
        watchdog_show(watchdog[r], r, RANKS, board);
}

static void teardown(void)
{
    for (int r = 0; r < LOCAL; r++)
        watchdog_hide(watchdog[r]); /* before any board is freed, since each watchdog reads all boards */
    for (int r = 0; r < LOCAL; r++)
        free(board[r]);
    for (int r = 0; r < LOCAL; r++)
        watchdog_destroy(watchdog[r]);
}

static void sleep_s(double seconds)
{
    clock_sleep_until(clock_now_ns() + (int64_t)(1e9 * seconds));
}

/* Output on stderr, and status from waitpid, of the child process that play has started. */
static struct {
    char words[4096];
    int status;
} told;

static void play(void (*scene)(void))
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        setup();
        scene();
        teardown();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n;
    size_t at = 0;
    while ((n = read(ends[0], told.words + at, sizeof told.words - 1 - at)) > 0)
        at += (size_t)n;
    told.words[at] = 0;
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &told.status, 0), child);
}

static void ended_with(int status)
{
    ck_assert_msg(WIFEXITED(told.status) && WEXITSTATUS(told.status) == status, "status %x: %s", told.status,
                  told.words);
}

/* ---- waits that do not end ---- */

static void hang(void)
{
    watchdog_doing(watchdog[0], "timed step # of ddp");
    watchdog_mark(watchdog[0], 17);
    watchdog_doing(watchdog[1], "writing of files");
    watchdog_started(watchdog[0]);
    watchdog_started(watchdog[1]);
    watchdog_limit(watchdog[0], 0.2);
    watchdog_wait(watchdog[0], "all_reduce of 8 B", watchdog_started(watchdog[0]), 0);
    pause();
}

TEST(a_wait_that_does_not_end_ends_the_job)
{
    play(hang);
    ended_with(1);
    check_has(told.words, "rank 0 on ");
    check_has(told.words,
              " s in timed step 17 of ddp: all_reduce of 8 B; rank 1 has not started it: it is in writing of files");
    check_has(told.words, "; ranks of other hosts print their own lines if they wait as long");
    check_has(told.words, "--timeout: no progress for ");
}

static _Atomic int breaks;
/* Describes a collective in flight to the watchdog, as comm_thread_look does; if breaks is set, also an error. */
static void look(void *state, struct watched *watched)
{
    watched->since_ns = *(const int64_t *)state;
    watched->number = 1;
    snprintf(watched->words, sizeof watched->words, "broadcast of 4 B");
    if (breaks)
        snprintf(watched->broken, sizeof watched->broken, "a library's error");
}

static void break_down(void)
{
    int64_t since = clock_now_ns();
    for (int r = 0; r < LOCAL; r++)
        watchdog_started(watchdog[r]);
    watchdog_wait(watchdog[1], "a barrier", 1, 0); /* this wait has no limit; it is printed when rank 0 ends the job */
    breaks = 1;
    watchdog_look(watchdog[0], look, &since);
    pause();
}

static void look_away(void *state, struct watched *watched)
{
    (void)state, (void)watched;
}

/* A second comm is created and destroyed before the first one reports an error. */
static void break_down_later(void)
{
    int64_t since = clock_now_ns();
    watchdog_look(watchdog[0], look, &since);
    watchdog_look(watchdog[0], look_away, NULL);
    watchdog_look(watchdog[0], NULL, NULL);
    breaks = 1;
    pause();
}

TEST(first_comm_is_watched_again)
{
    play(break_down_later);
    ended_with(1);
    check_has(told.words, "a library's error");
}

TEST(an_error_of_a_library_ends_the_job)
{
    play(break_down);
    ended_with(1);
    check_has(told.words, " s in broadcast of 4 B; all ranks that can be seen here have started it");
    check_has(told.words, "rank 1 on ");
    check_has(told.words, " s in a barrier");
    check_has(told.words, "a library's error, in broadcast of 4 B");
}

/* ---- waits that end ---- */

/* Rank 0 arrives at the barrier as soon as its watchdog has reported the wait. */
static void late(void)
{
    int ends[2], out = dup(STDERR_FILENO);
    char words[1024];
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    watchdog_limit(watchdog[0], 0.2);
    watchdog_wait(watchdog[0], "a barrier", 1, 0);
    ssize_t n = read(ends[0], words, sizeof words);
    watchdog_arrived(watchdog[0]);
    dup2(out, STDERR_FILENO);
    ck_assert_int_eq(write(out, words, (size_t)n), n);
    sleep_s(2.5);
    watchdog_wait(watchdog[0], "a barrier", 2, 60); /* a wait with a longer limit */
    sleep_s(0.6);
}

TEST(a_wait_that_ends_while_it_is_reported_continues)
{
    play(late);
    ended_with(0);
    check_has(told.words, "s in a barrier");
    check_lacks(told.words, "--timeout");
}

/* A training thread that makes every allowed call as often as possible while both watchdogs read. */
static void *train(void *argument)
{
    struct watchdog *w = argument;
    int64_t since = INT64_MAX, end = clock_now_ns() + 2200000000;
    for (long i = 0; clock_now_ns() < end; i++) {
        watchdog_look(w, look, &since);
        watchdog_doing(w, "step # of %ld", i);
        watchdog_mark(w, i);
        watchdog_wait(w, "a barrier", watchdog_started(w), 0);
        watchdog_arrived(w);
        watchdog_limit(w, 0.5 + (double)(i % 2));
        watchdog_look(w, NULL, NULL);
    }
    return NULL;
}

static void work(void)
{
    pthread_t thread[LOCAL];
    for (int r = 0; r < LOCAL; r++)
        pthread_create(&thread[r], NULL, train, watchdog[r]);
    for (int r = 0; r < LOCAL; r++)
        pthread_join(thread[r], NULL);
}

TEST(ranks_that_work_are_left_alone)
{
    play(work);
    ended_with(0);
    ck_assert_str_eq(told.words, "");
}

TEST(without_a_watchdog_nothing_is_watched)
{
    ck_assert_int_eq(watchdog_started(NULL), 0);
    watchdog_wait(NULL, "a barrier", 0, 0);
    watchdog_arrived(NULL);
    watchdog_doing(NULL, "nothing");
    watchdog_mark(NULL, 1);
    watchdog_limit(NULL, 1);
    watchdog_look(NULL, NULL, NULL);
    watchdog_show(NULL, 0, 1, NULL);
    watchdog_hide(NULL);
    watchdog_await(NULL);
    watchdog_destroy(NULL);
}

SUITE("watchdog", NULL, NULL)
