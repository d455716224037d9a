/* text.h - numbers as words, and texts in memory. Each function with a text[CELL] writes into it and returns it, and
 * never beyond it, however large the number; - stands where there is none. */
#ifndef BENCH_BASE_TEXT_H
#define BENCH_BASE_TEXT_H

#include <stddef.h>
#include <stdio.h>

enum { CELL = 48 };

/* A number, such as 12.5 us, with the unit that suits `like`: itself, or the number that it is compared with. */
const char *text_value_like(char text[CELL], double value, const char *unit, double like);

/* A whole number of bytes with a binary unit; 0 is none. */
const char *text_bytes(char text[CELL], double bytes);
const char *text_ratio(char text[CELL], double ratio);
/* Seconds as milliseconds, with the interval where there is one, all to as many decimals: "89.85 ms [88.41, 97.95]". */
const char *text_milliseconds(char text[CELL], double seconds, double low, double high);
/* A ratio as a change in per cent, with its interval where it has one: "+1.9 % [-1.6, +5.5]". */
const char *text_change(char text[CELL], double ratio, double low, double high);

/* About how many bytes, such as "12.3 GiB" (8 characters at most). */
const char *text_memory(char text[CELL], size_t bytes);
/* About how long, such as "1 min 20 s". */
const char *text_duration(char text[CELL], double seconds);

/* A text in memory that is written like a file until its end; the caller frees it. Without memory the program ends. */
FILE *text_begin(char **text, size_t *length);
void text_end(FILE *out);

/* A space, and a word as a shell would take it. */
void text_print_word(FILE *out, const char *word);

/* Whether all of text is UTF-8 (kernels/utf8.h has its characters). */
int text_is_utf8(const char *text);

/* Prints the first character of a text that is not empty, or ? for one that no text should hold; returns its bytes. */
size_t text_print_character(FILE *out, const char *text);

/* As lines that people read, whatever the text holds: newlines and tabs as they are, all else by text_print_character,
 * so that no text from a file can make a terminal do anything. */
void text_print_lines(FILE *out, const char *text);

/* Prints the words of a text behind a prefix, on lines of at most 100 columns where words allow it; each character by
 * text_print_character. Further lines are indented by the prefix's width, and begin with its '#' where it has one.
 * Returns the column in which the last line ends. */
int text_wrap(FILE *out, const char *prefix, const char *text);

/* The columns that the first n bytes of a text take: one for each character. */
size_t text_columns(const char *text, size_t n);

/* As text or the value of a quoted attribute in HTML or XML, whatever it holds: the five characters that mean something
 * there as references, control characters and bytes that are not UTF-8 as ?, newlines and tabs as spaces. */
void text_print_markup(FILE *out, const char *text);

/* As a field of comma-separated values (RFC 4180): in quotes where it has to be; newlines and their like as spaces,
 * other characters that no text should hold as ?. */
void text_print_csv(FILE *out, const char *text);

/* The ending of a noun of which there are n: "" or "s". */
static inline const char *text_plural(size_t n)
{
    return n == 1 ? "" : "s";
}

#endif
