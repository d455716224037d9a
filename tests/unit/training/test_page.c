/* test_page.c - what --live shows of a training, as a file holds it at the end. */
#include "training/training.h"

#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct implementation rows[] = {{.label = "none"}, {.label = "ddp"}, {.label = "ddp_bucketed:0.5"}};
static const struct job job = {.size = 3};
static char path[64];
static struct live *live;
static struct training_page *page;

static void set_up(void)
{
    snprintf(path, sizeof path, "%s/a.prom", saved_root());
    ck_assert_msg(live_open(&live, &job, path) == 0, "%s", error_text());
    page = training_page_create(live, rows, 3);
    live_start(live, "benchmark", "");
}

/* The file after the end. */
static char *end(void)
{
    char *text = NULL;
    size_t room = 0;
    ck_assert_int_eq(live_stop(live), 0);
    live_destroy(live);
    training_page_destroy(page);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(getdelim(&text, &room, 0, file), 0);
    fclose(file);
    saved_remove_all();
    return text;
}

static void check_line(const char *text, const char *line)
{
    char whole[200];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    ck_assert_msg(strstr(text, whole) != NULL, "no '%s' in\n%s", line, text);
}

START_TEST(before_the_first_step)
{
    char *text = end();
    check_line(text, "ddpbench_implementation_running{implementation=\"ddp\"} 0");
    ck_assert_ptr_null(strstr(text, "ddpbench_step"));
    ck_assert_ptr_null(strstr(text, "ddpbench_loss"));
    free(text);
}
END_TEST

START_TEST(the_last_step_of_each)
{
    struct step_times step = {.start_ns = 5, .end_ns = 1234567896};
    step.phase_ns[PHASE_FORWARD] = 7;
    step.phase_ns[PHASE_BACKWARD] = 1000000001;
    training_page_run(page, 1);
    training_page_step(page, 1, &step, 2e6, 1, 0.1, 4); /* the next one takes its place */
    training_page_step(page, 1, &step, 1e6, 5.5, 0.001, 8);
    step.phase_ns[PHASE_CHECKPOINT] = 3;
    training_page_step(page, 2, &step, 3e6, NAN, 0, 12);
    char *text = end();
    check_line(text, "ddpbench_implementation_running{implementation=\"none\"} 0");
    check_line(text, "ddpbench_implementation_running{implementation=\"ddp\"} 1");
    check_line(text, "ddpbench_steps_total 12");
    check_line(text, "ddpbench_step_seconds{implementation=\"ddp\"} 1.234567891");
    check_line(text, "ddpbench_step_phase_seconds{implementation=\"ddp\",phase=\"forward_pass\"} 7e-09");
    check_line(text, "ddpbench_step_phase_seconds{implementation=\"ddp\",phase=\"backward_pass\"} 1.000000001");
    check_line(text, "ddpbench_step_phase_seconds{implementation=\"ddp_bucketed:0.5\",phase=\"checkpoint\"} 3e-09");
    check_line(text, "ddpbench_tokens_per_second{implementation=\"ddp\"} 1000000");
    check_line(text, "ddpbench_loss{implementation=\"ddp\"} 5.5");
    check_line(text, "ddpbench_loss{implementation=\"ddp_bucketed:0.5\"} NaN");
    check_line(text, "ddpbench_learning_rate{implementation=\"ddp\"} 0.001");
    ck_assert_ptr_null(strstr(text, "{implementation=\"ddp\",phase=\"checkpoint\"}"));
    ck_assert_ptr_null(strstr(text, "step_seconds{implementation=\"none\"}"));
    free(text);
}
END_TEST

START_TEST(without_live_there_is_no_page)
{
    const struct step_times step = {0};
    struct training_page *none = training_page_create(NULL, rows, 3);
    ck_assert_ptr_null(none);
    training_page_run(none, 0);
    training_page_step(none, 0, &step, 1, 1, 1, 1);
    training_page_destroy(none);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page of a training");
    TCase *tests = tcase_create("steps"), *none = tcase_create("none");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, before_the_first_step);
    tcase_add_test(tests, the_last_step_of_each);
    tcase_add_test(none, without_live_there_is_no_page);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, none);
    return suite_run(suite);
}
