/* test_comparison.c - several profiles of one run: which step is the shortest, and by how much. */
#include "tests/support/suite.h"

#include "profile/summary.h"
#include "results/results.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 8, ROOM = 10, PROFILES = 4 };

/* Made-up profiles: steps of 100 ms, 1 ms longer each round, multiplied by 1.0, 1.2, about 1.0 and, for `none`, 0.5. */
static const struct {
    struct implementation row;
    double factor, jitter;
} made_up[PROFILES] = {{{.label = "ddp", .strategy = &strategy_ddp}, 1, 0},
                       {{.label = "slow", .strategy = &strategy_ddp_bucketed}, 1.2, 0},
                       {{.label = "alike", .strategy = &strategy_ddp_individual}, 1, 0.1},
                       {{.label = "none", .strategy = &strategy_none}, 0.5, 0}};

static struct profile profile[PROFILES];
static struct measurements measurements;
static struct figure_list list;
static cJSON *summary;

static int first; /* index of the first profile that is compared */

static void teardown(void)
{
    figures_destroy(&list);
}

/* Compares the profiles over this many rounds: makes summary and list. */
static void compare(size_t rounds)
{
    teardown();
    list = (struct figure_list){0};
    summary = kept_json(results_summary_create("profile", "", (double)rounds, ROUNDS, "rounds"));
    measurements_create(&measurements, PROFILES, ROOM);
    measurements.rounds = rounds;
    for (int i = 0; i < PROFILES; i++) {
        double *step = measurements_of(&measurements, i, FIGURE_STEP);
        for (int r = 0; r < ROUNDS; r++)
            step[r] = 0.1 * (1 + 0.01 * r) * made_up[i].factor * (1 + made_up[i].jitter * (r % 2 ? 1 : -0.9));
        profile[i] = (struct profile){.row = i,
                                      .facts = {.ranks = 2,
                                                .row = &made_up[i].row,
                                                .label = made_up[i].row.label,
                                                .traits = implementation_traits(&made_up[i].row)},
                                      .controls.step = stats_estimate(step, rounds),
                                      .overlap = "Overlap: as made up."};
    }
    profiles_add_comparison(profile + first, PROFILES - first, &measurements, 0.1, summary, &list);
    measurements_destroy(&measurements);
}

/* Returns the first answer of the summary that contains this text; NULL if none does. */
static const char *answer(const char *text)
{
    const cJSON *line;
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(summary, "answers"))
    {
        if (strstr(line->valuestring, text))
            return line->valuestring;
    }
    return NULL;
}

TEST(the_shortest_is_named_with_those_that_are_slower)
{
    compare(ROUNDS);
    /* the answers in order; `none` is not among them */
    static const char *const expected[] = {"Shortest so far is ddp: a step takes 10", "Options: --implementations ddp",
                                           "Undecided (not known to 2 %): alike +0.05 % [-", "Slower: slow +20.0 % [+",
                                           "In %: how much longer a step takes than with the best, "};
    const cJSON *line = cJSON_GetObjectItemCaseSensitive(summary, "answers")->child;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, line = line->next)
        ck_assert_msg(strstr(line->valuestring, expected[i]) == line->valuestring, "%s", line->valuestring);
    ck_assert_ptr_nonnull(answer("none: Overlap: as made up."));
    ck_assert_double_eq_tol(figures_find(&list, "slow", "step_to_shortest", 0)->value, 1.2, 1e-9);
    ck_assert_double_eq_tol(figures_find(&list, "none", "step_to_shortest", 0)->value, 0.5, 1e-9);
    ck_assert(figures_find(&list, "alike", "step", 0)->judged);
}

/* If no profile reduces gradients, all profiles are compared. With one or two rounds there is no verdict. */
TEST(too_few_rounds_decide_nothing)
{
    first = PROFILES - 1;
    compare(ROUNDS);
    ck_assert_double_eq(figures_find(&list, "none", "step_to_shortest", 0)->value, 1);
    ck_assert_ptr_null(answer("Use "));
    first = 0;
    compare(1);
    ck_assert_ptr_null(answer("Slower"));
    ck_assert_ptr_nonnull(answer("No verdict: too few rounds"));
    compare(2);
    ck_assert_ptr_null(answer("Slower"));
    ck_assert_ptr_nonnull(answer("No verdict: too few rounds"));
    ck_assert(isnan(figures_find(&list, "slow", "step_to_shortest", 0)->low));
}

TEST(no_step_is_compared_without_rounds)
{
    compare(0);
    ck_assert_ptr_null(answer("Use "));
    ck_assert_ptr_nonnull(answer("slow: Overlap: as made up."));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(summary, "tables")), 0);
    ck_assert_uint_eq(list.n, 0);
}

SUITE("comparison", NULL, teardown)
