/* saved.c - directories of runs that nobody ran. */
#include "tests/support/saved.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "kernels/error.h"
#include "results/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char roots[16][32];
static int n_roots;

const char *saved_root(void)
{
    strcpy(roots[n_roots], "/tmp/saved_XXXXXX");
    if (n_roots + 1 == sizeof roots / sizeof *roots || !mkdtemp(roots[n_roots]))
        FATAL("cannot make a directory below /tmp");
    return roots[n_roots++];
}

void saved_remove_all(void)
{
    char command[64];
    while (n_roots > 0) {
        snprintf(command, sizeof command, "rm -rf %s", roots[--n_roots]);
        if (system(command))
            FATAL("cannot remove %s", roots[n_roots]);
    }
}

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
