/* saved_run.c - reads a run back from its directory. */
#include "results/saved_run.h"

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "kernels/error.h"
#include "results/summary.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the directory ---- */

static int holds(const char *directory, const char *name, struct stat *status)
{
    char path[2 * FILES_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return !stat(path, status);
}

/* Replaces the path of a directory by that of its first subdirectory that holds a run.json. Returns how many do. */
static size_t find_below(char directory[FILES_PATH])
{
    glob_t found;
    size_t n = files_find(&found, directory, "*/run.json");
    if (n)
        snprintf(directory, FILES_PATH, "%.*s", (int)(strlen(*found.gl_pathv) - strlen("/run.json")), *found.gl_pathv);
    globfree(&found);
    return n;
}

static int find_directory(struct saved_run *saved, const char *directory)
{
    struct stat status;
    if (strlen(directory) >= sizeof saved->directory - 300) /* leaves room for a subdirectory's name */
        return error_report("%.100s...: the path is longer than %zu characters", directory,
                            sizeof saved->directory - 301);
    if (stat(directory, &status) || (S_ISDIR(status.st_mode) && access(directory, R_OK | X_OK)))
        return error_report("cannot read %s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_report("%s: is not a directory; give the directory with the results of a run", directory);
    snprintf(saved->directory, sizeof saved->directory, "%s", directory);
    for (size_t n = strlen(saved->directory); n > 1 && saved->directory[n - 1] == '/'; n--)
        saved->directory[n - 1] = 0;
    if (!holds(saved->directory, "run.json", &status)) {
        size_t n = find_below(saved->directory);
        if (n > 1)
            return error_report("%s: holds the results of %zu runs; give one of them, such as %s", directory, n,
                                saved->directory);
        if (!n)
            return error_report("%s: holds no run.json, so it is not a result directory of ddpbench", directory);
    }
    if (!holds(saved->directory, "summary.json", &status))
        return error_report("%s: holds no summary.json: the run has not finished a round, a row or a capture",
                            saved->directory);
    saved->device = status.st_dev;
    saved->inode = status.st_ino;
    return 0;
}

/* ---- the files ---- */

/* What is read from run.json and from summary.json. Limits on numbers of items bound the time and memory of reading. */
/* clang-format off */
static const struct json_rule of_run[] = {
    {JSON_OBJECT, 1000, "configuration derived environment"}, {JSON_OBJECT, 10000, "hosts"}, {JSON_LIST, 100000, "ranks tensors"},
    {JSON_LIST, 1000, "implementations"}, {JSON_LIST, 0, "argv implementations.*.collectives"}, {JSON_REAL, 0, "derived.cores_per_rank"},
    {JSON_OBJECT, 0, "derived.gpu hosts.* ranks.* tensors.* implementations.* implementations.*.collectives.*"},
    {JSON_COUNT, 0, "arena derived.world_size derived.host_count derived.threads derived.parameters derived.tokens_per_step hosts.*.pus ranks.*.machine tensors.*.count tensors.*.offset tensors.*.joined tensors.*.layer implementations.*.bucket_bytes implementations.*.collectives.*.tensors configuration.num-layers configuration.d-model configuration.num-heads configuration.d-ff configuration.vocab-size configuration.context-length configuration.rounds"},
    {JSON_TEXT, 0, "mode time program version label argv.* environment.* configuration.bucket-size-mb configuration.shard derived.comm derived.nccl derived.device derived.dtype derived.gpu.name hosts.*.cpu ranks.*.host implementations.*.name implementations.*.strategy implementations.*.bucket_size implementations.*.bucket_rule implementations.*.twin_of implementations.*.wire_dtype"},
    {JSON_FLAG, 0, "implementations.*.approximates implementations.*.update_in_backward"},
};
static const struct json_rule of_summary[] = {
    {JSON_OBJECT, 0, "capture verdict other_processes figures.* findings.* verdict.others.* tables.* tables.*.columns.* tables.*.rows.*"},
    {JSON_LIST, 100000, "figures"}, /* `isolate` of 10,000 members writes 90,000 */
    {JSON_LIST, 0, "heading answers notes findings tables tables.*.columns tables.*.rows tables.*.notes verdict.others"},
    {JSON_COUNT, 0, "done planned timed_steps_per_block figures.*.n"}, {JSON_FLAG, 0, "capture.interrupted figures.*.judged"},
    {JSON_REAL, 0, "figures.*.low figures.*.high other_processes.share other_processes.cores other_processes.machine_cores verdict.within verdict.others.*.ratio verdict.others.*.low verdict.others.*.high findings.*.percent findings.*.threshold findings.*.loss findings.*.loss_low findings.*.loss_high findings.*.share tables.*.columns.*.scale tables.*.columns.*.decimals tables.*.columns.*.width tables.*.shown"},
    {JSON_TEXT, 0, "mode of label implementation heading.* answers.* notes.* tables.*.key tables.*.title tables.*.notes.* tables.*.columns.*.key tables.*.columns.*.kind verdict.best verdict.options verdict.others.*.implementation verdict.others.*.verdict findings.*.name findings.*.level findings.*.text findings.*.advice"},
};
/* clang-format on */
#define RULES(rules) (rules), sizeof(rules) / sizeof *(rules)

static int check_run(const char *directory, const cJSON *run)
{
    double schema = json_number(run, "schema_version");
    if (!(schema >= 0) || !*json_string(run, "mode") || !cJSON_GetObjectItemCaseSensitive(run, "configuration") ||
        !cJSON_GetObjectItemCaseSensitive(run, "derived"))
        return error_report("%s/run.json: lacks schema_version, mode, configuration or derived, so ddpbench did not "
                            "write it",
                            directory);
    if (schema != RESULTS_SCHEMA)
        return error_report("%s/run.json: schema_version %g: written by %s ddpbench; %s", directory, schema,
                            schema < RESULTS_SCHEMA ? "an older" : "a newer",
                            schema < RESULTS_SCHEMA ? "run it again with this one" : "read it with that one");
    return 0;
}

static int check_summary(const char *directory, const cJSON *run, const cJSON *summary, int so_far)
{
    char unfinished[RESULTS_UNFINISHED];
    double done = json_number(summary, "done"), planned = json_number(summary, "planned");
    if (json_number(summary, "schema_version") != json_number(run, "schema_version"))
        return error_report("%s: run.json and summary.json have different schema_versions, so they belong to two runs",
                            directory);
    if (strcmp(json_string(summary, "mode"), json_string(run, "mode")) != 0)
        return error_report("%s: run.json has mode %s and summary.json has mode %s, so they belong to two runs",
                            directory, json_string(run, "mode"), json_string(summary, "mode"));
    if (!(done >= 0) || !(planned >= 0) || !isfinite(done) || !isfinite(planned))
        return error_report("%s/summary.json: lacks done or planned, so ddpbench did not write it", directory);
    int figures = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(summary, "figures"));
    if (*results_unfinished(unfinished, summary) && !(so_far && figures))
        return error_report("%s/summary.json: has %s%s: the run has not finished", directory, unfinished,
                            so_far ? " and no figures" : "");
    return 0;
}

int saved_run_read(struct saved_run *saved, const char *directory, int so_far)
{
    char path[FILES_PATH + 16];
    *saved = (struct saved_run){0};
    if (find_directory(saved, directory))
        return -1;
    saved->run = json_read(saved->directory, "run.json");
    snprintf(path, sizeof path, "%s/run.json", saved->directory);
    if (!saved->run || check_run(saved->directory, saved->run) || json_check(path, saved->run, RULES(of_run)))
        return -1;
    saved->summary = json_read(saved->directory, "summary.json");
    snprintf(path, sizeof path, "%s/summary.json", saved->directory);
    if (!saved->summary || check_summary(saved->directory, saved->run, saved->summary, so_far) ||
        json_check(path, saved->summary, RULES(of_summary)))
        return -1;
    return figures_read(&saved->figures, path, cJSON_GetObjectItemCaseSensitive(saved->summary, "figures"));
}

void saved_run_destroy(struct saved_run *saved)
{
    cJSON_Delete(saved->run);
    cJSON_Delete(saved->summary);
    figures_destroy(&saved->figures);
    *saved = (struct saved_run){0};
}

/* ---- where the run took place ---- */

static void replace_controls(char *text)
{
    for (char *c = text; *c; c++)
        *c = (char)(iscntrl((unsigned char)*c) ? ' ' : *c);
}

void place_machine(char *text, size_t size, const cJSON *run)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(run, "derived"), "gpu");
    snprintf(text, size, "%s", json_string(gpu ? gpu : json_first(run, "hosts"), gpu ? "name" : "cpu"));
    replace_controls(text);
}

struct place place_of(const cJSON *run)
{
    const cJSON *hosts = cJSON_GetObjectItemCaseSensitive(run, "hosts");
    struct place place = {0};
    for (const cJSON *rank = json_first(run, "ranks"); rank; rank = rank->next) {
        const cJSON *host = cJSON_GetObjectItemCaseSensitive(hosts, json_string(rank, "host"));
        if (json_number(rank, "machine") != (double)place.machines)
            continue; /* counted before: machines are numbered in rank order */
        place.machines++;
        place.cpus += json_count(host, "pus");
        place.memory_bytes += (double)json_count(host, "memory_bytes");
    }
    return place;
}

void place_link(char *text, size_t size, const cJSON *run)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run, "derived");
    const char *link = json_string(cJSON_GetObjectItemCaseSensitive(run, "environment"), "DDPBENCH_LINK");
    const char *comm = json_string(derived, "comm");
    size_t hosts = json_count(derived, "host_count");
    *text = 0;
    if (json_number(derived, "world_size") == 1)
        return;
    if (*link)
        snprintf(text, size, "%s", link);
    else if (*comm && hosts)
        snprintf(text, size, "%s on %zu host%s", comm, hosts, text_plural(hosts));
    replace_controls(text);
}

/* ---- the command that tunes its model ---- */

const char *saved_run_tune(char text[TUNE_COMMAND], const cJSON *run, size_t ranks)
{
    /* usual: the value that is not written. of_own 1: given only for ddpbench's own model; 2: also for a user's model
     * without recorded times. A model that is replayed has a width of 0, and one with recorded times no tokens. */
    static const struct {
        const char *name, *usual;
        int of_own;
    } options[] = {{"model-from", "", 0},    {"compute", "busy", 0}, {"time-scale", "1", 0},
                   {"backward-ms", "0", 0},  {"num-layers", "", 1},  {"d-model", "", 1},
                   {"num-heads", "", 1},     {"d-ff", "", 1},        {"context-length", "", 2},
                   {"vocab-size", "", 1},    {"batch-size", "", 2},  {"grad-accumulation", "1", 0},
                   {"data", "synthetic", 0}, {"dtype", "fp32", 0},   {"device", "auto", 0},
                   {"comm", "auto", 0},      {"threads", "0", 0}};
    const char *program = cJSON_GetStringValue(json_first(run, "argv"));
    const cJSON *configuration = cJSON_GetObjectItemCaseSensitive(run, "configuration");
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run, "derived");
    int kind = json_number(configuration, "d-model") > 0 ? 0 : isnan(json_number(derived, "tokens_per_step")) ? 2 : 1;
    char *words = NULL;
    size_t length = 0;
    FILE *out = text_begin(&words, &length);
    fprintf(out, "mpirun -n %zu", ranks);
    text_print_word(out, program ? program : "ddpbench");
    fputs(" tune", out);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(configuration, options[i].name);
        char number[CELL] = "";
        if (cJSON_IsNumber(value))
            snprintf(number, sizeof number, "%.10g", value->valuedouble);
        const char *word = cJSON_IsString(value) ? value->valuestring : number;
        if (!*word || !strcmp(word, options[i].usual) || (options[i].of_own && kind >= options[i].of_own))
            continue;
        fprintf(out, " --%s", options[i].name);
        text_print_word(out, word);
    }
    text_end(out);
    snprintf(text, TUNE_COMMAND, "%s", words);
    free(words);
    return text;
}
