/* traces.c - traces of made-up timelines. */
#include "tests/support/traces.h"

#include "kernels/error.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rank_trace_begin(struct rank_trace *t, int rank, int ranks)
{
    *t = (struct rank_trace){.alignment = {.residual_ns = 1 * US}, .parameters = {100, 35, 3, 4, 5, 6, 7, 8}};
    made_up_create(&t->timeline, 500);
    for (int i = 0; i < 8; i++)
        t->step[i] = (struct captured_step){.number = i,
                                            .global_step = i + 2,
                                            .warmup = 1,
                                            .learning_rate = 0.25f,
                                            .loss = 1.5f + (float)i,
                                            .grad_norm = 2.5f,
                                            .resident_bytes = 123456789};
    t->trace = (struct trace){.name = "ddp",
                              .implementation = "ddp",
                              .device = "cpu",
                              .comm = "mpi",
                              .host = "node",
                              .rank = rank,
                              .ranks = ranks,
                              .pid = 4000 + rank,
                              .thread = 4000 + rank,
                              .comm_thread = 4100 + rank,
                              .base_unix_ns = 1759955702400000000,
                              .timeline = &t->timeline,
                              .alignment = &t->alignment,
                              .times = t->times,
                              .step = t->step,
                              .collectives = &t->collectives,
                              .parameters = t->parameters};
}

void rank_trace_finish(struct rank_trace *t, int steps)
{
    t->trace.steps = steps;
    steps_from_timeline(&t->timeline, t->times, steps);
    collectives_create(&t->collectives, &t->timeline, &t->alignment, t->trace.ranks);
}

void rank_trace_destroy(struct rank_trace *t)
{
    collectives_destroy(&t->collectives);
    timeline_destroy(&t->timeline);
}

void rank_trace_two_ranks(struct rank_trace *t, int rank)
{
    enum { END = 2530 * US };
    static const struct moments moments[] = {
        {1830 * US, END}, {2230 * US, END}, {1830 * US, END}, {2280 * US, END}}; /* two of rank 0, then two of rank 1 */
    rank_trace_begin(t, rank, 2);
    made_up_two_ranks(&t->timeline, rank);
    rank_trace_finish(t, 1);
    collectives_find_last(&t->collectives, 0, t->collectives.n, moments);
}

const char *trace_text(const struct trace *trace)
{
    trace_write(trace, printing(), TRACE_WHOLE);
    return printed();
}

/* Compares two lines; members of rows may be in any order. */
static int same_line(const char *text, const char *line)
{
    if (!strncmp(text, line, strlen(line)))
        return 1;
    if (strncmp(text, "{\"ph\"", 5) || strncmp(line, "{\"ph\"", 5))
        return 0;
    cJSON *a = cJSON_ParseWithLength(text, strcspn(text, "\n")), *b = cJSON_Parse(line);
    int same = cJSON_Compare(a, b, 1);
    cJSON_Delete(a);
    cJSON_Delete(b);
    return same;
}

void trace_is(const char *text, const char *name)
{
    char path[128], line[2000];
    const char *at = text;
    snprintf(path, sizeof path, "tests/support/fixture/%s", name);
    FILE *file = fopen(path, getenv("TEST_UPDATE") ? "w+" : "r");
    ck_assert_msg(file != NULL, "%s is missing; run from the top of the project", path);
    if (getenv("TEST_UPDATE"))
        fputs(text, file);
    rewind(file);
    for (int n = 1; fgets(line, sizeof line, file); at += strcspn(at, "\n") + 1, n++)
        ck_assert_msg(same_line(at, line), "%s, line %d is\n%.*s, not\n%s", name, n, (int)strcspn(at, "\n"), at, line);
    ck_assert_msg(!*at, "text after the end of %s: %s", name, at);
    fclose(file);
    trace_check_lanes(trace_parse(text));
}

const char *trace_text_merged(const struct rank_trace *t, int first, int ranks)
{
    FILE *out = printing();
    trace_write(&t[0].trace, out, TRACE_MERGED_HEAD);
    for (int r = first; r < ranks; r++)
        trace_write(&t[r].trace, out, r == first ? TRACE_MERGED_FIRST_ROWS : TRACE_MERGED_ROWS);
    trace_write(&t[0].trace, out, TRACE_MERGED_TAIL);
    return printed();
}

cJSON *trace_parse(const char *text)
{
    cJSON *json = kept_json(cJSON_ParseWithOpts(text, NULL, 1));
    ck_assert_msg(json != NULL, "not JSON at '%.60s'", cJSON_GetErrorPtr());
    return json;
}

static int matches_row(const cJSON *row, const char *ph, const char *name)
{
    return (!ph || !strcmp(row_text(row, "ph"), ph)) && (!name || !strcmp(row_text(row, "name"), name));
}

const cJSON *trace_row(const cJSON *json, const char *ph, const char *name, int i)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(json, "traceEvents")) if (matches_row(row, ph, name) &&
                                                                                       i-- == 0) return row;
    return NULL;
}

int trace_rows(const cJSON *json, const char *ph, const char *name)
{
    int n = 0;
    while (trace_row(json, ph, name, n))
        n++;
    return n;
}

const cJSON *row_member(const cJSON *row, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(row, name);
    member = member ? member : row_argument(row, name);
    ck_assert_msg(member != NULL, "a row has no %s", name);
    return member;
}

double row_number(const cJSON *row, const char *name)
{
    const cJSON *member = row_member(row, name);
    ck_assert_msg(cJSON_IsNumber(member), "%s is not a number", name);
    return member->valuedouble;
}

const char *row_text(const cJSON *row, const char *name)
{
    const cJSON *member = row_member(row, name);
    ck_assert_msg(cJSON_IsString(member), "%s is not a string", name);
    return member->valuestring;
}

const cJSON *row_argument(const cJSON *row, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(row, "args"), name);
}

void trace_check_lanes(const cJSON *json)
{
    const cJSON *a, *b, *rows = cJSON_GetObjectItemCaseSensitive(json, "traceEvents");
    cJSON_ArrayForEach(a, rows)
    {
        if (strcmp(row_text(a, "ph"), "X"))
            continue;
        long long start = (long long)(row_number(a, "ts") * 1000 + 0.5);
        long long end = start + (long long)(row_number(a, "dur") * 1000 + 0.5);
        for (b = a->next; b; b = b->next) {
            if (strcmp(row_text(b, "ph"), "X") || row_number(a, "pid") != row_number(b, "pid") ||
                row_number(a, "tid") != row_number(b, "tid"))
                continue;
            long long from = (long long)(row_number(b, "ts") * 1000 + 0.5);
            long long to = from + (long long)(row_number(b, "dur") * 1000 + 0.5);
            int apart = end <= from || to <= start;
            int nested = (start <= from && to <= end) || (from <= start && end <= to);
            ck_assert_msg(apart || nested, "%s at %lld and %s at %lld partly overlap", row_text(a, "name"), start,
                          row_text(b, "name"), from);
        }
    }
}
