/* bottlenecks.c - where runs lose time. */
#include "report/bottlenecks.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *words_of(const char *name)
{
    static const char *const words[][2] = {{"without_a_core", "CPU contention"},
                                           {"slower_computation", "slower computation"},
                                           {"exposed_communication", "exposed communication"},
                                           {"communication", "communication"},
                                           {"collectives", "slow collectives"},
                                           {"straggler", "a straggler"},
                                           {"data_loading", "data loading"},
                                           {"device_busy", "an idle device"},
                                           {"memory", "little memory left"},
                                           {"slow_link", "a slow link"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(name, words[i][0]))
            return words[i][1];
    return "something else";
}

int bottleneck_is_significant(const struct bottleneck *b)
{
    return !(b->interval[0] <= 0);
}

/* More of its text. */
__attribute__((format(printf, 2, 3))) static void say(struct bottleneck *b, const char *format, ...)
{
    va_list arguments;
    size_t at = strlen(b->text);
    va_start(arguments, format);
    vsnprintf(b->text + at, sizeof b->text - at, format, arguments);
    va_end(arguments);
}

/* The next one, of a run, without its text and advice. */
static struct bottleneck *add(struct bottlenecks *found, const struct report_run *run, const char *name,
                              struct measured lost, double step)
{
    found->item = allocate_more(found->item, found->n, sizeof *found->item);
    struct bottleneck *b = &found->item[found->n++];
    *b = (struct bottleneck){run, "", words_of(name), "", lost.value, {lost.low, lost.high}, lost.value / step, "", ""};
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->level, sizeof b->level, "%s",
             !bottleneck_is_significant(b) || !(b->share > 0.05) ? "note"
             : b->share > 0.2                                    ? "high"
                                                                 : "warning");
    return b;
}

/* The first run on so many ranks; NULL: there is none. */
static const struct report_run *run_on(const struct report_runs *runs, size_t ranks)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (!*run->problem && run->ranks == ranks)
            return run;
    return NULL;
}

/* What helps where ranks lack CPUs, whatever suffers from it; otherwise `other`. */
static void advise(struct bottleneck *b, const struct report_runs *runs, const char *other)
{
    size_t threads = b->run->threads, cpus = b->run->place.cpus, fit = threads ? cpus / threads : 0;
    const struct report_run *like = run_on(runs, fit);
    if (!run_lacks_cpus(runs, b->run))
        snprintf(b->advice, sizeof b->advice, "%s", other);
    else if (fit)
        snprintf(b->advice, sizeof b->advice,
                 "start %zu rank%s of `--threads %zu` on these %zu logical CPUs (`-n %zu`%s%s), or add machines", fit,
                 text_plural(fit), threads, cpus, fit, like ? ", as in " : "", like ? like->label : "");
    else
        snprintf(b->advice, sizeof b->advice,
                 "give each rank as many logical CPUs as it has threads: fewer ranks on a machine, or more machines");
}

static const char tune_it[] =
    "let `ddpbench tune --max-minutes 5` look for the strategy and bucket size that cost least";

/* What a profile found by that name, or NULL. */
static const cJSON *finding_of(const struct report_run *run, const char *name)
{
    const cJSON *finding;
    cJSON_ArrayForEach(finding, run->findings)
    {
        if (!strcmp(json_string(finding, "name"), name))
            return finding;
    }
    return NULL;
}

/* The profile of that label on as many ranks that found this, or NULL. */
static const struct report_run *profile_that_says(const struct report_runs *runs, const struct report_run *of,
                                                  const char *name)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (run->ranks == of->ranks && !strcmp(run->label, of->label) && finding_of(run, name))
            return run;
    return NULL;
}

/* Of communication its cost by the profile's own rounds, and what its collectives are found to take, which is no other
 * loss. */
static void add_exposed(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run,
                        const cJSON *finding)
{
    struct measured cost = run_figure(run, run->subject, "sync_cost");
    const cJSON *collectives = finding_of(run, "collectives");
    char ms[CELL], name[160];
    int paired = cost.value > 0 && isfinite(cost.low);
    struct bottleneck *b =
        add(found, run, "exposed_communication",
            paired ? cost : (struct measured){json_number(finding, "gain"), NAN, NAN}, run->phase_s[PARTS]);
    if (paired)
        say(b, "%s takes %s a step longer than without communication, round by round%s; ",
            run_name(name, run, run->subject), text_milliseconds(ms, cost.value, cost.low, cost.high),
            bottleneck_is_significant(b) ? "" : ", so not significantly");
    say(b, "%s", json_string(finding, "text"));
    if (collectives)
        say(b, "; %s", json_string(collectives, "text"));
    advise(b, runs, tune_it);
}

static void add_findings(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    const cJSON *finding;
    cJSON_ArrayForEach(finding, run->findings)
    {
        const char *name = json_string(finding, "name");
        struct measured gain = {json_number(finding, "gain"), NAN, NAN};
        if (!strcmp(name, "exposed_communication")) {
            add_exposed(found, runs, run, finding);
            continue;
        }
        if (!strcmp(name, "collectives") && finding_of(run, "exposed_communication"))
            continue; /* which says it */
        struct bottleneck *b = add(found, run, name, gain, run->phase_s[PARTS]);
        say(b, "%s", json_string(finding, "text"));
        if (!isfinite(gain.value))
            snprintf(b->level, sizeof b->level, "%s", json_string(finding, "level"));
        if (!strcmp(name, "without_a_core")) {
            b->share = json_number(finding, "percent") / 100; /* of the median step, as its text says */
            advise(b, runs, json_string(finding, "advice"));
        } else
            snprintf(b->advice, sizeof b->advice, "%s", json_string(finding, "advice"));
    }
}

static void add_communication(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    struct measured cost = run_figure(run, run->subject, "sync_cost"), step = run_figure(run, run->subject, "step");
    char ms[CELL];
    if (!(cost.value > 0 && step.value > 0) || cost.low <= 0 || profile_that_says(runs, run, "exposed_communication"))
        return;
    struct bottleneck *b = add(found, run, "communication", cost, step.value);
    say(b, "%s takes %s a step longer than without communication, round by round", run->subject,
        text_milliseconds(ms, cost.value, cost.low, cost.high));
    advise(b, runs, tune_it);
}

static void add_data_loading(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    struct breakdown b;
    if (run_breakdown(&b, run, run->subject) || !(b.part[PART_DATA] > 0.1 * b.step.value) ||
        profile_that_says(runs, run, "data_loading"))
        return;
    struct bottleneck *loading =
        add(found, run, "data_loading", run_figure(run, run->subject, "data_loading"), b.step.value);
    say(loading, "waiting for data takes %.1f %% of a step", 100 * b.part[PART_DATA] / b.step.value);
    advise(loading, runs, "let twice as many `--data-workers` fetch ahead, or put `--data` on a faster disk");
}

/* Computation that takes longer on more ranks: where these had no core, this is what it comes from. */
static void add_slower_computation(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *s)
{
    const struct measured base = s->row->breakdown.compute;
    for (const struct scaling_row *row = s->row + 1; row < s->row + s->n; row++) {
        struct measured expected = {row->work * base.value, row->work * base.low, row->work * base.high};
        struct measured lost = stats_difference(row->breakdown.compute, expected);
        lost.value = row->lost_part_s[PART_COMPUTE];
        char now[CELL], then[CELL], more[CELL], words[400];
        if (!(lost.value > 0.05 * row->work * s->row->breakdown.step.value) || lost.low <= 0)
            continue;
        expected.value = row->work * s->row->breakdown.part[PART_COMPUTE];
        snprintf(words, sizeof words,
                 "computation takes %s a step on %zu ranks; at the speed of %zu rank%s it would take %s",
                 text_milliseconds(now, row->breakdown.part[PART_COMPUTE], NAN, NAN), row->run->ranks,
                 s->row->run->ranks, text_plural(s->row->run->ranks),
                 text_milliseconds(then, expected.value, NAN, NAN));
        const struct report_run *profile = profile_that_says(runs, row->run, "without_a_core");
        struct bottleneck *cause = NULL;
        for (size_t i = 0; profile && i < found->n; i++)
            if (found->item[i].run == profile && !strcmp(found->item[i].name, "without_a_core"))
                cause = &found->item[i];
        if (cause) {
            say(cause, "; this is why in the %s %s, %s more", row->run->mode, words,
                text_milliseconds(more, lost.value, lost.low, lost.high));
            continue;
        }
        struct bottleneck *b = add(found, row->run, "slower_computation", lost, row->breakdown.step.value);
        say(b, "%s", words);
        advise(b, runs, "give each rank cores of its own: `launch/run.sh`, or `srun --cpu-bind=cores`");
    }
}

static int level_of(const struct bottleneck *b)
{
    return !strcmp(b->level, "high") ? 2 : !strcmp(b->level, "warning") ? 1 : 0;
}

static int by_cost(const void *a, const void *b)
{
    const struct bottleneck *x = a, *y = b;
    double lost_x = isfinite(x->lost_s) ? x->lost_s : -INFINITY, lost_y = isfinite(y->lost_s) ? y->lost_s : -INFINITY;
    int nothing = !bottleneck_is_significant(x) - !bottleneck_is_significant(y);
    if (nothing && isfinite(x->lost_s) && isfinite(y->lost_s))
        return nothing;
    if (lost_x != lost_y)
        return lost_x < lost_y ? 1 : -1;
    return level_of(x) != level_of(y) ? level_of(y) - level_of(x) : (x->run > y->run) - (x->run < y->run);
}

void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings)
{
    *found = (struct bottlenecks){0};
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        add_findings(found, runs, run);
        if (run_compares(run)) {
            add_communication(found, runs, run);
            add_data_loading(found, runs, run);
        }
    }
    for (size_t i = 0; i < scalings; i++)
        add_slower_computation(found, runs, &scaling[i]);
    if (found->n)
        qsort(found->item, found->n, sizeof *found->item, by_cost);
}

void bottlenecks_destroy(struct bottlenecks *found)
{
    free(found->item);
    *found = (struct bottlenecks){0};
}
