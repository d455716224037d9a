/* traces.h - traces of made-up timelines, written into memory and read back. */
#ifndef TESTS_SUPPORT_TRACES_H
#define TESTS_SUPPORT_TRACES_H

#include "trace/trace.h"

#include <cJSON.h>

/* A rank's trace, and all data that the trace is made from; tests change members of `trace`. */
struct rank_trace {
    struct timeline timeline;
    struct alignment alignment;
    struct step_times times[8];
    struct captured_step step[8];
    struct collectives collectives;
    size_t parameters[8];
    struct trace trace;
};

/* rank_trace_begin begins a trace without spans. rank_trace_finish finishes it after the test has recorded the spans of
 * `steps` steps in t->timeline: steps 0, 1, ... of epoch 1, a warm-up epoch, on a clock equal to rank 0's. */
void rank_trace_begin(struct rank_trace *t, int rank, int ranks);
void rank_trace_finish(struct rank_trace *t, int steps);
void rank_trace_destroy(struct rank_trace *t);

/* Creates the trace of a rank in made_up_two_ranks, with both ranks' collectives; release with rank_trace_destroy. */
void rank_trace_two_ranks(struct rank_trace *t, int rank);

/* Returns the text of a trace file, until the test ends. */
const char *trace_text(const struct trace *trace);

/* Fails the test unless a trace equals the file `name` in tests/support/fixture, apart from the order of members in a
 * row. With TEST_UPDATE=1 in the environment, rewrites the file instead: review it with git diff. */
void trace_is(const char *text, const char *name);

/* Returns the merged trace of ranks t[first] to t[ranks - 1], until the test ends. */
const char *trace_text_merged(const struct rank_trace *t, int first, int ranks);

/* Parses a text; fails the test unless it is one JSON value, which lives until the test ends. */
cJSON *trace_parse(const char *text);

/* Returns the i-th row with this ph (event type) and name in a parsed trace; NULL if there are fewer rows. */
const cJSON *trace_row(const cJSON *json, const char *ph, const char *name, int i);
int trace_rows(const cJSON *json, const char *ph, const char *name); /* counts rows with this ph and name (NULL: any) */

/* Return a member of a row, or of the row's args; fail the test if there is none of that name and type. */
const cJSON *row_member(const cJSON *row, const char *name);
double row_number(const cJSON *row, const char *name);
const char *row_text(const cJSON *row, const char *name);
const cJSON *row_argument(const cJSON *row, const char *name); /* NULL if the row lacks this argument */

/* Fails the test unless rows of a lane nest or are disjoint. Compares whole ns, since sums of decimals are inexact. */
void trace_check_lanes(const cJSON *json);

#endif
