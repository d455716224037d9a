/* schedule.c - which steps of a profile are captured: the cycles of torch.profiler.schedule, cut off by the epochs. */
#include "profile/capture.h"

/* The active steps of a cycle. */
static size_t active_of(const struct capture_schedule *s)
{
    return s->active ? s->active : s->steps - s->wait - s->warmup;
}

size_t capture_steps(const struct capture_schedule *s)
{
    size_t length = s->wait + s->warmup + active_of(s);
    return s->repeat && s->repeat <= s->steps / length ? s->repeat * length : s->steps;
}

size_t capture_active_steps(const struct capture_schedule *s)
{
    size_t steps = capture_steps(s), quiet = s->wait + s->warmup, length = quiet + active_of(s), rest = steps % length;
    return steps / length * active_of(s) + (rest > quiet ? rest - quiet : 0);
}

enum capture_state capture_state(const struct capture_schedule *s, size_t step)
{
    size_t quiet = s->wait + s->warmup, within = step % (quiet + active_of(s));
    if (step >= capture_steps(s))
        return CAPTURE_OVER;
    return within < s->wait ? CAPTURE_WAIT : within < quiet ? CAPTURE_WARMUP : CAPTURE_ACTIVE;
}
