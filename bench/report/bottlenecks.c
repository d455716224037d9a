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

/* The next one, of a run, with printf's text. */
__attribute__((format(printf, 6, 7))) static struct bottleneck *add(struct bottlenecks *found,
                                                                    const struct report_run *run, const char *name,
                                                                    double lost_s, double step, const char *format, ...)
{
    found->item = allocate_more(found->item, found->n, sizeof *found->item);
    struct bottleneck *b = &found->item[found->n++];
    va_list arguments;
    *b = (struct bottleneck){.run = run, .lost_s = lost_s, .interval = {NAN, NAN}, .share = lost_s / step};
    snprintf(b->name, sizeof b->name, "%s", name);
    snprintf(b->level, sizeof b->level, "%s", b->share > 0.2 ? "high" : b->share > 0.05 ? "warning" : "note");
    va_start(arguments, format);
    vsnprintf(b->text, sizeof b->text, format, arguments);
    va_end(arguments);
    return b;
}

static void add_findings(struct bottlenecks *found, const struct report_run *run)
{
    const cJSON *finding;
    cJSON_ArrayForEach(finding, run->findings)
    {
        struct bottleneck *b = add(found, run, json_string(finding, "name"), json_number(finding, "gain"),
                                   run->phase_s[PARTS], "%s", json_string(finding, "text"));
        snprintf(b->level, sizeof b->level, "%s", json_string(finding, "level"));
        snprintf(b->advice, sizeof b->advice, "%s", json_string(finding, "advice"));
    }
}

/* Whether a profile of the same label and ranks found exposed communication. */
static int profile_says(const struct report_runs *runs, const struct report_run *of)
{
    const cJSON *finding;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (run->ranks == of->ranks && !strcmp(run->label, of->label))
            cJSON_ArrayForEach(finding, run->findings)
            {
                if (!strcmp(json_string(finding, "name"), "exposed_communication"))
                    return 1;
            }
    return 0;
}

static void add_communication(struct bottlenecks *found, const struct report_runs *runs, const struct report_run *run)
{
    const struct figure *cost = figures_find(&run->figures, run->subject, "sync_cost", 0);
    const struct figure *step = figures_find(&run->figures, run->subject, "step", 0);
    char ms[CELL];
    if (!cost || !step || cost->value <= 0 || cost->low <= 0 || profile_says(runs, run))
        return;
    struct bottleneck *b = add(found, run, "communication", cost->value, step->value,
                               "%s takes %s a step longer than without communication (%zu rounds)", run->subject,
                               text_value_like(ms, cost->value, "s", cost->value), cost->n);
    b->interval[0] = cost->low;
    b->interval[1] = cost->high;
    snprintf(b->advice, sizeof b->advice,
             "let `ddpbench tune` find a better bucket size; reduce less often (--grad-accumulation) or fewer bytes "
             "(ddp_individual_v2 with --grad-dtype bf16); compute more for each reduction (--batch-size-per-rank); "
             "see what is exposed with --profile");
}

static void add_data_loading(struct bottlenecks *found, const struct report_run *run)
{
    struct breakdown b;
    if (run_breakdown(&b, run, run->subject) || !(b.part[PART_DATA] > 0.1 * b.step))
        return;
    struct bottleneck *loading =
        add(found, run, "data_loading", b.part[PART_DATA], b.step, "data loading takes %.1f %% of a step (%zu rounds)",
            100 * b.part[PART_DATA] / b.step, b.n);
    snprintf(loading->advice, sizeof loading->advice,
             "let more --data-workers fetch further ahead (--prefetch), or put --data on a faster disk");
}

static void add_slower_computation(struct bottlenecks *found, const struct scaling *s)
{
    const struct breakdown *base = &s->row[0].breakdown;
    for (const struct scaling_row *row = s->row + 1; row < s->row + s->n; row++) {
        double lost = row->lost_part_s[PART_COMPUTE], expected = row->work * base->part[PART_COMPUTE];
        char now[CELL], then[CELL];
        if (!(lost > 0.05 * row->work * base->step))
            continue;
        struct bottleneck *b = add(found, row->run, "slower_computation", lost, row->breakdown.step,
                                   "computation takes %s a step on %zu ranks, where the speed of %zu rank%s would make "
                                   "it %s",
                                   text_value_like(now, row->breakdown.part[PART_COMPUTE], "s", expected),
                                   row->run->ranks, s->row[0].run->ranks, text_plural(s->row[0].run->ranks),
                                   text_value_like(then, expected, "s", expected));
        snprintf(b->advice, sizeof b->advice,
                 "give each rank cores of its own (launch/run.sh, or srun --cpu-bind=cores) and as many --threads; "
                 "where ranks of a node share its memory, use fewer ranks with more --threads; overlap slows "
                 "computation down, too: compare with ddp_flat");
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
    if (lost_x != lost_y)
        return lost_x < lost_y ? 1 : -1;
    return level_of(x) != level_of(y) ? level_of(y) - level_of(x) : (x->run > y->run) - (x->run < y->run);
}

void bottlenecks_find(struct bottlenecks *found, const struct report_runs *runs, const struct scaling *scaling,
                      size_t scalings)
{
    *found = (struct bottlenecks){0};
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        add_findings(found, run);
        if (!strcmp(run->mode, "benchmark") || !strcmp(run->mode, "tune")) {
            add_communication(found, runs, run);
            add_data_loading(found, run);
        }
    }
    for (size_t i = 0; i < scalings; i++)
        add_slower_computation(found, &scaling[i]);
    if (found->n)
        qsort(found->item, found->n, sizeof *found->item, by_cost);
}

void bottlenecks_destroy(struct bottlenecks *found)
{
    free(found->item);
    *found = (struct bottlenecks){0};
}
