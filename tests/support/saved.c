/* saved.c - writes directories of made-up runs. */
#include "tests/support/saved.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void saved_file(const char *directory, const char *name, const char *text)
{
    if (files_make_directories("test", directory) || files_replace(directory, name, text))
        FATAL("%s", error_text());
}

void saved_run(const char *directory, const char *mode, const char *settings, const struct figure_list *figures)
{
    struct results results = {.telemetry.file = -1, .label = "l"};
    char run[1000];
    snprintf(run, sizeof run,
             "{\"schema_version\": %d, \"program\": \"ddpbench\", \"version\": \"test\", \"mode\": \"%s\", "
             "\"time\": \"2025-01-02T03:04:05+0000\", \"label\": \"l\", \"argv\": [\"ddpbench\", \"--rounds\", \"2\"], "
             "\"configuration\": {%s}, \"derived\": {\"world_size\": 2}}",
             RESULTS_SCHEMA, mode, settings);
    saved_file(directory, "run.json", run);
    snprintf(results.directory, sizeof results.directory, "%s", directory);
    cJSON *summary = results_summary_create(mode, "l", 2, 2, "rounds");
    results_add_sentence(summary, "heading", "a %s of %d ranks", mode, 2);
    results_add_sentence(summary, "notes", "a note");
    if (results_write_summary(&results, summary, figures))
        FATAL("%s", error_text());
    cJSON_Delete(summary);
}
