/* section_runs.c - the runs of a report. */
#include "report/sections.h"

#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

struct run_row {
    const char *label, *mode, *time, *machine, *workload, *directory, *state, *problem;
    double ranks, hosts, cpus, memory; /* NAN: not known */
};

#define FIELD(field) offsetof(struct run_row, field)
/* clang-format off */
static const struct column run_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"mode", "mode", COLUMN_NAME, FIELD(mode), NULL, 1, -9, 0},
    {"ranks", "ranks", COLUMN_REAL, FIELD(ranks), "1", 1, 5, 0},
    {"hosts", "hosts", COLUMN_REAL, FIELD(hosts), "1", 1, 5, 0},
    {"time", "time", COLUMN_NAME, FIELD(time), NULL, 1, -24, 0},
    {"machine", "machine", COLUMN_NAME, FIELD(machine), NULL, 1, -10, 0},
    {"cpus", "logical\nCPUs", COLUMN_REAL, FIELD(cpus), "1", 1, 7, 0},
    {"memory", "memory\nGiB", COLUMN_REAL, FIELD(memory), "B", 0x1p-30, 7, -3},
    {"workload", NULL, COLUMN_NAME, FIELD(workload), NULL, 1, 0, 0},
    {"directory", "directory", COLUMN_NAME, FIELD(directory), NULL, 1, -9, 0},
    {"state", "state", COLUMN_NAME, FIELD(state), NULL, 1, -8, 0},
    {"problem", "problem", COLUMN_NAME, FIELD(problem), NULL, 1, -7, 0},
};
/* clang-format on */
#undef FIELD

void section_add_runs(cJSON *document, const struct report_runs *runs)
{
    struct run_row *row = allocate(runs->n + 1, sizeof *row);
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run *r = &runs->item[i];
        int known = r->place.cpus > 0;
        row[i] = (struct run_row){r->label,
                                  r->mode,
                                  r->time,
                                  r->machine,
                                  r->workload,
                                  r->directory,
                                  run_state(r),
                                  r->problem,
                                  r->ranks ? (double)r->ranks : NAN,
                                  r->hosts ? (double)r->hosts : NAN,
                                  known ? (double)r->place.cpus : NAN,
                                  known ? r->place.memory_bytes : NAN};
    }
    document_add_heading(document, "Runs");
    document_add_table(
        document, &(struct table){.key = "runs", TABLE_COLUMNS(run_columns), TABLE_ROWS(row, runs->n), .shown = 100});
    free(row);
}
