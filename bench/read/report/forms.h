/* forms.h - writes the files of a report: one file in each format, and the pictures. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "base/files.h"
#include "report/runs.h"

#include <cJSON.h>
#include <stdio.h>

enum report_form { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORM_PROMETHEUS, FORM_JUNIT, FORMS };

#define FORMS_TITLE "Bottleneck analysis of " /* beginning of the title of every report */

/* Writes a report (document/document.h) on runs to the files given to options (path[FORMS], document/forms.h). Unless
 * directory is "", also writes a file in each format and the pictures to directory. Then prints the form whose path is
 * "-", or the text. Checks first that all files can be written. Returns 0; or -1, reported; files written before the
 * failure stay. */
enum { FORMS_DIRECTORY = FILES_PATH - 64 }; /* maximum length of directory */
int report_write(const char *const path[FORMS], const char *directory, const cJSON *document,
                 const struct report_runs *runs);

#endif
