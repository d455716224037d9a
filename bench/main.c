/* main.c - the program: reads the command line and runs what it asks for. */
#include "allreduce/allreduce.h"
#include "base/version.h"
#include "benchmark/benchmark.h"
#include "compare/compare.h"
#include "ddp/job.h"
#include "kernels/blas.h"
#include "kernels/error.h"
#include "profile/profile.h"
#include "report/report.h"
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit statuses. */
enum { OK = 0, FAILED = 1, USAGE = 2 };

static int run_training(const struct job *job, int argc, char *const argv[]);

/* The number that a launcher gave this process, or 0, without MPI. */
static long launched_rank(void)
{
    static const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    const char *rank = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && !rank; i++)
        rank = getenv(variables[i]);
    return rank ? strtol(rank, NULL, 10) : 0;
}

int main(int argc, char *argv[])
{
    struct job job;
    /* these two read files only, so they need neither ranks nor a launcher; of several ranks one prints a report */
    if (argc > 1 && !strcmp(argv[1], "compare"))
        return run_compare(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "report"))
        return launched_rank() ? OK : run_report(argc - 1, argv + 1);
    blas_choose_kernels(argv);
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
    else if (!strcmp(command, "tune"))
        status = run_tune(&job, argc - 1, argv + 1);
    else {
        error_report(
            "'%s' is no command; known are tune, allreduce, compare and report, or options, which begin with --; "
            "see --help",
            command);
        job_agree(&job, -1);
        status = USAGE;
    }
    job_end(&job);
    return status;
}

/* ---- without a command: the benchmark, or with --profile the profile ---- */

/* Their joint command line. The table points into the other fields. */
struct command_line {
    struct run_options run;
    struct profile_options profile;
    struct option_table table;
};

static int parse(struct command_line *line, int argc, char *const argv[])
{
    run_options_add(&line->table, &line->run);
    profile_options_add(&line->table, &line->profile);
    if (option_table_parse(&line->table, argc, argv))
        return -1;
    if (line->table.help || line->table.version)
        return 0;
    if (line->profile.profile)
        return profile_options_check(&line->profile, &line->table, &line->run.training);
    return benchmark_options_check(&line->run.training, &line->table);
}

static void print_help(const struct option_table *table)
{
    fputs("Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n"
          "       mpirun -n RANKS ddpbench tune [OPTION VALUE]...        the best bucket size; has a --help\n"
          "       mpirun -n RANKS ddpbench allreduce [OPTION VALUE]...   the interconnect alone; has a --help\n"
          "       ddpbench compare BASELINE... --candidate DIR...        whether runs got slower; has a --help\n"
          "       ddpbench report DIR...                                 a run or a sweep in words; has a --help\n\n"
          "Trains a transformer on every rank, synchronises its gradients with each strategy in turn, and compares\n"
          "what the strategies cost; or, with --profile, shows where the time of one of them goes. The defaults are\n"
          "a GPU's; `make bench` has sizes for a laptop.\n",
          stdout);
    option_table_help(stdout, table, table->help);
    training_options_help_implementations(stdout);
}

static int run_training(const struct job *job, int argc, char *const argv[])
{
    struct command_line line = {0};
    if (job_agree(job, parse(&line, argc, argv)))
        return USAGE;
    if (line.table.help || line.table.version) {
        if (job->rank == 0 && line.table.help)
            print_help(&line.table);
        else if (job->rank == 0)
            printf("ddpbench %s\n", version_text());
        return OK;
    }
    if (job_agree(job, training_options_fit(&line.run.training, job->size)) ||
        job_agree(job, rank_list_check(&line.profile.ranks, job->size)))
        return USAGE;
    struct command command = {argc, argv, &line.table};
    int failed = line.profile.profile ? run_profile(job, &line.run, &line.profile, &command)
                                      : run_benchmark(job, &line.run, &command);
    return failed ? FAILED : OK;
}
