/* test_siblings.c - processes of other ranks, found by the variables that a launcher sets in their environments. */
#include "kernels/siblings.h"
#include "tests/support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3 };
static const long many_waits = (1L << 40) - 1;
static struct sibling ranks[RANKS];
static int input[2]; /* pipe from which the shell of start_rank reads, and so keeps running */

/* Starts this program as rank 1; the main function below then publishes that it has reached many_waits waits. */
static pid_t start_program(void)
{
    pid_t child = fork();
    if (child == 0) {
        execve("/proc/self/exe", (char *[]){(char[]){"rank"}, NULL}, (char *[]){(char[]){"PMI_RANK=1"}, NULL});
        _exit(1);
    }
    return child;
}

/* Starts a shell as rank 1, as a launcher would, and returns once the shell runs. */
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

/* Makes this process rank 0 for the library; /proc still shows the environment from its start, which names no rank. */
static void setup(void)
{
    setenv("PMI_RANK", "0", 1);
}

TEST(a_process_of_a_rank_is_found)
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

static void *reap_late(void *process)
{
    int status;
    usleep(300000);
    ck_assert_int_eq(waitpid(*(pid_t *)process, &status, 0), *(pid_t *)process);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? process : NULL;
}

/* siblings_kill kills the program of a rank but not a shell, which may have more to do after the program. When
 * siblings_kill returns, the launcher has seen the program end. */
TEST(only_the_program_is_killed)
{
    pid_t child = start_rank();
    siblings_kill(0, RANKS);
    ck_assert_int_eq(kill(child, SIGTERM), 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    child = start_program();
    do {
        siblings_find(ranks, RANKS);
    } while (!ranks[1].runs || ranks[1].waits < 0);
    ck_assert_int_eq(ranks[1].process, child);
    ck_assert_int_eq(ranks[1].waits, many_waits);
    pthread_t launcher;
    void *killed;
    ck_assert_int_eq(pthread_create(&launcher, NULL, reap_late, &child), 0);
    siblings_kill(0, RANKS);
    ck_assert_int_eq(kill(child, 0), -1); /* reaped, not only killed */
    ck_assert_int_eq(pthread_join(launcher, &killed), 0);
    ck_assert_ptr_nonnull(killed);
}

/* Returns, from the name of its thread, whether a process has reached siblings_show. */
static int has_shown_its_waits(pid_t process)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", process);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(name, sizeof name, file));
    fclose(file);
    return !strncmp(name, "wait ", 5);
}

TEST(the_program_is_taken_of_several_processes)
{
    pid_t shell_before = start_rank(), program = start_program(), shell_after = start_rank();
    while (!has_shown_its_waits(program))
        usleep(1000);
    siblings_find(ranks, RANKS);
    ck_assert_int_eq(ranks[1].process, program);
    for (int i = 0; i < 3; i++) {
        pid_t child = (pid_t[]){shell_before, program, shell_after}[i];
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    }
}

/* A process in a container that shows the host's /proc finds no ranks, since /proc has other process ids. */
TEST(another_pid_namespace_has_no_siblings)
{
    enum { NONE, FOUND, NO_NAMESPACE };
    pid_t child = start_rank(), outside = fork(); /* only children of `outside` enter its namespace */
    int status;
    if (outside == 0) {
        if (unshare(CLONE_NEWPID))
            _exit(NO_NAMESPACE);
        pid_t inside = fork();
        if (inside == 0) {
            siblings_find(ranks, RANKS);
            _exit(ranks[0].process || ranks[1].process || ranks[2].process ? FOUND : NONE);
        }
        _exit(inside > 0 && waitpid(inside, &status, 0) == inside ? WEXITSTATUS(status) : FOUND);
    }
    ck_assert_int_gt(outside, 0);
    ck_assert_int_eq(waitpid(outside, &status, 0), outside);
    ck_assert(WIFEXITED(status));
    ck_assert_int_ne(WEXITSTATUS(status), FOUND);
    if (WEXITSTATUS(status) == NO_NAMESPACE)
        printf("skip - ranks in another PID namespace: this process may make none\n");
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

TEST(a_process_without_a_launcher_has_no_siblings)
{
    pid_t child = start_rank();
    unsetenv("PMI_RANK");
    siblings_find(ranks, RANKS);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(ranks[r].process, 0);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

int main(int argc, char *argv[])
{
    if (argc > 0 && !strcmp(argv[0], "rank")) {
        siblings_show(pthread_self(), many_waits);
        pause();
    }
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    return suite_run(suite_of_tests("siblings", setup, NULL));
}
