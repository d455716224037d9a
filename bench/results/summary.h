/* summary.h - summary.json and its forms: what a run found, as sentences, tables and figures. */
#ifndef BENCH_RESULTS_SUMMARY_H
#define BENCH_RESULTS_SUMMARY_H

#include "base/figures.h"
#include "base/table.h"

#include <cJSON.h>
#include <stdio.h>

struct results;

/* Creates a summary.json with schema version, mode, label, how many of the planned rounds or rows (`of` names them) are
 * done, and empty lists heading, answers, tables and notes. The caller owns it. */
cJSON *results_summary_create(const char *mode, const char *label, double done, double planned, const char *of);

/* Adds a paragraph of whole sentences, in printf's format, to the list "heading", "answers" or "notes". It holds
 * neither newlines nor padding: printing breaks it into lines. */
void results_add_sentence(cJSON *summary, const char *list, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends a table. */
void results_add_table(cJSON *summary, const struct table *table);

/* Makes all tables printed, with all rows. */
void results_show_all(cJSON *summary);

/* What is done, such as "769 of 100000 rounds", if less is done than was planned; otherwise "". */
enum { RESULTS_UNFINISHED = 80 };
const char *results_unfinished(char text[RESULTS_UNFINISHED], const cJSON *summary);

/* Adds the figures to the summary, and to the heading of an unfinished one a sentence on that. Replaces summary.json,
 * summary.csv and summary.prom (figures), summary.txt (the output of results_print_summary), the file of --prometheus,
 * and if the directory is below the one that the user named, <below>_summary.txt in that. Rank 0 only. Returns 0; or
 * -1, reported. */
int results_write_summary(struct results *results, cJSON *summary, const struct figure_list *figures);

/* Prints heading, answers, tables and notes; or the heading alone, before a run, and the rest after it. Lines of text
 * from `allreduce` begin with '#', as those of nccl-tests. */
void results_print_summary(FILE *out, const cJSON *summary);
void results_print_heading(FILE *out, const cJSON *summary);
void results_print_body(FILE *out, const cJSON *summary);

#endif
