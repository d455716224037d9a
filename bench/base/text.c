/* text.c - prints numbers as text, and text for terminals, markup and CSV. */
#include "base/text.h"

#include "kernels/error.h"
#include "kernels/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* How text_value_like prints unit `kept`: x scale, in unit `shown`. A unit's first row with from <= |like| applies. */
static const struct {
    const char *kept, *shown;
    double from, scale;
} units[] = {
    {"s", "s", 1, 1},
    {"s", "ms", 1e-3, 1e3},
    {"s", "us", 0, 1e6},
    {"B", "GiB", 0x1p30, 0x1p-30},
    {"B", "MiB", 0x1p20, 0x1p-20},
    {"B", "KiB", 0x1p10, 0x1p-10},
    {"B", "B", 0, 1},
    {"B/s", "GB/s", 1e8, 1e-9},
    {"B/s", "MB/s", 0, 1e-6},
    {"FLOP/s", "TFLOP/s", 1e12, 1e-12},
    {"FLOP/s", "GFLOP/s", 0, 1e-9},
    {"FLOP", "TFLOP", 1e12, 1e-12},
    {"FLOP", "GFLOP", 0, 1e-9},
    {"1", "", 0, 1},
};

const char *text_value_like(char text[CELL], double value, const char *unit, double like)
{
    const char *shown = unit;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].kept) && !(fabs(like) < units[i].from)) {
            value *= units[i].scale;
            shown = units[i].shown;
            break;
        }
    int whole = fabs(value) >= 10000 && fabs(value) < 1e15;
    snprintf(text, CELL, !isfinite(value) ? "-" : whole ? "%.0f%s%s" : "%.4g%s%s", value, *shown ? " " : "", shown);
    return text;
}

static const char *const binary_unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

const char *text_rounded(char text[CELL], double value, int digits)
{
    if (!isfinite(value))
        return strcpy(text, "-");
    int places = digits - 1 - (value != 0 ? (int)floor(log10(fabs(value))) : 0);
    double unit = places < 0 ? pow(10, -places) : 1;
    snprintf(text, CELL, "%.*f", places > 0 ? places : 0, places < 0 ? round(value / unit) * unit : value);
    return text;
}

const char *text_bytes(char text[CELL], double bytes)
{
    int i = 0;
    for (; i < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0; i++)
        bytes /= 1024;
    snprintf(text, CELL, !(bytes > 0) ? "-" : bytes < 1e15 ? "%.0f %s" : "%.4g %s", bytes, binary_unit[i]);
    return text;
}

const char *text_ratio(char text[CELL], double ratio)
{
    snprintf(text, CELL, isfinite(ratio) ? "%.3f" : "-", ratio);
    return text;
}

const char *text_milliseconds(char text[CELL], double seconds, double low, double high)
{
    double ms = 1e3 * fabs(seconds);
    int decimals = ms < 1 ? 3 : ms < 99.995 ? 2 : ms < 1e15;
    int at = snprintf(text, CELL, isfinite(seconds) ? "%.*f ms" : "-", decimals, 1e3 * seconds);
    if (isfinite(low) && isfinite(high) && at < CELL)
        snprintf(text + at, CELL - (size_t)at, " [%.*f, %.*f]", decimals, 1e3 * low, decimals, 1e3 * high);
    return text;
}

/* Returns the number of decimals of a change in %: 1, or up to 3 if it would otherwise read as 0. */
static int decimals_of(double percent)
{
    return fabs(percent) >= 0.05 || percent == 0 ? 1 : fabs(percent) >= 0.005 ? 2 : 3;
}

const char *text_change(char text[CELL], double ratio, double low, double high)
{
    const double change = 100 * (ratio - 1), from = 100 * (low - 1), to = 100 * (high - 1);
    int at = snprintf(text, CELL, isfinite(ratio) ? "%+.*f %%" : "-", decimals_of(change), change);
    if (isfinite(low) && isfinite(high) && at < CELL)
        snprintf(text + at, CELL - (size_t)at, " [%+.*f, %+.*f]", decimals_of(from), from, decimals_of(to), to);
    return text;
}

const char *text_memory(char text[CELL], size_t bytes)
{
    double value = (double)bytes;
    int i = 0;
    for (; i < 5 && value >= 1000; i++)
        value /= 1024;
    snprintf(text, CELL, i && value < 100 && value > floor(value) ? "%.1f %s" : "%.0f %s", value, binary_unit[i]);
    return text;
}

const char *text_duration(char text[CELL], double seconds)
{
    if (seconds < 0.095)
        snprintf(text, CELL, "%.2g ms", 1e3 * seconds);
    else if (seconds < 59.5)
        snprintf(text, CELL, seconds < 0.95 ? "%.2g s" : "%.0f s", seconds);
    else if (seconds < 3599.5)
        snprintf(text, CELL, "%d min %02d s", (int)(seconds + 0.5) / 60, (int)(seconds + 0.5) % 60);
    else if (seconds < 48 * 3600)
        snprintf(text, CELL, "%.0f h %02d min", floor(seconds / 3600), (int)(fmod(seconds, 3600) / 60));
    else
        snprintf(text, CELL, "%.0f days", seconds / 86400);
    return text;
}

void text_print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (*word && !word[strspn(word, plain)]) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++)
        fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputc('\'', out);
}

int text_append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
    return length + (size_t)more < size;
}

FILE *text_begin(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (!out)
        fatal_no_memory(0, 0);
    return out;
}

void text_end(FILE *out)
{
    if (fclose(out))
        fatal_no_memory(0, 0);
}

size_t text_make_utf8(char *text)
{
    size_t replaced = 0;
    for (int length; *text; text += length ? length : 1)
        if (!(length = utf8_length(text))) {
            *text = '?';
            replaced++;
        }
    return replaced;
}

size_t text_print_character(FILE *out, const char *text)
{
    int length = utf8_character(text);
    if (!length)
        fputc('?', out);
    fwrite(text, 1, (size_t)length, out);
    return length ? (size_t)length : 1;
}

void text_print_lines(FILE *out, const char *text)
{
    while (*text)
        if (*text == '\n' || *text == '\t')
            fputc(*text++, out);
        else
            text += text_print_character(out, text);
}

size_t text_columns(const char *text, size_t n)
{
    size_t columns = 0;
    for (const char *c = text; c < text + n; columns++) {
        int length = utf8_character(c);
        c += length ? length : 1;
    }
    return columns;
}

int text_wrap(FILE *out, int most, const char *prefix, const char *text)
{
    const char *mark = *prefix == '#' ? "#" : "";
    int indent = fprintf(out, "%s", prefix), column = indent;
    for (size_t blanks; blanks = strspn(text, " "), *(text += strspn(text, " \t\n"));) {
        size_t bytes = strcspn(text, " \t\n");
        int width = (int)text_columns(text, bytes);
        if (column > indent && column + 1 + width > most)
            column = fprintf(out, "\n%-*s", indent, mark) - 1;
        else if (column > indent)
            column += fprintf(out, "%*s", *text == ':' && blanks ? (int)blanks : 1, "");
        column += width;
        for (const char *end = text + bytes; text < end;)
            text += text_print_character(out, text);
    }
    fputc('\n', out);
    return column;
}

void text_print_markup(FILE *out, const char *text)
{
    while (*text) {
        const char *reference = *text == '&'                     ? "&amp;"
                                : *text == '<'                   ? "&lt;"
                                : *text == '>'                   ? "&gt;"
                                : *text == '"'                   ? "&quot;"
                                : *text == '\''                  ? "&#39;"
                                : *text == '\n' || *text == '\t' ? " "
                                                                 : NULL;
        if (reference)
            fputs(reference, out);
        text += reference ? 1 : text_print_character(out, text);
    }
}

void text_print_csv(FILE *out, const char *text)
{
    const char *quote = strpbrk(text, ",\"") ? "\"" : "";
    fputs(quote, out);
    while (*text) {
        int control = (unsigned char)*text < ' ';
        if (control || *text == '"')
            fputc(control ? ' ' : '"', out);
        text += control ? 1 : text_print_character(out, text);
    }
    fputs(quote, out);
}

void text_print_csv_numbers(FILE *out, int decimals, size_t n, const double *value)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, isfinite(value[i]) ? ",%.*f" : ",", decimals, value[i]);
}
