/* verdict.c - which of several compared implementations to use, as data and as sentences. */
#include "results/verdict.h"

#include "base/json.h"
#include "base/option_table.h"
#include "results/busy.h"
#include "results/summary.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_kind_name[VERDICT_KINDS] = {"best", "tie", "undecided", "slower"};

enum verdict_kind verdict_judge(const struct against_best *against, double within)
{
    return against->slower ? VERDICT_SLOWER : best_within(&against->ratio, within) ? VERDICT_TIE : VERDICT_UNDECIDED;
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const struct verdict_item *)a)->against.ratio.median;
    double y = ((const struct verdict_item *)b)->against.ratio.median;
    return (x > y) - (x < y);
}

static void print_options(char text[3 * CELL], const struct verdict *verdict)
{
    snprintf(text, 3 * CELL, "--implementations %s%s%s%s", verdict->strategy,
             *verdict->size ? " --bucket-size-mb " : "", verdict->size, verdict->form_options);
}

/* decided: 1: use the best; 0: it is the shortest so far; -1: there is no verdict. */
static void add_data(const struct verdict *verdict, int decided, cJSON *summary)
{
    char options[3 * CELL];
    double mb;
    int is_number = !option_number(verdict->size, &mb);
    cJSON *json = cJSON_AddObjectToObject(summary, "verdict");
    print_options(options, verdict);
    json_add_text(json, "best", verdict->label);
    json_add_text(json, "strategy", verdict->strategy);
    json_add_number(json, "bucket_size_mb", is_number ? mb : NAN);
    json_add_text(json, "options", options);
    json_add_number(json, "within", verdict->within);
    cJSON_AddItemToObject(json, "decided", decided < 0 ? cJSON_CreateNull() : cJSON_CreateBool(decided));
    if (verdict->n)
        json_add_number(json, "interval_level", 1 - best_alpha(verdict->n + 1));
    cJSON *others = cJSON_AddArrayToObject(json, "others");
    for (const struct verdict_item *item = verdict->item; item < verdict->item + verdict->n; item++) {
        cJSON *row = json_add_row(others);
        json_add_text(row, "implementation", item->label);
        json_add_text(row, "verdict", verdict_kind_name[verdict_judge(&item->against, verdict->within)]);
        json_add_number(row, "ratio", item->against.ratio.median);
        json_add_number(row, "low", item->against.ratio.ci_low);
        json_add_number(row, "high", item->against.ratio.ci_high);
    }
}

const char *verdict_bucket_size(char text[CELL], const char *size)
{
    snprintf(text, CELL, "%s%s", size, isdigit((unsigned char)*size) ? " MiB" : "");
    return text;
}

const char *verdict_pytorch(char text[CELL], const char *size)
{
    /* PyTorch has no other sizes that differ between buckets */
    int is_default = !strcmp(size, "1+25"), is_number = *size && !size[strspn(size, "0123456789.e-")];
    snprintf(text, CELL, is_default ? "bucket_cap_mb not given" : is_number ? "bucket_cap_mb=%.16s" : "%.0s", size);
    return text;
}

/* Adds two sentences on the best: its name, step and cost, and the options that select it. */
static void add_choice(const struct verdict *verdict, int undecided, const char *list, cJSON *summary)
{
    const struct estimate *cost = &verdict->cost;
    /* words replace what follows the first : in the label */
    int sign = cost->median < 0 ? -1 : 1, name = (int)strcspn(verdict->label, ":");
    char size[2 * CELL] = "", words[CELL], step[CELL], extra[CELL], against[3 * CELL] = "", options[3 * CELL],
                  pytorch[2 * CELL] = "";
    if (*verdict->size)
        snprintf(size, sizeof size, ", %s", verdict_bucket_size(words, verdict->size));
    if (!strcmp(verdict->strategy, "ddp_bucketed") && *verdict_pytorch(words, verdict->size))
        snprintf(pytorch, sizeof pytorch, " (PyTorch's DDP: %s)", words);
    text_milliseconds(step, verdict->step.median, cost->n ? NAN : verdict->step.ci_low, verdict->step.ci_high);
    text_milliseconds(extra, sign * cost->median, sign > 0 ? cost->ci_low : -cost->ci_high,
                      sign > 0 ? cost->ci_high : -cost->ci_low);
    int unknown = cost->ci_low <= 0 && cost->ci_high >= 0;
    if (cost->n)
        snprintf(against, sizeof against, ", which is %s (%.1f %%) %s than without communication%s", extra,
                 100 * fabs(cost->median) / verdict->none, sign > 0 ? "longer" : "shorter",
                 unknown ? " (not significant)" : "");
    print_options(options, verdict);
    results_add_sentence(summary, list, "%s %.*s%s%s: a step takes %s%s.", undecided ? "Shortest so far is" : "Use",
                         name, verdict->label, size, verdict->form_words, step, against);
    results_add_sentence(summary, list, "Options: %s%s", options, pytorch);
}

/* Writes how much longer measuring would have to go on until no item is undecided: as a time if the duration of a
 * sample is known. needed: number of samples in all (best_rounds_needed). */
static const char *print_needed(char text[3 * CELL], const struct verdict *verdict, double needed)
{
    enum { HOUR = 3600, MANY = 100 };
    double more = needed - (double)verdict->step.n, seconds = more * verdict->sample_seconds;
    int is_timed = isfinite(seconds) != 0, is_long = is_timed ? seconds > HOUR : more > MANY;
    char number[CELL], count[CELL + 16], time[CELL] = "";
    snprintf(count, sizeof count, "%s %ss", text_rounded(number, more, more < 10 ? 1 : 2), verdict->sample);
    text_duration(time, is_timed ? seconds : 0);
    if (!isfinite(more))
        return strcpy(text, "");
    if (verdict->busy)
        return strcpy(text, " To decide, " BUSY_ADVICE ".");
    if (is_long)
        snprintf(text, 3 * CELL, " At this noise it would take about %s more to decide: an idle machine is needed.",
                 is_timed ? time : count);
    else
        snprintf(text, 3 * CELL, is_timed ? " About %s more (%s) would decide." : " About %s more%s would decide.",
                 is_timed ? time : count, is_timed ? count : "");
    return text;
}

/* Adds a sentence that lists the items of a kind with their ratios, and what would decide those that are undecided. */
static void add_kind(const struct verdict *verdict, enum verdict_kind kind, const char *list, cJSON *summary)
{
    static const char *const heading[VERDICT_KINDS] = {"", "Tie (within %g %%)", "Undecided (not known to %g %%)",
                                                       "Slower"};
    char *text = NULL, words[CELL], change[CELL], more[3 * CELL] = "";
    size_t length = 0;
    int items = 0;
    double needed = 0;
    FILE *out = text_begin(&text, &length);
    for (const struct verdict_item *item = verdict->item; item < verdict->item + verdict->n; item++) {
        const struct estimate *to = &item->against.ratio;
        if (verdict_judge(&item->against, verdict->within) != kind)
            continue;
        fprintf(out, "%s%s %s%s", items++ ? ", " : "", item->label,
                text_change(change, to->median, to->ci_low, to->ci_high), isfinite(to->ci_low) ? "" : " (no interval)");
        needed = fmax(needed, best_rounds_needed(&item->against, verdict->within));
    }
    text_end(out);
    snprintf(words, sizeof words, heading[kind], 100 * verdict->within);
    if (kind == VERDICT_UNDECIDED)
        print_needed(more, verdict, needed);
    if (items)
        results_add_sentence(summary, list, "%s: %s.%s", words, text, more);
    free(text);
}

/* Adds a sentence on why there is no verdict; returns 0, with nothing added, if there is a verdict. */
static int add_obstacle(const struct verdict *verdict, const char *list, cJSON *summary)
{
    size_t least = best_least_rounds(verdict->n + 1, verdict->anytime);
    if (verdict->ranks == 1)
        results_add_sentence(summary, list, "Nothing to choose: one rank has nothing to reduce.");
    else if (verdict->candidates < 2)
        results_add_sentence(summary, list, "Nothing to choose: fewer than two of the strategies reduce gradients.");
    else if (!verdict->label || verdict->step.n < least)
        results_add_sentence(summary, list, "No verdict: too few %ss; use %zu or more (%s).", verdict->sample, least,
                             verdict->option);
    else
        return 0;
    return 1;
}

/* Adds what the percentages are, what their intervals assume, and a warning if the rounds contradict it. */
static void add_explanation(const struct verdict *verdict, const char *list, cJSON *summary)
{
    const struct verdict_item *most = verdict->item;
    for (int i = 0; i < verdict->n; i++)
        most = verdict->item[i].against.dependent > most->against.dependent ? &verdict->item[i] : most;
    if (verdict->explain)
        results_add_sentence(
            summary, list,
            "In %%: how much longer a step takes than with the best, %s by %s (%s), the shortest "
            "first; slower: the interval is above 0. All these intervals hold at once in 95 %% of runs%s, "
            "although the best was picked from the same %ss, if %ss are independent.",
            verdict->sample, verdict->sample, verdict->anytime ? "median" : "geometric mean",
            verdict->anytime ? ", whenever the rounds end" : "", verdict->sample, verdict->sample);
    if (verdict->n && most->against.dependent > 0)
        results_add_sentence(
            summary, list,
            "Warning: consecutive %ss depend on each other (%s: rank correlation %.2f), so the intervals "
            "are too narrow, and what is called slower may be chance.",
            verdict->sample, most->label, most->against.dependent);
}

void verdict_add(struct verdict *verdict, const char *list, cJSON *summary)
{
    char size[CELL];
    int undecided = verdict->is_open || verdict->busy, no_verdict = add_obstacle(verdict, list, summary);
    qsort(verdict->item, (size_t)verdict->n, sizeof *verdict->item, by_ratio);
    for (int i = 0; i < verdict->n; i++)
        undecided |= verdict_judge(&verdict->item[i].against, verdict->within) == VERDICT_UNDECIDED;
    if (verdict->label)
        add_data(verdict, no_verdict ? -1 : !undecided, summary);
    if (no_verdict)
        return;
    add_choice(verdict, undecided, list, summary);
    if (*verdict->best_size && !*verdict->size)
        results_add_sentence(summary, list, "Bucket size with the shortest step: %s.",
                             verdict_bucket_size(size, verdict->best_size));
    for (enum verdict_kind kind = VERDICT_TIE; kind < VERDICT_KINDS; kind++)
        add_kind(verdict, kind, list, summary);
    add_explanation(verdict, list, summary);
}

/* ---- read back ---- */

const char *verdict_best(const cJSON *saved)
{
    return json_string(saved, "best");
}

void verdict_intervals(struct intervals *all, const cJSON *saved)
{
    static const char mark[VERDICT_KINDS + 1] = {'*', '=', 'o', 'x', '+'};
    const char *best = verdict_best(saved);
    int open = cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(saved, "decided"));
    all->within = json_number(saved, "within");
    snprintf(all->what, sizeof all->what, "Difference to %.200s in %%", best);
    snprintf(all->band, sizeof all->band, "within %g %%", 100 * all->within);
    intervals_add(all, best, verdict_kind_name[VERDICT_BEST], mark[VERDICT_BEST], (struct measured){1, NAN, NAN});
    for (const cJSON *item = json_first(saved, "others"); item; item = item->next) {
        const char *label = json_string(item, "implementation");
        enum verdict_kind kind = verdict_kind_of(saved, label);
        const struct measured ratio = {json_number(item, "ratio"), json_number(item, "low"), json_number(item, "high")};
        intervals_add(all, label, kind < VERDICT_KINDS ? verdict_kind_name[kind] : "unknown", mark[kind], ratio);
        open |= kind == VERDICT_UNDECIDED;
    }
    all->row->word = open ? "shortest so far" : all->row->word;
}

void verdict_print(FILE *out, const cJSON *saved)
{
    struct intervals all = {0};
    if (!cJSON_IsBool(cJSON_GetObjectItemCaseSensitive(saved, "decided")))
        return;
    verdict_intervals(&all, saved);
    intervals_print(out, &all, all.n);
    free(all.row);
}

/* Returns the row of an implementation other than the best; NULL if it was not compared. */
static const cJSON *find_other(const cJSON *saved, const char *label)
{
    const cJSON *item = json_first(saved, "others");
    while (item && strcmp(json_string(item, "implementation"), label) != 0)
        item = item->next;
    return item;
}

double verdict_ratio_of(const cJSON *saved, const char *label)
{
    const cJSON *other = find_other(saved, label);
    return !strcmp(verdict_best(saved), label) ? 1 : other ? json_number(other, "ratio") : INFINITY;
}

enum verdict_kind verdict_kind_of(const cJSON *saved, const char *label)
{
    const char *word = json_string(find_other(saved, label), "verdict");
    int kind = VERDICT_TIE;
    while (kind < VERDICT_KINDS && strcmp(word, verdict_kind_name[kind]) != 0)
        kind++;
    return strcmp(verdict_best(saved), label) ? (enum verdict_kind)kind : VERDICT_BEST;
}
