/* step_profile.c - writes and reads what a training step computes. */
#include "results/step_profile.h"

#include "base/json.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>

struct step_compute step_compute_create(int tensors)
{
    return (struct step_compute){.ready = allocate((size_t)tensors + 1, sizeof(double)), .tensors = tensors};
}

void step_compute_add(struct step_compute *to, const struct step_compute *from, double scale, int add)
{
    to->tensors = from->tensors;
    to->forward_end = add * to->forward_end + scale * from->forward_end;
    to->backward_end = add * to->backward_end + scale * from->backward_end;
    to->update = add * to->update + scale * from->update;
    to->rest = add * to->rest + scale * from->rest;
    for (int i = 0; i < from->tensors; i++)
        to->ready[i] = add * to->ready[i] + scale * from->ready[i];
}

void step_profile_create_steps(struct step_profile *profile, size_t steps)
{
    profile->step = allocate(steps + 1, sizeof *profile->step);
    profile->steps = steps;
    for (size_t i = 0; i < steps; i++)
        profile->step[i] = step_compute_create(profile->tensors);
}

void step_profile_destroy(struct step_profile *profile)
{
    for (size_t i = 0; profile->step && i < profile->steps; i++)
        free(profile->step[i].ready);
    free(profile->step);
    free(profile->tensor);
    *profile = (struct step_profile){0};
}

/* ---- tensors ---- */

void step_profile_add_tensors(cJSON *run, const struct tensor *tensor, int tensors, size_t arena)
{
    cJSON *list = cJSON_AddArrayToObject(run, "tensors"); /* in order of registration */
    for (const struct tensor *t = tensor; t < tensor + tensors; t++) {
        cJSON *item = json_add_row(list);
        json_add_text(item, "name", t->name);
        json_add_number(item, "offset", (double)t->offset);
        json_add_number(item, "count", (double)t->count);
        json_add_number(item, "joined", t->joined);
        json_add_number(item, "layer", t->layer);
    }
    json_add_number(run, "arena", (double)arena);
}

int step_profile_read_tensors(struct step_profile *profile, const char *directory, const cJSON *run)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(run, "tensors");
    size_t end = profile->arena = json_count(run, "arena");
    profile->tensor = allocate((size_t)cJSON_GetArraySize(list) + 1, sizeof *profile->tensor);
    for (const cJSON *item = json_first(run, "tensors"); item; item = item->next) {
        double joined = json_number(item, "joined"); /* with tensors before it */
        size_t offset = json_count(item, "offset"), count = json_count(item, "count");
        if (!count || offset + count > end || !(joined >= 0 && joined <= fmin(3, profile->tensors + 1)))
            return error_report("%s/run.json: tensor %d has no place in the arena", directory, profile->tensors);
        profile->tensor[profile->tensors++] = (struct tensor){
            .offset = end = offset, .count = count, .joined = (int)joined, .layer = (int)json_count(item, "layer")};
    }
    return profile->tensors
               ? 0
               : error_report("%s/run.json: lists no tensors, so it is not a benchmark run of this version of ddpbench",
                              directory);
}

/* ---- steps ---- */

enum { TIMES = 4 }; /* rest is the last: step_compute_raise does not read it */
static const char *const time_name[TIMES] = {"forward_end_ms", "backward_end_ms", "update_ms", "rest_ms"};
static const char *const ready_name = "gradients_ready_ms";

void step_compute_print(FILE *out, const struct step_compute *c)
{
    const double seconds[TIMES] = {c->forward_end, c->backward_end, c->update, c->rest};
    fprintf(out, ", \"%s\": [", ready_name);
    for (int i = 0; i < c->tensors; i++)
        fprintf(out, "%s%.6f", i ? ", " : "", 1e3 * c->ready[i]);
    fprintf(out, "]");
    for (int i = 0; i < TIMES; i++)
        fprintf(out, ", \"%s\": %.6f", time_name[i], 1e3 * seconds[i]);
}

double times_seconds(double ms)
{
    return ms >= 0 && ms < 1e9 ? 1e-3 * ms : NAN;
}

int times_raise(const cJSON *array, int n, size_t bytes, void *first)
{
    char *at = first;
    if (cJSON_GetArraySize(array) != n)
        return -1;
    for (const cJSON *item = array ? array->child : NULL; item; item = item->next) {
        double seconds = times_seconds(cJSON_IsNumber(item) ? item->valuedouble : NAN);
        if (isnan(seconds))
            return -1;
        double *value = (void *)at;
        *value = fmax(*value, seconds);
        at += bytes;
    }
    return 0;
}

int step_compute_raise(struct step_compute *c, const cJSON *line)
{
    double *const field[TIMES - 1] = {&c->forward_end, &c->backward_end, &c->update};
    for (int i = 0; i < TIMES - 1; i++) {
        double seconds = times_seconds(json_number(line, time_name[i]));
        if (isnan(seconds))
            return -1;
        *field[i] = fmax(*field[i], seconds);
    }
    return times_raise(cJSON_GetObjectItemCaseSensitive(line, ready_name), c->tensors, sizeof *c->ready, c->ready);
}
