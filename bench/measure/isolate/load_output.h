/* load_output.h - what `isolate` found under load, in notes, a table and figures; output.h has the faults. Rank 0 only.
 */
#ifndef BENCH_MEASURE_ISOLATE_LOAD_OUTPUT_H
#define BENCH_MEASURE_ISOLATE_LOAD_OUTPUT_H

#include "base/figures.h"
#include "isolate/load.h"
#include "isolate/output.h"

/* Adds to a summary, which has its array of findings, what a load found. member[load->members]: the members' names. */
void load_output(const struct load *load, const struct member *member, cJSON *summary, struct figure_list *figures);

#endif
