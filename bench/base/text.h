/* text.h - figures as the words of a table's cell; - where there is none. Each writes into text and returns
 * it. None writes beyond the cell, however large the figure. */
#ifndef BENCH_BASE_TEXT_H
#define BENCH_BASE_TEXT_H

#include <stddef.h>

enum { CELL = 48 };

/* A median with its unit, and over how many runs it is where that is not all of them: 12.5 us (n=3). */
const char *text_value(char text[CELL], double value, const char *unit, size_t n, size_t runs);
/* A whole number of bytes with a binary unit; 0 is none. */
const char *text_bytes(char text[CELL], double bytes);
/* An interval of ratios; none if low is not finite. */
const char *text_range(char text[CELL], double low, double high);
const char *text_ratio(char text[CELL], double ratio);

#endif
