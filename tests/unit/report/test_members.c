/* test_members.c - the section on the members of `isolate`: pictures and table of made-up messages around a ring. */
#include "base/json.h"
#include "report/sections.h"
#include "tests/support/picture.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 2 };
static struct report_runs runs;
static cJSON *document;
static char *words; /* the document as text */

static void setup(void)
{
    runs = (struct report_runs){.item = calloc(RUNS, sizeof *runs.item)};
}

static void teardown(void)
{
    cJSON_Delete(document);
    document = NULL;
    runs_destroy(&runs);
}

static void add_message(cJSON *rows, int from, int to, double ratio, double round_trip)
{
    char name[40];
    cJSON *row = json_add_row(rows);
    snprintf(name, sizeof name, "host n%d", from);
    json_add_text(row, "from", name);
    snprintf(name, sizeof name, "host n%d", to);
    json_add_text(row, "to", name);
    json_add_number(row, "bytes_per_second", 1e8 / ratio);
    json_add_number(row, "ratio", ratio);
    json_add_number(row, "n", 50);
    json_add_number(row, "round_trip_seconds", 1e-5 * round_trip);
    json_add_number(row, "round_trip_ratio", round_trip);
}

/* Adds a run in which all members send to both neighbours at about one rate, except that member 7 sends to 8 at half
 * the rate. Round trips of members 3 and 4 have the ratio round_trip. state: member_state of member 7. */
static void add_run(const char *label, int members, double round_trip, double state)
{
    struct report_run *run = &runs.item[runs.n++];
    strcpy(run->label, label);
    strcpy(run->mode, "isolate");
    run->saved.summary = cJSON_CreateObject();
    cJSON *answers = cJSON_AddArrayToObject(run->saved.summary, "answers");
    cJSON_AddItemToArray(answers, cJSON_CreateString("The answer."));
    cJSON *table = json_add_row(cJSON_AddArrayToObject(run->saved.summary, "tables"));
    json_add_text(table, "key", "matrix");
    cJSON *rows = cJSON_AddArrayToObject(table, "rows");
    for (int m = 0; m < members; m++)
        for (int back = 0; back < 2; back++) {
            int next = (m + 1) % members;
            add_message(rows, back ? next : m, back ? m : next, m == 7 && !back ? 2 : 1 + 1e-4 * m,
                        m == 3 ? round_trip : 1);
        }
    for (int m = 0; m < members; m++) {
        char name[40];
        snprintf(name, sizeof name, "host n%d", m);
        figures_add_value(&run->saved.figures, name, "member_state", "1", m == 7 ? state : 0, 1, BETTER_LOWER);
    }
}

/* Makes the section. Returns the SVG of a picture; NULL if no picture has this name. */
static const char *picture(const char *name)
{
    const cJSON *block;
    if (!document) {
        document = document_create("title");
        for (struct report_run *run = runs.item; run < runs.item + runs.n; run++) {
            run->is_alone = runs.n == 1;
            section_add_members(document, run);
        }
        document_print_text(printing(), document);
        words = printed();
    }
    cJSON_ArrayForEach(block, cJSON_GetObjectItem(document, "blocks"))
    {
        const char *svg = json_string(block, "svg");
        if (!strcmp(json_string(block, "name"), name)) {
            ck_assert_msg(!picture_fault(svg), "%s", picture_fault(svg));
            return svg;
        }
    }
    return NULL;
}

TEST(a_run_has_a_picture_and_a_table)
{
    add_run("night", 16, 1, 2);
    const char *svg = picture("messages");
    ck_assert_ptr_nonnull(svg);
    ck_assert_uint_eq(count_of(svg, ">2.00</text>"), 1);
    ck_assert_uint_eq(count_of(svg, ">1.00</text>"), 31);
    ck_assert_uint_eq(count_of(svg, ">host n15</text>"), 2);
    ck_assert_uint_eq(count_of(svg, "16 members"), 0);
    ck_assert_ptr_null(picture("round-trips"));
    ck_assert_uint_eq(count_of(words, "The answer."), 0); /* the answer is printed with the rest of the run */
    /* messages of the slow member come first, then the slowest */
    const char *at = strstr(words, "host n7        host n8            50.00   2.00");
    ck_assert_ptr_nonnull(at);
    for (int i = 0; i < 5; i++, at = strchr(at, '\n') + 1) { /* 4 of the 32 messages are from or to the slow member */
        const char *name = strstr(at, "host n7 ");
        ck_assert_int_eq(name && name < strchr(at, '\n'), i < 4);
    }
    check_has(words, "... (12 more in ");
}

TEST(slow_round_trips_have_a_picture)
{
    add_run("night", 16, 1.3, 0);
    const char *svg = picture("round-trips");
    ck_assert_ptr_nonnull(svg);
    ck_assert_uint_eq(count_of(svg, ">1.30</text>"), 2); /* in both directions */
    ck_assert_uint_eq(count_of(svg, ">1.00</text>"), 30);
}

/* If there are many members, slow members and their partners are shown, or else the members of the slowest messages. */
TEST(many_members_are_chosen)
{
    add_run("night", 300, 1.3, 2);
    const char *svg = picture("messages");
    check_has(svg, "; 3 of 300 members: those that are slow, and their partners");
    ck_assert_uint_eq(count_of(svg, ">host n6<") + count_of(svg, ">host n7<") + count_of(svg, ">host n8<"), 6);
    ck_assert_uint_eq(count_of(svg, ">host n"), 6 + 2); /* and twice in the title, which names the slowest message */
    check_has(svg, "<title>host n7 to host n8 is slowest: 2.00 times the median");
    ck_assert_uint_eq(count_of(svg, ">2.00</text>"), 1);
    ck_assert_uint_eq(count_of(svg, ">1.00</text>"), 3);
    ck_assert_ptr_null(picture("round-trips")); /* slow round trips are between 3 and 4, which are not shown */
}

TEST(without_slow_members_the_slowest_messages_are_shown)
{
    add_run("night", 300, 1, 1);
    const char *svg = picture("messages");
    check_has(svg, "; 64 of 300 members: those of the slowest messages");
    ck_assert_uint_eq(count_of(svg, "class=\"dp-area dp-c106\""), 1); /* the message that takes twice as long */
    ck_assert_uint_ge(count_of(svg, ">host n7<"), 1);                 /* every other column has no name */
    ck_assert_uint_eq(count_of(svg, ">host n20<"), 0);
}

TEST(several_runs_have_their_answers)
{
    add_run("monday", 4, 1, 0);
    add_run("tuesday", 4, 1, 0);
    ck_assert_ptr_nonnull(picture("messages"));
    ck_assert_ptr_nonnull(picture("messages-2"));
    ck_assert_uint_eq(count_of(words, "monday: The answer.\n") + count_of(words, "tuesday: The answer.\n"), 2);
    ck_assert_uint_eq(count_of(words, "Messages between members\n"), 1);
}

TEST(a_run_without_messages_has_no_section)
{
    add_run("night", 0, 1, 0);
    ck_assert_ptr_null(picture("messages"));
    ck_assert_uint_eq(count_of(words, "Messages"), 0);
}

SUITE("report/members", setup, teardown)
