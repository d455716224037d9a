/* test_schedule.c - which steps a profile captures: the cycles of torch.profiler.schedule, cut off by the epochs. */
#include "profile/capture.h"
#include "tests/support/suite.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* What happens in each step: w waits, u warms up, A is active, and behind the last there is nothing to do. */
static const struct {
    size_t epochs, steps, wait, warmup, active, repeat;
    const char *states;
} schedules[] = {
    {3, 1, 0, 0, 0, 0, "AAA"},         /* all there is */
    {2, 3, 0, 0, 0, 0, "AAAAAA"},      /* over epochs */
    {1, 1, 0, 0, 0, 0, "A"},           /* one step */
    {5, 1, 2, 0, 0, 0, "wwAAA"},       /* all that remain */
    {5, 1, 0, 4, 0, 0, "uuuuA"},       /* one remains behind the warm-up */
    {8, 1, 0, 0, 3, 0, "AAAAAAAA"},    /* cycle upon cycle */
    {8, 1, 0, 0, 3, 9, "AAAAAAAA"},    /* more than there are steps */
    {10, 1, 1, 1, 2, 0, "wuAAwuAAwu"}, /* the epochs end within a cycle */
    {4, 3, 2, 0, 1, 0, "wwAwwAwwAwwA"},
    {4, 3, 0, 2, 1, 3, "uuAuuAuuA"},
    {7, 1, 0, 0, 1, 3, "AAA"},
    {4, 1, 3, 0, 1, 1, "wwwA"}, /* a cycle as long as the run */
};

static struct capture_schedule schedule_of(size_t i)
{
    return (struct capture_schedule){schedules[i].epochs * schedules[i].steps, schedules[i].wait, schedules[i].warmup,
                                     schedules[i].active, schedules[i].repeat};
}

START_TEST(schedule_is)
{
    static const char letter[] = {[CAPTURE_WAIT] = 'w', [CAPTURE_WARMUP] = 'u', [CAPTURE_ACTIVE] = 'A'};
    struct capture_schedule schedule = schedule_of((size_t)_i);
    size_t step = 0;
    for (const char *c = schedules[_i].states; *c; c++, step++) {
        enum capture_state state = capture_state(&schedule, step);
        ck_assert_msg(state != CAPTURE_OVER && letter[state] == *c, "step %zu of %s", step, schedules[_i].states);
    }
    for (size_t more = 0; more < 30; more++) /* and it stays over */
        ck_assert_int_eq(capture_state(&schedule, step + more), CAPTURE_OVER);
    ck_assert_int_eq(capture_state(&schedule, 1000000000000), CAPTURE_OVER);
}
END_TEST

/* Walks through the cycles of a schedule step by step, and says how many steps were as expected: states in turn. */
static size_t walk(const struct capture_schedule *o, size_t *active)
{
    const struct {
        enum capture_state state;
        size_t n;
    } part[] = {{CAPTURE_WAIT, o->wait}, {CAPTURE_WARMUP, o->warmup}, {CAPTURE_ACTIVE, o->active}};
    size_t step = 0;
    *active = 0;
    for (size_t cycle = 0; step < o->steps && (!o->repeat || cycle < o->repeat); cycle++)
        for (size_t p = 0; p < LENGTH(part); p++)
            for (size_t i = 0; i < part[p].n && step < o->steps; i++, step++) {
                ck_assert_int_eq(capture_state(o, step), part[p].state);
                *active += part[p].state == CAPTURE_ACTIVE;
            }
    return step;
}

START_TEST(cycles_follow_one_another)
{
    enum { STEPS = 39 };
    for (size_t i = 0; i < (size_t)4 * 4 * 3 * 6; i++) {
        struct capture_schedule o = {STEPS, i % 4, i / 4 % 4, 1 + i / 16 % 3, i / 48};
        size_t active, steps = walk(&o, &active);
        ck_assert_int_eq(capture_state(&o, steps), CAPTURE_OVER);
        ck_assert_uint_eq(capture_steps(&o), steps);
        ck_assert_uint_eq(capture_active_steps(&o), active);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("schedule");
    tcase_add_loop_test(tests, schedule_is, 0, (int)LENGTH(schedules));
    tcase_add_test(tests, cycles_follow_one_another);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
