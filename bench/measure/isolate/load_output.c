/* load_output.c - what `isolate` found under load, in notes, a table and figures. */
#include "isolate/output.h"
#include "results/results.h"

#include <stdio.h>

enum { NAMES = 2 * HOST_TEXT + 60 };

/* The groups of a level; the other fields are of its slowest group. */
struct group_row {
    int size, groups;
    struct estimate seconds;
    double expected, x;
    struct fault fault; /* load_fault */
    size_t n;
    const char *state;
    char slowest[NAMES]; /* its first and its last member */
};

/* Adds how the network carries messages of all pairs across the middle, as a note and as a figure. */
static void add_across(const struct load *load, cJSON *summary, struct figure_list *figures)
{
    const struct estimate *across = &load->across;
    if (across->n < STATS_LEAST)
        return;
    results_add_sentence(
        summary, "notes",
        "Load: while %d pairs across the middle send at once, a message takes %.2f times as long [%.2f, %.2f] as while "
        "one pair does (n = %zu): %s.",
        load->members / 2, across->median, across->ci_low, across->ci_high, across->n,
        across->ci_low > 1    ? "the pairs share something that does not carry all of them at full rate"
        : across->ci_high < 1 ? "below 1, a pair alone takes longer, as links or CPUs that idle in between may need "
                                "time to wake up; the network carries all at full rate"
                              : "the interval contains 1, so no difference from one pair alone is shown");
    figures_add_estimate(figures, "all", "load", "1", across, BETTER_LOWER, 0);
}

#define OF(field) offsetof(struct group_row, field)
static const struct column columns[] = {
    {"size", "size", COLUMN_INT, OF(size), "1", 1, 4, 0},
    {"groups", "groups", COLUMN_INT, OF(groups), "1", 1, 6, 0},
    {"time", "time\nms", COLUMN_REAL, OF(seconds.median), "s", 1e3, 8, -4},
    {"expected", "expected\nms", COLUMN_REAL, OF(expected), "s", 1e3, 8, -4},
    {"time_to_expected", "x", COLUMN_REAL, OF(x), "1", 1, 5, 2},
    {"n", "n", COLUMN_COUNT, OF(n), "1", 1, 4, 0},
    {"ratio", "to the\nmedian", COLUMN_REAL, OF(fault.ratio), "1", 1, 7, 2},
    {"ratio", "interval", COLUMN_INTERVAL, COLUMN_ENDS(struct group_row, fault.low, fault.high), "1", 1, 13, 2},
    {"state", "state", COLUMN_NAME, OF(state), NULL, 0, -10, 0},
    {"slowest", "slowest group", COLUMN_CHARS, OF(slowest), NULL, 0, -13, 0},
};

static struct group_row row_of(const struct load *load, const struct member *member, int level)
{
    static const char *const state_name[] = {[SERIES_NONE] = "not judged",
                                             [SERIES_UNDECIDED] = "undecided",
                                             [SERIES_HEALTHY] = "healthy",
                                             [SERIES_SLOW] = "slow in a part"};
    const struct load_level *l = &load->level[level];
    struct group_row row = {.size = l->size, .groups = l->groups, .n = l->ratios.n};
    int slowest = 0;
    for (int b = 0; b < l->groups; b++) {
        struct estimate seconds = load_seconds(l, b);
        if (b == 0 || seconds.median > row.seconds.median) {
            row.seconds = seconds;
            slowest = b;
        }
    }
    row.x = load_x(load, l, slowest);
    row.expected = row.seconds.median / row.x;
    row.fault = load_fault(load, level, slowest);
    row.state = load_is_fault(load, level, slowest) ? "slow" : state_name[l->ratios.state[slowest]];
    snprintf(row.slowest, sizeof row.slowest, "%s to %s", member[row.fault.member].name, member[row.fault.other].name);
    return row;
}

void load_output(const struct load *load, const struct member *member, cJSON *summary, struct figure_list *figures)
{
    struct group_row row[LOAD_MOST_LEVELS];
    size_t rows = 0;
    add_across(load, summary, figures);
    for (int l = 0; l < load->levels && load->level[l].ratios.n; l++) {
        const struct group_row *of = &row[rows];
        char subject[48];
        row[rows++] = row_of(load, member, l);
        snprintf(subject, sizeof subject, "groups of %d", of->size);
        figures_add_estimate(figures, subject, "all_reduce", "s", &of->seconds, BETTER_LOWER, 1);
        figures_add_value(figures, subject, "all_reduce_to_expected", "1", of->x, of->n, BETTER_LOWER);
    }
    if (rows)
        results_add_table(
            summary,
            &(struct table){"groups", "Groups", TABLE_COLUMNS(columns), TABLE_ROWS(row, rows),
                            .note = {"time: an all-reduce of --bytes in the slowest group, while all groups of that "
                                     "size do the same. expected: time of its messages as measured between "
                                     "neighbours, without additions. x: time / expected. to the median: time / the "
                                     "median group's; fewer than 3 groups are not judged. slow in a part: a smaller "
                                     "group in it is slow, or a member is not known to be healthy."}});
}
