/* table.c - what a comparison found, as a table for people. */
#include "compare/table.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_VALUE = 100 };

/* The widest subject and name among the lines that are judged, or among the others. */
static int name_width(const struct compare *c, int gated)
{
    size_t widest = strlen("figure");
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        size_t width = strlen(line->figure->subject) + 1 + strlen(line->figure->name);
        widest = !line->gated == !gated && width > widest ? width : widest;
    }
    return (int)widest;
}

static void print_name(FILE *out, const struct compare_figure *figure, int width)
{
    int printed = fprintf(out, "%s %s", figure->subject, figure->name);
    fprintf(out, "%*s", printed < width ? width - printed : 0, "");
}

/* ---- what was compared, and in what it differs ---- */

static void print_runs(FILE *out, const char *name, const struct compare_run *run, size_t n)
{
    fprintf(out, "%s: %zu run%s:", name, n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s %s", i ? "," : "", run[i].directory);
    fprintf(out, "\n");
}

static void print_setting(FILE *out, const char *whose, const char *value)
{
    if (!value)
        fprintf(out, "%s not set", whose);
    else
        fprintf(out, "%s %.*s%s", whose, LONGEST_VALUE, *value ? value : "''",
                strlen(value) > LONGEST_VALUE ? "..." : "");
}

enum kind { REFUSED, ALLOWED, ENVIRONMENT };

static enum kind kind_of(const struct difference *d)
{
    return d->environment ? ENVIRONMENT : d->allowed ? ALLOWED : REFUSED;
}

static void print_differences(FILE *out, const struct compare *c, enum kind kind, const char *heading)
{
    for (size_t i = 0, n = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        if (kind_of(d) != kind)
            continue;
        fprintf(out, "%s  %s: ", n++ ? "" : heading, d->key);
        print_setting(out, "baseline", d->baseline);
        fprintf(out, ", ");
        print_setting(out, d->whose, d->other);
        fprintf(out, "\n");
    }
}

/* What to give to --allow for the runs to be compared all the same. */
static void print_allow(FILE *out, const struct compare *c)
{
    const char *separator = *c->options->allow ? "," : "";
    fprintf(out, "To compare them all the same: --allow %s", c->options->allow);
    for (size_t i = 0; i < c->differences.n; i++) {
        const struct difference *d = &c->differences.item[i];
        int told = kind_of(d) != REFUSED;
        for (size_t j = 0; j < i; j++)
            told = told || !strcmp(c->differences.item[j].key, d->key);
        if (!told)
            fprintf(out, "%s%s", separator, d->key);
        separator = told ? separator : ",";
    }
    fprintf(out, "\n");
}

/* ---- the table ---- */

struct columns {
    int name, baseline, candidate;
};

static struct columns print_heading(FILE *out, const struct compare *c, int gated)
{
    const struct compare_options *o = c->options;
    char baseline[140], candidate[140];
    snprintf(baseline, sizeof baseline, "%s (n=%zu)", o->baseline_name, o->baselines);
    snprintf(candidate, sizeof candidate, "%s (n=%zu)", o->candidate_name, o->candidates);
    struct columns w = {name_width(c, gated), (int)strlen(baseline), (int)strlen(candidate)};
    w.baseline = w.baseline < 16 ? 16 : w.baseline;
    w.candidate = w.candidate < 16 ? 16 : w.candidate;
    fprintf(out, "\n%-*s  %9s  %*s  %*s  %7s", w.name, "figure", "size", w.baseline, baseline, w.candidate, candidate,
            "ratio");
    fprintf(out, gated ? "  %17s  verdict\n" : "\n", "interval");
    return w;
}

static void print_row(FILE *out, const struct compare *c, size_t i, const struct columns *w)
{
    const struct verdict_row *row = &c->verdicts.row[i];
    const struct compare_line *line = &c->lines.item[c->judged[i]];
    const char *unit = line->figure->unit;
    char size[CELL], baseline[CELL], candidate[CELL], ratio[CELL], range[CELL];
    print_name(out, line->figure, w->name);
    fprintf(out, "  %9s  %*s  %*s  %7s  %17s  %s", row->sizes > 1 ? "all sizes" : text_bytes(size, line->figure->bytes),
            w->baseline, text_value(baseline, row->baseline, unit, row->n_baseline, c->options->baselines),
            w->candidate, text_value(candidate, row->candidate, unit, row->n_candidate, c->options->candidates),
            text_ratio(ratio, row->ratio), text_range(range, row->low, row->high), verdict_name[row->verdict]);
    if (row->verdict == VERDICT_MISSING)
        fprintf(out, " in %zu of %zu", c->options->candidates - row->n_candidate, c->options->candidates);
    if (line->wrong && row->sizes == 1)
        fprintf(out, ": wrong elements");
    fprintf(out, "\n");
}

/* The sizes [first, end) of a family that are well, in one line. */
static void print_well(FILE *out, const struct compare *c, size_t first, size_t end, const struct columns *w)
{
    size_t well = 0;
    double least = INFINITY, most = 0;
    char sizes[32], range[CELL];
    for (size_t i = first; i < end; i++) {
        const struct verdict_row *row = &c->verdicts.row[i];
        if (row->verdict != VERDICT_OK)
            continue;
        well++;
        least = fmin(least, row->ratio);
        most = fmax(most, row->ratio);
    }
    if (!well)
        return;
    snprintf(sizes, sizeof sizes, "%zu size%s", well, well == 1 ? "" : "s");
    print_name(out, c->lines.item[c->judged[first]].figure, w->name);
    fprintf(out, "  %9s  %*s  %*s  %7s  %17s  ok\n", sizes, w->baseline, "", w->candidate, "", "ratios",
            text_range(range, least, most));
}

/* A family: its sizes, those that are well in one line unless all are asked for, and the mean over them. */
static size_t print_family(FILE *out, const struct compare *c, size_t first, size_t singles, const struct columns *w)
{
    size_t end = first, family = c->verdicts.row[first].family;
    while (end < singles && c->verdicts.row[end].family == family)
        end++;
    int whole = c->options->all || end - first == 1;
    for (size_t i = first; i < end; i++)
        if (whole || c->verdicts.row[i].verdict != VERDICT_OK)
            print_row(out, c, i, w);
    if (!whole)
        print_well(out, c, first, end, w);
    for (size_t i = singles; i < c->verdicts.n; i++)
        if (c->verdicts.row[i].family == family)
            print_row(out, c, i, w);
    return end;
}

static size_t count_singles(const struct compare *c)
{
    size_t singles = 0;
    while (singles < c->verdicts.n && c->verdicts.row[singles].sizes == 1)
        singles++;
    return singles;
}

static void print_table(FILE *out, const struct compare *c)
{
    size_t singles = count_singles(c);
    fprintf(out, "\nMedians over runs; ratio of their geometric means, above 1 is worse.");
    struct columns w = print_heading(out, c, 1);
    for (size_t i = 0; i < singles;)
        i = print_family(out, c, i, singles, &w);
}

/* Figures that are not judged, reference against candidate. */
static void print_figures(FILE *out, const struct compare *c)
{
    const struct compare_options *o = c->options;
    fprintf(out, "\nOther figures, medians over runs; ratio: %s / %s", o->candidate_name, o->baseline_name);
    struct columns w = print_heading(out, c, 0);
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        char size[CELL], baseline[CELL], candidate[CELL], ratio[CELL];
        struct compare_medians m = compare_medians(line, o->baselines, o->candidates);
        if (line->gated)
            continue;
        print_name(out, line->figure, w.name);
        fprintf(out, "  %9s  %*s  %*s  %7s\n", text_bytes(size, line->figure->bytes), w.baseline,
                text_value(baseline, m.baseline, line->figure->unit, m.n_baseline, o->baselines), w.candidate,
                text_value(candidate, m.candidate, line->figure->unit, m.n_candidate, o->candidates),
                text_ratio(ratio, m.candidate / m.baseline));
    }
}

/* ---- the verdict in words ---- */

const char *compare_report_verdict(const struct compare *c)
{
    static const char *const word[] = {[COMPARE_OK] = "ok",
                                       [COMPARE_REGRESSED] = "regressed",
                                       [COMPARE_AMBIGUOUS] = "ambiguous",
                                       [COMPARE_MISSING] = "missing",
                                       [COMPARE_INCOMPARABLE] = "incomparable"};
    return word[c->status];
}

static void print_meaning(FILE *out, const struct compare *c)
{
    const struct compare_options *o = c->options;
    switch (c->status) {
    case COMPARE_REGRESSED:
        fprintf(out, "the marked figures are worse by more than %g %%, or their data was wrong", o->tolerance);
        break;
    case COMPARE_MISSING:
        fprintf(out, "the baseline has figures that a candidate run does not have");
        break;
    case COMPARE_AMBIGUOUS:
        fprintf(out, "figures are worse by more than %g %%, which may be chance; more runs would tell", o->tolerance);
        break;
    default:
        fprintf(out, "no figure is worse by more than %g %%", o->tolerance);
    }
}

/* Figures that too few baselines have to know their spread, the first few of them by name. */
static void print_without_spread(FILE *out, const struct compare *c)
{
    enum { NAMED = 4 };
    char size[CELL];
    size_t named = 0;
    for (size_t i = 0; i < c->verdicts.n && named < NAMED; i++) {
        const struct compare_figure *figure = c->lines.item[c->judged[i]].figure;
        if (!c->verdicts.row[i].without_spread)
            continue;
        fprintf(out, "%s%s %s", named++ ? ", " : "", figure->subject, figure->name);
        if (figure->bytes > 0)
            fprintf(out, " %s", text_bytes(size, figure->bytes));
    }
    if (c->verdicts.without_spread > named)
        fprintf(out, " and %zu more", c->verdicts.without_spread - named);
    fprintf(out, "%s in fewer than %d baselines, so", c->verdicts.without_spread == 1 ? " is" : " are", VERDICT_RUNS);
}

/* How sure the verdicts are. */
static void print_certainty(FILE *out, const struct compare *c)
{
    int few = c->options->baselines < VERDICT_RUNS;
    if (c->verdicts.with_spread)
        fprintf(out, "%g %% chance of any false alarm; ", 100 * c->rules.level);
    if (!few && !c->verdicts.without_spread)
        return;
    if (few)
        fprintf(out, "fewer than %d baselines, so", VERDICT_RUNS);
    else
        print_without_spread(out, c);
    fprintf(out, " only what is beyond %.3f in every run is called regressed%s; ",
            (1 + c->rules.tolerance) * (1 + c->rules.floor), few ? "" : " of it");
}

static void print_verdict(FILE *out, const struct compare *c)
{
    const struct compare_options *o = c->options;
    static const enum compare_verdict told[] = {VERDICT_REGRESSED, VERDICT_MISSING, VERDICT_AMBIGUOUS,
                                                VERDICT_IMPROVED};
    fprintf(out, "\nVerdict: %s: ", compare_report_verdict(c));
    print_meaning(out, c);
    fprintf(out, " (%zu judged", count_singles(c));
    if (count_singles(c) < c->verdicts.n)
        fprintf(out, " and %zu means over sizes", c->verdicts.n - count_singles(c));
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (c->verdicts.count[told[i]])
            fprintf(out, ", %zu %s", c->verdicts.count[told[i]], verdict_name[told[i]]);
    fprintf(out, "; tolerance %g %%; ", o->tolerance);
    print_certainty(out, c);
    fprintf(out, "%zu against %zu run%s).\n", o->candidates, o->baselines, o->baselines == 1 ? "" : "s");
}

void compare_report(FILE *out, const struct compare *c)
{
    const struct compare_options *o = c->options;
    print_runs(out, o->baseline_name, c->baseline, o->baselines);
    print_runs(out, o->candidate_name, c->candidate, o->candidates);
    print_differences(out, c, REFUSED, "Settings differ:\n");
    print_differences(out, c, ALLOWED, "Settings differ, as allowed:\n");
    print_differences(out, c, ENVIRONMENT, "Environments differ:\n");
    if (c->status == COMPARE_INCOMPARABLE) {
        print_allow(out, c);
        fprintf(out, "\nVerdict: incomparable: the runs were made with different settings.\n");
        return;
    }
    print_table(out, c);
    if (*o->label)
        print_figures(out, c);
    print_verdict(out, c);
}
