/* test_summary.c - figures, tables and notes of a ranking with known samples. */
#include "base/json.h"
#include "base/table.h"
#include "benchmark/ranking.h"
#include "results/results.h"
#include "results/verdict.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

enum { ROWS = 3, ROUNDS = 8, ROOM = 12 };

static const struct implementation row[ROWS] = {
    {.label = "none", .strategy = &strategy_none},
    {.label = "ddp", .strategy = &strategy_ddp},
    {.label = "fast", .strategy = &strategy_ddp_bucketed, .size.words = "0.25"}};
static struct measurements measurements;
static struct ranking ranking;
static struct figure_list figures;
static cJSON *summary;

/* Steps take 10, 16 and 12 ms, and 0.1 % longer in every second round; gradient_sync takes a quarter of a step. */
static void setup(void)
{
    static const double step[ROWS] = {0.010, 0.016, 0.012};
    measurements_create(&measurements, ROWS, ROOM);
    measurements.rounds = ROUNDS;
    for (int i = 0; i < ROWS; i++)
        for (int r = 0; r < ROUNDS; r++) {
            double seconds = step[i] * (r % 2 ? 1.001 : 1);
            measurements_of(&measurements, i, FIGURE_STEP)[r] = seconds;
            measurements_of(&measurements, i, PHASE_GRADIENT_SYNC)[r] = seconds / 4;
        }
    ranking_create(&ranking, &measurements, row, 2, 1000, NULL, 0);
    summary = results_summary_create("benchmark", "night", ROUNDS, ROUNDS, "rounds");
}

static void teardown(void)
{
    cJSON_Delete(summary);
    figures_destroy(&figures);
    measurements_destroy(&measurements);
}

TEST(figures_are_in_seconds)
{
    ranking_add_figures(&ranking, &figures);
    const struct figure *step = figures_find(&figures, "ddp", "step", 0);
    ck_assert_ptr_nonnull(step);
    ck_assert(step->judged && step->better == BETTER_LOWER && step->n == ROUNDS && !strcmp(step->unit, "s"));
    ck_assert_double_eq_tol(step->value, 0.016008, 1e-8);
    ck_assert_double_eq_tol(figures_find(&figures, "fast", "sync_cost", 0)->value, 0.002001, 1e-8);
    ck_assert_double_eq_tol(figures_find(&figures, "fast", "tokens_per_second", 0)->value, 1000 / 0.012006, 30);
    ck_assert_double_eq_tol(figures_find(&figures, "fast", "step_to_ddp", 0)->value, 0.75, 1e-9);
    ck_assert_double_eq_tol(figures_find(&figures, "ddp", "step_to_shortest", 0)->low, 16.0 / 12, 1e-9);
    ck_assert_ptr_null(figures_find(&figures, "none", "step_to_shortest", 0));    /* the control is not compared */
    ck_assert_ptr_null(figures_find(&figures, "none", "sync_cost", 0));           /* `none` has no cost over itself */
    ck_assert_ptr_null(figures_find(&figures, "none", "communication_ratio", 0)); /* `none` sends nothing */
    ck_assert_ptr_null(figures_find(&figures, "ddp", "attainable", 0));           /* attainable was not measured */
    for (size_t i = 0; i < figures.n; i++)
        ck_assert_int_eq(figures.item[i].judged, !strcmp(figures.item[i].name, "step"));
}

/* Returns the summary as it is printed. */
static const char *summary_text(void)
{
    results_print_summary(printing(), summary);
    return printed();
}

/* Returns the text of a verdict after `rounds` rounds. */
static const char *verdict(const struct implementation *rows, int n, size_t rounds, int ranks)
{
    cJSON_Delete(summary);
    summary = results_summary_create("benchmark", "night", ROUNDS, ROUNDS, "rounds");
    measurements.rounds = rounds;
    measurements.n = n;
    ranking_create(&ranking, &measurements, rows, ranks, 1000, NULL, 0);
    ranking_add_table(&ranking, 3, summary);
    ranking_add_verdict(&ranking, ranks, rounds, 0.5, 0, summary);
    return summary_text();
}

TEST(words_agree_with_the_figures)
{
    const char *text = verdict(row, ROWS, ROUNDS, 2);
    check_has(text,
              "\nUse fast, 0.25 MiB: a step takes 12.01 ms, which is 2.00 ms [2.00, 2.00] (20.0 %) longer "
              "than\nwithout communication.\n"
              "Options: --implementations ddp_bucketed --bucket-size-mb 0.25 (PyTorch's DDP: bucket_cap_mb=0.25)\n"
              "Slower: ddp +33.3 % [+33.3, +33.3].\nIn %: how much");
    check_lacks(text, "Tie");
    check_has(text, "\nDifference to fast in %; between the colons: within 2 %\n");
    check_has(text, "   best\nddp    :  |  : ");
    check_has(text, " x    slower\n\nUse fast");
    check_lacks(verdict(row, ROWS, ROUNDS, 1), "Difference to"); /* one rank has nothing to choose */
    check_lacks(verdict(row, ROWS, 4, 2), "Difference to");      /* too few rounds */
    text = verdict(row, ROWS, ROUNDS, 2);
    check_has(text, "\nddp                0.00     0.00     4.00      0.00   12.01    16.01   1.000");
    check_has(text, "12.01 * 0.750  0.250"); /* row of `fast`: step, ratio to ddp, sync / step */
    check_lacks(text, "attainable");
    const cJSON *saved = cJSON_GetObjectItem(summary, "verdict");
    ck_assert_str_eq(verdict_best(saved), "fast");
    ck_assert_str_eq(json_string(saved, "options"), "--implementations ddp_bucketed --bucket-size-mb 0.25");
    ck_assert_int_eq(verdict_kind_of(saved, "fast"), VERDICT_BEST);
    ck_assert_int_eq(verdict_kind_of(saved, "ddp"), VERDICT_SLOWER);
    ck_assert_int_eq(verdict_kind_of(saved, "none"), VERDICT_KINDS);
}

/* Data loading, and the rest without a column, each get a column if above 5 % of a step. A row adds up. */
TEST(what_a_step_has_beyond_the_columns)
{
    static const struct {
        double forward, data; /* shares of a step, of which gradient_sync takes a quarter */
        int other, loading;   /* shown */
    } cases[] = {{0.71, 0, 0, 0}, {0.69, 0, 1, 0}, {0.68, 0.04, 0, 0}, {0.69, 0.055, 0, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct ranking_row *ddp = &ranking.row[1];
        for (int r = 0; r < ROUNDS; r++)
            for (int i = 0; i < ROWS; i++) {
                double step = measurements_of(&measurements, i, FIGURE_STEP)[r];
                measurements_of(&measurements, i, PHASE_FORWARD)[r] = cases[k].forward * step;
                measurements_of(&measurements, i, PHASE_DATA_LOADING)[r] = cases[k].data * step;
            }
        const char *text = verdict(row, ROWS, ROUNDS, 2);
        double sum = ddp->other + ddp->seconds[PHASE_FORWARD].median + ddp->seconds[PHASE_GRADIENT_SYNC].median +
                     ddp->seconds[PHASE_DATA_LOADING].median;
        ck_assert_double_eq_tol(sum, ddp->seconds[FIGURE_STEP].median, 1e-12);
        ck_assert_msg((strstr(text, " other ") != NULL) == cases[k].other, "case %zu: %s", k, text);
        ck_assert_msg((strstr(text, " data ") != NULL) == cases[k].loading, "case %zu: %s", k, text);
    }
}

/* The options that select the best strategy include the option of its variant. */
TEST_EACH(options_select_the_variant_of_a_strategy, 3)
{
    static const struct {
        const struct strategy *strategy;
        enum variant variant;
        const char *label, *sentence, *options;
    } variants[] = {
        {&strategy_ddp_bucketed, VARIANT_BF16, "fast:0.25:bf16", "\nUse fast, 0.25 MiB, bf16: a step takes 12.01",
         "--implementations ddp_bucketed --bucket-size-mb 0.25 --wire-dtype bf16"},
        {&strategy_ddp_bucketed, VARIANT_UPDATE, "fast:0.25:update",
         "\nUse fast, 0.25 MiB, updated in backward: a step takes 12.01",
         "--implementations ddp_bucketed --bucket-size-mb 0.25 --update-in-backward"},
        {&strategy_ddp_sharded, VARIANT_GRADIENTS, "fast:0.25:gradients",
         "\nUse fast, 0.25 MiB, gradients sharded: a step takes 12.01",
         "--implementations ddp_sharded --bucket-size-mb 0.25 --shard gradients"},
    };
    struct implementation rows[ROWS];
    memcpy(rows, row, sizeof rows);
    rows[2].strategy = variants[_i].strategy;
    rows[2].variant = variants[_i].variant;
    strcpy(rows[2].label, variants[_i].label);
    const char *text = verdict(rows, ROWS, ROUNDS, 2);
    check_has(text, variants[_i].sentence);
    ck_assert_str_eq(json_string(cJSON_GetObjectItem(summary, "verdict"), "options"), variants[_i].options);
}

/* The argument of PyTorch's DistributedDataParallel is named if it makes the same buckets. */
TEST_EACH(pytorch_has_an_argument_for_some_sizes, 4)
{
    static const struct {
        const char *size, *pytorch;
    } sizes[] = {{"16", " (PyTorch's DDP: bucket_cap_mb=16)"},
                 {"1+25", " (PyTorch's DDP: bucket_cap_mb not given)"},
                 {"1+16", ""},
                 {"25+last1", ""}};
    struct implementation rows[ROWS];
    const cJSON *note;
    char options[200];
    int found = 0;
    memcpy(rows, row, sizeof rows);
    strcpy(rows[2].size.words, sizes[_i].size);
    snprintf(options, sizeof options, "Options: --implementations ddp_bucketed --bucket-size-mb %s%s", sizes[_i].size,
             sizes[_i].pytorch);
    verdict(rows, ROWS, ROUNDS, 2);
    cJSON_ArrayForEach(note, cJSON_GetObjectItem(summary, "notes")) found += !strcmp(note->valuestring, options);
    ck_assert_int_eq(found, 1);
}

/* Ties are listed by step time, as in the table, not by name. Without `none` no sync cost is printed. The noises of the
 * three rows are orthogonal over the rounds. */
TEST(the_list_is_in_the_order_of_steps)
{
    static const struct implementation three[ROWS] = {
        {.label = "best:1", .strategy = &strategy_ddp_bucketed, .size.words = "1"},
        {.label = "far", .strategy = &strategy_ddp},
        {.label = "near", .strategy = &strategy_ddp_flat}};
    for (int i = 0; i < ROWS; i++)
        for (int r = 0; r < ROUNDS; r++)
            measurements_of(&measurements, i, FIGURE_STEP)[r] =
                0.012 + 0.00001 * (i == 1 ? 6 : i) + 0.00005 * (1 + (i == 1)) * (r >> i & 1);
    const char *text = verdict(three, ROWS, ROUNDS, 2);
    check_has(text, "\nUse best, 1 MiB: a step takes 12.02 ms [12.00, 12.05].\n"
                    "Options: --implementations ddp_bucketed --bucket-size-mb 1 (PyTorch's DDP: bucket_cap_mb=1)\n"
                    "Tie (within 2 %): near +");
    ck_assert(strstr(text, " far ") > strstr(text, " near "));
}

TEST_EACH(a_missing_verdict_has_its_reason, 4)
{
    static const struct {
        int n, ranks;
        size_t rounds;
        const char *words;
    } cases[] = {{ROWS, 1, ROUNDS, "Nothing to choose: one rank has nothing to reduce"},
                 {ROWS, 2, 1, "No verdict: too few rounds; use 6 or more (--rounds)."},
                 {ROWS, 2, 5, "No verdict: too few rounds; use 6 or more (--rounds)."},
                 {2, 2, ROUNDS, "Nothing to choose: fewer than two of the strategies reduce gradients."}};
    const char *text = verdict(row, cases[_i].n, cases[_i].rounds, cases[_i].ranks);
    check_has(text, cases[_i].words);
    check_lacks(text, "Use ");
    check_lacks(text, "lower: ");
}

/* The result of --resolve as text and JSON: ddp is slower, tied or undecided, with "so far" before the last round. */
TEST_EACH(resolution_is_reported, 4)
{
    static const struct {
        double within, spread;
        size_t planned;
        const char *ended, *words[3];
    } cases[] = {
        {0.01, 0, ROUNDS, "resolved", {"Resolved to 1 %: 8 rounds.", "Slower: ddp +33.3 %", NULL}},
        {0.5, 0.3, ROUNDS, "resolved", {"Resolved to 50 %: 8", "Tie (within 50 %): ddp ", NULL}},
        {0.01,
         0.3,
         ROUNDS,
         "max_minutes",
         {"Not resolved to 1 % within --max-minutes: 8 rounds.", "Undecided (not known to 1 %): ddp +",
          "Shortest so far is fast, 0.25 MiB: a step takes 12.01 ms"}},
        {0.01, 0.3, 20, "unfinished", {"Not resolved to 1 % so far: 8 rounds.", "Undecided (not known to 1 %):", NULL}},
    };
    double *ddp = measurements_of(&measurements, 1, FIGURE_STEP);
    for (int r = 0; r < ROUNDS && cases[_i].spread > 0; r++)
        ddp[r] = 0.012 * exp(cases[_i].spread / 4 * (r % 2 ? 1.1 : -1));
    ranking_create(&ranking, &measurements, row, 2, 1000, NULL, cases[_i].within);
    ranking_add_verdict(&ranking, 2, cases[_i].planned, 0.5, 0, summary);
    const char *text = summary_text();
    for (int i = 0; i < 3 && cases[_i].words[i]; i++)
        check_has(text, cases[_i].words[i]);
    ck_assert_str_eq(json_string(summary, "ended"), cases[_i].ended);
    int undecided = verdict_kind_of(cJSON_GetObjectItem(summary, "verdict"), "ddp") == VERDICT_UNDECIDED;
    ck_assert_int_eq(undecided, strcmp(cases[_i].ended, "resolved") != 0);
}

/* With five rounds there is no verdict, even with --resolve, and the text has no nan or inf. */
TEST(a_missing_interval_is_reported)
{
    measurements.rounds = 5;
    ranking_create(&ranking, &measurements, row, 2, 1000, NULL, 0.01);
    ranking_add_verdict(&ranking, 2, 5, 0.5, 0, summary);
    const char *text = summary_text();
    check_has(text, "No verdict: too few rounds; use 8 or more (by a longer --max-minutes).\n");
    check_has(text, "Not resolved to 1 % within --max-minutes: 5 rounds.");
    ck_assert_msg(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL, "%s", text);
}

TEST(gradient_errors_are_shown_where_they_were_measured)
{
    ranking.row[1].error.first = 2.7123e-8;
    ranking.row[2].error.first = 0;
    ranking_add_table(&ranking, 3, summary);
    ranking_add_figures(&ranking, &figures);
    const char *text = summary_text();
    check_has(text, "gradient\n");
    check_has(text, " 2.7e-08\n");
    check_has(text, "     0.0\n");
    check_has(text, "gradient error: relative L2 distance");
    ck_assert_double_eq(figures_find(&figures, "ddp", "gradient_error", 0)->value, 2.7123e-8);
    ck_assert_double_eq(figures_find(&figures, "fast", "gradient_error", 0)->value, 0);
    ck_assert_ptr_null(figures_find(&figures, "none", "gradient_error", 0));
}

TEST(attainable_is_shown_where_it_was_measured)
{
    static const double bound[ROWS] = {NAN, 0.008, 0.014};
    double seconds[ROWS * ROUNDS];
    for (int i = 0; i < ROWS * ROUNDS; i++)
        seconds[i] = bound[i / ROUNDS] * (i % 2 ? 1.001 : 1); /* attainable times vary over rounds as steps do */
    ranking_create(&ranking, &measurements, row, 2, 1000, seconds, 0);
    ranking_add_table(&ranking, 3, summary);
    ranking_add_figures(&ranking, &figures);
    const char *text = summary_text();
    ck_assert_double_eq_tol(figures_find(&figures, "ddp", "attainable", 0)->value, 0.008 * 1.0005, 1e-8);
    ck_assert_double_eq_tol(figures_find(&figures, "ddp", "step_to_attainable", 0)->high, 2, 1e-9);
    check_has(text, "2.00\n"); /* step / attainable of ddp */
}

SUITE("summary", setup, teardown)
