/* bottlenecks.c - finds where runs lose time. */
#include "report/bottlenecks.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct finding *append_bottleneck(struct bottlenecks *found, const struct report_run *run)
{
    found->item = allocate_more(found->item, found->n, sizeof *found->item);
    struct bottleneck *b = &found->item[found->n++];
    *b = (struct bottleneck){.mode = run->mode, .ranks = run->ranks};
    run_words(b->label, sizeof b->label, run->label, run_compares(run) ? "" : run->subject, "");
    return &b->finding;
}

/* Adds a finding without a text. step: the step of which the loss is a part. Advises more CPUs, in place of `advice`,
 * if ranks have fewer CPUs than threads. On a busy machine it is a note, whose only advice is to measure again. */
static struct finding *add_finding(struct bottlenecks *found, const struct report_run *run, const char *name,
                                   struct measured loss, double step, const char *advice)
{
    struct finding *finding = append_bottleneck(found, run);
    double share = loss.value / step;
    *finding = (struct finding){.level = share > 0.2    ? LEVEL_HIGH
                                         : share > 0.05 ? LEVEL_WARNING
                                                        : LEVEL_NOTE,
                                .percent = NAN,
                                .threshold = NAN,
                                .loss = loss,
                                .share = share};
    snprintf(finding->name, sizeof finding->name, "%s", name);
    snprintf(finding->advice, sizeof finding->advice, "%s",
             run->cpus_per_rank < (double)run->threads
                 ? "give each rank as many logical CPUs as it has threads: fewer ranks on a machine, or more machines"
                 : advice);
    if (run_is_busy(run))
        finding_lower(finding);
    return finding;
}

/* Whether a profile with the same label and number of ranks as `like` has a finding named `name`. */
static int profile_found(const struct report_runs *runs, const struct report_run *like, const char *name)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (run->ranks == like->ranks && !strcmp(run->label, like->label) && run_has_finding(run, name))
            return 1;
    return 0;
}

static void add_communication(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    struct measured cost = run_figure(run, run->subject, "sync_cost"), step = run_figure(run, run->subject, "step");
    char ms[CELL], tune[TUNE_COMMAND], advice[TUNE_COMMAND + 80];
    if (!(step.value > 0) || profile_found(runs, run, "exposed communication"))
        return;
    if (!strcmp(run->mode, "tune"))
        snprintf(advice, sizeof advice, "use a faster link, a larger batch, or --grad-accumulation");
    else
        snprintf(advice, sizeof advice, "run `%s` to find the strategy and bucket size that cost least",
                 saved_run_tune(tune, run->saved.run, run->ranks));
    struct measured exposed = run_figure(run, run->subject, "gradient_sync"),
                    gather = run_figure(run, run->subject, "parameter_gather");
    if (gather.value > 0)
        exposed = (struct measured){exposed.value + gather.value, NAN, NAN}; /* the sum has no interval */
    if (!isfinite(cost.value) && isfinite(step.low) &&
        100 * exposed.value / step.value > criteria[CRITERION_EXPOSED].limit[LEVEL_WARNING])
        finding_append(
            add_finding(found, run, "communication", exposed, step.value, advice),
            "%s waits for communication for %s of a step; its cost is not known, since `none` was not compared",
            run->subject, text_milliseconds(ms, exposed.value, exposed.low, exposed.high));
    if (!(cost.value > 0) || !isfinite(cost.low)) /* no interval: too few rounds for a verdict */
        return;
    double none = run_figure(run, "none", "step").value; /* loss / (this + cost): medians need not add up to the step */
    struct finding *finding =
        add_finding(found, run, "communication", cost, isfinite(none) ? none + cost.value : step.value, advice);
    if (!finding_is_significant(finding))
        finding->level = LEVEL_NOTE;
    finding_append(finding, "%s is %s a step slower than without communication%s", run->subject,
                   text_milliseconds(ms, cost.value, cost.low, cost.high),
                   finding_is_significant(finding) ? "" : ", which is not significant");
}

/* Data and checkpoints cost all implementations the same: if none is best, the first implementation is reported. */
static const char *subject_of(const struct report_run *run)
{
    return *run->subject || !run->implementations ? run->subject : run->implementation[0].subject;
}

static void add_checkpoints(struct bottlenecks *found, const struct report_run *run)
{
    struct measured step = run_figure(run, subject_of(run), "step"),
                    cost = run_figure(run, subject_of(run), "checkpoint");
    if (cost.value > 0.1 * step.value)
        finding_append(add_finding(found, run, "checkpoints", cost, step.value,
                                   "save less often (a larger --checkpoint-every), or to a faster disk"),
                       "saving checkpoints takes %.1f %% of a step, on average", 100 * cost.value / step.value);
}

static void add_data_loading(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    struct breakdown b;
    if (!run_breakdown(&b, run, subject_of(run)) &&
        100 * b.share[PART_DATA] > criteria[CRITERION_DATA].limit[LEVEL_NOTE] &&
        !profile_found(runs, run, "data loading"))
        finding_append(add_finding(found, run, "data loading", run_figure(run, subject_of(run), "data_loading"), b.sum,
                                   "let twice as many `--data-workers` fetch ahead, or put `--data` on a faster disk"),
                       "waiting for data takes %.1f %% of a step", 100 * b.share[PART_DATA]);
}

static void add_slower_computation(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scaling_row *base = s->row, *row = &s->row[i];
        const struct measured alone = base->breakdown.compute;
        struct measured expected = {row->work * alone.value, row->work * alone.low, row->work * alone.high};
        struct measured lost = stats_difference(row->breakdown.compute, expected);
        char now[CELL], then[CELL];
        lost.value = row->lost_part_s[PART_COMPUTE];
        if (lost.value > 0.05 * row->work * base->breakdown.step.value && !(lost.low <= 0) &&
            !profile_found(runs, row->run, "CPU contention"))
            finding_append(add_finding(found, row->run, "slower computation", lost, row->breakdown.sum,
                                       "give each rank cores of its own: `launch/run.sh`, or `srun --cpu-bind=cores`"),
                           "computation takes %s a step on %zu ranks; at the speed of %zu rank%s it would take %s",
                           text_milliseconds(now, row->breakdown.part[PART_COMPUTE], NAN, NAN), row->run->ranks,
                           base->run->ranks, text_plural(base->run->ranks),
                           text_milliseconds(then, row->work * base->breakdown.part[PART_COMPUTE], NAN, NAN));
    }
}

struct bottlenecks bottlenecks_find(const struct report_runs *runs, const struct scaling *scaling)
{
    struct bottlenecks found = {0};
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        for (const cJSON *finding = json_first(run->saved.summary, "findings"); finding; finding = finding->next)
            finding_read(append_bottleneck(&found, run), finding);
        if (run_compares(run)) {
            add_communication(&found, runs, run);
            add_data_loading(&found, runs, run);
            add_checkpoints(&found, run);
        }
    }
    add_slower_computation(&found, runs, scaling);
    if (found.n)
        qsort(found.item, found.n, sizeof *found.item, finding_compare);
    for (size_t i = 0; i < found.n; i++)
        found.item[i].level = level_name[found.item[i].finding.level];
    return found;
}
