/* forms.h - writes the files of a report: one file in each format, and the pictures. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "document/document.h"
#include "report/runs.h"

enum report_form { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORMS };

extern const struct form report_forms[FORMS]; /* each prints the report given to report_write */

#define FORMS_TITLE "ddpbench report: " /* beginning of the title of every report */

/* Writes a report on runs to the files given to options (path[FORMS], as in document/document.h). Unless directory is
 * "", also writes a file in each format and the pictures to directory. Then prints the form whose path is "-", or the
 * text. Checks first that all files can be written and that no two paths name the same file. Returns 0; or -1,
 * reported; files written before the failure stay. */
enum { FORMS_DIRECTORY = FILES_PATH - 64 }; /* maximum length of directory */
int report_write(const char *const path[FORMS], const char *directory, const cJSON *document,
                 const struct report_runs *runs);

#endif
