/* trained.c - reads a run of the benchmark: run.json, summary.json, and each rank's metrics. */
#include "predict/trained.h"

#include "base/files.h"
#include "base/json.h"
#include "base/option_table.h"
#include "base/stats.h"
#include "kernels/error.h"
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3 };
static const char *const part_name[PARTS] = {"alone_ms", "within_host_alone_ms", "gather_alone_ms"};

/* What is collected while the files of the ranks are read. */
struct reading {
    struct trained *t;
    size_t timed;  /* number of timed steps in a block */
    double *steps; /* [ranks, rounds, timed] seconds of the timed steps of `none` */
    size_t *seen;  /* [rounds] of one rank: timed steps of `none` read so far */
};

/* ---- run.json ---- */

static int read_tensors(struct trained *t, const char *directory, const cJSON *run)
{
    const cJSON *item, *list = cJSON_GetObjectItemCaseSensitive(run, "tensors");
    t->arena = json_count(run, "arena");
    t->tensor = allocate((size_t)cJSON_GetArraySize(list) + 1, sizeof *t->tensor);
    cJSON_ArrayForEach(item, list)
    {
        struct tensor *tensor = &t->tensor[t->tensors++];
        *tensor = (struct tensor){.offset = json_count(item, "offset"), .count = json_count(item, "count")};
        tensor->joined = (int)fmin(json_number(item, "joined"), 3);
        if (!tensor->count || tensor->offset + tensor->count > t->arena)
            return error_report("%s/run.json: tensor %d has no place in the arena", directory, t->tensors - 1);
    }
    return t->tensors ? 0
                      : error_report("%s/run.json: lists no tensors: this is no run of the benchmark with this version "
                                     "of ddpbench",
                                     directory);
}

/* Whether a comma list of labels names this one; an empty list names all. */
static int is_named(const char *list, const char *label)
{
    char word[128];
    int found = !*list;
    for (struct option_list l = {"learn-from", list, 0}; !found && option_next_word(&l, word, sizeof word) > 0;)
        found = !strcmp(word, label);
    return found;
}

/* Appends the row of an implementation, if it reduces the sum of all gradients once a step in fp32. */
static void add_row(struct trained *t, const cJSON *item)
{
    const struct strategy *strategy = strategy_find(json_string(item, "strategy"));
    const cJSON *collective, *collectives = cJSON_GetObjectItemCaseSensitive(item, "collectives");
    int early = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "update_in_backward")), b = 0;
    if (!strategy || !strategy_is_compared(strategy) || strcmp(json_string(item, "wire_dtype"), "fp32") != 0)
        return;
    struct trained_row *row = &t->row[t->rows++];
    double parameters = 0;
    *row = (struct trained_row){.strategy = early && strategy->update ? strategy->update : strategy};
    snprintf(row->label, sizeof row->label, "%s", json_string(item, "name"));
    snprintf(row->size, sizeof row->size, "%s", json_string(item, "bucket_size"));
    row->plan.n = cJSON_GetArraySize(collectives);
    row->plan.bucket = allocate((size_t)row->plan.n + 1, sizeof *row->plan.bucket);
    row->plan.after_backward = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "after_backward"));
    row->plan.updates_early = early;
    row->plan.shards = strategy->shards;
    row->plan.update_share = strategy->shards ? 1 / (double)t->ranks : 1;
    cJSON_ArrayForEach(collective, collectives)
    {
        row->plan.bucket[b].bytes = json_number(collective, "bytes");
        row->plan.bucket[b++].share = json_number(collective, "parameters");
        parameters += json_number(collective, "parameters");
    }
    for (b = 0; b < row->plan.n; b++) {
        row->plan.bucket[b].share /= parameters;
        row->plan.bucket[b].last_tensor = -1;
    }
    row->alone = allocate(t->rounds * (size_t)row->plan.n * PARTS + 1, sizeof *row->alone);
    row->step = allocate(t->rounds, sizeof *row->step);
    row->computing = allocate(t->rounds, sizeof *row->computing);
}

static int read_implementations(struct trained *t, const char *directory, const cJSON *run, const char *only)
{
    const cJSON *item, *list = cJSON_GetObjectItemCaseSensitive(run, "implementations");
    char word[128];
    int none = 0;
    t->row = allocate((size_t)cJSON_GetArraySize(list) + 1, sizeof *t->row);
    cJSON_ArrayForEach(item, list)
    {
        none |= !strcmp(json_string(item, "name"), "none");
        if (is_named(only, json_string(item, "name")))
            add_row(t, item);
    }
    for (struct option_list l = {"learn-from", only, 0}; option_next_word(&l, word, sizeof word) > 0;) {
        int found = !strcmp(word, "none");
        for (size_t i = 0; i < t->rows; i++)
            found |= !strcmp(t->row[i].label, word);
        if (!found)
            return error_report("--learn-from: %s has no implementation '%s' that sums all gradients in fp32", directory,
                                word);
    }
    return none && t->rows ? 0
                           : error_report("%s: lacks none, or an implementation that sums all gradients in fp32; give "
                                          "the run --implementations none,ddp_bucketed, for example",
                                          directory);
}

/* ---- the ranks' metrics ---- */

/* Raises value[i * stride] to number i, in ms, of array[n]. Returns 0; or -1 if it is no array of n numbers of at least
 * 0. */
static int raise_to(const cJSON *array, int n, size_t stride, double *value)
{
    const cJSON *item;
    if (cJSON_GetArraySize(array) != n)
        return -1;
    cJSON_ArrayForEach(item, array)
    {
        double number = cJSON_IsNumber(item) ? 1e-3 * item->valuedouble : NAN;
        if (!(number >= 0 && number < 1e6))
            return -1;
        *value = fmax(*value, number);
        value += stride;
    }
    return 0;
}

static double *none_field(struct replay_compute *c, int i)
{
    double *const field[] = {&c->forward_end, &c->backward_end, &c->update};
    return field[i];
}

/* Takes the times of `none` when gradients are final. */
static int take_none(const struct trained *t, size_t round, const cJSON *line)
{
    static const char *const name[] = {"forward_end_ms", "backward_end_ms", "update_ms"};
    for (int i = 0; i < 3; i++) {
        double *field = none_field(&t->round[round], i), value = 1e-3 * json_number(line, name[i]);
        if (!(value >= 0))
            return -1;
        *field = fmax(*field, value);
    }
    return raise_to(cJSON_GetObjectItemCaseSensitive(line, "gradients_ready_ms"), t->tensors, 1,
                    t->round[round].ready);
}

/* Takes the times of a row's collectives, run alone. */
static int take_alone(const struct trained *t, struct trained_row *row, size_t round, const cJSON *line)
{
    const cJSON *last, *lasts = cJSON_GetObjectItemCaseSensitive(line, "last_tensor");
    int b = 0;
    if (cJSON_GetArraySize(lasts) != row->plan.n || json_number(line, "reductions") > 1)
        return -1;
    cJSON_ArrayForEach(last, lasts)
    {
        if (!cJSON_IsNumber(last) || last->valuedouble < 0 || last->valuedouble >= t->tensors)
            return -1;
        row->plan.bucket[b++].last_tensor = (int)last->valuedouble;
    }
    for (int part = 0; part < PARTS; part++) {
        const cJSON *array = cJSON_GetObjectItemCaseSensitive(line, part_name[part]);
        double *to = row->alone + round * (size_t)row->plan.n * PARTS + part;
        if ((array || !part) && raise_to(array, row->plan.n, PARTS, to))
            return -1;
    }
    return 0;
}

/* Takes a timed step of `none` (row NULL) or of a row. */
static int take_step(struct reading *r, struct trained_row *row, size_t rank, size_t round, const cJSON *line)
{
    struct trained *t = r->t;
    double *step = row ? row->step : t->step, *computing = row ? row->computing : t->computing;
    double block = 1e-3 * json_number(line, "block_ms") / (double)r->timed, own = 1e-3 * json_number(line, "step_ms");
    double share = 1e-3 / (double)(r->timed * t->ranks);
    if (!(block > 0 && own > 0) || (!row && r->seen[round] >= r->timed))
        return -1;
    step[round] = fmax(step[round], block);
    computing[round] += share * (json_number(line, "forward_pass_ms") + json_number(line, "backward_pass_ms"));
    if (!row)
        r->steps[(rank * t->rounds + round) * r->timed + r->seen[round]++] = own;
    return 0;
}

/* Takes a line of a rank's metrics. Returns 0; or -1 if a value is missing or out of bounds. */
static int take_line(struct reading *r, size_t rank, const cJSON *line)
{
    struct trained *t = r->t;
    const char *label = json_string(line, "implementation");
    size_t round = json_count(line, "round");
    int is_step = cJSON_HasObjectItem(line, "step"), none = !strcmp(label, "none");
    struct trained_row *row = NULL;
    for (size_t i = 0; i < t->rows && !row; i++)
        row = !strcmp(t->row[i].label, label) ? &t->row[i] : NULL;
    if ((!row && !none) || round >= t->rounds)
        return 0;
    if (!is_step)
        return row ? take_alone(t, row, round, line) : take_none(t, round, line);
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "timed")) ? take_step(r, row, rank, round, line) : 0;
}

static int read_rank(struct reading *r, const char *directory, size_t rank)
{
    char path[FILES_PATH + 64], why[FILES_WHY], *text = NULL;
    size_t room = 0, at = 0;
    int status = 0;
    snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", directory, rank);
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return error_report("%s: %s", path, why);
    memset(r->seen, 0, r->t->rounds * sizeof *r->seen);
    while (!status && files_read_line(&text, &room, file) > 0) {
        cJSON *line = json_object(text);
        at++;
        if (!line || take_line(r, rank, line))
            status = error_report("%s: line %zu lacks a value, or one is not possible", path, at);
        cJSON_Delete(line);
    }
    for (size_t round = 0; round < r->t->rounds && !status; round++)
        if (r->seen[round] != r->timed)
            status = error_report("%s: round %zu has %zu timed steps of none, not %zu", path, round, r->seen[round],
                                  r->timed);
    free(text);
    fclose(file);
    return status;
}

/* ---- what follows from all ranks ---- */

/* Sets speed and spread, and scales each round as trained_read says. */
static void use_steps(struct reading *r)
{
    struct trained *t = r->t;
    size_t steps = t->rounds * r->timed;
    double squares = 0;
    for (size_t round = 0; round < t->rounds; round++) {
        struct replay_compute *c = &t->round[round];
        double slowest = 0, slowest_mean = 0;
        for (size_t i = round * r->timed; i < (round + 1) * r->timed; i++) {
            double most = 0, sum = 0, sum_squares = 0;
            for (size_t q = 0; q < t->ranks; q++) {
                double x = log(r->steps[q * steps + i]);
                most = fmax(most, r->steps[q * steps + i]);
                sum += x;
                sum_squares += x * x;
            }
            slowest += most / (double)r->timed;
            squares += t->ranks > 1 ? (sum_squares - sum * sum / (double)t->ranks) / (double)(t->ranks - 1) : 0;
            for (size_t q = 0; q < t->ranks; q++)
                t->speed[q] += r->steps[q * steps + i] / most / (double)steps;
        }
        for (size_t q = 0; q < t->ranks; q++) {
            double mean = 0;
            for (size_t i = round * r->timed; i < (round + 1) * r->timed; i++)
                mean += r->steps[q * steps + i] / (double)r->timed;
            slowest_mean = fmax(slowest_mean, mean);
        }
        double scale = slowest / slowest_mean;
        for (int i = 0; i < 3; i++)
            *none_field(c, i) *= scale;
        for (int i = 0; i < t->tensors; i++)
            c->ready[i] *= scale;
        c->rest = fmax(0, slowest - c->backward_end - c->update);
    }
    t->spread = sqrt(fmax(0, squares / (double)steps));
}

/* Checks that every round has all values. */
static int check_rounds(const struct trained *t, const char *directory)
{
    for (size_t round = 0; round < t->rounds; round++) {
        int whole = t->round[round].backward_end > 0;
        for (size_t i = 0; i < t->rows; i++)
            whole &= t->row[i].step[round] > 0 && (!t->row[i].plan.n || t->row[i].plan.bucket[0].last_tensor >= 0);
        if (!whole)
            return error_report("%s: round %zu lacks steps, or times of collectives alone; give the run --attainable",
                                directory, round);
    }
    return 0;
}

int trained_read(struct trained *t, const char *directory, const char *only)
{
    struct saved_run saved;
    struct reading r = {.t = t};
    *t = (struct trained){0};
    int status = saved_run_read(&saved, directory, 0);
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(saved.run, "derived");
    if (!status && strcmp(json_string(saved.run, "mode"), "benchmark") != 0)
        status = error_report("%s: is a run of %s; expected one of the benchmark, with --attainable", directory,
                              json_string(saved.run, "mode"));
    t->ranks = json_count(derived, "world_size");
    t->hosts = json_count(derived, "host_count");
    t->rounds = json_count(saved.summary, "done");
    r.timed = json_count(saved.summary, "timed_steps_per_block");
    if (!status && (!t->ranks || t->ranks > 100000 || !t->rounds || t->rounds > 100000 || !r.timed || r.timed > 100000))
        status = error_report("%s: lacks world_size, done or timed_steps_per_block", directory);
    if (!status)
        status = read_tensors(t, saved.directory, saved.run);
    if (!status)
        status = read_implementations(t, saved.directory, saved.run, only);
    if (!status) {
        t->round = allocate(t->rounds, sizeof *t->round);
        t->step = allocate(t->rounds, sizeof *t->step);
        t->computing = allocate(t->rounds, sizeof *t->computing);
        t->speed = allocate(t->ranks, sizeof *t->speed);
        r.steps = allocate(t->ranks * t->rounds * r.timed, sizeof *r.steps);
        r.seen = allocate(t->rounds, sizeof *r.seen);
        for (size_t i = 0; i < t->rounds; i++)
            t->round[i] = (struct replay_compute){.tensors = t->tensors,
                                                  .ready = allocate((size_t)t->tensors, sizeof *t->round->ready)};
    }
    for (size_t rank = 0; rank < t->ranks && !status; rank++)
        status = read_rank(&r, saved.directory, rank);
    if (!status)
        status = check_rounds(t, saved.directory);
    if (!status)
        use_steps(&r);
    free(r.steps);
    free(r.seen);
    saved_run_destroy(&saved);
    return status;
}

void trained_destroy(struct trained *t)
{
    for (size_t i = 0; t->round && i < t->rounds; i++)
        free(t->round[i].ready);
    for (size_t i = 0; i < t->rows; i++) {
        free(t->row[i].plan.bucket);
        free(t->row[i].alone);
        free(t->row[i].step);
        free(t->row[i].computing);
    }
    free(t->row);
    free(t->tensor);
    free(t->round);
    free(t->step);
    free(t->computing);
    free(t->speed);
    *t = (struct trained){0};
}

void trained_load(struct trained_row *row, size_t round)
{
    const double *alone = row->alone + round * (size_t)row->plan.n * PARTS;
    for (int b = 0; b < row->plan.n; b++, alone += PARTS) {
        row->plan.bucket[b].reduce = alone[0];
        row->plan.bucket[b].within = alone[1];
        row->plan.bucket[b].gather = alone[2];
    }
}
