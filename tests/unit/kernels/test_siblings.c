/* test_siblings.c - processes of ranks, found by what a launcher has put into their environments. */
#include "kernels/siblings.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3 };
static const long many_waits = (1L << 40) - 1;
static struct sibling ranks[RANKS];
static int input[2]; /* what the rank reads until it is to end */

/* Starts a shell as rank 1 of a launcher, which this process stands for, and returns once it is there. */
static pid_t start_rank(void)
{
    static char name[] = "sh", option[] = "-c", script[] = "echo; read end", rank[] = "PMI_RANK=1";
    int output[2];
    char line;
    ck_assert_int_eq(pipe(input) | pipe(output), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        execve("/bin/sh", (char *[]){name, option, script, NULL}, (char *[]){rank, NULL});
        _exit(1);
    }
    ck_assert_int_eq(read(output[0], &line, 1), 1);
    close(output[0]);
    close(output[1]);
    return child;
}

/* This process is rank 0 for the library; what it was started with, which /proc shows, says of no rank. */
static void setup(void)
{
    setenv("PMI_RANK", "0", 1);
}

START_TEST(a_process_of_a_rank_is_found)
{
    pid_t child = start_rank();
    siblings_find(ranks, RANKS);
    ck_assert_int_eq(ranks[1].process, child);
    ck_assert_int_eq(ranks[1].runs, 0);
    ck_assert_int_eq(ranks[1].waits, -1);
    ck_assert_int_eq(ranks[1].stopped, 0);
    ck_assert_int_eq(ranks[2].process, 0);
    kill(child, SIGSTOP);
    ck_assert_int_eq(waitpid(child, NULL, WUNTRACED), child);
    siblings_find(ranks, RANKS);
    ck_assert_int_eq(ranks[1].stopped, 1);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    siblings_find(ranks, RANKS);
    ck_assert_int_eq(ranks[1].process, 0);
}
END_TEST

/* A shell in the place of a rank's program may have more to do when that has ended. */
START_TEST(only_the_program_is_killed)
{
    pid_t child = start_rank();
    siblings_kill(0, RANKS);
    ck_assert_int_eq(kill(child, SIGTERM), 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    child = fork();
    if (child == 0) {
        execve("/proc/self/exe", (char *[]){(char[]){"rank"}, NULL}, (char *[]){(char[]){"PMI_RANK=1"}, NULL});
        _exit(1);
    }
    do {
        siblings_find(ranks, RANKS);
    } while (!ranks[1].runs || ranks[1].waits < 0);
    ck_assert_int_eq(ranks[1].process, child);
    ck_assert_int_eq(ranks[1].waits, many_waits);
    siblings_kill(0, RANKS);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(without_a_launcher_there_are_none)
{
    pid_t child = start_rank();
    unsetenv("PMI_RANK");
    siblings_find(ranks, RANKS);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(ranks[r].process, 0);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

int main(int argc, char *argv[])
{
    if (argc > 0 && !strcmp(argv[0], "rank")) {
        siblings_show(pthread_self(), many_waits);
        pause();
    }
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    Suite *suite = suite_create("siblings");
    TCase *core = tcase_create("core");
    tcase_add_checked_fixture(core, setup, NULL);
    tcase_add_test(core, a_process_of_a_rank_is_found);
    tcase_add_test(core, only_the_program_is_killed);
    tcase_add_test(core, without_a_launcher_there_are_none);
    suite_add_tcase(suite, core);
    return suite_run(suite);
}
