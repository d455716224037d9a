/* test_figures.c - the list of figures: as JSON that is read back, as comma-separated values, and invalid lists. */
#include "base/figures.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>

static struct figure_list list;

static void destroy(void)
{
    figures_destroy(&list);
    error_clear();
}

static void add_some(void)
{
    struct estimate step = {.median = 2.5, .ci_low = 2, .ci_high = 3, .n = 6};
    struct figure sized = {"broadcast float none root 0 in_place", "time", "s", 8, 1e-6, NAN, NAN, 3, BETTER_LOWER, 1};
    figures_add_estimate(&list, "ddp", "step", "s", &step, BETTER_LOWER, 1);
    figures_add_value(&list, "ddp", "tokens_per_second", "1/s", 800, 6, BETTER_HIGHER);
    figures_add_value(&list, "ddp", "attainable", "s", INFINITY, 6, BETTER_NONE);
    figures_add_value(&list, "ddp", "attainable", "s", NAN, 6, BETTER_NONE);
    figures_add(&list, &sized);
    sized.bytes = 16;
    figures_add(&list, &sized);
}

TEST(figures_that_do_not_apply_are_left_out)
{
    add_some();
    ck_assert_uint_eq(list.n, 4);
    ck_assert_ptr_null(figures_find(&list, "ddp", "attainable", 0));
}

TEST(a_figure_is_found_by_subject_name_and_size)
{
    add_some();
    ck_assert_ptr_eq(figures_find(&list, "ddp", "step", 0), &list.item[0]);
    ck_assert_ptr_eq(figures_find(&list, list.item[2].subject, "time", 16), &list.item[3]);
    ck_assert_ptr_null(figures_find(&list, "ddp", "step", 8));
    ck_assert_ptr_null(figures_find(&list, "none", "step", 0));
}

TEST(a_list_comes_back_as_it_was)
{
    struct figure_list back;
    for (int i = 0; i < 40; i++) { /* more figures than are allocated at once */
        add_some();
        for (size_t k = list.n - 4; k < list.n; k++)
            snprintf(list.item[k].subject, sizeof list.item[k].subject, "%zu", k);
    }
    cJSON *json = kept_json(figures_json(&list));
    const char *text = kept(cJSON_Print(json));
    cJSON *again = kept_json(cJSON_Parse(text));
    ck_assert_int_eq(figures_read(&back, "PATH", again), 0);
    ck_assert_uint_eq(back.n, list.n);
    for (size_t i = 0; i < list.n; i++) {
        const struct figure *a = &list.item[i], *b = &back.item[i];
        ck_assert_str_eq(a->subject, b->subject);
        ck_assert_str_eq(a->name, b->name);
        ck_assert_str_eq(a->unit, b->unit);
        ck_assert(a->value == b->value && a->bytes == b->bytes && a->n == b->n);
        ck_assert(a->better == b->better && a->judged == b->judged);
        ck_assert(a->low == b->low || (isnan(a->low) && isnan(b->low)));
        ck_assert(a->high == b->high || (isnan(a->high) && isnan(b->high)));
    }
    figures_destroy(&back);
}

TEST(comma_separated)
{
    add_some();
    figures_print_csv(printing(), &list, (const char *const[]){"mine, \"x\""}, 1);
    const char *text = printed();
    ck_assert_str_eq(FIGURES_CSV_COLUMNS, "subject,name,bytes,unit,value,low,high,n,better,judged");
    ck_assert_str_eq(text, "\"mine, \"\"x\"\"\",ddp,step,,s,2.5,2,3,6,lower,1\n"
                           "\"mine, \"\"x\"\"\",ddp,tokens_per_second,,1/s,800,,,6,higher,0\n"
                           "\"mine, \"\"x\"\"\",broadcast float none root 0 in_place,time,8,s,1e-06,,,3,lower,1\n"
                           "\"mine, \"\"x\"\"\",broadcast float none root 0 in_place,time,16,s,1e-06,,,3,lower,1\n");
}

#define GOOD "{\"subject\": \"a\", \"name\": \"step\", \"unit\": \"s\", \"value\": 1, \"n\": 2, \"better\": \"lower\"}"
#define BROKEN(unit, value, n, better)                                                                                 \
    "[" GOOD ", {\"subject\": \"a\", \"name\": \"step\", \"unit\": " unit ", \"value\": " value ", \"n\": " n          \
    ", \"better\": " better "}]"

static const char *const broken[][2] = {
    {"{}", "PATH: lacks the list \"figures\""},
    {"null", "PATH: lacks the list \"figures\""},
    {"[3]", "PATH: figure 1 lacks one or more of"},
    {"[" GOOD ", []]", "PATH: figure 2 lacks one or more of"},
    {"[" GOOD ", {\"name\": \"step\"}]", "PATH: figure 2 lacks one or more of"},
    {"[{\"subject\": \"a\", \"name\": \"\", \"unit\": \"s\", \"value\": 1, \"n\": 2, \"better\": \"lower\"}]",
     "figure 1"},
    {"[{\"subject\": \"a\", \"name\": 3, \"unit\": \"s\", \"value\": 1, \"n\": 2, \"better\": \"lower\"}]", "figure 1"},
    {"[{\"name\": \"step\", \"unit\": \"s\", \"value\": 1, \"n\": 2, \"better\": \"lower\"}]", "figure 1"},
    {BROKEN("\"s\"", "null", "1", "\"lower\""), "figure 2"},
    {BROKEN("\"s\"", "\"1\"", "1", "\"lower\""), "figure 2"},
    {BROKEN("\"s\"", "1", "-1", "\"lower\""), "figure 2"},
    {BROKEN("\"s\"", "1", "null", "\"lower\""), "figure 2"},
    {BROKEN("\"s\"", "1", "1", "\"less\""),
     "figure 2 lacks one or more of subject, name, unit, value, n and better (lower, "
     "higher or none)"},
    {BROKEN("\"s\"", "1", "1", "1"), "figure 2"},
    {BROKEN("null", "1", "1", "\"lower\""), "figure 2"},
    {BROKEN("\"a unit of many letters\"", "1", "1", "\"lower\""), "figure 2"},
    {BROKEN("\"s\", \"bytes\": -8", "1", "1", "\"lower\""), "figure 2"},
};

TEST_EACH(broken_lists_are_refused, sizeof broken / sizeof *broken)
{
    cJSON *json = kept_json(cJSON_Parse(broken[_i][0]));
    ck_assert_msg(json != NULL, "not JSON: %s", broken[_i][0]);
    ck_assert_msg(figures_read(&list, "PATH", json) == -1, "accepted: %s", broken[_i][0]);
    check_has(error_text(), broken[_i][1]);
}

TEST(a_list_written_by_hand_is_accepted)
{
    cJSON *json = kept_json(cJSON_Parse("[" GOOD "]"));
    ck_assert_int_eq(figures_read(&list, "PATH", json), 0);
    ck_assert_uint_eq(list.n, 1);
    ck_assert(list.item[0].bytes == 0 && isnan(list.item[0].low) && !list.item[0].judged);
}

SUITE("figures", NULL, destroy)
