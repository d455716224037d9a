/* forms.h - writes the files of a report: one file in each format, and the pictures. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "base/files.h"
#include "report/runs.h"

#include <cJSON.h>
#include <stdio.h>

enum report_form { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORM_PROMETHEUS, FORM_JUNIT, FORMS };
extern const char *const form_option[FORMS]; /* the option that names the file of each format */

#define FORMS_TITLE "Bottleneck analysis of " /* beginning of the title of every report */

/* Prints a report in a format, from the document (document/document.h) or from the runs and their figures. */
void form_print(FILE *out, enum report_form form, const cJSON *document, const struct report_runs *runs);

/* Writes the files given to options (path[FORMS]; "" or "-": none). Unless directory is "", also writes a file in each
 * format and the pictures to directory. Checks first that all files can be written and that no two paths name the same
 * file. Returns 0; or -1, reported; files written before the failure stay. */
enum { FORMS_DIRECTORY = FILES_PATH - 64 }; /* maximum length of directory */
int forms_write(const char *const path[FORMS], const char *directory, const cJSON *document,
                const struct report_runs *runs);

#endif
