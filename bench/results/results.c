/* results.c - the directory of a run, and the files written to it during the run. */
#include "results/results.h"

#include "base/text.h"
#include "ddp/watchdog.h"
#include "kernels/error.h"
#include "kernels/exit_handlers.h"
#include "results/metrics.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- options ---- */

#define FIELD(field) offsetof(struct results_options, field)

/* clang-format off */
static const struct option rows[] = {
    {.name = "output", .common = 1, .kind = &option_path, .offset = FIELD(output), .initial = "",
     .help = "result directory; default results/<time>[-<label>]"},
    {.name = "label", .kind = &option_label, .offset = FIELD(label), .initial = "",
     .help = "a name for this run, kept in its results"},
    {.name = "prometheus", .kind = &option_path, .offset = FIELD(prometheus), .initial = "",
     .help = "file that is replaced every few seconds by the figures so far in Prometheus' text format, such as for the "
     "textfile collector of node_exporter"},
    {.name = "dry-run", .kind = &option_count, .offset = FIELD(dry_run_ranks), .initial = "0", .bare = "0", .high = 1e6, .decides = "",
     .help = "check the command line for N ranks, by default as many as there are, and print what the run would need and do"},
};
/* clang-format on */

struct option_section results_options_section(struct results_options *options)
{
    return (struct option_section){.title = "Results", OPTION_ROWS(rows), .base = options};
}

/* ---- the directory ---- */

/* Sets results->top to the directory that the user named, or to results/<time>[-<label>][-<number>]. Rank 0 makes the
 * latter directory, and sends the name to the other ranks. */
static void name_directory(struct results *results, const struct job *job, const char *given, const char *label)
{
    char *all = allocate((size_t)job->size, sizeof results->top);
    char stamp[32], name[sizeof results->top] = "";
    time_t now = time(NULL);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime(&now));
    snprintf(name, sizeof name, "%s", given);
    if (!*given && job->rank == 0) {  /* mkdir now, so that runs begun in the same second share no directory */
        (void)mkdir("results", 0777); /* take_directory reports any failure but that a directory exists */
        for (int i = 1, taken = 1; taken && i < 1000; i++) {
            snprintf(name, sizeof name, i > 1 ? "results/%s%s%s-%d" : "results/%s%s%s", stamp, *label ? "-" : "", label,
                     i);
            taken = mkdir(name, 0777) && errno == EEXIST;
        }
    }
    job_gather(job, name, sizeof name, all);
    memcpy(results->top, all, sizeof results->top);
    free(all);
}

/* A pattern for fnmatch: it matches the names of all files that a run of any mode writes to its directory, on any rank
 * and host. Upper and lower case count as equal, as on some file systems. */
#define OF_RUNS                                                                                                        \
    "run.json|summary.@(json|csv|txt|prom)|metrics.csv|rank_*_metrics.jsonl|@(cpu|gpu)_monitor*.csv|checkpoint.bin|"   \
    "@(good|bad).txt|matrix.csv|all_ranks"
static const char of_runs[] = "@(" OF_RUNS ")";
static const char of_runs_or_profiles[] = "@(" OF_RUNS "|*_summary.txt|*_trace.json?(.gz))";
enum { MATCH = FNM_EXTMATCH | FNM_CASEFOLD };

/* Checks that no file in the directory has a name that matches the fnmatch pattern `names`. An empty file without other
 * hard links is allowed. Returns 0; or -1, reported. */
static int check_names(const char *option, const char *directory, const char *names)
{
    glob_t found;
    struct stat status;
    int taken = 0;
    if (access(directory, R_OK) && errno == EACCES)
        return error_report("--%s %s: cannot list the files in it: %s; choose another directory", option, directory,
                            strerror(errno));
    size_t n = files_find(&found, directory, "*");
    for (size_t i = 0; i < n && !taken; i++) {
        const char *name = found.gl_pathv[i] + strlen(directory) + 1;
        if (!fnmatch(names, name, MATCH) && !lstat(found.gl_pathv[i], &status) &&
            (!S_ISREG(status.st_mode) || status.st_size || status.st_nlink != 1))
            taken = error_report("--%s %s already holds %s, which is not overwritten; choose another directory", option,
                                 directory, name);
    }
    globfree(&found);
    return taken;
}

int results_check_free(const char *option, const char *top, const char *below)
{
    char directory[FILES_PATH], names[160]; /* names: a pattern that matches the files of this run in top */
    snprintf(directory, sizeof directory, *below ? "%s/%s" : "%s", top, below);
    snprintf(names, sizeof names, "@(run.json|%s_@(summary.txt|rank_*_trace.json?(.gz)))", below);
    return check_names(option, top, names) || check_names(option, directory, of_runs) ? -1 : 0;
}

/* Checks that the directory holds no results, and makes it. Rank 0 also locks it until results_close, and removes
 * temporary files that killed runs left in it. Returns 0; or -1, reported. */
static int take_directory(struct results *results, const struct results_target *target)
{
    if (results_check_free(target->option, results->top, target->below) ||
        files_make_directories(target->option, results->directory) ||
        (results->rank == 0 && files_lock_directory(target->option, results->directory, &results->lock)))
        return -1;
    if (access(results->directory, W_OK))
        return error_report("--%s %s: cannot write files to this directory: %s; choose another", target->option,
                            results->directory, strerror(errno));
    if (results->rank == 0) {
        files_remove_left(results->top);
        files_remove_left(results->directory);
    }
    return 0;
}

/* Checks all paths that options name: no file may have the name of a run's file. Returns 0; or -1, reported. */
static int check_named(const struct results_target *target)
{
    const struct named_path named[] = {{target->option, target->given, NULL},
                                       {"prometheus", target->prometheus, RESULTS_PROMETHEUS_MARK},
                                       target->other};
    enum { N = sizeof named / sizeof *named };
    for (size_t i = 0; i < N; i++) {
        const char *path = named[i].path ? named[i].path : "", *slash = strrchr(path, '/');
        if (named[i].mark && !fnmatch(of_runs_or_profiles, slash ? slash + 1 : path, MATCH))
            return error_report("--%s %s: runs write files of that name; choose another name", named[i].option, path);
    }
    return files_check_named(named, N);
}

int results_open(struct results *results, const struct job *job, const struct results_target *target)
{
    char path[FILES_PATH];
    *results = (struct results){
        .rank = job->rank, .watchdog = job->watchdog, .prometheus = target->prometheus, .telemetry.file = -1};
    if (strlen(target->given) >= sizeof results->top - 64) /* true on all ranks or on none */
        return job_agree(job, error_report("--%s: the path is longer than %zu characters", target->option,
                                           sizeof results->top - 65));
    if (job_agree(job, job->rank ? 0 : check_named(target)))
        return -1; /* nothing has been created yet */
    snprintf(results->label, sizeof results->label, "%s", target->label);
    name_directory(results, job, target->given, target->label);
    snprintf(results->directory, sizeof results->directory, *target->below ? "%s/%s" : "%s", results->top,
             target->below);
    if (job_agree(job, take_directory(results, target)))
        return -1;
    snprintf(path, sizeof path, "%s/rank_%d_metrics.jsonl", results->directory, results->rank);
    if (job_agree(job, lines_open(&results->telemetry, path)))
        return -1;
    exit_handlers_set_message("; what was measured before is in %s", results->top);
    return 0;
}

int results_close(struct results *results)
{
    int was_open = results->telemetry.file >= 0;
    watchdog_wait(results->watchdog, "closing this rank's metrics", 0, 0);
    int status = lines_close(&results->telemetry);
    if (!status && was_open && results->rank == 0)
        status = results_write_metrics_csv(results->directory);
    if (!status && was_open && results->prometheus_failed)
        status = error_report("--prometheus %s: the last summary could not be written; it is in %s/summary.prom",
                              results->prometheus, results->directory);
    if (results->lock > 0) {
        (void)fsync(results->lock); /* puts the files' names on disk */
        close(results->lock);
    }
    watchdog_arrived(results->watchdog);
    results->lock = 0;
    return status;
}

FILE *results_begin(struct results *results)
{
    return results->lines = text_begin(&results->text, &results->length);
}

int results_end(struct results *results)
{
    text_end(results->lines);
    watchdog_wait(results->watchdog, "writing this rank's metrics", 0, 0);
    lines_append(&results->telemetry, results->text, results->length);
    watchdog_arrived(results->watchdog);
    free(results->text);
    return lines_report(&results->telemetry);
}
