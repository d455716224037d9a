/* section_side_by_side.c - the figures of two labels. */
#include "report/sections.h"

#include "base/stats.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair_row {
    const char *subject, *name, *unit;
    double reference, candidate, ratio, interval[2];
    char bytes[24];
};

#define FIELD(field) offsetof(struct pair_row, field)
/* clang-format off */
static const struct column pair_columns[] = {
    {"subject", "of", COLUMN_NAME, FIELD(subject), NULL, 1, -14, 0},
    {"figure", "figure", COLUMN_NAME, FIELD(name), NULL, 1, -18, 0},
    {"bytes", "bytes", COLUMN_CHARS, FIELD(bytes), NULL, 1, 9, 0},
    {"unit", "unit", COLUMN_NAME, FIELD(unit), NULL, 1, -6, 0},
    {"reference", "reference", COLUMN_REAL, FIELD(reference), "1", 1, 12, -5},
    {"candidate", "candidate", COLUMN_REAL, FIELD(candidate), "1", 1, 12, -5},
    {"ratio", "candidate /\nreference", COLUMN_REAL, FIELD(ratio), "1", 1, 11, 3},
    {"ratio_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "1", 1, -14, 3},
};
/* clang-format on */
#undef FIELD

/* The first run of that label and mode, or NULL. */
static const struct report_run *run_of(const struct report_runs *runs, const char *label, const char *mode)
{
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (!*run->problem && !strcmp(run->label, label) && !strcmp(run->mode, mode))
            return run;
    return NULL;
}

/* A figure of both; of an implementation whose name differs, those of the runs' subjects. */
static int take_pair(struct pair_row *row, const struct report_run *reference, const struct report_run *candidate,
                     const struct figure *f)
{
    const char *subject =
        *reference->subject && !strcmp(f->subject, reference->subject) ? candidate->subject : f->subject;
    const struct figure *other = figures_find(&candidate->figures, subject, f->name, f->bytes);
    if (!other)
        return 0;
    struct measured ratio = stats_ratio((struct measured){other->value, other->low, other->high},
                                        (struct measured){f->value, f->low, f->high});
    *row = (struct pair_row){f->subject, f->name, f->unit, f->value, other->value, ratio.value, {ratio.low, ratio.high},
                             ""};
    if (f->bytes > 0)
        snprintf(row->bytes, sizeof row->bytes, "%.0f", f->bytes);
    return 1;
}

void section_add_side_by_side(cJSON *document, const struct report_runs *runs, const char *reference,
                              const char *candidate)
{
    static const char *const modes[] = {"benchmark", "tune", "profile", "allreduce"};
    document_add_heading(document, 2, "%s against %s", candidate, reference);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        const struct report_run *a = run_of(runs, reference, modes[m]), *b = run_of(runs, candidate, modes[m]);
        size_t n = 0;
        if (!a || !b)
            continue;
        struct pair_row *row = allocate(a->figures.n + 1, sizeof *row);
        for (const struct figure *f = a->figures.item; f < a->figures.item + a->figures.n; f++)
            n += (size_t)take_pair(&row[n], a, b, f);
        document_add_heading(document, 3, "%s", modes[m]);
        document_add_table(
            document,
            &(struct table){.key = "side_by_side",
                            TABLE_COLUMNS(pair_columns),
                            .row = row,
                            .rows = n,
                            .row_bytes = sizeof *row,
                            .note = "In seconds, bytes, bytes/s and ratios. The interval of the ratio is from those of "
                                    "both, taken as independent;\n`ddpbench compare` decides from several runs of each "
                                    "whether something became slower.\n"});
        free(row);
    }
}
