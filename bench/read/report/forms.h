/* forms.h - the file formats of a report. */
#ifndef BENCH_READ_REPORT_FORMS_H
#define BENCH_READ_REPORT_FORMS_H

#include "report/runs.h"

#include <cJSON.h>
#include <stdio.h>

enum report_form_of { FORM_HTML, FORM_MARKDOWN, FORM_JSON, FORM_CSV, FORM_PROMETHEUS, FORM_JUNIT, FORMS };

struct report_form {
    const char *option; /* names the file */
    const char *file;   /* its name in --output */
    const char *mark;   /* near its begin, for files_check_path */
    /* Prints the document (document/document.h), or figures of the runs. */
    void (*print)(FILE *out, const cJSON *document, const struct report_runs *runs);
};
extern const struct report_form report_forms[FORMS];

#endif
