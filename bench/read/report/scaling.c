/* scaling.c - speed-up, efficiency, and what was lost. */
#include "report/scaling.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_ranks(const void *a, const void *b)
{
    const struct scaling_row *x = a, *y = b;
    int by_label = strcmp(x->run->label, y->run->label);
    return x->run->ranks != y->run->ranks ? (x->run->ranks > y->run->ranks) - (x->run->ranks < y->run->ranks)
           : by_label                     ? by_label
                                          : strcmp(x->run->directory, y->run->directory);
}

static struct measured step_of(const struct scaling_row *row)
{
    return (struct measured){row->breakdown.step, row->breakdown.interval[0], row->breakdown.interval[1]};
}

struct measured scaling_throughput(const struct scaling_row *row, const struct scaling_row *other)
{
    struct measured ratio = stats_ratio(step_of(other), step_of(row));
    double tokens = row->run->tokens / other->run->tokens;
    return (struct measured){ratio.value * tokens, ratio.low * tokens, ratio.high * tokens};
}

const struct scaling_row *scaling_fastest(const struct scaling *s)
{
    const struct scaling_row *fastest = s->row;
    for (const struct scaling_row *row = s->row; row < s->row + s->n; row++)
        fastest = row->tokens_s >= fastest->tokens_s ? row : fastest;
    return fastest;
}

static void compare_with_base(struct scaling_row *row, const struct scaling_row *base)
{
    const struct breakdown *b = &row->breakdown, *first = &base->breakdown;
    double ranks = (double)row->run->ranks / (double)base->run->ranks;
    struct measured speedup = scaling_throughput(row, base);
    row->speedup = speedup.value;
    row->efficiency = row->speedup / ranks;
    row->interval[0] = row == base ? NAN : speedup.low / ranks;
    row->interval[1] = row == base ? NAN : speedup.high / ranks;
    row->work = row->run->tokens / base->run->tokens / ranks;
    struct measured expected = {row->work * first->step, row->work * first->interval[0],
                                row->work * first->interval[1]};
    struct measured lost = stats_difference(step_of(row), expected);
    row->lost_s = lost.value;
    row->lost_interval[0] = row == base ? NAN : lost.low;
    row->lost_interval[1] = row == base ? NAN : lost.high;
    for (int p = 0; p < PARTS; p++)
        row->lost_part_s[p] = b->part[p] - row->work * first->part[p];
}

static int alike(const struct report_run *run, const struct report_run *like)
{
    return !*run->problem && run->ranks && !strcmp(run->mode, like->mode) && !strcmp(run->workload, like->workload);
}

/* The subject of those runs with the most ranks, if all that have a step have one of it; otherwise "". */
static const char *common_subject(const struct report_runs *runs, size_t first)
{
    const struct report_run *like = &runs->item[first], *end = runs->item + runs->n, *most = like;
    for (const struct report_run *run = like; run < end; run++)
        most = alike(run, like) && run->ranks > most->ranks ? run : most;
    struct breakdown own, common;
    for (const struct report_run *run = like; run < end; run++)
        if (alike(run, like) && !run_breakdown(&own, run, run->subject) && run_breakdown(&common, run, most->subject))
            return "";
    return most->subject;
}

/* The runs like number `first`, from there on. */
static struct scaling scaling_of(const struct report_runs *runs, size_t first)
{
    const struct report_run *like = &runs->item[first], *end = runs->item + runs->n;
    size_t room = 0;
    for (const struct report_run *run = like; run < end; run++)
        room += (size_t)alike(run, like);
    struct scaling s = {like->mode, like->workload, common_subject(runs, first), allocate(room + 1, sizeof *s.row), 0};
    for (const struct report_run *run = like; run < end; run++) {
        struct scaling_row *row = &s.row[s.n];
        row->subject = *s.subject ? s.subject : run->subject;
        if (!alike(run, like) || run_breakdown(&row->breakdown, run, row->subject))
            continue;
        row->run = run;
        row->tokens_s = run->tokens / row->breakdown.step;
        s.n += row->tokens_s > 0 && isfinite(row->tokens_s); /* not where the run does not say how many */
    }
    qsort(s.row, s.n, sizeof *s.row, by_ranks);
    for (size_t i = 0; i < s.n; i++)
        compare_with_base(&s.row[i], s.row);
    return s;
}

static int seen_before(const struct report_runs *runs, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (alike(&runs->item[j], &runs->item[i]))
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
            if (*run->problem || strcmp(run->mode, modes[m]) != 0 || !*run->workload || seen_before(runs, i))
                continue;
            struct scaling one = scaling_of(runs, i);
            if (one.n > 1 && one.row[0].run->ranks < one.row[one.n - 1].run->ranks)
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
