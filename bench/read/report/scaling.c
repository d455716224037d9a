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
                                : strcmp(x->run->directory, y->run->directory);
}

/* Returns the throughput of a row divided by the throughput of another row. */
static struct measured throughput_ratio(const struct scaling_row *row, const struct scaling_row *other)
{
    struct measured ratio = stats_ratio(other->breakdown.step, row->breakdown.step);
    double tokens = row->run->tokens / other->run->tokens;
    return (struct measured){ratio.value * tokens, ratio.low * tokens, ratio.high * tokens};
}

static void compare_with_base(struct scaling_row *row, const struct scaling_row *base)
{
    const struct measured first = base->breakdown.step, speedup = throughput_ratio(row, base);
    double ranks = (double)row->ranks / (double)base->ranks;
    row->work = row->run->tokens / base->run->tokens / ranks;
    row->speedup = speedup.value;
    row->efficiency = (struct measured){speedup.value / ranks, speedup.low / ranks, speedup.high / ranks};
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

/* Returns the subject on the most ranks, of runs like `first`; "" if a run has a breakdown of its own subject only. */
static const char *common_subject(const struct report_runs *runs, size_t first)
{
    const struct report_run *like = &runs->item[first], *end = runs->item + runs->n, *most = like;
    for (const struct report_run *run = like; run < end; run++)
        most = is_like(run, like) && run->ranks > most->ranks ? run : most;
    struct breakdown own, common;
    for (const struct report_run *run = like; run < end; run++)
        if (is_like(run, like) && !run_breakdown(&own, run, run->subject) && run_breakdown(&common, run, most->subject))
            return "";
    return most->subject;
}

/* Makes the scaling of run `first` and all later runs with the same mode and workload. */
static struct scaling scaling_of(const struct report_runs *runs, size_t first)
{
    const struct report_run *like = &runs->item[first], *end = runs->item + runs->n;
    size_t room = 0;
    for (const struct report_run *run = like; run < end; run++)
        room += (size_t)is_like(run, like);
    struct scaling s = {like->mode, like->workload, common_subject(runs, first), allocate(room + 1, sizeof *s.row), 0};
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

static int has_earlier_like(const struct report_runs *runs, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (is_like(&runs->item[j], &runs->item[i]))
            return 1;
    return 0;
}

size_t scaling_find(struct scaling **scaling, const struct report_runs *runs)
{
    static const char *const modes[] = {"benchmark", "profile"};
    size_t n = 0;
    *scaling = allocate(runs->n + 1, sizeof **scaling);
    for (size_t m = 0; m < sizeof modes / sizeof *modes && !n; m++)
        for (size_t i = 0; i < runs->n; i++) {
            const struct report_run *run = &runs->item[i];
            if (*run->problem || strcmp(run->mode, modes[m]) != 0 || !*run->workload || has_earlier_like(runs, i))
                continue;
            struct scaling one = scaling_of(runs, i);
            if (one.n > 1 && one.row[0].ranks < one.row[one.n - 1].ranks)
                (*scaling)[n++] = one;
            else
                free(one.row);
        }
    return n;
}

void scaling_destroy(struct scaling *scaling, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(scaling[i].row);
    free(scaling);
}
