/* schedule.c - cycles of steps that are skipped, warmed up and captured. */
#include "profile/schedule.h"

size_t capture_steps(const struct profile_options *o, size_t steps)
{
    size_t cycle = o->wait + o->warmup + o->active;
    return o->active && o->repeat && o->repeat <= steps / cycle ? o->repeat * cycle : steps;
}

enum capture_state capture_state(const struct profile_options *o, size_t step)
{
    size_t within = o->active ? step % (o->wait + o->warmup + o->active) : step;
    return within < o->wait ? CAPTURE_WAIT : within < o->wait + o->warmup ? CAPTURE_WARMUP : CAPTURE_ACTIVE;
}

size_t capture_active(const struct profile_options *o, size_t steps)
{
    size_t begin = o->wait + o->warmup, cycle = o->active ? begin + o->active : steps + 1, rest = steps % cycle;
    return steps / cycle * o->active + (rest > begin ? rest - begin : 0);
}
