/* text.h - prints numbers as text, and text for terminals, markup and CSV. A function with an argument text[CELL] fills
 * and returns it; a number that is not finite becomes -. */
#ifndef BENCH_BASE_TEXT_H
#define BENCH_BASE_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { CELL = 48 };

/* Writes a number with its unit, such as 12.5 us. The prefix of the unit is the one that suits the number `like`. */
const char *text_value_like(char text[CELL], double value, const char *unit, double like);

/* Writes a number rounded to `digits` significant digits, without an exponent: 1650 to two digits is 1700. */
const char *text_rounded(char text[CELL], double value, int digits);

/* text_bytes writes a whole number of bytes with a binary unit, - for 0; text_ratio, a ratio with 3 decimals. */
const char *text_bytes(char text[CELL], double bytes);
const char *text_ratio(char text[CELL], double ratio);
/* Writes seconds as milliseconds, with the interval if it is finite: "89.85 ms [88.41, 97.95]". */
const char *text_milliseconds(char text[CELL], double seconds, double low, double high);
/* Writes a ratio as a change in percent, with the interval if it is finite: "+1.9 % [-1.6, +5.5]". */
const char *text_change(char text[CELL], double ratio, double low, double high);

/* Writes a number of bytes, rounded, such as "12.3 GiB"; at most 8 characters. */
const char *text_memory(char text[CELL], size_t bytes);
/* Writes seconds, rounded, such as "1 min 20 s". */
const char *text_duration(char text[CELL], double seconds);

/* Appends to text[size], formatted as by printf. Returns whether all of it fits; otherwise cuts it off. */
int text_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Open and close a stream that prints into memory; after text_end the caller frees *text. Lack of memory is fatal. */
FILE *text_begin(char **text, size_t *length);
void text_end(FILE *out);

/* Prints a space and a word, quoted for a shell if necessary. */
void text_print_word(FILE *out, const char *word);

/* Replaces each byte that is not part of a UTF-8 character by ?. Returns the number of such bytes. */
size_t text_make_utf8(char *text);

/* Prints the first character of a non-empty text, or ? if it is a control or invalid. Returns its length in bytes. */
size_t text_print_character(FILE *out, const char *text);

/* Prints newlines and tabs unchanged, all else by text_print_character, so that no text can control the terminal. */
void text_print_lines(FILE *out, const char *text);

/* Columns of the lines of results, and of help. */
enum { TEXT_COLUMNS = 100, HELP_COLUMNS = 80 };

/* Prints a prefix and the words of a text, broken into lines of at most `most` columns unless a word is longer. White
 * space becomes one space, except in front of a colon, where spaces are kept. Characters are printed by
 * text_print_character. Later lines are indented by the prefix's width, and begin with # if the prefix does. Returns
 * the column in which the last line ends. */
int text_wrap(FILE *out, int most, const char *prefix, const char *text);

/* Returns the width of the first n bytes of a text in columns: one column for each character. */
size_t text_columns(const char *text, size_t n);

/* Prints a text for HTML or XML, also for quoted attributes: <, >, &, " and ' become references, newlines and tabs
 * become spaces, all other characters are printed by text_print_character. */
void text_print_markup(FILE *out, const char *text);

/* Prints a CSV field, quoted if necessary (RFC 4180): control characters as spaces, others by text_print_character. */
void text_print_csv(FILE *out, const char *text);

/* Prints n fields of a CSV line, each after a comma; a number that is not finite becomes an empty field. */
void text_print_csv_numbers(FILE *out, int decimals, size_t n, const double *value);

/* Returns the ending of a noun after the number n: "" for 1, otherwise "s". */
static inline const char *text_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

#endif
