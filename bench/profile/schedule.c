/* schedule.c - which steps of a profile are captured: the cycles of torch.profiler.schedule, cut off by the epochs. */
#include "profile/capture.h"

/* Steps of a cycle that are not active, and its active ones. */
static size_t quiet_of(const struct capture_schedule *s)
{
    return s->wait + s->warmup;
}

static size_t active_of(const struct capture_schedule *s)
{
    return s->active ? s->active : s->steps - quiet_of(s);
}

size_t capture_steps(const struct capture_schedule *s)
{
    size_t length = quiet_of(s) + active_of(s);
    return s->repeat && s->repeat <= s->steps / length ? s->repeat * length : s->steps;
}

size_t capture_active_steps(const struct capture_schedule *s)
{
    size_t steps = capture_steps(s), length = quiet_of(s) + active_of(s), rest = steps % length;
    return steps / length * active_of(s) + (rest > quiet_of(s) ? rest - quiet_of(s) : 0);
}

enum capture_state capture_state(const struct capture_schedule *s, size_t step)
{
    size_t within = step % (quiet_of(s) + active_of(s));
    if (step >= capture_steps(s))
        return CAPTURE_OVER;
    return within < s->wait ? CAPTURE_WAIT : within < quiet_of(s) ? CAPTURE_WARMUP : CAPTURE_ACTIVE;
}
