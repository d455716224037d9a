/* scaling.c - computes speed-up and efficiency on more ranks, and which parts of a step lose time. */
#include "report/scaling.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_ranks(const void *a, const void *b)
{
    const struct scaling_row *x = a, *y = b;
    int by_label = strcmp(x->label, y->label);
    return x->ranks != y->ranks ? (x->ranks > y->ranks) - (x->ranks < y->ranks)
           : by_label           ? by_label
                                : strcmp(x->run->saved.directory, y->run->saved.directory);
}

static void compare_with_base(struct scaling_row *row, const struct scaling_row *base)
{
    const struct measured first = base->breakdown.step, ratio = stats_ratio(first, row->breakdown.step);
    double ranks = (double)row->ranks / (double)base->ranks, tokens = row->run->tokens / base->run->tokens;
    row->work = tokens / ranks;
    row->speedup = ratio.value * tokens;
    row->efficiency = (struct measured){row->speedup / ranks, ratio.low * tokens / ranks, ratio.high * tokens / ranks};
    row->lost_s = stats_difference(
        row->breakdown.step, (struct measured){row->work * first.value, row->work * first.low, row->work * first.high});
    if (row == base)
        row->efficiency.low = row->efficiency.high = row->lost_s.low = row->lost_s.high = NAN;
    for (int p = 0; p < PARTS; p++)
        row->lost_part_s[p] = row->breakdown.part[p] - row->work * base->breakdown.part[p];
}

static int is_like(const struct report_run *run, const struct report_run *like)
{
    return !*run->problem && run->ranks && !strcmp(run->mode, like->mode) && !strcmp(run->workload, like->workload);
}

/* Returns the subject on the most ranks, of runs like `like`; "" if a run has a breakdown of its own subject only. */
static const char *common_subject(const struct report_run *like, const struct report_run *end)
{
    const struct report_run *most = like;
    for (const struct report_run *run = like; run < end; run++)
        most = is_like(run, like) && run->ranks > most->ranks ? run : most;
    struct breakdown own, common;
    for (const struct report_run *run = like; run < end; run++)
        if (is_like(run, like) && !run_breakdown(&own, run, run->subject) && run_breakdown(&common, run, most->subject))
            return "";
    return most->subject;
}

/* Makes the scaling of the first run of this mode with a workload, and of all later runs like it. */
static struct scaling scaling_of(const struct report_runs *runs, const char *mode)
{
    const struct report_run *like = runs->item, *end = runs->item + runs->n;
    while (like < end && (*like->problem || strcmp(like->mode, mode) != 0 || !*like->workload))
        like++;
    struct scaling s = {like < end ? common_subject(like, end) : "", allocate(runs->n + 1, sizeof *s.row), 0};
    for (const struct report_run *run = like; run < end; run++) {
        struct scaling_row *row = &s.row[s.n];
        row->subject = *s.subject ? s.subject : run->subject;
        if (!is_like(run, like) || run_breakdown(&row->breakdown, run, row->subject))
            continue;
        row->run = run;
        row->label = run->label;
        row->ranks = run->ranks;
        row->hosts = run->hosts;
        row->sequences = run->sequences;
        row->tokens_s = run->tokens / row->breakdown.step.value;
        s.n += row->tokens_s > 0 && isfinite(row->tokens_s);
    }
    qsort(s.row, s.n, sizeof *s.row, by_ranks);
    for (size_t i = 0; i < s.n; i++)
        compare_with_base(&s.row[i], s.row);
    return s;
}

struct scaling scaling_find(const struct report_runs *runs)
{
    static const char *const modes[] = {"benchmark", "profile"};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        struct scaling s = scaling_of(runs, modes[m]);
        if (s.n > 1 && s.row[0].ranks < s.row[s.n - 1].ranks)
            return s;
        free(s.row);
    }
    return (struct scaling){0};
}
