/* test_schedule.c - which steps a profile captures: cycles as in torch.profiler.schedule, up to the run's end. */
#include "profile/profile.h"
#include "tests/support/suite.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* States of the steps until the schedule ends: w waits, u warms up, A is active. */
static const struct {
    size_t epochs, steps, wait, warmup, active, repeat;
    const char *states;
} schedules[] = {
    {3, 1, 0, 0, 0, 0, "AAA"},         /* all steps */
    {2, 3, 0, 0, 0, 0, "AAAAAA"},      /* over several epochs */
    {1, 1, 0, 0, 0, 0, "A"},           /* a single step */
    {5, 1, 2, 0, 0, 0, "wwAAA"},       /* all steps after the wait */
    {5, 1, 0, 4, 0, 0, "uuuuA"},       /* one step after the warm-up */
    {8, 1, 0, 0, 3, 0, "AAAAAAAA"},    /* cycles without a gap */
    {8, 1, 0, 0, 3, 9, "AAAAAAAA"},    /* more cycles than steps */
    {10, 1, 1, 1, 2, 0, "wuAAwuAAwu"}, /* the run ends within a cycle */
    {4, 3, 2, 0, 1, 0, "wwAwwAwwAwwA"},
    {4, 3, 0, 2, 1, 3, "uuAuuAuuA"},
    {7, 1, 0, 0, 1, 3, "AAA"},
    {4, 1, 3, 0, 1, 1, "wwwA"}, /* a cycle as long as the run */
};

TEST_EACH(schedule_has_known_states, LENGTH(schedules))
{
    static const char letter[] = {[CAPTURE_WAIT] = 'w', [CAPTURE_WARMUP] = 'u', [CAPTURE_ACTIVE] = 'A'};
    const struct profile_options o = {.wait = schedules[_i].wait,
                                      .warmup = schedules[_i].warmup,
                                      .active = schedules[_i].active,
                                      .repeat = schedules[_i].repeat};
    const char *states = schedules[_i].states;
    for (size_t step = 0; states[step]; step++)
        ck_assert_msg(letter[capture_state(&o, step)] == states[step], "step %zu of %s", step, states);
    ck_assert_uint_eq(capture_steps(&o, schedules[_i].epochs * schedules[_i].steps), strlen(states));
}

SUITE("schedule", NULL, NULL)
