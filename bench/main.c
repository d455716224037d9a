/* main.c - the program: reads the command line and runs what it asks for. */
#include "benchmark.h"
#include "error.h"
#include "job.h"
#include "options.h"
#include "profile.h"
#include "results.h"

#include <stdio.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

int main(int argc, char *argv[])
{
    struct job job;
    struct options options;
    if (job_begin(&job)) { /* these ranks cannot talk to each other, so each has to say it */
        fprintf(stderr, "ddpbench: %s\n", report_text());
        job_end(&job);
        return FAILED;
    }
    int status = OK;
    if (job_agree(&job, options_parse(&options, argc, argv)))
        status = USAGE;
    else if (options.help || options.version) {
        if (job.rank == 0 && options.help)
            options_help(stdout);
        else if (job.rank == 0)
            printf("ddpbench %s\n", results_version());
    } else if (job_agree(&job, options_fit(&options, job.size)))
        status = USAGE;
    else if ((options.profile ? run_profile : run_benchmark)(&job, &options, argc, argv))
        status = FAILED;
    job_end(&job);
    return status;
}
