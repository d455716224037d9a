/* test_figures.c - the figures of each kind of summary, and how those of several runs are matched. */
#include "compare/match.h"
#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct compare_run run[3];
static struct compare_lines lines;

static void destroy(void)
{
    for (int i = 0; i < 3; i++)
        compare_run_destroy(&run[i]);
    compare_lines_destroy(&lines);
    error_clear();
}

static int take(int i, const char *mode, const char *text)
{
    cJSON *json = cJSON_Parse(text);
    ck_assert_msg(json != NULL, "not JSON: %s", text);
    int status = compare_figures_create(&run[i].figures, "DIR/summary.json", mode, json);
    cJSON_Delete(json);
    return status;
}

/* The only figure of run 0 with this subject, name and size. */
static const struct compare_figure *figure(const char *subject, const char *name, double bytes)
{
    const struct compare_figure *found = NULL;
    for (size_t i = 0; i < run[0].figures.n; i++) {
        const struct compare_figure *f = &run[0].figures.item[i];
        if (strcmp(f->subject, subject) != 0 || strcmp(f->name, name) != 0 || f->bytes != bytes)
            continue;
        ck_assert_msg(!found, "%s of %s is there twice", name, subject);
        found = f;
    }
    ck_assert_msg(found != NULL, "no %s of %s, %.0f bytes", name, subject, bytes);
    return found;
}

static void is(const char *subject, const char *name, double bytes, double value, const char *unit, int more, int gated)
{
    const struct compare_figure *f = figure(subject, name, bytes);
    ck_assert_double_eq_tol(f->value, value, 1e-12);
    ck_assert_str_eq(f->unit, unit);
    ck_assert_int_eq(f->more_is_better, more);
    ck_assert_int_eq(f->gated, gated);
}

START_TEST(benchmark)
{
    ck_assert_int_eq(take(0, "benchmark",
                          "{\"implementations\": {\"ddp\": {\"step\": {\"median\": 2.5, \"unit\": \"ms\"},"
                          "\"backward_pass\": {\"median\": 1.5, \"unit\": \"ms\"},"
                          "\"tokens_per_second\": {\"median\": 800, \"unit\": \"1/s\"},"
                          "\"communication_ratio\": {\"median\": null, \"unit\": \"1\"}},"
                          "\"none\": {\"step\": {\"median\": 2, \"unit\": \"ms\"},"
                          "\"sync_cost\": {\"median\": -0.5, \"unit\": \"1\"}}}}"),
                     0);
    ck_assert_uint_eq(run[0].figures.n, 5);
    is("ddp", "step", 0, 2.5, "ms", 0, 1);
    is("ddp", "backward_pass", 0, 1.5, "ms", 0, 0);
    is("ddp", "tokens_per_second", 0, 800, "1/s", 1, 0);
    is("none", "step", 0, 2, "ms", 0, 1);
    is("none", "sync_cost", 0, -0.5, "", 0, 0);
}
END_TEST

START_TEST(profile)
{
    ck_assert_int_eq(
        take(
            0, "profile",
            "{\"implementation\": \"ddp\", \"phases\": {\"step\": {\"median_ms\": 5}, \"forward_pass\": "
            "{\"median_ms\": 1}},"
            "\"tokens_per_second\": 10, \"model_gflops\": 3, \"communication_ratio\": 0.25,"
            "\"capture\": {\"counted_steps\": 2}, \"ranks\": [{\"step_ms\": 10, \"comm_busy_ms\": 4, "
            "\"compute_busy_ms\": 6,"
            "\"overlap_ms\": 2, \"exposed_ms\": 2, \"exposed_tail_ms\": 1}, {\"step_ms\": 10, \"comm_busy_ms\": 6,"
            "\"compute_busy_ms\": 10, \"overlap_ms\": 2, \"exposed_ms\": 4, \"exposed_tail_ms\": 3}],"
            "\"collectives\": [{\"bytes\": 64, \"duration_us\": 7, \"wait_us\": null, \"transfer_us\": 3, \"algbw\": 2,"
            "\"busbw\": 1}], \"controls\": {\"rounds\": 6, \"step\": {\"median\": 4, \"unit\": \"ms\"},"
            "\"step_after_backward\": {\"median\": 6}, \"step_none\": {\"median\": 3},"
            "\"overlap_efficiency\": {\"median\": 0.75, \"unit\": \"1\"}, \"compute_slowdown\": {\"ratio\": 1.125},"
            "\"attainable_ms\": 3.5}, \"profiling_overhead\": {\"ratio\": 1.01}, \"memory_bytes\": {\"peak\": 100}}"),
        0);
    is("ddp", "step", 0, 5, "ms", 0, 1);
    is("untraced", "step", 0, 4, "ms", 0, 1);
    is("after_backward", "step", 0, 6, "ms", 0, 1);
    is("none", "step", 0, 3, "ms", 0, 1);
    is("ddp", "forward_pass", 0, 1, "ms", 0, 0);
    is("ddp", "overlap_efficiency", 0, 0.75, "", 1, 0);
    is("ddp", "compute_slowdown", 0, 1.125, "", 0, 0);
    is("ddp", "attainable", 0, 3.5, "ms", 0, 0);
    is("ddp", "comm_busy", 0, 2.5, "ms", 0, 0); /* 10 ms over 2 ranks x 2 steps */
    is("ddp", "overlap", 0, 1, "ms", 1, 0);
    is("ddp", "exposed", 0, 1.5, "ms", 0, 0);
    is("ddp", "exposed_tail", 0, 1, "ms", 0, 0);
    is("ddp", "span_overlap", 0, 0.4, "", 1, 0);
    is("ddp", "compute_coverage", 0, 0.25, "", 1, 0);
    is("ddp", "utilisation", 0, 0.8, "", 1, 0);
    is("ddp", "collective", 64, 7, "us", 0, 0);
    is("ddp", "busbw", 64, 1, "GB/s", 1, 0);
    is("ddp", "memory_peak", 0, 100, "B", 0, 0);
    ck_assert_uint_eq(run[0].figures.n, 25);
}
END_TEST

START_TEST(hidden_ratio_is_of_devices)
{
    ck_assert_int_eq(take(0, "profile",
                          "{\"implementation\": \"ddp\", \"phases\": {\"step\": {\"median_ms\": 5}}, \"capture\": "
                          "{\"counted_steps\": 1}, \"ranks\": [{"
                          "\"comm_busy_ms\": 4, \"overlap_ms\": 3, \"hidden_ratio\": 0.75}]}"),
                     0);
    is("ddp", "hidden_ratio", 0, 0.75, "", 1, 0);
}
END_TEST

#define SIZE(placement, root, bytes, sustained, wrong)                                                                 \
    "{\"collective\": \"broadcast\", \"dtype\": \"float\", \"op\": \"none\", \"root\": " root                          \
    ", \"placement\": \"" placement "\", \"bytes\": " bytes ", \"sustained_us\": " sustained                           \
    ", \"time_us\": {\"min\": 1, \"mean\": 2, \"median\": 2.5, \"p95\": 4, \"p99\": 5, \"max\": 6}, \"algbw_gbs\": 7"  \
    ", \"busbw_gbs\": 8, \"wrong\": " wrong "}"

START_TEST(sweep)
{
    ck_assert_int_eq(
        take(0, "allreduce",
             "{\"sweep\": [" SIZE("in_place", "0", "8", "3", "0") "," SIZE("in_place", "-1", "8", "3.5", "2") "," SIZE(
                 "out_of_place", "-1", "16", "4", "null") "]}"),
        0);
    ck_assert_uint_eq(run[0].figures.n, 27);
    is("broadcast float none root 0 in_place", "time", 8, 3, "us", 0, 1);
    is("broadcast float none in_place", "time", 8, 3.5, "us", 0, 1);
    is("broadcast float none out_of_place", "time", 16, 4, "us", 0, 1);
    is("broadcast float none out_of_place", "time_p99", 16, 5, "us", 0, 0);
    is("broadcast float none out_of_place", "algbw", 16, 7, "GB/s", 1, 0);
    is("broadcast float none out_of_place", "busbw", 16, 8, "GB/s", 1, 0);
    for (size_t i = 0; i < run[0].figures.n; i++) /* of the second row, each */
        ck_assert_int_eq(run[0].figures.item[i].wrong, i / 9 == 1);
}
END_TEST

START_TEST(beside_computation)
{
    ck_assert_int_eq(take(0, "allreduce",
                          "{\"rows_planned\": 1, \"overlap\": [{\"collective\": \"all_reduce\", \"dtype\": \"float\","
                          "\"op\": \"sum\", \"root\": -1, \"placement\": \"in_place\", \"bytes\": 8,"
                          "\"both_us\": {\"median\": 5}, \"comm_us\": {\"median\": 3},"
                          "\"overlap_percent\": {\"median\": 40}}]}"),
                     0);
    is("all_reduce float sum in_place", "both", 8, 5, "us", 0, 1);
    is("all_reduce float sum in_place", "comm", 8, 3, "us", 0, 0);
    is("all_reduce float sum in_place", "overlap", 8, 40, "%", 1, 0);
    ck_assert_uint_eq(run[0].figures.n, 3);
}
END_TEST

START_TEST(not_a_summary)
{
    static const char *const bad[][3] = {
        {"benchmark", "{\"phases\": {}}", "DIR/summary.json: has no \"implementations\""},
        {"benchmark", "{\"implementations\": [{\"step\": {\"median\": 1}}]}",
         "DIR/summary.json: has no \"implementations\""},
        {"benchmark", "{\"implementations\": {\"ddp\": [{\"median\": 1}]}}",
         "DIR/summary.json: \"ddp\" of \"implementations\" is not a JSON object"},
        {"benchmark", "{\"implementations\": {\"ddp\": 3}}", "DIR/summary.json: \"ddp\" of \"implementations\""},
        {"profile", "{\"implementations\": {}}", "DIR/summary.json: has no \"implementation\" with its \"phases\""},
        {"allreduce", "{\"sweep\": 3}", "DIR/summary.json: has no \"sweep\""},
        {"allreduce", "{\"sweep\": [{\"bytes\": 8}]}", "DIR/summary.json: a row lacks one of collective"},
        {"allreduce", "{\"rows_planned\": 2, \"sweep\": [" SIZE("a", "0", "8", "3", "0") "]}",
         "DIR/summary.json: has 1 of 2 rows: the run has not finished"},
        {"predict", "{}", "DIR/summary.json: results of mode 'predict' cannot be compared; benchmark, profile"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(take(0, bad[i][0], bad[i][1]), -1);
        ck_assert_msg(strstr(error_text(), bad[i][2]) == error_text(), "%s", error_text());
        destroy();
    }
}
END_TEST

/* ---- several runs ---- */

static void three_runs(void)
{
    static const char *const text[] = {
        "{\"sweep\": [" SIZE("a", "-1", "64", "30", "0") "," SIZE("a", "-1", "8", "10", "0") "]}",
        "{\"sweep\": [" SIZE("a", "-1", "8", "11", "0") "," SIZE("b", "-1", "8", "20", "0") "]}",
        "{\"sweep\": [" SIZE("a", "-1", "8", "12", "0") "," SIZE("a", "-1", "64", "31", "1") "," SIZE(
            "b", "-1", "8", "21", "0") "," SIZE("a", "-1", "16", "15", "0") "]}"};
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(take(i, "allreduce", text[i]), 0);
}

/* Runs 0 and 1 are baselines, run 2 is a candidate. */
static int match(const char *metrics)
{
    compare_lines_destroy(&lines);
    return compare_match(&lines, run, 2, run + 2, 1) || compare_gate(&lines, 2, 1, metrics) ? -1 : 0;
}

START_TEST(matched)
{
    static const double known[][4] = {/* bytes, two baselines, candidate */
                                      {8, 10, 11, 12},
                                      {16, NAN, NAN, 15},
                                      {64, 30, NAN, 31},
                                      {8, NAN, 20, 21}};
    three_runs();
    ck_assert_int_eq(match(""), 0);
    ck_assert_uint_eq(lines.n, 4 * 9);
    size_t n = 0;
    for (size_t i = 0; i < lines.n; i++) {
        const struct compare_line *l = &lines.item[i];
        ck_assert(i == 0 || l[-1].family < l->family || l[-1].figure->bytes < l->figure->bytes);
        ck_assert_int_eq(l->gated, !strcmp(l->figure->name, "time"));
        ck_assert_int_eq(l->wrong, l->figure->bytes == 64);
        if (!l->gated)
            continue;
        ck_assert_double_eq(l->figure->bytes, known[n][0]);
        const double has[] = {l->baseline[0], l->baseline[1], l->candidate[0]};
        for (int k = 0; k < 3; k++)
            ck_assert(isnan(known[n][k + 1]) ? isnan(has[k]) : has[k] == known[n][k + 1]);
        ck_assert(!strcmp(l->figure->subject, n < 3 ? "broadcast float none a" : "broadcast float none b"));
        ck_assert_int_eq(n < 3, l->family == lines.item[0].family);
        n++;
    }
    ck_assert_uint_eq(n, 4);
    struct compare_medians m = compare_medians(&lines.item[0], 2, 1);
    ck_assert(m.baseline == 10.5 && m.candidate == 12 && m.n_baseline == 2 && m.n_candidate == 1);
}
END_TEST

START_TEST(other_metrics)
{
    three_runs();
    ck_assert_int_eq(match("busbw,time_p99"), 0);
    for (size_t i = 0; i < lines.n; i++) {
        const char *name = lines.item[i].figure->name;
        ck_assert_int_eq(lines.item[i].gated, !strcmp(name, "busbw") || !strcmp(name, "time_p99"));
    }
}
END_TEST

START_TEST(match_refused)
{
    static const char *const bad[] = {"bandwidth", "time,", ",time", "tim", "times"};
    three_runs();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(match(bad[i]), -1);
        ck_assert_msg(strstr(error_text(), "no such figure; they have: time time_min") != NULL, "%s", error_text());
        error_clear();
    }
    compare_figures_destroy(&run[1].figures);
    strcpy(run[1].directory, "DIR");
    ck_assert_int_eq(
        take(1, "allreduce", "{\"sweep\": [" SIZE("a", "-1", "8", "1", "0") "," SIZE("a", "-1", "8", "2", "0") "]}"),
        0);
    ck_assert_int_eq(match(""), -1);
    ck_assert_str_eq(error_text(), "DIR: summary.json has time of broadcast float none a twice");
    destroy();
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(take(i, "allreduce", "{\"sweep\": []}"), 0);
    ck_assert_int_eq(match(""), -1);
    ck_assert_msg(strstr(error_text(), "no figure to judge") != NULL, "%s", error_text());
}
END_TEST

/* Times of a size with wrong data are no times: of a baseline nothing can be compared with them. */
START_TEST(wrong_baseline)
{
    three_runs();
    compare_figures_destroy(&run[1].figures);
    strcpy(run[1].directory, "DIR");
    ck_assert_int_eq(take(1, "allreduce", "{\"sweep\": [" SIZE("a", "-1", "8", "1", "2") "]}"), 0);
    ck_assert_int_eq(match("busbw"), -1);
    ck_assert_str_eq(
        error_text(),
        "DIR: found wrong elements in broadcast float none a of 8 bytes, so it is no baseline; leave it out");
}
END_TEST

/* A figure of 0 or less is there, and has no ratio; in a baseline and in a candidate, asked for and judged anyway. */
START_TEST(no_ratio)
{
    for (int zero = 0; zero < 2; zero++)
        for (int i = 0; i < 3; i++) {
            destroy();
            three_runs();
            compare_figures_destroy(&run[i].figures);
            ck_assert_int_eq(take(i, "allreduce",
                                  zero ? "{\"sweep\": [" SIZE("a", "-1", "8", "0", "0") "]}"
                                       : "{\"sweep\": [" SIZE("a", "-1", "8", "-1", "0") "]}"),
                             0);
            ck_assert_int_eq(match("busbw"), 0); /* above 0, and nothing else is judged */
            ck_assert_int_eq(match("busbw,time"), -1);
            ck_assert_str_eq(error_text(),
                             "--metrics time: has values of 0 or less, so no ratio; it is shown with --label");
            error_clear();
            ck_assert_int_eq(match(""), -1);
            ck_assert_msg(strstr(error_text(), "time of broadcast float none a is ") == error_text(), "%s",
                          error_text());
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_figures");
    TCase *one = tcase_create("one run"), *several = tcase_create("several runs");
    tcase_add_checked_fixture(one, NULL, destroy);
    tcase_add_test(one, benchmark);
    tcase_add_test(one, profile);
    tcase_add_test(one, hidden_ratio_is_of_devices);
    tcase_add_test(one, sweep);
    tcase_add_test(one, beside_computation);
    tcase_add_test(one, not_a_summary);
    tcase_add_checked_fixture(several, NULL, destroy);
    tcase_add_test(several, matched);
    tcase_add_test(several, other_metrics);
    tcase_add_test(several, match_refused);
    tcase_add_test(several, wrong_baseline);
    tcase_add_test(several, no_ratio);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, several);
    return suite_run(suite);
}
