/* load_output.c - what `isolate` found under load, in sentences, a table, figures and test cases. */
#include "isolate/load_output.h"

#include "base/table.h"
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 2 * HOST_TEXT + 120, WORDS = NAMES + 500 };

/* Writes the first and the last member of a block. */
static const char *block_name(char text[NAMES], const struct load_level *level, const struct member *member, int block)
{
    const struct member *first = &member[block * level->block], *last = first + level->block - 1;
    snprintf(text, NAMES, "%s to %s", first->name, last->name);
    return text;
}

/* ---- sentences ---- */

/* Writes what the mixed halves of a block tell, as a sentence after another. */
static const char *mixed_words(char text[160], const struct load *load, int level, int block)
{
    int size = load->mixed[level].size;
    enum load_mixed mixed = load_mixed(load, level, block);
    *text = 0;
    if (mixed == MIXED_SLOW)
        snprintf(text, 160,
                 " Groups of %d with members of both its halves take longer, too, so the cause lies between them.",
                 size);
    else if (mixed == MIXED_HEALTHY)
        snprintf(text, 160,
                 " Groups of %d with members of both its halves do not take longer, so it shows with all %d only.",
                 size, 2 * size);
    return text;
}

/* Writes and returns a sentence or two on a block that is a fault. */
static const char *fault_words(char text[WORDS], const struct load *load, const struct member *member, int level,
                               int block)
{
    const struct load_level *l = &load->level[level];
    char name[NAMES], mixed[160];
    struct paired ratio = load_ratio(load, l, block);
    snprintf(text, WORDS,
             "An all-reduce among the %d members from %s takes %.3g times as long as among the other groups of %d "
             "[%.3g, %.3g] (n = %zu), though each of them is healthy alone.%s",
             l->size, block_name(name, l, member, block), ratio.ratio, l->size, ratio.ci_low, ratio.ci_high, ratio.n,
             mixed_words(mixed, load, level, block));
    return text;
}

/* Returns what to look at, by the mixed halves of a block. */
static const char *advice_of(const struct load *load, int level, int block)
{
    static const char *const advice[] = {
        [MIXED_UNKNOWN] = "look at what its members share under load: a switch, its uplinks, a full-duplex setting",
        [MIXED_SLOW] =
            "look at what lies between its halves: links between switches, a route that both directions share",
        [MIXED_HEALTHY] = "look at what all of its members share: the uplinks and the buffers of a switch"};
    return advice[load_mixed(load, level, block)];
}

/* Adds a fault as a finding and, if it is to be shown, as an answer. */
static void add_fault(const struct load *load, const struct member *member, cJSON *summary, int level, int block,
                      int is_shown)
{
    char text[WORDS];
    struct finding finding = {.name = "load",
                              .level = LEVEL_HIGH,
                              .percent = 100 * (load_ratio(load, &load->level[level], block).ratio - 1),
                              .threshold = 100 * load->resolve,
                              .loss = {NAN, NAN, NAN},
                              .share = NAN};
    fault_words(text, load, member, level, block);
    if (is_shown)
        results_add_sentence(summary, "answers", "%s", text);
    finding_append(&finding, "%.*s", (int)strlen(text) - 1, text); /* without its full stop */
    snprintf(finding.advice, sizeof finding.advice, "%s", advice_of(load, level, block));
    finding_write(cJSON_GetObjectItemCaseSensitive(summary, "findings"), &finding);
}

/* Adds a note on a block without peers that exceeds its halves. */
static void add_excess(const struct load *load, const struct member *member, cJSON *summary, int level, int block)
{
    const struct load_level *l = &load->level[level];
    char name[NAMES], mixed[160];
    struct estimate whole, half;
    if (load_exceeds(load, level, block, &whole, &half))
        results_add_sentence(summary, "notes",
                             "Load: an all-reduce among the %d members from %s takes %.2f times as long as expected "
                             "[%.2f, %.2f], among the slower half of them %.2f times [%.2f, %.2f].%s",
                             l->size, block_name(name, l, member, block), whole.median, whole.ci_low, whole.ci_high,
                             half.median, half.ci_low, half.ci_high, mixed_words(mixed, load, level, block));
}

/* Adds how the network carries messages of all pairs across the middle. */
static void add_across(const struct load *load, cJSON *summary)
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
                              : "the interval contains 1, so no difference is known between all at once and one");
}

/* ---- the table ---- */

struct group_row {
    int size, groups;
    double seconds, expected, factor;
    char slowest[NAMES];
    double ratio, low, high;
    size_t n;
    const char *state;
};
#define OF(field) offsetof(struct group_row, field)
static const struct column columns[] = {
    {"size", "size", COLUMN_INT, OF(size), "1", 1, 4, 0},
    {"groups", "groups", COLUMN_INT, OF(groups), "1", 1, 6, 0},
    {"time", "time\nms", COLUMN_REAL, OF(seconds), "s", 1e3, 8, -4},
    {"expected", "expected\nms", COLUMN_REAL, OF(expected), "s", 1e3, 8, -4},
    {"time_to_expected", "x", COLUMN_REAL, OF(factor), "1", 1, 5, 2},
    {"n", "n", COLUMN_COUNT, OF(n), "1", 1, 4, 0},
    {"ratio", "slowest\nx", COLUMN_REAL, OF(ratio), "1", 1, 7, 2},
    {"ratio", "interval", COLUMN_INTERVAL, COLUMN_ENDS(struct group_row, low, high), "1", 1, 13, 2},
    {"state", "state", COLUMN_NAME, OF(state), NULL, 0, -10, 0},
    {"slowest", "slowest group", COLUMN_CHARS, OF(slowest), NULL, 0, -13, 0},
};

/* Returns the block of a level that takes longest. */
static int slowest_of(const struct load_level *level)
{
    int slowest = 0;
    for (int b = 1; b < level->groups; b++)
        if (load_seconds(level, b).median > load_seconds(level, slowest).median)
            slowest = b;
    return slowest;
}

static void fill_row(const struct load *load, const struct member *member, int level, struct group_row *row)
{
    static const char *const state_name[] = {
        [LOAD_UNJUDGED] = "not judged", [LOAD_UNDECIDED] = "undecided",      [LOAD_HEALTHY] = "healthy",
        [LOAD_SLOW] = "slow",           [LOAD_SLOW_PART] = "slow in a part", [LOAD_SLOW_MEMBER] = "slow by a member"};
    const struct load_level *l = &load->level[level];
    int slowest = slowest_of(l);
    struct paired ratio = load_ratio(load, l, slowest);
    *row = (struct group_row){.size = l->size,
                              .groups = l->groups,
                              .seconds = load_median_seconds(l).median,
                              .expected = load_median_expected(l),
                              .ratio = ratio.ratio,
                              .low = ratio.ci_low,
                              .high = ratio.ci_high,
                              .n = l->n,
                              .state = state_name[load_state(load, level, slowest)]};
    row->factor = row->seconds / row->expected;
    block_name(row->slowest, l, member, slowest);
}

static void add_table(const struct load *load, const struct member *member, cJSON *summary)
{
    struct group_row row[LOAD_MOST_LEVELS];
    size_t rows = 0;
    for (int l = 0; l < load->levels; l++)
        if (load->level[l].n)
            fill_row(load, member, l, &row[rows++]);
    if (rows)
        results_add_table(
            summary,
            &(struct table){
                "groups", "Groups", TABLE_COLUMNS(columns), TABLE_ROWS(row, rows),
                .note = {"time: of an all-reduce of --bytes in the median group, while all groups of that size do the "
                         "same; x: time / expected. expected: of the messages between neighbours of a group, without "
                         "the additions. slowest x: time of the slowest group / that of the median group; fewer than 3 "
                         "groups are not judged."}});
}

/* ---- all ---- */

static void add_figures(const struct load *load, struct figure_list *figures)
{
    char subject[48];
    if (load->across.n >= STATS_LEAST)
        figures_add_estimate(figures, "all", "load", "1", &load->across, BETTER_LOWER, 0);
    for (const struct load_level *l = load->level; l < load->level + load->levels; l++) {
        if (!l->n)
            continue;
        struct estimate seconds = load_median_seconds(l);
        snprintf(subject, sizeof subject, "groups of %d", l->size);
        figures_add_estimate(figures, subject, "all_reduce", "s", &seconds, BETTER_LOWER, 1);
        figures_add_value(figures, subject, "all_reduce_to_expected", "1", seconds.median / load_median_expected(l),
                          l->n, BETTER_LOWER);
    }
}

void load_output(const struct load *load, const struct member *member, cJSON *summary, struct figure_list *figures)
{
    enum { MOST = 8 };
    int faults = 0;
    add_across(load, summary);
    for (int l = 0; l < load->levels; l++)
        for (int b = 0; b < load->level[l].groups; b++) {
            add_excess(load, member, summary, l, b);
            if (load_state(load, l, b) == LOAD_SLOW)
                add_fault(load, member, summary, l, b, faults++ < MOST);
        }
    if (faults > MOST)
        results_add_sentence(summary, "answers", "%d more groups are slow though their members are healthy alone.",
                             faults - MOST);
    add_table(load, member, summary);
    add_figures(load, figures);
}

void load_output_cases(const struct load *load, const struct member *member, struct junit *junit)
{
    char name[NAMES], text[WORDS];
    for (int l = 0; l < load->levels; l++)
        for (int b = 0; b < load->level[l].groups; b++)
            if (load_state(load, l, b) == LOAD_SLOW)
                junit_add(junit,
                          &(struct junit_case){"ddpbench.isolate", block_name(name, &load->level[l], member, b), NAN,
                                               JUNIT_FAILED, "slow", fault_words(text, load, member, l, b)});
}
