/* main.c - the program: reads the command line and runs what it asks for. */
#include "allreduce/allreduce.h"
#include "base/version.h"
#include "benchmark/benchmark.h"
#include "command_line.h"
#include "compare/compare.h"
#include "ddp/job.h"
#include "kernels/error.h"
#include "profile/profile.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

static int run_training(const struct job *job, int argc, char *const argv[]);

int main(int argc, char *argv[])
{
    struct job job;
    /* these two read files only, so they need neither ranks nor a launcher */
    if (argc > 1 && !strcmp(argv[1], "compare"))
        return run_compare(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "report"))
        return run_report(argc - 1, argv + 1);
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
        error_report(
            "'%s' is no command; known are allreduce, compare and report, or options, which begin with --; see "
            "--help",
            command);
        job_agree(&job, -1);
        status = USAGE;
    }
    job_end(&job);
    return status;
}

/* Without a command: the benchmark, or with --profile the profile. */
static int run_training(const struct job *job, int argc, char *const argv[])
{
    struct command_line line = {0};
    if (job_agree(job, command_line_parse(&line, argc, argv)))
        return USAGE;
    if (line.table.help || line.table.version) {
        if (job->rank == 0 && line.table.help)
            command_line_help(stdout, &line);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
        return OK;
    }
    if (job_agree(job, training_options_fit(&line.run.training, job->size)) ||
        job_agree(job, rank_list_check(&line.profile.ranks, job->size)))
        return USAGE;
    struct command command = {argc, argv, &line.table};
    return (line.profile.profile ? run_profile(job, &line.run, &line.profile, &command)
                                 : run_benchmark(job, &line.run, &command))
               ? FAILED
               : OK;
}
