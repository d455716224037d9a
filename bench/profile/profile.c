/* profile.c - profile mode: the capture first, then rounds of blocks that the captured implementation is compared with.
 * The summary is written after the capture and again as rounds go by. */
#include "profile/profile.h"

#include "base/files.h"
#include "benchmark/table.h"
#include "kernels/error.h"
#include "profile/trace_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the summaries of what there is so far; with `print`, on the standard output too. All ranks call. */
static int write_summary(struct profile *p, const struct results *results, int print)
{
    struct run *run = p->run;
    char *text = NULL, name[128];
    const char *label = run->options->implementation[0].label;
    size_t length = 0;
    p->peak_bytes = (size_t)job_max(run->job, (double)open_device_memory(&run->opened));
    controls_compute(&p->controls, run);
    findings_create(&p->findings, run, &p->capture, &p->figures, &p->controls, p->peak_bytes);
    if (run->job->rank)
        return 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        FATAL("no memory for the summary");
    heading_print(out, run);
    fflush(out);
    size_t configuration = length;
    profile_report(out, p);
    fclose(out);
    snprintf(name, sizeof name, "%.63s_summary.txt", label);
    int status = files_replace(results->top, name, text) || profile_write_json(results, p) ? -1 : 0;
    if (print && (fputs(text + configuration, stdout) < 0 || fflush(stdout)))
        status = error_report("cannot write the summary to the standard output: %s", strerror(errno));
    free(text);
    return status;
}

static int write_so_far(void *context, struct run *run, const struct results *results)
{
    (void)run;
    return write_summary(context, results, 0);
}

static void block(void *context, struct run *run, const struct step_times *times, const struct overlap *overlap,
                  int implementation, size_t round)
{
    struct profile *p = context;
    controls_block(&p->controls, run, times, overlap, implementation, round);
}

static int measure(struct profile *p, struct results *results)
{
    struct run *run = p->run;
    if (run->job->rank == 0) {
        heading_print(stdout, run);
        fflush(stdout);
    }
    int status = capture_run(&p->capture, run, results);
    if (!p->capture.n) /* it failed before the first step that counts */
        return -1;
    profile_figures_create(&p->figures, run->job, &p->capture);
    totals_create(&p->totals, run->job, &run->timeline, run->device->compute_bytes, p->figures.first, p->figures.steps);
    totals_sort(&p->totals, run->options->profile_sort);
    int wrote = write_summary(p, results, 0);
    if (status)
        error_clear(); /* told already, and this one follows from it */
    if (status || job_agree(run->job, wrote))
        return -1;
    struct run_hooks hooks = {p, block, write_so_far};
    if (run->options->rounds && !p->capture.stopped)
        status = run_rounds(run, results, &hooks);
    if (run_stop_monitor(run))
        status = -1;
    wrote = write_summary(p, results, 1);
    if (status)
        error_clear(); /* the first failure has been told, and this one follows from it */
    else
        status = job_agree(run->job, wrote);
    if (run->measurements.rounds)
        run_tell_losses(run);
    return status || p->capture.stopped || losses_are_wrong(&run->losses) ? -1 : 0;
}

int run_profile(const struct job *job, const struct options *options, int argc, char *const argv[])
{
    struct run run = {.job = job, .options = options, .argc = argc, .argv = argv};
    struct profile profile = {.run = &run};
    struct results results = {.telemetry_file = -1};
    int status = run_set_up(&run, &results);
    if (!status)
        status = job_agree(job, trace_files_check(&run, &results));
    if (!status) {
        controls_create(&profile.controls, &run);
        status = measure(&profile, &results);
        controls_destroy(&profile.controls, &run);
    }
    if (!status)
        status = job_agree(job, results_close(&results));
    else
        results_close(&results);
    if (!status && job->rank == 0)
        fprintf(stderr, "Traces: %s/%s_rank_*_trace.json%s; the rest: %s\n", results.top,
                options->implementation[0].label, options->trace_gzip ? ".gz" : "", results.directory);
    profile_figures_destroy(&profile.figures);
    capture_destroy(&profile.capture);
    run_tear_down(&run);
    return status;
}
