/* criteria.c - shares of a step, their limits, and the table of them. */
#include "results/criteria.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

/* clang-format off */
#define UNLIMITED {NAN, NAN, NAN}
#define UNUSUAL   {NAN, NAN}
#define UNMEASURED "not measured", NAN, "", "", ""
const struct criterion criteria[CRITERIA] = {
    [CRITERION_BUSY] = {"device busy / step", 1, {80, 70, 50}, UNUSUAL, UNMEASURED},
    [CRITERION_DATA] = {"data loading / step", 0, {10, 30, 50}, {5, 10}, UNMEASURED},
    [CRITERION_EXPOSED] = {"exposed communication / step", 0, {NAN, 20, NAN}, UNUSUAL, UNMEASURED},
    [CRITERION_TO_BACKWARD] = {"exposed communication / backward", 0, {15, NAN, NAN}, UNUSUAL, UNMEASURED},
    [CRITERION_COLLECTIVES] = {"collectives alone / backward", 0, {15, NAN, 30}, UNUSUAL, UNMEASURED},
    [CRITERION_COPIES] = {"copies host-device / step", 0, {5, NAN, 15}, UNUSUAL, UNMEASURED},
    [CRITERION_MEMORY] = {"memory in use / memory", 0, {NAN, 90, NAN}, UNUSUAL, UNMEASURED},
    [CRITERION_OCCUPANCY] = {"occupied / possible warps", 1, {NAN, 50, NAN}, UNUSUAL, UNMEASURED},
    [CRITERION_FORWARD] = {"forward / step", 0, UNLIMITED, {30, 40}, UNMEASURED},
    [CRITERION_BACKWARD] = {"backward / step", 0, UNLIMITED, {40, 50}, UNMEASURED},
    [CRITERION_OPTIMIZER] = {"optimizer / step", 0, UNLIMITED, {5, 10}, UNMEASURED},
    [CRITERION_ALONE] = {"computation alone / step", 0, UNLIMITED, UNUSUAL, UNMEASURED},
    [CRITERION_BOTH] = {"both at once / step", 0, UNLIMITED, UNUSUAL, UNMEASURED},
    [CRITERION_COMM_ALONE] = {"communication alone / step", 0, UNLIMITED, UNUSUAL, UNMEASURED},
    [CRITERION_IDLE] = {"idle (neither) / step", 0, UNLIMITED, UNUSUAL, UNMEASURED},
};

#define FIELD(field) offsetof(struct criterion, field)
static const struct column columns[] = {
    {"criterion", "criterion", COLUMN_NAME, FIELD(name), NULL, 1, -32, 0},
    {"percent", "here\n%", COLUMN_REAL, FIELD(percent), "%", 1, 6, 1},
    {"good", "good\n%", COLUMN_CHARS, FIELD(good), NULL, 1, -5, 0},
    {"bad", "bad\n%", COLUMN_CHARS, FIELD(bad), NULL, 1, -15, 0},
    {"usual", "usual\n%", COLUMN_INTERVAL, FIELD(usual), "%", 1, -8, 0},
    {"crossed", "limit crossed", COLUMN_CHARS, FIELD(crossed), NULL, 1, -1, 0},
};
/* clang-format on */

int criterion_level(const struct criterion *c)
{
    int level = LEVEL_HIGH;
    while (level >= LEVEL_NOTE && !(c->is_floor ? c->percent < c->limit[level] : c->percent > c->limit[level]))
        level--;
    return level;
}

/* Fills the cells of a row, such as "< 10", "> 30, high > 50" and "warning". */
static void fill_cells(struct criterion *c)
{
    double note = c->limit[LEVEL_NOTE], warning = c->limit[LEVEL_WARNING], high = c->limit[LEVEL_HIGH];
    int level = criterion_level(c), limits = isfinite(note) || isfinite(warning);
    const char *beyond = c->is_floor ? "<" : ">", *place = c->percent < c->usual[0]   ? "less than usual"
                                                           : c->percent > c->usual[1] ? "more than usual"
                                                                                      : "";
    if (limits)
        snprintf(c->good, sizeof c->good, "%s %.3g", c->is_floor ? ">" : "<", isfinite(note) ? note : warning);
    if (isfinite(warning))
        snprintf(c->bad, sizeof c->bad, "%s %.3g", beyond, warning);
    if (isfinite(high))
        text_append(c->bad, sizeof c->bad, "%s%s %.3g", isfinite(warning) ? ", high " : "", beyond, high);
    if (isnan(c->percent))
        snprintf(c->crossed, sizeof c->crossed, "n/a: %.50s", c->missing);
    else
        snprintf(c->crossed, sizeof c->crossed, "%s%s%s", limits ? level < LEVEL_NOTE ? "no" : level_name[level] : "",
                 limits && *place ? ", " : "", place);
}

struct table criteria_table(struct criterion *row, size_t n, const char *basis)
{
    for (struct criterion *c = row; c < row + n; c++)
        fill_cells(c);
    return (struct table){
        .key = "criteria",
        .title = "Shares of a step and their limits",
        TABLE_COLUMNS(columns),
        TABLE_ROWS(row, n),
        .note = {"usual: in a well-tuned step. limit crossed: note (not good), warning or high (bad).", basis}};
}
