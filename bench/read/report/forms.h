/* forms.h - the files of a report, one for each format, and pictures. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "base/files.h"
#include "report/runs.h"

#include <cJSON.h>
#include <stdio.h>

enum report_form { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORM_PROMETHEUS, FORM_JUNIT, FORMS };
extern const char *const form_option[FORMS]; /* the option that names the file */

#define FORMS_TITLE "Bottleneck analysis of " /* begins the title of every report */

/* Prints the document (document/document.h), or figures of the runs. */
void form_print(FILE *out, enum report_form form, const cJSON *document, const struct report_runs *runs);

/* Writes the files that options name (path[FORMS]; "" and "-": none), and all forms and pictures into the directory,
 * unless it is "". Checks first that all can be written, and that none is a file of a run. Returns 0; or -1, reported:
 * files that were written before the failure stay. */
enum { FORMS_DIRECTORY = FILES_PATH - 64 }; /* longest path of the directory */
int forms_write(const char *const path[FORMS], const char *directory, const cJSON *document,
                const struct report_runs *runs);

#endif
