/* trained.c - reads a run of the benchmark: run.json, summary.json, and each rank's metrics. */
#include "predict/trained.h"

#include "base/files.h"
#include "base/json.h"
#include "base/stats.h"
#include "import/import.h"
#include "kernels/error.h"
#include "results/saved_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 100000000 }; /* most numbers of a run, to limit the memory that a file can ask for */

/* What is collected while the files of the ranks are read. */
struct reading {
    struct trained *t;
    size_t timed; /* number of timed steps in a block */
    struct over_ranks {
        double most, sum, squares; /* longest, in seconds; sums of logarithms and of their squares */
    } * step;                      /* [rounds, timed] timed steps of `none` */
    struct seen {
        size_t steps, times;
        double seconds; /* sum of these steps, of `none` */
    } * seen;           /* [rounds, rows + 1] of one rank: timed steps, and lines of times, read so far */
};

/* ---- run.json ---- */

/* Returns the plan of a strategy with the buckets of *cut, which it destroys. */
static struct replay_plan plan_of(const struct trained *t, const struct traits *traits, struct plan *cut, size_t ranks)
{
    struct replay_plan plan = {.bucket = allocate((size_t)cut->n + 1, sizeof *plan.bucket),
                               .n = cut->n,
                               .after_backward = !traits->overlaps,
                               .updates_early = traits->updates_early,
                               .shards = traits->shards,
                               .update_share = traits->shards ? 1 / (double)ranks : 1,
                               .gather_share = t->gather_share};
    for (int b = 0; b < cut->n; b++)
        plan.bucket[b] = (struct replay_bucket){.last_tensor = cut->bucket[b].last_tensor,
                                                .bytes = sizeof(float) * (double)cut->bucket[b].count,
                                                .share = (double)cut->bucket[b].count / (double)t->profile.arena};
    plan_destroy(cut);
    return plan;
}

struct replay_plan trained_cut(const struct trained *t, const struct strategy *strategy, enum variant variant,
                               const struct bucket_caps *caps, size_t ranks)
{
    struct plan cut;
    strategy->plan(&cut, t->profile.tensor, t->profile.tensors, caps);
    return plan_of(t, strategy->traits[variant], &cut, ranks);
}

/* Adds the bucket of the next tensors, which end before tensor *next, and moves *next to the first of them. */
static void add_bucket(struct plan *plan, const struct tensor *tensor, int *next, int tensors)
{
    const struct tensor *first = &tensor[*next - 1], *last = &tensor[ *next -= tensors];
    plan->bucket[plan->n++] =
        (struct bucket){first->offset, last->offset + last->count - first->offset, *next, tensors};
}

/* Sets *plan to the recorded buckets, cut by any rule. Returns 0; or -1 if they do not cover all tensors in order. */
static int read_buckets(struct plan *plan, const struct trained *t, const cJSON *implementation)
{
    int next = t->profile.tensors;
    *plan = (struct plan){0, allocate((size_t)t->profile.tensors, sizeof *plan->bucket)};
    for (const cJSON *item = json_first(implementation, "collectives"); item; item = item->next) {
        size_t tensors = json_count(item, "tensors");
        if (!tensors || tensors > (size_t)next) {
            next = -1;
            break;
        }
        add_bucket(plan, t->profile.tensor, &next, (int)tensors);
    }
    if (next)
        plan_destroy(plan);
    return next ? -1 : 0;
}

/* Reads the implementations that sum all gradients once a step in fp32. */
static int read_implementations(struct trained *t, const char *directory, const cJSON *run)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(run, "implementations");
    const char *shard = json_string(cJSON_GetObjectItemCaseSensitive(run, "configuration"), "shard");
    int none = 0;
    t->row = allocate((size_t)cJSON_GetArraySize(list) + 1, sizeof *t->row);
    for (const cJSON *item = json_first(run, "implementations"); item; item = item->next) {
        const struct strategy *strategy = strategy_find(json_string(item, "strategy"));
        const char *name = json_string(item, "name");
        struct trained_row *row = &t->row[t->rows];
        struct plan cut;
        none |= !strcmp(name, "none");
        if (!strategy || !strategy_is_compared(strategy) || strcmp(json_string(item, "wire_dtype"), "fp32") != 0)
            continue;
        if (strategy->traits[VARIANT_PLAIN]->shards && strstr(shard, "gradients"))
            return error_report("%s: %s ran with --shard %s; only --shard optimizer can be replayed, since gradients "
                                "that are sharded are summed at once into a rank's part",
                                directory, name, shard);
        if (read_buckets(&cut, t, item))
            return error_report("%s/run.json: the collectives of %s do not cover all %d tensors in order", directory,
                                name, t->profile.tensors);
        row->strategy = strategy;
        if (strategy->traits[VARIANT_UPDATE] &&
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "update_in_backward")))
            row->variant = VARIANT_UPDATE;
        snprintf(row->label, sizeof row->label, "%s", name);
        row->plan = plan_of(t, strategy->traits[row->variant], &cut, t->ranks);
        t->rows++;
    }
    strcpy(t->row[t->rows].label, "none");
    return none && t->rows ? 0
                           : error_report("%s: lacks `none`, or has nothing beside it to learn from, such as "
                                          "ddp_bucketed (--implementations)",
                                          directory);
}

/* ---- the ranks' metrics ---- */

/* Takes the times of a row's collectives, run alone. */
static int take_alone(const struct trained_row *row, size_t round, const cJSON *line)
{
    static const char *const name[] = {"alone_ms", "within_host_alone_ms", "gather_alone_ms"};
    struct replay_bucket *b = row->plan.bucket + round * (size_t)row->plan.n;
    double *const first[] = {&b->reduce, &b->within, &b->gather};
    int failed = json_number(line, "reductions") > 1;
    for (int i = 0; i < 3; i++) {
        const cJSON *array = cJSON_GetObjectItemCaseSensitive(line, name[i]);
        if (array || !i)
            failed |= times_raise(array, row->plan.n, sizeof *b, first[i]);
    }
    return failed;
}

/* Takes a timed step; a step of `none` also counts for the spread over ranks. */
static int take_step(struct reading *r, struct trained_row *row, size_t round, struct seen *seen, const cJSON *line)
{
    double block = times_seconds(json_number(line, "block_ms")) / (double)r->timed,
           step = times_seconds(json_number(line, "step_ms"));
    double computing =
        times_seconds(json_number(line, "forward_pass_ms")) + times_seconds(json_number(line, "backward_pass_ms"));
    if (!(block > 0 && step > 0 && computing >= 0) || seen->steps >= r->timed)
        return -1;
    row->step[round] = fmax(row->step[round], block);
    row->computing[round] += computing / (double)(r->timed * r->t->ranks);
    if (!row->strategy) {
        struct over_ranks *of = &r->step[round * r->timed + seen->steps];
        of->most = fmax(of->most, step);
        of->sum += log(step);
        of->squares += pow(log(step), 2);
        seen->seconds += step;
    }
    seen->steps++;
    return 0;
}

/* Takes a line of a rank's metrics. Returns 0; or -1 if a value is missing or out of bounds. */
static int take_line(struct reading *r, const cJSON *line)
{
    struct trained *t = r->t;
    size_t i = 0, round = json_count(line, "round");
    while (i <= t->rows && strcmp(t->row[i].label, json_string(line, "implementation")) != 0)
        i++;
    if (i > t->rows || round >= t->profile.steps)
        return 0;
    if (isnan(json_number(line, "round")))
        return -1;
    struct seen *seen = &r->seen[round * (t->rows + 1) + i];
    if (!cJSON_HasObjectItem(line, "step"))
        return seen->times++ ||
               (i < t->rows ? take_alone(&t->row[i], round, line) : step_compute_raise(&t->profile.step[round], line));
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "timed")) ? take_step(r, &t->row[i], round, seen, line)
                                                                         : 0;
}

/* clang-format off */
static const struct json_rule of_line[] = {
    {JSON_COUNT, 0, "round reductions"}, {JSON_TEXT, 0, "implementation"}, {JSON_FLAG, 0, "timed"},
    {JSON_LIST, 0, "gradients_ready_ms alone_ms within_host_alone_ms gather_alone_ms"},
    {JSON_REAL, 0, "step_ms block_ms forward_pass_ms backward_pass_ms forward_end_ms backward_end_ms update_ms gradients_ready_ms.* alone_ms.* within_host_alone_ms.* gather_alone_ms.*"},
};
/* clang-format on */

static int read_rank(struct reading *r, const char *directory, size_t rank)
{
    char path[FILES_PATH + 64], where[FILES_PATH + 96], why[FILES_WHY], *text = NULL;
    size_t room = 0, at = 0, implementations = r->t->rows + 1;
    int status = 0;
    snprintf(path, sizeof path, "%s/rank_%zu_metrics.jsonl", directory, rank);
    FILE *file = files_open(path, FILES_MOST_BYTES, why);
    if (!file)
        return error_report("%s: %s", path, why);
    r->seen = allocate(r->t->profile.steps * implementations, sizeof *r->seen);
    while (!status && files_read_line(&text, &room, file) > 0) {
        cJSON *line = json_object(text);
        snprintf(where, sizeof where, "%s: line %zu", path, ++at);
        if (!line || json_check(where, line, of_line, sizeof of_line / sizeof *of_line) || take_line(r, line))
            status =
                error_report("%s: a value is missing, or is not possible", where); /* keeps the error of json_check */
        cJSON_Delete(line);
    }
    for (size_t i = 0; i < r->t->profile.steps * implementations && !status; i++)
        if (r->seen[i].steps != r->timed || r->seen[i].times != 1)
            status =
                error_report("%s: round %zu lacks steps of %s on rank %zu, or times of its collectives alone; give "
                             "the run --attainable",
                             directory, i / implementations, r->t->row[i % implementations].label, rank);
    for (size_t round = 0; round < r->t->profile.steps; round++) {
        double *slowest = &r->t->profile.step[round].rest;
        *slowest = fmax(*slowest, r->seen[(round + 1) * implementations - 1].seconds / (double)r->timed);
    }
    free(text);
    free(r->seen);
    fclose(file);
    return status;
}

/* Sets the spread, and scales each round (trained_read). On entry, `rest` holds the mean step of the slowest rank. */
static void use_steps(const struct reading *r)
{
    struct trained *t = r->t;
    double squares = 0, p = (double)t->ranks;
    for (size_t round = 0; round < t->profile.steps; round++) {
        struct step_compute *c = &t->profile.step[round];
        double slowest = 0;
        for (size_t i = 0; i < r->timed; i++) {
            const struct over_ranks *step = &r->step[round * r->timed + i];
            slowest += step->most / (double)r->timed;
            squares += t->ranks > 1 ? (step->squares - step->sum * step->sum / p) / (p - 1) : 0;
        }
        step_compute_add(c, c, slowest / c->rest, 0);
        c->rest = fmax(0, slowest - c->backward_end - c->update);
    }
    t->spread = sqrt(fmax(0, squares / (double)(t->profile.steps * r->timed)));
}

/* Allocates the times of a row in each round, and gives each round the buckets of its plan. */
static void allocate_row(const struct trained *t, struct trained_row *row)
{
    size_t n = (size_t)row->plan.n;
    struct replay_bucket *of_rounds = allocate(t->profile.steps * n + 1, sizeof *of_rounds);
    for (size_t i = 0; i < t->profile.steps * n; i++)
        of_rounds[i] = row->plan.bucket[i % n];
    free(row->plan.bucket);
    row->plan.bucket = of_rounds;
    row->step = allocate(t->profile.steps, sizeof *row->step);
    row->computing = allocate(t->profile.steps, sizeof *row->computing);
}

/* Allocates what the files of the ranks fill. Returns 0; or -1, reported, if it is too much. */
static int allocate_rounds(struct reading *r, const char *directory)
{
    struct trained *t = r->t;
    double numbers = (double)t->profile.tensors + 3 * (double)r->timed;
    for (size_t i = 0; i <= t->rows; i++)
        numbers += 6 * t->row[i].plan.n + 2;
    if (numbers * (double)t->profile.steps > MOST_NUMBERS) {
        error_report("%s: has %.3g times in all rounds; at most %d can be read", directory,
                     numbers * (double)t->profile.steps, MOST_NUMBERS);
        return -1;
    }
    r->step = allocate(t->profile.steps * r->timed, sizeof *r->step);
    step_profile_create_steps(&t->profile, t->profile.steps);
    for (size_t i = 0; i <= t->rows; i++)
        allocate_row(t, &t->row[i]);
    return 0;
}

cJSON *trained_settings(const cJSON *run)
{
    static const struct {
        const char *group, *name;
    } setting[] = {{"derived", "device"},           {"derived", "dtype"},
                   {"derived", "threads"},          {"derived", "parameters"},
                   {"configuration", "num-layers"}, {"configuration", "context-length"},
                   {"configuration", "regime"},     {"configuration", "forward-only"}};
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run, "derived");
    cJSON *settings = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
        const cJSON *group = cJSON_GetObjectItemCaseSensitive(run, setting[i].group);
        cJSON *value = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(group, setting[i].name), 1);
        cJSON_AddItemToObject(settings, setting[i].name, value ? value : cJSON_CreateNull());
    }
    json_add_number(settings, "tokens of a rank",
                    json_number(derived, "tokens_per_step") / json_number(derived, "world_size"));
    return settings;
}

int trained_read(struct trained *t, const char *directory)
{
    enum { MOST = 100000 };
    struct saved_run saved;
    struct reading r = {.t = t};
    *t = (struct trained){0};
    int status = saved_run_read(&saved, directory, 0);
    const char *mode = json_string(saved.run, "mode");
    t->ranks = json_count(cJSON_GetObjectItemCaseSensitive(saved.run, "derived"), "world_size");
    t->settings = trained_settings(saved.run);
    t->gather_share = strcmp(json_string(t->settings, "dtype"), "bf16") ? 1 : 0.5;
    t->profile.steps = json_count(saved.summary, "done");
    t->busy = busy_of(saved.summary, saved.run);
    r.timed = json_count(saved.summary, "timed_steps_per_block");
    if (!status && strcmp(mode, "benchmark") != 0)
        status = error_report("%s: is a run of %s; expected one of the benchmark, with --attainable", directory, mode);
    else if (!status && (!t->ranks || t->ranks > MOST || !t->profile.steps || t->profile.steps > MOST || !r.timed ||
                         r.timed > MOST))
        status = error_report("%s: lacks world_size, done or timed_steps_per_block, from 1 to %d", directory, MOST);
    else if (!status && t->profile.steps < STATS_LEAST)
        status = error_report("%s: has %zu rounds; predictions need %d or more (--rounds)", directory, t->profile.steps,
                              STATS_LEAST);
    status = status || step_profile_read_tensors(&t->profile, saved.directory, saved.run) ||
             read_implementations(t, saved.directory, saved.run) || allocate_rounds(&r, saved.directory);
    for (size_t rank = 0; rank < t->ranks && !status; rank++)
        status = read_rank(&r, saved.directory, rank);
    if (!status)
        use_steps(&r);
    free(r.step);
    saved_run_destroy(&saved);
    return status ? -1 : 0;
}

/* ---- a trace ---- */

/* Adds the traced all-reduces as buckets. */
static void add_traced(struct trained *t, const struct imported *from)
{
    struct trained_row *row = &t->row[t->rows++];
    struct plan cut = {.bucket = allocate((size_t)from->buckets, sizeof *cut.bucket)};
    int next = from->profile.tensors;
    for (int b = 0; b < from->buckets; b++) {
        int tensors = 0;
        for (size_t count = 0; count < from->bucket[b]; tensors++)
            count += from->profile.tensor[next - 1 - tensors].count;
        add_bucket(&cut, from->profile.tensor, &next, tensors);
    }
    *row = (struct trained_row){.label = "traced",
                                .strategy = &strategy_ddp_bucketed,
                                .plan = plan_of(t, strategy_ddp_bucketed.traits[VARIANT_PLAIN], &cut, t->ranks)};
    allocate_row(t, row);
    for (size_t i = 0; i < t->profile.steps * (size_t)row->plan.n; i++)
        row->plan.bucket[i].reduce = from->alone[i];
    for (size_t i = 0; i < t->profile.steps; i++) {
        row->step[i] = from->seconds[i];
        row->computing[i] = from->profile.step[i].backward_end;
    }
}

int trained_import(struct trained *t, const char *files)
{
    struct imported from;
    char words[sizeof from.words + sizeof from.assumed + 2];
    *t = (struct trained){.gather_share = 1, .busy = {NAN, NAN}, .spread = NAN, .ranks = 1};
    int status = import_read(&from, NULL, files);
    if (!status && from.profile.steps < STATS_LEAST)
        status = error_report("%s: %s; predictions need a trace of %d steps or more", files,
                              from.profile.steps ? from.words : "has no times", STATS_LEAST);
    if (!status) {
        snprintf(words, sizeof words, "%s.%s%s", from.words, *from.assumed ? " " : "", from.assumed);
        t->traced = strdup(words);
        t->ranks = (size_t)from.ranks;
        t->settings = cJSON_CreateObject();
        t->row = allocate(2, sizeof *t->row);
        t->profile = from.profile;
        if (from.alone && from.ranks > 1)
            add_traced(t, &from);
        struct trained_row *none = &t->row[t->rows];
        strcpy(none->label, "none");
        allocate_row(t, none);
        for (size_t i = 0; i < t->profile.steps; i++) {
            const struct step_compute *c = &t->profile.step[i];
            none->computing[i] = c->backward_end;
            none->step[i] = c->backward_end + c->update + c->rest;
        }
        from.profile = (struct step_profile){0};
    }
    import_destroy(&from);
    return status;
}

void trained_destroy(struct trained *t)
{
    free(t->traced);
    for (size_t i = 0; t->row && i <= t->rows; i++) {
        free(t->row[i].plan.bucket);
        free(t->row[i].step);
        free(t->row[i].computing);
    }
    cJSON_Delete(t->settings);
    free(t->row);
    step_profile_destroy(&t->profile);
    *t = (struct trained){0};
}
