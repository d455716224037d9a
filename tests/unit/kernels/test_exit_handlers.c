/* test_exit_handlers.c - a signal ends the process with one line, even if a library's handler took the place of ours.
 */
#include "kernels/exit_handlers.h"
#include "tests/support/suite.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*replaced)(int);

/* Calls the handler that was there before, with its number alone, as MPICH's handler of SIGUSR1 does. */
static void call_replaced(int number)
{
    replaced(number);
}

static const struct {
    int number, is_replaced, rank;
    const char *line;
} ends[] = {
    {SIGTERM, 0, 0, "ddpbench: rank 0: ended by SIGTERM\n"},
    {SIGUSR1, 0, 0, "ddpbench: rank 0: ended by SIGUSR1\n"},
    {SIGUSR1, 0, 3, ""}, /* its parent, as the launcher would, sends it to all ranks */
    {SIGUSR1, 1, 0, "ddpbench: rank 0: ended by SIGUSR1\n"},
    {SIGUSR1, 1, 3, "ddpbench: rank 3: ended by SIGUSR1\n"},
};

TEST_EACH(signals_end_the_process_with_one_line, sizeof ends / sizeof *ends)
{
    int said[2], ready[2], status;
    char line[200] = "";
    ck_assert(!pipe(said) && !pipe(ready));
    pid_t child = fork();
    if (!child) {
        dup2(said[1], STDERR_FILENO);
        close(said[0]);
        close(said[1]);
        exit_handlers_install(ends[_i].rank);
        if (ends[_i].is_replaced)
            replaced = signal(ends[_i].number, call_replaced);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    close(said[1]);
    ck_assert_int_eq(read(ready[0], line, 1), 1);
    kill(child, ends[_i].number);
    size_t n = 0;
    for (ssize_t more; n + 1 < sizeof line && (more = read(said[0], line + n, sizeof line - 1 - n)) > 0;)
        n += (size_t)more;
    close(said[0]); /* a process that still prints then ends */
    waitpid(child, &status, 0);
    line[n] = 0;
    ck_assert_str_eq(line, ends[_i].line);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == ends[_i].number);
}

SUITE("exit handlers", NULL, NULL)
