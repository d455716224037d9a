/* schedule.c - which steps of a profile are captured. */
#include "profile/schedule.h"

/* Steps of a cycle: before its active ones, and those. */
struct cycle {
    size_t quiet, active;
};

static struct cycle cycle_of(const struct capture_schedule *s)
{
    size_t quiet = s->wait + s->warmup;
    return (struct cycle){quiet, s->active ? s->active : s->steps - quiet};
}

size_t capture_steps(const struct capture_schedule *s)
{
    struct cycle cycle = cycle_of(s);
    size_t length = cycle.quiet + cycle.active;
    return s->repeat && s->repeat <= s->steps / length ? s->repeat * length : s->steps;
}

size_t capture_active_steps(const struct capture_schedule *s)
{
    struct cycle cycle = cycle_of(s);
    size_t steps = capture_steps(s), length = cycle.quiet + cycle.active, rest = steps % length;
    return steps / length * cycle.active + (rest > cycle.quiet ? rest - cycle.quiet : 0);
}

enum capture_state capture_state(const struct capture_schedule *s, size_t step)
{
    struct cycle cycle = cycle_of(s);
    size_t within = step % (cycle.quiet + cycle.active);
    if (step >= capture_steps(s))
        return CAPTURE_OVER;
    return within < s->wait ? CAPTURE_WAIT : within < cycle.quiet ? CAPTURE_WARMUP : CAPTURE_ACTIVE;
}
