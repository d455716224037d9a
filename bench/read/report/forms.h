/* forms.h - a report: its command line and its runs, and the files in which it is written. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "document/document.h"
#include "report/runs.h"

enum report_form { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORMS };

struct named_directory {
    char label[RUN_LABEL]; /* "": no label given */
    const char *path;
};

struct report {
    cJSON *document;
    struct named_directory *directory; /* [directories], owned by run_report */
    size_t directories;
    const char *output;      /* directory of a file in each form and of the pictures; "": none */
    const char *png;         /* directory of the pictures as PNG; "": none */
    const char *form[FORMS]; /* file to write in each form; "": none, "-": standard output */
    int metrics;             /* 1: --metrics-csv is given */

    struct report_runs runs;
};

extern const struct form report_forms[FORMS]; /* each prints a struct report */

#define FORMS_TITLE "ddpbench report: " /* beginning of the title of every report */

/* Writes a report to the files that its options name, to `output` and to `png`. Then prints the form whose path is "-",
 * or the text. Checks first that all files can be written and that no two paths name the same file. Returns 0; or -1,
 * reported; files written before the failure stay. */
enum { FORMS_DIRECTORY = FILES_PATH - 64 }; /* maximum length of output and png */
int report_write(const struct report *report);

#endif
