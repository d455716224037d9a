/* section_side_by_side.c - the figures of two labels. */
#include "report/sections.h"

#include "base/stats.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_WORDS = FILES_PATH + 300 };

struct pair_row {
    const char *subject, *subject_of_candidate, *name, *unit, *directory, *directory_of_candidate;
    double reference, candidate, ratio, interval[2];
    char of[264], bytes[24], reference_words[CELL], candidate_words[CELL];
};

#define FIELD(field) offsetof(struct pair_row, field)
/* clang-format off */
static const struct column pair_columns[] = {
    {"of", "of", COLUMN_CHARS, FIELD(of), NULL, 1, -14, 0},
    {"figure", "figure", COLUMN_NAME, FIELD(name), NULL, 1, -18, 0},
    {"bytes", "bytes", COLUMN_CHARS, FIELD(bytes), NULL, 1, 9, 0},
    {"reference_words", "reference", COLUMN_CHARS, FIELD(reference_words), NULL, 1, 12, 0},
    {"candidate_words", "candidate", COLUMN_CHARS, FIELD(candidate_words), NULL, 1, 12, 0},
    {"ratio", "candidate /\nreference", COLUMN_REAL, FIELD(ratio), "1", 1, 11, 3},
    {"ratio_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "1", 1, -14, 3},
    {"reference", NULL, COLUMN_REAL, FIELD(reference), "1", 1, 0, 0},
    {"candidate", NULL, COLUMN_REAL, FIELD(candidate), "1", 1, 0, 0},
    {"unit", NULL, COLUMN_NAME, FIELD(unit), NULL, 1, 0, 0},
    {"subject", NULL, COLUMN_NAME, FIELD(subject), NULL, 1, 0, 0},
    {"subject_of_candidate", NULL, COLUMN_NAME, FIELD(subject_of_candidate), NULL, 1, 0, 0},
    {"reference_run", NULL, COLUMN_NAME, FIELD(directory), NULL, 1, 0, 0},
    {"candidate_run", NULL, COLUMN_NAME, FIELD(directory_of_candidate), NULL, 1, 0, 0},
};
/* clang-format on */
#undef FIELD

/* The first run of that label and mode, or NULL; *n is how many there are. */
static const struct report_run *run_of(const struct report_runs *runs, const char *label, const char *mode, size_t *n)
{
    const struct report_run *first = NULL;
    *n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (!*run->problem && !strcmp(run->label, label) && !strcmp(run->mode, mode)) {
            first = first ? first : run;
            ++*n;
        }
    return first;
}

/* Which of the n runs like it this is, such as "a: DIR, the first of 2 such runs". */
static const char *name_run(char text[RUN_WORDS], const struct report_run *run, size_t n)
{
    char others[64] = "";
    if (n > 1)
        snprintf(others, sizeof others, ", the first of %zu such runs", n);
    snprintf(text, RUN_WORDS, "%s: %s%s%s%s", run->label, run->directory, others, *run->unfinished ? ", " : "",
             run->unfinished);
    return text;
}

static int has(const struct report_run *run, const char *subject)
{
    for (const struct figure *f = run->figures.item; f < run->figures.item + run->figures.n; f++)
        if (!strcmp(f->subject, subject))
            return 1;
    return 0;
}

/* A figure of both; of an implementation that the candidate does not have, beside it that of the candidate's subject.
 */
static int take_pair(struct pair_row *row, const struct report_run *reference, const struct report_run *candidate,
                     const struct figure *f)
{
    const char *subject = f->subject;
    const struct figure *other = figures_find(&candidate->figures, subject, f->name, f->bytes);
    if (!other && *reference->subject && !strcmp(subject, reference->subject) && !has(candidate, subject)) {
        subject = candidate->subject;
        other = figures_find(&candidate->figures, subject, f->name, f->bytes);
    }
    if (!other)
        return 0;
    struct measured ratio = stats_ratio((struct measured){other->value, other->low, other->high},
                                        (struct measured){f->value, f->low, f->high});
    int near = ratio.value >= 0.01 && ratio.value <= 100; /* in the same unit then */
    *row = (struct pair_row){.subject = f->subject,
                             .subject_of_candidate = subject,
                             .name = f->name,
                             .unit = f->unit,
                             .directory = reference->directory,
                             .directory_of_candidate = candidate->directory,
                             .reference = f->value,
                             .candidate = other->value,
                             .ratio = ratio.value,
                             .interval = {ratio.low, ratio.high}};
    int differ = strcmp(f->subject, subject) != 0;
    snprintf(row->of, sizeof row->of, "%.128s%s%.128s", f->subject, differ ? " / " : "", differ ? subject : "");
    text_value_like(row->reference_words, f->value, f->unit, f->value);
    text_value_like(row->candidate_words, other->value, f->unit, near ? f->value : other->value);
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
        size_t n = 0, like_a, like_b;
        const struct report_run *a = run_of(runs, reference, modes[m], &like_a);
        const struct report_run *b = run_of(runs, candidate, modes[m], &like_b);
        char name_a[RUN_WORDS], name_b[RUN_WORDS];
        if (!a || !b)
            continue;
        struct pair_row *row = allocate(a->figures.n + 1, sizeof *row);
        for (const struct figure *f = a->figures.item; f < a->figures.item + a->figures.n; f++)
            n += (size_t)take_pair(&row[n], a, b, f);
        document_add_heading(document, 3, "%s", modes[m]);
        document_add_paragraph(document, "%s; %s.", name_run(name_a, a, like_a), name_run(name_b, b, like_b));
        document_add_table(
            document,
            &(struct table){.key = "side_by_side",
                            TABLE_COLUMNS(pair_columns),
                            .row = row,
                            .rows = n,
                            .row_bytes = sizeof *row,
                            .note =
                                "A / B: of A in the reference and B in the candidate, which has no A. The interval of "
                                "the ratio is from those of both,\ntaken as independent; `ddpbench compare` decides "
                                "from several runs of each whether something became slower.\n"});
        free(row);
    }
}
