/* intervals.c - differences with intervals, in rows on one scale, as text. */
#include "base/intervals.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void intervals_add(struct intervals *all, const char *name, const char *word, char mark, struct measured ratio)
{
    if (!isfinite(ratio.value))
        return;
    all->row = allocate_more(all->row, all->n, sizeof *all->row);
    struct interval_row *row = &all->row[all->n++];
    *row = (struct interval_row){.mark = mark, .word = word, .ratio = ratio};
    snprintf(row->name, sizeof row->name, "%s", name);
    all->known |= isfinite(ratio.low) != 0;
}

void intervals_scale(struct intervals *all)
{
    double *reach = allocate(all->n + 1, sizeof *reach);
    all->high = fmax(0.1, 150 * all->within);
    all->low = -all->high;
    for (size_t i = 0; i < all->n; i++) { /* fmin and fmax ignore an end that is NAN */
        double low = INTERVALS_PERCENT(fmin(all->row[i].ratio.value, all->row[i].ratio.low)),
               high = INTERVALS_PERCENT(fmax(all->row[i].ratio.value, all->row[i].ratio.high));
        all->low = fmin(all->low, 1.05 * low);
        all->high = fmax(all->high, 1.05 * high);
        reach[i] = fmax(fabs(low), fabs(high));
    }
    double most = fmin(1e9, fmax(fmax(0.1, 1000 * all->within), 3 * stats_median(reach, all->n)));
    all->low = fmax(all->low, -most);
    all->high = fmin(all->high, most);
    free(reach);
}

/* Returns the number of the first n rows with the word. */
static size_t count_of(const struct intervals *all, size_t n, const char *word)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += all->row[i].mark != '+' && !strcmp(all->row[i].word, word);
    return found;
}

/* Appends the names of rows with the word of the first of them, at most `most`, and what they are. */
static void add_words(char *text, size_t size, const struct intervals *all, size_t most,
                      const struct interval_row *first)
{
    const char *word = first->word, *article = first->mark == '*' && *word != 'i' ? "the " : *word == 't' ? "a " : "";
    size_t count = count_of(all, all->n, word), named = count < most ? count : most, k = 0;
    char change[CELL];
    for (const struct interval_row *row = first; k < named; row++) {
        if (row->mark == '+' || strcmp(row->word, word) != 0)
            continue;
        text_change(change, row->ratio.value, NAN, NAN);
        text_append(text, size, k == 0 ? "%s" : k + 1 < count ? ", %s" : " and %s", row->name);
        text_append(text, size, row->mark == 'x' || row->mark == '?' ? " (%s)" : "", change);
        k++;
    }
    text_append(text, size, count > named ? " and %zu more" : "", count - named);
    text_append(text, size, count == 1 ? " is %s%s" : *article == 'a' ? " are %.0s%ss" : " are %.0s%s", article, word);
}

const char *intervals_finding(char *text, size_t size, const struct intervals *all, size_t most)
{
    *text = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (all->row[i].mark == '+' || count_of(all, i, all->row[i].word))
            continue;
        text_append(text, size, *text ? "; " : "");
        add_words(text, size, all, most, &all->row[i]);
    }
    return text;
}

/* Returns the character of a row from `from` to `to` %: the mark, before the interval, 0 and the ends of the band. */
static char cell_of(const struct intervals *all, const struct interval_row *row, double from, double to)
{
    const struct measured *of = &row->ratio;
    const double end[] = {of->value, of->low, of->high, 1, 1 + all->within, 1 / (1 + all->within)};
    const char sign[] = {row->mark, '[', ']', '|', ':', ':'};
    const int covers = INTERVALS_PERCENT(of->low) < from && INTERVALS_PERCENT(of->high) >= to;
    if (from <= all->low && INTERVALS_PERCENT(fmin(of->low, of->value)) < from)
        return '<';
    if (1.5 * to - 0.5 * from > all->high && INTERVALS_PERCENT(fmax(of->high, of->value)) > all->high)
        return '>';
    for (size_t i = 0; i < sizeof sign; i++)
        if (INTERVALS_PERCENT(end[i]) >= from && INTERVALS_PERCENT(end[i]) < to)
            return covers && i > 2 ? '-' : sign[i];
    return covers ? '-' : ' ';
}

/* Prints the numbers of the scale, each from its column on: multiples of 1, 2 or 5 times a power of ten. */
static void print_numbers(FILE *out, const struct intervals *all, int columns)
{
    double step = 1e-6, width = (all->high - all->low) / columns;
    for (int k = 0; step < 7 * width; k++)
        step *= k % 3 == 1 ? 2.5 : 2;
    int at = 0;
    for (double i = ceil(all->low / step); i * step <= all->high; i++) {
        int gap = (int)((i * step - all->low) / width) - at;
        at += fprintf(out, "%*s%s%g", gap > 0 ? gap : 0, "", i > 0 ? "+" : "", i * step + 0.0);
    }
    fputs(" %\n", out);
}

void intervals_print(FILE *out, struct intervals *all, size_t most)
{
    enum { NAME = 46, BESIDE = 18 };
    char what[400];
    size_t left_out = all->n > most ? all->n - most : 0;
    int names = 0;
    all->n -= left_out;
    intervals_scale(all);
    for (size_t i = 0; i < all->n; i++)
        names = (int)fmax(names, fmin(NAME, (double)strlen(all->row[i].name)));
    const int columns = HELP_COLUMNS - BESIDE - names;
    const double width = (all->high - all->low) / columns;
    if (!all->known)
        return;
    snprintf(what, sizeof what, "%s; between the colons: %s", all->what, all->band);
    fputc('\n', out);
    text_wrap(out, HELP_COLUMNS, "", what);
    fprintf(out, "%*s", names + 2, "");
    print_numbers(out, all, columns);
    for (const struct interval_row *row = all->row; row < all->row + all->n; row++) {
        fprintf(out, "%-*.*s  ", names, names, row->name);
        for (int i = 0; i < columns; i++)
            fputc(cell_of(all, row, all->low + i * width, all->low + (i + 1) * width), out);
        fprintf(out, "  %s\n", row->word);
    }
    if (left_out)
        fprintf(out, "... (%zu more)\n", left_out);
}
