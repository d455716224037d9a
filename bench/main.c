/* main.c - the program: reads the command line and runs what it asks for. */
#include "allreduce/allreduce.h"
#include "base/version.h"
#include "benchmark/benchmark.h"
#include "compare/compare.h"
#include "ddp/job.h"
#include "kernels/error.h"
#include "profile/profile.h"
#include "results/results.h"
#include "training/options.h"

#include <stdio.h>
#include <string.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

/* Without a command: the benchmark, or with --profile the profile. */
static int run_training(const struct job *job, int argc, char *const argv[])
{
    struct options options;
    if (job_agree(job, options_parse(&options, argc, argv)))
        return USAGE;
    if (options.help || options.version) {
        if (job->rank == 0 && options.help)
            options_help(stdout);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
        return OK;
    }
    if (job_agree(job, options_fit(&options, job->size)))
        return USAGE;
    return (options.profile ? run_profile : run_benchmark)(job, &options, argc, argv) ? FAILED : OK;
}

int main(int argc, char *argv[])
{
    struct job job;
    if (argc > 1 && !strcmp(argv[1], "compare")) /* reads files only, so it needs neither ranks nor a launcher */
        return run_compare(argc - 1, argv + 1);
    if (job_begin(&job)) { /* these ranks cannot talk to each other, so each has to say it */
        fprintf(stderr, "ddpbench: %s\n", error_text());
        job_end(&job);
        return FAILED;
    }
    const char *command = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    int status;
    if (!command)
        status = run_training(&job, argc, argv);
    else if (!strcmp(command, "allreduce"))
        status = run_allreduce(&job, argc - 1, argv + 1);
    else {
        job_agree(
            &job,
            error_report(
                "'%s' is no command; known are allreduce and compare, or options, which begin with --; see --help",
                command));
        status = USAGE;
    }
    job_end(&job);
    return status;
}
