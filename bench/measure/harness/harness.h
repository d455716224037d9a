/* harness.h - shared by all measuring commands: options, the way from the command line to the exit status, and the
 * device, monitors and results that a command opens. */
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

/* Adds the option sections Device, Communication, Results and Monitors. */
void harness_options_add(struct option_table *table, struct harness_options *options);

struct harness_command {
    void *line;                 /* the struct of the command's options, passed to the functions below */
    struct option_table *table; /* the options, which fill the struct `line` */
    const struct harness_options *options;
    /* Checks the options for a number of ranks, on GPUs or not. Returns 0; or -1, reported. */
    int (*check)(void *line, const struct option_table *table, int ranks, int on_gpus);
    void (*print_help)(const struct option_table *table);
    const char *failures; /* what exit status 1 means, in words for --help, such as "the run failed" */
    /* Runs the command. Returns 0; or -1 on every rank, reported by rank 0. */
    int (*measure)(void *line, const struct job *job, const struct command *command);
};

/* Parses argv (argv[0] is the command's name). Prints help or version if asked; otherwise checks the options, and runs
 * the command unless --dry-run is given. All ranks call and return the same. */
enum exit_status harness_main(const struct harness_command *command, const struct job *job, int argc,
                              char *const argv[]);

/* ---- the run ---- */

struct harness {
    const struct job *job;
    const struct harness_options *options;
    int64_t origin_ns; /* clock_now_ns at the start of the run: time 0 in its files */
    int threads;       /* threads of a rank on the CPU; job->cores is the number of its logical CPUs */
    struct host_facts host;
    struct open_device opened;
    struct comm_options comm; /* options->comm, completed with facts of the machine */
    struct monitor *monitor;
    struct results results;
};

/* Starts the watchdog, gathers facts about the machine, and opens the device and the monitors. All ranks call this and
 * the functions below. Returns 0; or -1 on every rank, reported by rank 0. End with harness_close in either case. */
int harness_open(struct harness *harness, const struct job *job, const struct harness_options *options);

/* Opens the result directory (arguments: struct results_target). Call it after all other checks:
 * a run that is refused here leaves a directory with empty files at most. Returns as harness_open does. */
int harness_open_results(struct harness *harness, const char *option, const char *given, const char *below);

/* Begins the content of run.json: the command, and the facts of the machine as "derived". The caller owns it. */
cJSON *harness_run_json(const struct harness *harness, const char *mode, const struct comm *comm,
                        const struct command *command);

/* Adds the facts of all ranks to run.json, writes it to the results, and deletes it. Returns as harness_open does. */
int harness_write_run_json(const struct harness *harness, const struct results *results, cJSON *json);

/* The first starts the monitors; the second stops them and gathers their findings. Both return as harness_open does. */
int harness_start_monitors(struct harness *harness);
int harness_stop_monitors(struct harness *harness);

/* Closes the monitors and the results. Rank 0 prints the result directory if status is 0 and print_directory is 1. A
 * zeroed harness is fine. Returns the status, or -1 on every rank if the results could not be closed. */
int harness_close(struct harness *harness, int status, int print_directory);

/* ---- the parts of a summary that all modes have ---- */

/* Adds the first line of the heading: version, `mode` ("" or a space and a word), ranks, threads, hosts, `machine`, the
 * communication backend, and `calls`: how collectives are issued (NULL: how MPI makes progress). */
void harness_add_heading(const struct harness *harness, const char *mode, const char *machine, const struct comm *comm,
                         const char *calls, cJSON *summary);

/* Adds the findings of the monitors to a summary, as notes and as the member "monitor". */
void harness_add_findings(const struct harness *harness, cJSON *summary);

/* Writes a summary with its figures, prints its body if `print`, and frees all. Returns 0; or -1, reported. */
int harness_write_summary(struct results *results, cJSON *summary, struct figure_list *figures, int print);

/* Prints the heading of a summary on rank 0, and deletes the summary. */
void harness_show_heading(const struct harness *harness, cJSON *summary);

#endif
