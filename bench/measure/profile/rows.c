/* rows.c - the rows of a profile: each implementation is followed by its controls; `none` comes last. */
#include "profile/controls.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a copy of a row that is not captured, under that label; with several profiles in a run, label:<row's label>. */
static struct implementation *add_control(struct training_options *t, const struct implementation *of,
                                          const char *label, int several)
{
    struct implementation *row = &t->implementation[t->n++];
    *row = *of;
    row->captured = 0;
    snprintf(row->label, sizeof row->label, several ? "%s:%.61s" : "%s", label, of->label);
    return row;
}

int profile_rows_make(struct training_options *t, const struct strategy_list *list)
{
    struct implementation *wanted = allocate(MAX_IMPLEMENTATIONS, sizeof *wanted);
    int n = implementations_make(wanted, list, &t->workload.bucket_sizes, t->workload.grad_dtype), has_none = 0;
    enum { MOST = (MAX_IMPLEMENTATIONS - 1) / 3 };
    if (n > MOST)
        n = error_report("--profile-implementation: %d profiles; at most %d in one run", n, MOST);
    for (const struct implementation *w = wanted; w < wanted + n; w++)
        if (!strcmp(w->label, "untraced") || !strcmp(w->label, "after_backward") || !strcmp(w->label, "comparison") ||
            (!strcmp(w->label, strategy_none.name) && w->strategy->reduces))
            n = error_report("--profile-implementation: the label '%s' is taken; choose another", w->label);
    t->n = 0;
    for (const struct implementation *w = wanted; w < wanted + n; w++) {
        t->implementation[t->n] = *w;
        t->implementation[t->n].traced = t->implementation[t->n].captured = 1;
        const struct implementation *row = &t->implementation[t->n++];
        add_control(t, row, "untraced", n > 1)->traced = 0;
        if (row->strategy->overlaps)
            add_control(t, row, "after_backward", n > 1)->after_backward = 1;
        has_none |= !row->strategy->reduces;
    }
    if (n > 0 && !has_none) {
        t->implementation[t->n] = (struct implementation){.strategy = &strategy_none, .traced = 1};
        snprintf(t->implementation[t->n++].label, IMPLEMENTATION_LABEL, "%s", strategy_none.name);
    }
    free(wanted);
    return n < 0 ? -1 : 0;
}

struct profile_rows profile_rows_find(const struct implementation *row, int n, int captured)
{
    const struct strategy *strategy =
        row[captured].strategy; /* its controls follow it, as profile_rows_make has them */
    struct profile_rows rows = {captured, captured + 1, strategy->overlaps ? captured + 2 : -1, -1};
    for (int i = 0; i < n && strategy->reduces; i++)
        if (row[i].traced && !row[i].strategy->reduces)
            rows.none = i;
    return rows;
}
