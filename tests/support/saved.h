/* saved.h - writes directories of made-up runs: run.json and summary.json from a list of figures. */
#ifndef TESTS_SUPPORT_SAVED_H
#define TESTS_SUPPORT_SAVED_H

#include "base/figures.h"

/* Writes text to directory/name; makes the directory if it is missing. */
void saved_file(const char *directory, const char *name, const char *text);

/* Writes the directory of a finished run with a mode, such as "benchmark", and figures; `settings` are the members of
 * run.json's configuration as JSON, such as "\"d-model\": 32", or "". */
void saved_run(const char *directory, const char *mode, const char *settings, const struct figure_list *figures);

#endif
