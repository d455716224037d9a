/* verdict.c - the words of a comparison: what to use, and how the others stand to it. */
#include "base/text.h"
#include "training/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void verdict_add_choice(const struct implementation *row, int undecided, const struct estimate *cost,
                        const struct estimate *step, const char *list, cJSON *summary)
{
    struct estimate given = cost->n ? *cost : *step;
    int faster = cost->n && given.median < 0;
    if (faster)
        given = (struct estimate){.median = -cost->median, .ci_low = -cost->ci_high, .ci_high = -cost->ci_low};
    const char *words = row->bucket_words;
    int name = (int)strcspn(row->label, ":"); /* what follows is the size */
    char size[CELL] = "", interval[CELL] = "", options[3 * CELL] = "";
    if (*words) {
        snprintf(size, sizeof size, ", %s MiB", words);
        snprintf(options, sizeof options, " --bucket-size-mb %s (PyTorch's DDP: bucket_cap_mb=%s)", words, words);
    }
    if (isfinite(given.ci_low))
        snprintf(interval, sizeof interval, " [%.2f, %.2f]", 1e3 * given.ci_low, 1e3 * given.ci_high);
    results_add_sentence(summary, list, "Use %.*s%s%s: %s%.2f ms%s%s.", name, row->label, size,
                         undecided ? " (shortest so far)" : "", cost->n ? "" : "step ", 1e3 * given.median, interval,
                         faster    ? " faster than without communication"
                         : cost->n ? " slower than without communication"
                                   : "");
    results_add_sentence(summary, list, "Options: --implementations %s%s", row->strategy->name, options);
}

void verdict_add_bucket(const struct implementation *row, const char *list, cJSON *summary)
{
    results_add_sentence(summary, list, "Shortest of the bucket sizes: %s MiB.", row->bucket_words);
}

static int by_step(const void *a, const void *b)
{
    double x = ((const struct verdict_row *)a)->step, y = ((const struct verdict_row *)b)->step;
    return (x > y) - (x < y);
}

void verdict_add_groups(struct verdict_row *row, int n, const char *const heading[VERDICT_GROUPS], int anytime,
                        const char *list, cJSON *summary)
{
    int intervals = 0;
    char change[CELL];
    qsort(row, (size_t)n, sizeof *row, by_step);
    for (int group = 0; group < VERDICT_GROUPS; group++) {
        char *text = NULL;
        size_t length = 0;
        int members = 0;
        FILE *out = text_begin(&text, &length);
        for (int i = 0; i < n; i++) {
            const struct paired *to = row[i].to_best;
            if (row[i].group != (enum verdict_group)group)
                continue;
            intervals |= isfinite(to->ci_low);
            fprintf(out, "%s%s %s%s", members++ ? ", " : "", row[i].label,
                    text_change(change, to->ratio, to->ci_low, to->ci_high),
                    !isfinite(to->ci_low) ? " (" TOO_FEW_ROUNDS ")"
                    : to->ci_high < 1     ? " (shorter round by round, though not in the median)"
                                          : "");
        }
        text_end(out);
        if (members)
            results_add_sentence(summary, list, "%s: %s.", heading[group], text);
        free(text);
    }
    if (intervals)
        results_add_sentence(
            summary, list,
            "(In the order of their steps. In %%: step / that of the best, round by round, %s; slower: above 0. The "
            "95 %% holds for all at once%s, and allows for the best having been picked from the same rounds.)",
            anytime ? "median" : "geometric mean", anytime ? ", whenever the rounds end" : "");
}
