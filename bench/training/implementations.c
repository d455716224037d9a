/* implementations.c - values of options that are made of several words. */
#include "training/implementations.h"

#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- implementations ---- */

static void list_strategies(char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; strategies[i] && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "", strategies[i]->name);
}

static int add_implementation(struct options *options, const char *label, const struct strategy *strategy,
                              double bucket_mb)
{
    for (int i = 0; i < options->n; i++)
        if (!strcmp(options->implementation[i].label, label))
            return error_report("--implementations: '%s' is listed twice; give each its own label, as in a=ddp,b=ddp",
                                label);
    if (options->n == MAX_IMPLEMENTATIONS)
        return error_report("--implementations: more than %d rows", MAX_IMPLEMENTATIONS);
    struct implementation *row = &options->implementation[options->n++];
    *row = (struct implementation){.strategy = strategy, .bucket_mb = strategy->buckets ? bucket_mb : 0};
    snprintf(row->label, sizeof row->label, "%s", label);
    return 0;
}

/* One row for each size of --bucket-size-mb; only a list adds the size to the label. */
static int add_buckets(struct options *options, const char *label, const struct strategy *strategy)
{
    char list[512], row[64], *save = NULL;
    int several = strchr(options->bucket_size_mb, ',') != NULL;
    if (strlen(options->bucket_size_mb) >= sizeof list)
        return error_report("--bucket-size-mb: the list is longer than %zu characters", sizeof list - 1);
    strcpy(list, options->bucket_size_mb);
    if (!*list || *list == ',' || list[strlen(list) - 1] == ',' || strstr(list, ",,"))
        return error_report("--bucket-size-mb '%s': expected sizes in MiB such as 25 or 0.5,1,25", list);
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        double mb;
        if (option_number(word, &mb) || mb <= 0 || mb > 1e9)
            return error_report("--bucket-size-mb %s: expected a size above 0 in MiB, such as 25 or 0.5", word);
        snprintf(row, sizeof row, several ? "%.40s:%.20s" : "%.40s", label, word);
        if (add_implementation(options, row, strategy, mb))
            return -1;
    }
    return 0;
}

static int add_word(struct options *options, const char *word)
{
    char label[41] = "", known[256];
    const char *equal = strchr(word, '='), *name = equal ? equal + 1 : word;
    size_t length = equal ? (size_t)(equal - word) : strlen(word);
    list_strategies(known, sizeof known);
    const struct strategy *strategy = strategy_find(name);
    if (!strategy)
        return error_report("--implementations: unknown implementation '%s'; known: %s", name, known);
    if (!length || length >= sizeof label)
        return error_report("--implementations: the label in '%s' must have 1 to %zu characters", word,
                            sizeof label - 1);
    memcpy(label, word, length);
    for (char *c = label; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-+", *c))
            return error_report("--implementations: label '%s' may hold letters, digits, _, - and + only", label);
    return strategy->buckets ? add_buckets(options, label, strategy) : add_implementation(options, label, strategy, 0);
}

/* Profile mode: the one implementation, traced; the same without tracing; the same with its collectives put off until
 * backward is over; and `none`. */
static int add_profile(struct options *options)
{
    char known[256];
    const struct strategy *strategy = strategy_find(options->profile_implementation);
    list_strategies(known, sizeof known);
    if (!strategy)
        return error_report("--profile-implementation %s: unknown; known: %s", options->profile_implementation, known);
    if (strchr(options->bucket_size_mb, ','))
        return error_report("--bucket-size-mb %s: --profile takes one size", options->bucket_size_mb);
    if (add_word(options, strategy->name))
        return -1;
    double bucket_mb = options->implementation[0].bucket_mb;
    options->implementation[0].traced = 1;
    if (add_implementation(options, "untraced", strategy, bucket_mb))
        return -1;
    if (strategy->overlaps) {
        if (add_implementation(options, "after_backward", strategy, bucket_mb))
            return -1;
        options->implementation[options->n - 1].traced = options->implementation[options->n - 1].after_backward = 1;
    }
    if (strategy != &strategy_none) {
        if (add_implementation(options, strategy_none.name, &strategy_none, 0))
            return -1;
        options->implementation[options->n - 1].traced = 1;
    }
    return 0;
}

int option_implementations(struct options *options)
{
    char list[2048], *save = NULL;
    options->n = 0;
    if (options->profile)
        return add_profile(options);
    if (strlen(options->implementations) >= sizeof list)
        return error_report("--implementations: the list is longer than %zu characters", sizeof list - 1);
    strcpy(list, options->implementations);
    if (!*list || *list == ',' || list[strlen(list) - 1] == ',' || strstr(list, ",,")) {
        char known[256];
        list_strategies(known, sizeof known);
        return error_report("--implementations '%s': expected names separated by commas; known: %s", list, known);
    }
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (add_word(options, word))
            return -1;
    return 0;
}

/* ---- name=value lists ---- */

/* Takes the next name=value off a comma list; returns 1, 0 at its end, or -1 if it is no such list. */
static int next_pair(const char **at, char name[32], char value[32])
{
    if (!**at)
        return 0;
    size_t length = strcspn(*at, ","), equal = strcspn(*at, "=");
    if (!equal || equal >= length || equal >= 32 || length - equal - 1 >= 32 || length == equal + 1)
        return -1;
    snprintf(name, 32, "%.*s", (int)equal, *at);
    snprintf(value, 32, "%.*s", (int)(length - equal - 1), *at + equal + 1);
    *at += length + ((*at)[length] == ',' && (*at)[length + 1] != 0);
    return 1;
}

static int parse_phase(const char *text, enum phase *phase)
{
    char known[256] = "";
    for (int p = 0; p < PHASES; p++) {
        if (!strcmp(text, phase_name[p])) {
            *phase = (enum phase)p;
            return 0;
        }
        size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", p ? ", " : "", phase_name[p]);
    }
    return error_report("--inject-delay phase=%s: unknown phase; known: %s", text, known);
}

static int delay_parse(const struct option *option, const char *text, void *field)
{
    (void)option;
    char name[32], value[32];
    struct delay d = {-1, 0, PHASE_BACKWARD};
    int more, phase = 0;
    for (const char *at = text; (more = next_pair(&at, name, value)) > 0;) {
        double number = 0;
        int bad = strcmp(name, "phase") && option_number(value, &number);
        if (!strcmp(name, "rank") && !bad && number >= 0 && number < 1e6 && number == floor(number))
            d.rank = (int)number;
        else if (!strcmp(name, "ms") && !bad && number > 0 && number <= 60000)
            d.ms = number;
        else if (!strcmp(name, "phase")) {
            if (parse_phase(value, &d.phase))
                return -1;
            phase = 1;
        } else
            return error_report(
                "--inject-delay %s: '%s=%s' is not rank=R, ms=TIME (above 0, at most 60000) or phase=NAME", text, name,
                value);
    }
    if (more < 0 || d.rank < 0 || d.ms <= 0 || !phase)
        return error_report(
            "--inject-delay %s: expected rank=R,ms=TIME,phase=NAME, such as rank=1,ms=5,phase=backward_pass", text);
    *(struct delay *)field = d;
    return 0;
}

static void delay_print(const void *field, char *text, size_t size)
{
    const struct delay *delay = field;
    if (delay->ms > 0)
        snprintf(text, size, "rank=%d,ms=%g,phase=%s", delay->rank, delay->ms, phase_name[delay->phase]);
    else
        snprintf(text, size, "%s", "");
}

static const char *const threshold_name[] = {"busy", "data_loading", "exposed", "memory"};

static double *threshold_of(struct thresholds *t, size_t i)
{
    double *const field[] = {&t->busy, &t->data_loading, &t->exposed, &t->memory};
    return field[i];
}

static int thresholds_parse(const struct option *option, const char *text, void *field)
{
    struct thresholds *thresholds = field;
    (void)option;
    char name[32], value[32];
    struct thresholds t = *thresholds;
    int more;
    enum { KNOWN = sizeof threshold_name / sizeof *threshold_name };
    for (const char *at = text; (more = next_pair(&at, name, value)) > 0;) {
        double percent;
        size_t i = 0;
        while (i < KNOWN && strcmp(name, threshold_name[i]))
            i++;
        if (i == KNOWN || option_number(value, &percent) || percent <= 0 || percent > 100)
            return error_report(
                "--thresholds %s=%s: expected busy, data_loading, exposed or memory = a percentage above 0, at "
                "most 100",
                name, value);
        *threshold_of(&t, i) = percent;
    }
    if (more < 0 || !*text)
        return error_report("--thresholds '%s': expected a list such as busy=70,exposed=20", text);
    *thresholds = t;
    return 0;
}

static void thresholds_print(const void *field, char *text, size_t size)
{
    const struct thresholds *t = field;
    snprintf(text, size, "busy=%g,data_loading=%g,exposed=%g,memory=%g", t->busy, t->data_loading, t->exposed,
             t->memory);
}

const struct option_kind option_delay = {VALUE_TEXT, delay_parse, delay_print};
const struct option_kind option_thresholds = {VALUE_TEXT, thresholds_parse, thresholds_print};

/* ---- single words ---- */

static int sort_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, sort_name, SORTS);
    if (choice >= 0)
        *(enum sort *)field = (enum sort)choice;
    return choice < 0 ? -1 : 0;
}

static void sort_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", sort_name[*(const enum sort *)field]);
}

static const char *const regime_name[] = {"active", "warmup"};

static int regime_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, regime_name, 2);
    if (choice >= 0)
        *(enum regime *)field = choice ? REGIME_WARMUP : REGIME_ACTIVE;
    return choice < 0 ? -1 : 0;
}

static void regime_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", regime_name[*(const enum regime *)field == REGIME_WARMUP]);
}

static const char *const grad_dtype_name[] = {"fp32", "bf16"};

static int grad_dtype_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, grad_dtype_name, 2);
    if (choice >= 0)
        *(enum comm_dtype *)field = choice ? COMM_BF16 : COMM_FLOAT32;
    return choice < 0 ? -1 : 0;
}

static void grad_dtype_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", grad_dtype_name[*(const enum comm_dtype *)field == COMM_BF16]);
}

static int library_parse(const struct option *option, const char *text, void *field)
{
    int choice = option_choice(option, text, comm_library_name, COMM_LIBRARIES);
    if (choice >= 0)
        *(enum comm_library *)field = (enum comm_library)choice;
    return choice < 0 ? -1 : 0;
}

static void library_print(const void *field, char *text, size_t size)
{
    snprintf(text, size, "%s", comm_library_name[*(const enum comm_library *)field]);
}

static int progress_parse(const struct option *option, const char *text, void *field)
{
    static const struct option sleep_us = {"mpi-progress sleep:US", &option_count, 0, NULL, 1, 100000, NULL, 0};
    size_t us = 0;
    if (!strcmp(text, "auto"))
        *(struct comm_progress *)field = (struct comm_progress){PROGRESS_AUTO, 0};
    else if (!strcmp(text, "poll"))
        *(struct comm_progress *)field = (struct comm_progress){PROGRESS_POLL, 0};
    else if (!strncmp(text, "sleep:", 6)) {
        if (option_count.parse(&sleep_us, text + 6, &us))
            return -1;
        *(struct comm_progress *)field = (struct comm_progress){PROGRESS_SLEEP, (unsigned)us};
    } else
        return error_report("--%s %s: expected auto, poll or sleep:US (microseconds)", option->name, text);
    return 0;
}

static void progress_print(const void *field, char *text, size_t size)
{
    const struct comm_progress *progress = field;
    if (progress->kind == PROGRESS_SLEEP)
        snprintf(text, size, "sleep:%u", progress->sleep_us);
    else
        snprintf(text, size, "%s", progress->kind == PROGRESS_POLL ? "poll" : "auto");
}

const struct option_kind option_sort = {VALUE_TEXT, sort_parse, sort_print};
const struct option_kind option_regime = {VALUE_TEXT, regime_parse, regime_print};
const struct option_kind option_grad_dtype = {VALUE_TEXT, grad_dtype_parse, grad_dtype_print};
const struct option_kind option_library = {VALUE_TEXT, library_parse, library_print};
const struct option_kind option_progress = {VALUE_TEXT, progress_parse, progress_print};

int option_activities(const char *text)
{
    static const char *const words[] = {"cpu", "cuda", "cpu,cuda", "cuda,cpu", "auto"};
    static const int activities[] = {ACTIVITIES_CPU, ACTIVITIES_CUDA, ACTIVITIES_CPU | ACTIVITIES_CUDA,
                                     ACTIVITIES_CPU | ACTIVITIES_CUDA, ACTIVITIES_CPU | ACTIVITIES_CUDA};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i]))
            return activities[i];
    return error_report("--profile-activities %s: expected auto, cpu, cuda or cpu,cuda", text);
}

int option_ranks(const char *text, int rank, int ranks)
{
    int found = 0;
    char *end;
    if (!strcmp(text, "all"))
        return 1;
    for (const char *at = text;; at = end + 1) {
        long r = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (r < 0 || (*end && *end != ','))
            return error_report("--profile-ranks %s: expected all, or a list such as 0,3", text);
        if (r >= ranks)
            return error_report("--profile-ranks %s: there is no rank %ld among %d; allowed: 0 to %d", text, r, ranks,
                                ranks - 1);
        found |= r == rank;
        if (!*end)
            return found;
    }
}
