/* hazards.h - for tests of the emulation: runs functions with mistakes, each in a separate process. A mistake must end
 * the process with a message, or give wrong numbers in some order of threads and streams. */
#ifndef HAZARDS_H
#define HAZARDS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a function in a new process; appends its stderr to *words. Returns the result; -1 if the process ended early. */
inline int run_apart(int (*run)(), std::string *words, const char *variable = nullptr, const char *value = nullptr)
{
    int end[2];
    if (pipe(end))
        abort();
    fflush(nullptr);
    pid_t child = fork();
    if (!child) {
        close(end[0]);
        dup2(end[1], STDERR_FILENO);
        if (variable)
            setenv(variable, value, 1);
        int status = run();
        fprintf(stderr, "returned normally\n");
        _exit(status);
    }
    close(end[1]);
    char part[4096];
    for (ssize_t n; (n = read(end[0], part, sizeof part)) > 0;)
        words->append(part, static_cast<size_t>(n));
    close(end[0]);
    int status;
    waitpid(child, &status, 0);
    return words->find("returned normally") != std::string::npos ? WEXITSTATUS(status) : -1;
}

/* Runs the function in 20 orders (EMULATED_CUDA_SEED). Returns in how many orders it returned 1: wrong numbers. */
inline int wrong_orders(int (*run)())
{
    int wrong = 0;
    for (int seed = 1; seed <= 20; seed++) {
        std::string words;
        int status = run_apart(run, &words, "EMULATED_CUDA_SEED", std::to_string(seed).c_str());
        if (status < 0 || status > 1) {
            fprintf(stderr, "with seed %d: %s\n", seed, words.c_str());
            abort();
        }
        wrong += status;
    }
    return wrong;
}

/* Returns whether the function ends its process early with the expected message. */
inline bool ends_with(int (*run)(), const char *expected, const char *variable = nullptr, const char *value = nullptr)
{
    std::string words;
    bool ended = run_apart(run, &words, variable, value) < 0;
    if (ended && words.find(expected) != std::string::npos)
        return true;
    fprintf(stderr, "%s:\n%s", ended ? "ended with another message" : "did not end early", words.c_str());
    return false;
}

#endif
