/* outcome.h - a comparison of runs: its command line, what it found, and how that is printed. */
#ifndef BENCH_READ_COMPARE_OUTCOME_H
#define BENCH_READ_COMPARE_OUTCOME_H

#include "base/intervals.h"
#include "compare/match.h"
#include "document/document.h"

#include <cJSON.h>

enum { COMPARE_JSON, COMPARE_HTML, COMPARE_JUNIT, COMPARE_FORMS };
enum { BASELINE, CANDIDATE, SIDES };

/* Exit statuses. If several verdicts hold, the first counts: incomparable, regressed, missing, undecided. */
enum compare_status {
    COMPARE_OK,
    COMPARE_FAILED, /* something cannot be read or written */
    COMPARE_USAGE,  /* the command line is wrong */
    COMPARE_REGRESSED,
    COMPARE_UNDECIDED, /* a row with `summary` 1 (struct figure_verdict_row) is ambiguous or unseen */
    COMPARE_MISSING,
    COMPARE_INCOMPARABLE
};

struct comparison {
    /* the command line */
    const char **directory;  /* [all runs]: paths in argv, baselines first */
    size_t n[SIDES];         /* numbers of runs */
    double tolerance, floor; /* percent */
    const char *allow, *metrics, *label;
    const char *form[COMPARE_FORMS]; /* file to write in each format; "": none, "-": standard output */
    char name[SIDES][101];           /* headings of the columns */
    int all;                         /* 1: show every size, also those that are ok or unseen */

    /* what was found; rows and lines are empty if the runs are incomparable */
    struct compare_run *run[SIDES]; /* [n[side]], by time; candidates follow the baselines */
    struct verdict_rules rules;
    cJSON *json; /* {warnings: sentences, differences: see settings.h} */
    struct compare_lines lines;
    struct verdicts verdicts;    /* of the judged lines */
    enum figure_verdict verdict; /* of the comparison, unless the runs are incomparable */
    enum compare_status status;
};

/* What a side has of a figure: the geometric mean of its runs or, if the figure is not judged, the median, since its
 * values may be 0 or less; and how many runs have it. */
struct side {
    double value; /* NAN: none, or a mean over sizes */
    size_t n;
};
struct side compare_side_of(const struct comparison *c, const struct verdict_figure *figure, size_t sizes, int side);

/* Print a comparison. As text: runs, differences, warnings, table, the 12 worst intervals, figures that are not judged
 * (with --label), and the verdict. As a page: verdict, picture, table, the rest. As JUnit XML (base/junit.h), the first
 * test case is an error if the runs are incomparable. Each judged row is a test case; its duration is the candidate's
 * mean if that is a time. The cases of regressed and missing figures fail. The cases of ambiguous and unseen figures,
 * which decide nothing, are skipped. A case's message is the row as text; the suite's output is the text. As JSON, it
 * is {program, mode, schema_version, version, the rules (tolerance_percent, floor_percent, level, pairs, in_turn),
 * judged_by_spread, "baseline" and "candidate" (label, directories, other_processes_share), warnings, differences,
 * "judged" (rows), "figures" (figures that are not judged), verdict, exit_status}. */
void compare_print_text(FILE *out, const void *shown);
void compare_print_json(FILE *out, const void *shown);
void compare_print_html(FILE *out, const void *shown);
extern const struct form compare_forms[COMPARE_FORMS];
#define COMPARE_TITLE "ddpbench compare: " /* beginning of the title of every page */

/* Parts of the text: the runs with differences and warnings, the line of the verdict, the table of the judged figures,
 * and the rows of their intervals, the worst first. The caller frees what is returned. */
void compare_print_runs(FILE *out, const struct comparison *c);
void compare_print_verdict(FILE *out, const struct comparison *c);
cJSON *compare_table(const struct comparison *c);
struct intervals compare_intervals(const struct comparison *c);

#endif
