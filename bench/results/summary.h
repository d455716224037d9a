/* summary.h - summary.json and its other formats: the results of a run as sentences, tables and figures. */
#ifndef BENCH_RESULTS_SUMMARY_H
#define BENCH_RESULTS_SUMMARY_H

#include "base/figures.h"
#include "base/table.h"

#include <cJSON.h>
#include <stdio.h>

struct results;

/* Creates the JSON of summary.json with schema version, mode, label, how many rounds or rows are done and planned (`of`
 * is the word, "rounds" or "rows"), and empty lists heading, answers, tables and notes. The caller owns it. */
cJSON *results_summary_create(const char *mode, const char *label, double done, double planned, const char *of);

/* Adds a paragraph of whole sentences, formatted as by printf, to the list "heading", "answers" or "notes". The text
 * has no newlines or padding, since printing breaks it into lines. */
void results_add_sentence(cJSON *summary, const char *list, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends a table to the summary's list "tables". */
void results_add_table(cJSON *summary, const struct table *table);

/* Makes printing show all rows of all tables. */
void results_show_all(cJSON *summary);

/* Writes to text, and returns, how much of the run is done, such as "769 of 100000 rounds"; "" if all of it is. */
enum { RESULTS_UNFINISHED = 80 };
const char *results_unfinished(char text[RESULTS_UNFINISHED], const cJSON *summary);

/* Adds the figures to the summary and, if the run is unfinished, a sentence about that to the heading. Replaces
 * summary.json, summary.csv and summary.prom (figures), summary.txt (the output of results_print_summary) and the file
 * given to --prometheus. If the files are in a subdirectory of the directory that the user named, also replaces
 * <subdirectory>_summary.txt in the directory above. If an unfinished run then ends early, its text from that sentence
 * on is printed (exit_handlers.h), except for allreduce, which prints each row. Called on rank 0 only. Returns 0; or
 * -1, reported. */
int results_write_summary(struct results *results, cJSON *summary, const struct figure_list *figures);

/* results_print_summary prints heading, answers, tables and notes. A command calls results_print_heading before its
 * run, and results_print_body, for the rest, after its run. Lines of `allreduce` begin with #, as in nccl-tests. */
void results_print_summary(FILE *out, const cJSON *summary);
void results_print_heading(FILE *out, const cJSON *summary);
void results_print_body(FILE *out, const cJSON *summary);

#endif
