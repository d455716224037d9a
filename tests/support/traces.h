/* traces.h - traces of made-up timelines, written into memory and read back. */
#ifndef TESTS_SUPPORT_TRACES_H
#define TESTS_SUPPORT_TRACES_H

#include "trace/trace.h"

#include <cJSON.h>

/* A trace of one of two or three ranks, whatever it is written from; what tests change, they change in `trace`. */
struct rank_trace {
    struct timeline timeline;
    struct alignment alignment;
    struct step_times times[8];
    struct captured_step step[8];
    struct collectives collectives;
    size_t parameters[8];
    struct trace trace;
};

/* Begins one without spans: record them into its timeline, then finish. Clock and base are such that a time of the
 * timeline, in rank 0's clock, is ts. The first `steps` slots are steps of epoch 1, a warm-up epoch, from number 0. */
void rank_trace_begin(struct rank_trace *t, int rank, int ranks);
void rank_trace_finish(struct rank_trace *t, int steps);
void rank_trace_destroy(struct rank_trace *t);

/* The step of made_up_two_ranks, with what is known of the other rank's collectives; release with destroy. */
void rank_trace_two_ranks(struct rank_trace *t, int rank);

/* Text of a trace file; release with free. */
char *trace_text(const struct trace *trace);

/* Fails the test unless a trace is that file of tests/support/fixture, to the letter but for the order of members in a
 * row; frees the text. TEST_UPDATE=1 in the environment makes the file anew: read what it changes. */
void trace_is(char *text, const char *name);

/* The trace of the ranks t[first] to t[ranks - 1] in one; release with free. */
char *trace_text_merged(const struct rank_trace *t, int first, int ranks);

/* Parses, and fails the test unless it is one JSON value. */
cJSON *trace_parse(const char *text);

/* The i-th row with that ph and name, of a parsed trace; NULL if there are no more. */
const cJSON *trace_row(const cJSON *json, const char *ph, const char *name, int i);
int trace_rows(const cJSON *json, const char *ph, const char *name); /* how many; either may be NULL: any */

/* A member of a row, or of its args; fails the test where there is none. */
const cJSON *row_member(const cJSON *row, const char *name);
double row_number(const cJSON *row, const char *name);
const char *row_text(const cJSON *row, const char *name);
const cJSON *row_argument(const cJSON *row, const char *name); /* NULL if there is none */

/* Fails the test unless rows of one lane nest or are apart; in whole nanoseconds, since sums of decimals are not exact.
 */
void trace_check_lanes(const cJSON *json);

#endif
