/* harness.h - what every measuring command has: the options that all share, the course from its command line to its
 * exit status, and the device, monitors and results that it opens. */
#ifndef BENCH_MEASURE_HARNESS_HARNESS_H
#define BENCH_MEASURE_HARNESS_HARNESS_H

#include "machine/machine.h"
#include "results/results.h"

/* ---- from the command line to the exit status ---- */

enum exit_status { STATUS_OK, STATUS_FAILED, STATUS_USAGE };

struct harness_options {
    struct device_options device;
    struct comm_options comm;
    struct monitor_options monitor;
    struct results_options results;
};

/* Adds their sections: Device, Communication, Results and Monitors. */
void harness_options_add(struct option_table *table, struct harness_options *options);

struct harness_command {
    void *line;                 /* the options of the command, passed to the functions below */
    struct option_table *table; /* fills them */
    const struct harness_options *options;
    /* Checks the options for a number of ranks, which compute on GPUs or not. Returns 0; or -1, reported. */
    int (*check)(void *line, const struct option_table *table, int ranks, int on_gpus);
    void (*print_help)(const struct option_table *table);
    const char *failures; /* what exit status 1 means, such as "the run failed" */
    /* Runs the command. Returns 0; or -1 on every rank, reported by rank 0. */
    int (*measure)(void *line, const struct job *job, const struct command *command);
};

/* Parses argv (argv[0] is the command's name), prints help or version if asked to, checks the options, and unless
 * --dry-run was given runs the command. All ranks call and return the same. */
enum exit_status harness_main(const struct harness_command *command, const struct job *job, int argc,
                              char *const argv[]);

/* ---- the run ---- */

struct harness {
    const struct job *job;
    const struct harness_options *options;
    int64_t origin_ns; /* clock_now_ns when the run began: times in its files count from there */
    int threads;       /* of a rank on the CPU; each rank has job->cores logical CPUs for them */
    struct host_facts host;
    struct open_device opened;
    struct comm_options comm; /* options->comm, completed with what follows from the machine */
    struct monitor *monitor;
    struct monitor_findings findings; /* complete after harness_stop_monitors */
    struct results results;
};

/* Starts the watchdog, finds the facts of the machine, and opens the device and the monitors. All ranks call, here and
 * below. Returns 0; or -1 on every rank, reported by rank 0. End with harness_close in either case. */
int harness_open(struct harness *harness, const struct job *job, const struct harness_options *options);

/* Opens the result directory (struct results_target). Call it after all checks, so that a refused run leaves nothing
 * behind. Returns as harness_open does. */
int harness_open_results(struct harness *harness, const char *option, const char *given, const char *below);

/* Begins run.json: the command, and as "derived" what follows from the machine. The caller owns it. */
cJSON *harness_run_json(const struct harness *harness, const char *mode, const struct comm *comm,
                        const struct command *command);

/* Adds the facts of all ranks to run.json, writes and deletes it. Returns as harness_open does. */
int harness_write_run_json(const struct harness *harness, const struct results *results, cJSON *json);

/* Starts the monitors; stops them and gathers their findings. Return as harness_open does. */
int harness_start_monitors(struct harness *harness);
int harness_stop_monitors(struct harness *harness);

/* Closes the monitors and the results; rank 0 prints where these are, if status is 0 and print_directory is 1. A zeroed
 * harness is fine. Returns the status, or -1 on every rank if the results could not be closed. */
int harness_close(struct harness *harness, int status, int print_directory);

/* ---- the parts of a summary that all modes have ---- */

/* Adds the first line of the heading: the version, `mode` ("" or a word with a space before it), ranks, threads, hosts,
 * `machine`, the communication backend, and how collectives are issued (NULL: how MPI progresses). */
void harness_add_heading(const struct harness *harness, const char *mode, const char *machine, const struct comm *comm,
                         const char *calls, cJSON *summary);

/* Adds the findings of the monitors, as notes and as the member "monitor". */
void harness_add_findings(const struct harness *harness, cJSON *summary);

/* Writes a summary with its figures, prints its body if `print`, and destroys both. Returns 0; or -1, reported. */
int harness_write_summary(struct results *results, cJSON *summary, struct figure_list *figures, int print);

/* Prints the heading of a summary on rank 0, and deletes the summary. */
void harness_show_heading(const struct harness *harness, cJSON *summary);

#endif
