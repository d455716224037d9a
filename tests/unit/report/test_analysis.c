/* test_analysis.c - breakdown of the step time, scaling and bottlenecks, from runs with known figures. */
#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"
#include "report/bottlenecks.h"
#include "report/scaling.h"
#include "report/sections.h"
#include "tests/support/picture.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };
static struct report_runs runs;
static struct scaling scaling;
static struct bottlenecks found;
static cJSON *document;

static void setup(void)
{
    runs = (struct report_runs){.item = calloc(MOST, sizeof *runs.item)};
}

static void teardown(void)
{
    free(found.item);
    free(scaling.row);
    runs_destroy(&runs);
    scratch_remove_all();
}

static void analyse(void)
{
    scaling = scaling_find(&runs);
    found = bottlenecks_find(&runs, &scaling);
}

static struct report_run *add_run(const char *mode, const char *label, size_t ranks, double tokens)
{
    struct report_run *run = &runs.item[runs.n++];
    ck_assert_uint_le(runs.n, MOST);
    *run = (struct report_run){.ranks = ranks, .hosts = 1, .tokens = tokens};
    strcpy(run->mode, mode);
    strcpy(run->label, label);
    strcpy(run->subject, "ddp");
    strcpy(run->workload, "a model");
    run->saved.summary = cJSON_CreateObject();
    cJSON_AddArrayToObject(run->saved.summary, "findings");
    run->cpus_per_rank = NAN;
    for (int i = 0; i <= PARTS; i++)
        run->phase_s[i] = NAN;
    return run;
}

static void add_figure(struct report_run *run, const char *subject, const char *name, double value, double low,
                       double high)
{
    struct figure figure = {.value = value, .low = low, .high = high, .n = 10};
    strcpy(figure.subject, subject);
    strcpy(figure.name, name);
    strcpy(figure.unit, "s");
    figures_add(&run->saved.figures, &figure);
}

/* Adds a run in which the phases of ddp take these milliseconds; the step is known within a factor of 1.1. */
static struct report_run *add_steps(const char *label, size_t ranks, double tokens, double forward, double backward,
                                    double data, double sync, double step)
{
    struct report_run *run = add_run("benchmark", label, ranks, tokens);
    add_figure(run, "none", "step", 0.7e-3 * step, NAN, NAN);
    add_figure(run, "ddp", "step", 1e-3 * step, 1e-3 * step / 1.1, 1e-3 * step * 1.1);
    add_figure(run, "ddp", "step_p95", 1, NAN, NAN);
    add_figure(run, "ddp", "forward_pass", 1e-3 * forward, NAN, NAN);
    add_figure(run, "ddp", "backward_pass", 1e-3 * backward, NAN, NAN);
    add_figure(run, "ddp", "data_loading", 1e-3 * data, NAN, NAN);
    add_figure(run, "ddp", "gradient_sync", 1e-3 * sync, NAN, NAN);
    add_figure(run, "ddp", "lr_scheduling", 1e-5, NAN, NAN);
    add_figure(run, "none", "forward_pass", 5, NAN, NAN);
    return run;
}

static void add_finding(struct report_run *run, const char *name, enum level level, double loss)
{
    struct finding finding = {.level = level,
                              .loss = {loss, NAN, NAN},
                              .share = loss / run->phase_s[PARTS],
                              .text = "rank 1 is late",
                              .advice = "look at it"};
    strcpy(finding.name, name);
    finding_write(cJSON_GetObjectItem(run->saved.summary, "findings"), &finding);
}

static struct report_run *add_profile(const char *label, size_t ranks, double step_ms)
{
    static const double share[PARTS] = {0.5, 0.1, 0.3, 0.1};
    struct report_run *run = add_run("profile", label, ranks, 100 * (double)ranks);
    for (int p = 0; p < PARTS; p++)
        run->phase_s[p] = 1e-3 * step_ms * share[p];
    run->phase_s[PARTS] = 1e-3 * step_ms;
    add_figure(run, "ddp", "step", 7, NAN, NAN);
    add_figure(run, "ddp", "forward_pass", 7, NAN, NAN);
    return run;
}

/* ---- where the time goes ---- */

TEST(parts_add_up_to_the_step)
{
    struct breakdown b;
    const struct report_run *run = add_steps("a", 2, 100, 3, 5, 0.5, 1, 10);
    ck_assert_int_eq(run_breakdown(&b, run, "ddp"), 0);
    ck_assert_double_eq_tol(b.part[PART_COMPUTE], 8e-3, 1e-12);
    ck_assert_double_eq_tol(b.part[PART_DATA], 0.5e-3, 1e-12);
    ck_assert_double_eq_tol(b.part[PART_EXPOSED], 1e-3, 1e-12);
    ck_assert_double_eq_tol(b.part[PART_OTHER], 0.5e-3, 1e-12);
    ck_assert_double_eq_tol(b.step.value, 10e-3, 1e-12);
    ck_assert_double_eq_tol(b.step.high, 11e-3, 1e-12);
    ck_assert_uint_eq(b.n, 10);
    ck_assert_int_eq(run_breakdown(&b, run, "absent"), -1);
}

TEST(a_profiles_parts_are_those_of_its_phases)
{
    struct breakdown b;
    ck_assert_int_eq(run_breakdown(&b, add_profile("a", 2, 10), "ddp"), 0);
    ck_assert_double_eq_tol(b.step.value, 10e-3, 1e-12);
    ck_assert_double_eq_tol(b.part[PART_EXPOSED], 3e-3, 1e-12);
    ck_assert(isnan(b.step.low));
}

/* There is no breakdown if a part is unknown, since the parts would not add up, nor for a step of 0 s. */
TEST(a_run_without_a_part_or_a_step_has_no_breakdown)
{
    struct breakdown b;
    struct report_run *run = add_profile("a", 2, 10);
    run->phase_s[PART_DATA] = NAN;
    ck_assert_int_eq(run_breakdown(&b, run, "ddp"), -1);
    ck_assert_int_eq(run_breakdown(&b, add_steps("b", 2, 100, 3, 5, 0.5, 1, 0), "ddp"), -1);
}

/* ---- scaling ---- */

/* Weak scaling: each rank has the same number of tokens; steps take 10, 12.5 and 20 ms. */
TEST(weak_scaling)
{
    static const double efficiency[] = {1, 0.8, 0.5}, speedup[] = {1, 1.6, 2};
    add_steps("4node", 4, 400, 3, 6, 0, 10, 20);
    add_steps("1node", 1, 100, 3, 6, 0, 0, 10);
    add_steps("2node", 2, 200, 3, 7, 0, 1, 12.5);
    analyse();
    ck_assert_uint_eq(scaling.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct scaling_row *row = &scaling.row[i];
        double sum = 0;
        ck_assert_uint_eq(row->run->ranks, (size_t)1 << i);
        ck_assert_double_eq_tol(row->efficiency.value, efficiency[i], 1e-9);
        ck_assert_double_eq_tol(row->speedup, speedup[i], 1e-9);
        ck_assert_double_eq_tol(row->work, 1, 1e-12);
        for (int p = 0; p < PARTS; p++)
            sum += row->lost_part_s[p];
        ck_assert_double_eq_tol(sum, row->lost_s.value, 1e-12);
    }
    const struct scaling_row *two = &scaling.row[1];
    ck_assert_double_eq_tol(two->lost_s.value, 2.5e-3, 1e-12);
    ck_assert_double_eq_tol(two->lost_s.low, 2.5e-3 - 1e-3 * hypot(12.5 - 12.5 / 1.1, 1), 1e-12);
    ck_assert_double_eq_tol(two->lost_s.high, 2.5e-3 + 1e-3 * hypot(1.25, 10 - 10 / 1.1), 1e-12);
    ck_assert_double_eq_tol(two->lost_part_s[PART_COMPUTE], 1e-3, 1e-12);
    ck_assert_double_eq_tol(two->lost_part_s[PART_EXPOSED], 1e-3, 1e-12);
    /* both steps are known within a factor of 1.1 */
    ck_assert_double_eq_tol(two->efficiency.low, 0.8 * exp(-sqrt(2) * log(1.1)), 1e-9);
    ck_assert_double_eq_tol(two->efficiency.high, 0.8 * exp(sqrt(2) * log(1.1)), 1e-9);
    ck_assert(isnan(scaling.row[0].efficiency.low));
}

/* Strong scaling: the total number of tokens is the same, so a step on 2 ranks should take half as long. */
TEST(strong_scaling)
{
    add_steps("1", 1, 100, 3, 6, 0, 0, 10);
    add_steps("2", 2, 100, 2, 3, 0, 1, 6.25);
    analyse();
    ck_assert_double_eq_tol(scaling.row[1].speedup, 1.6, 1e-9);
    ck_assert_double_eq_tol(scaling.row[1].efficiency.value, 0.8, 1e-9);
    ck_assert_double_eq_tol(scaling.row[1].work, 0.5, 1e-12);
    ck_assert_double_eq_tol(scaling.row[1].lost_s.value, 1.25e-3, 1e-12);
    ck_assert_double_eq_tol(scaling.row[1].lost_part_s[PART_COMPUTE], 0.5e-3, 1e-12);
}

TEST(only_what_can_be_compared)
{
    add_steps("a", 1, 100, 3, 6, 0, 0, 10);
    strcpy(add_steps("b", 2, 200, 3, 6, 0, 0, 10)->workload, "another model");
    strcpy(add_steps("c", 4, 400, 3, 6, 0, 0, 10)->problem, "has not finished");
    add_steps("d", 1, 100, 3, 6, 0, 0, 10);
    analyse();
    ck_assert_uint_eq(scaling.n, 0);
}

TEST(without_tokens_there_is_no_throughput)
{
    add_steps("a", 1, NAN, 3, 6, 0, 0, 10);
    add_steps("b", 2, 0, 3, 6, 0, 0, 10);
    add_steps("c", 4, 400, 3, 6, 0, 0, 10);
    analyse();
    ck_assert_uint_eq(scaling.n, 0);
}

TEST(profiles_where_there_are_no_comparisons)
{
    add_profile("a", 1, 10);
    add_profile("b", 2, 20);
    analyse();
    ck_assert_uint_eq(scaling.n, 2);
    ck_assert_str_eq(scaling.row->run->mode, "profile");
    ck_assert_double_eq_tol(scaling.row[1].efficiency.value, 0.5, 1e-9);
}

/* ---- bottlenecks ---- */

TEST(the_costliest_first)
{
    struct report_run *profile = add_profile("2node", 2, 50);
    add_finding(profile, "idle device", LEVEL_HIGH, NAN);
    add_finding(profile, "data loading", LEVEL_NOTE, 0.004);
    add_finding(profile, "straggler", LEVEL_WARNING, 0.010);
    add_finding(profile, "slow collectives", LEVEL_NOTE, NAN);
    add_figure(add_steps("1node", 2, 200, 3, 6, 0, 0, 12), "ddp", "sync_cost", 0.005, 0.001, 0.009);
    analyse();
    static const char *const order[] = {"straggler", "communication", "data loading", "idle device",
                                        "slow collectives"};
    ck_assert_uint_eq(found.n, 5);
    for (size_t i = 0; i < 5; i++)
        ck_assert_str_eq(found.item[i].finding.name, order[i]);
    ck_assert_double_eq_tol(found.item[0].finding.share, 0.2, 1e-9);
    ck_assert_str_eq(found.item[0].label, "2node, ddp");
    ck_assert_int_eq(found.item[0].finding.level, LEVEL_WARNING);
    ck_assert_str_eq(found.item[0].finding.advice, "look at it");
    ck_assert_double_eq_tol(found.item[1].finding.loss.low, 0.001, 1e-12);
    ck_assert_int_eq(found.item[1].finding.level, LEVEL_HIGH); /* 5 of 12 ms are lost */
}

TEST(communication_is_named_once)
{
    struct report_run *profile = add_profile("2node", 2, 50);
    add_finding(profile, "exposed communication", LEVEL_WARNING, 0.010);
    add_figure(add_steps("2node", 2, 200, 3, 6, 0, 0, 12), "ddp", "sync_cost", 0.005, 0.001, 0.009);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.item[0].finding.name, "exposed communication");
}

/* A cost that is not significant is a note. A cost from too few rounds for an interval is not reported. */
TEST(an_insignificant_cost_is_a_note)
{
    add_figure(add_steps("a", 2, 200, 3, 6, 0.9, 0, 12), "ddp", "sync_cost", 0.005, -0.001, 0.009);
    add_figure(add_steps("b", 2, 200, 3, 6, 0.9, 0, 12), "ddp", "sync_cost", 0.005, NAN, NAN);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_int_eq(found.item[0].finding.level, LEVEL_NOTE);
    check_has(found.item[0].finding.text, ", which is not significant");
}

TEST(checkpoints_of_a_comparison)
{
    add_figure(add_steps("a", 2, 200, 3, 6, 0.9, 0, 12), "ddp", "checkpoint", 0.003, 0.002, 0.004);
    add_figure(add_steps("b", 2, 200, 3, 6, 0.9, 0, 12), "ddp", "checkpoint", 0.001, 0.0005, 0.002);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.item[0].finding.name, "checkpoints");
    ck_assert_str_eq(found.item[0].finding.text, "saving checkpoints takes 25.0 % of a step, on average");
}

TEST(data_loading_of_a_comparison)
{
    add_steps("a", 2, 200, 3, 6, 2, 0, 12);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.item[0].finding.name, "data loading");
    ck_assert_double_eq_tol(found.item[0].finding.loss.value, 2e-3, 1e-12);
    ck_assert_int_eq(found.item[0].finding.level, LEVEL_WARNING); /* 2 of 12 ms are lost */
}

TEST(computation_that_is_slower_on_more_ranks)
{
    add_steps("1node", 1, 100, 3, 6, 0, 0, 10);
    add_steps("2node", 2, 200, 3, 6.4, 0, 0, 10.4);
    add_steps("4node", 4, 400, 4, 8, 0, 0, 13);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.item[0].finding.name, "slower computation");
    ck_assert_str_eq(found.item[0].label, "4node");
    ck_assert_double_eq_tol(found.item[0].finding.loss.value, 3e-3, 1e-12);
}

/* CPU contention is reported instead of the slower computation that it causes. */
TEST(cpu_contention_is_why_computation_is_slower)
{
    add_steps("1node", 1, 100, 3, 6, 0, 0, 10);
    add_steps("4node", 4, 400, 4, 8, 0, 0, 13);
    add_finding(add_profile("4node", 4, 13), "CPU contention", LEVEL_HIGH, 0.0029);
    analyse();
    ck_assert_uint_eq(found.n, 1);
    ck_assert_str_eq(found.item[0].finding.name, "CPU contention");
    ck_assert_str_eq(found.item[0].finding.text, "rank 1 is late");
}

/* Analyses runs whose computation takes 9 ms (8 to 11) on one rank, and `slower` s (- 1 ms, + 0.5 ms) on two ranks. */
static void slow_down(double slower)
{
    add_steps("1node", 1, 100, 0, 0, 0, 0, 10);
    add_steps("2node", 2, 200, 0, 0, 0, 0, 11);
    for (size_t i = 0; i < 2; i++) {
        figures_destroy(&runs.item[i].saved.figures);
        add_figure(&runs.item[i], "ddp", "step", 10e-3, NAN, NAN);
    }
    add_figure(&runs.item[0], "ddp", "forward_pass", 9e-3, 8e-3, 11e-3);
    add_figure(&runs.item[1], "ddp", "forward_pass", slower, slower - 1e-3, slower + 0.5e-3);
    analyse();
}

TEST(computation_that_may_be_as_fast)
{
    slow_down(10e-3);
    ck_assert_uint_eq(found.n, 0);
}

TEST(slower_computation_has_an_interval)
{
    slow_down(13e-3);
    ck_assert_uint_eq(found.n, 1);
    ck_assert_double_eq_tol(found.item[0].finding.loss.value, 4e-3, 1e-12);
    ck_assert_double_eq_tol(found.item[0].finding.loss.low, 4e-3 - 1e-3 * hypot(1, 2), 1e-12);
    ck_assert_double_eq_tol(found.item[0].finding.loss.high, 4e-3 + 1e-3 * hypot(0.5, 1), 1e-12);
}

TEST(insignificant_losses_come_after_significant_ones)
{
    struct report_run *profile = add_profile("2node", 2, 50);
    add_finding(profile, "straggler", LEVEL_NOTE, 0.001);
    cJSON *findings = cJSON_GetObjectItem(profile->saved.summary, "findings"), *row = cJSON_GetArrayItem(findings, 0);
    struct finding finding;
    finding_read(&finding, row);
    finding.loss = (struct measured){0.006, -0.001, 0.009};
    finding_write(findings, &finding);
    analyse();
    ck_assert_uint_eq(found.n, 2);
    ck_assert_double_eq(found.item[0].finding.loss.value, 0.001);
    ck_assert_double_eq(found.item[1].finding.loss.value, 0.006);
    ck_assert(!finding_is_significant(&found.item[1].finding));
}

TEST(the_advice_where_ranks_lack_cpus)
{
    struct report_run *run = add_steps("2node", 2, 200, 3, 6, 2, 0, 12);
    analyse();
    check_has(found.item[0].finding.advice, "--data-workers");
    free(found.item);
    run->threads = 1;
    run->cpus_per_rank = 0.5;
    found = bottlenecks_find(&runs, &(struct scaling){0});
    check_has(found.item[0].finding.advice, "fewer ranks on a machine");
}

/* Scaling uses the implementation that is the best for most numbers of ranks; being best for one may be chance. */
TEST(one_implementation_on_all_ranks)
{
    struct report_run *one = add_steps("1", 1, 100, 3, 6, 0, 0, 10);
    add_steps("2", 2, 200, 3, 6, 0, 0, 12);
    strcpy(one->subject, "lucky");
    add_figure(one, "lucky", "step", 9e-3, NAN, NAN);
    add_figure(one, "lucky", "forward_pass", 8e-3, NAN, NAN);
    analyse();
    ck_assert_str_eq(scaling.subject, "ddp");
    ck_assert_str_eq(scaling.row[0].subject, "ddp");
    ck_assert_double_eq_tol(scaling.row[0].breakdown.step.value, 10e-3, 1e-12);
}

/* A made-up run of a machine of 2 cores, of which other processes used 30 %. */
static void make_busy(struct report_run *run)
{
    cJSON_AddItemToObject(run->saved.summary, "other_processes", cJSON_Parse("{\"share\": 0.3, \"machine_cores\": 2}"));
}

/* On a busy machine a finding is a note, whose only advice is to measure again. A quiet run's finding is unchanged. */
TEST(a_busy_machine_has_notes_only)
{
    make_busy(add_steps("busy", 2, 200, 3, 6, 2, 0, 12));
    add_steps("quiet", 2, 200, 3, 6, 1.9, 0, 12);
    analyse();
    ck_assert_uint_eq(found.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct bottleneck *b = &found.item[i];
        int busy = !strcmp(b->label, "busy");
        ck_assert_str_eq(b->level, busy ? "note" : "warning");
        ck_assert_int_eq(!strcmp(b->finding.advice, "measure again on an idle machine"), busy);
    }
}

/* ---- as text ---- */

/* Returns the document as text on one line, until the test ends; frees the document. */
static const char *said(void)
{
    document_print_text(printing(), document);
    char *words = printed();
    for (char *c = words; *c; c++)
        *c = (char)(*c == '\n' ? ' ' : *c);
    cJSON_Delete(document);
    for (char *c; (c = strstr(words, "  "));)
        memmove(c, c + 1, strlen(c));
    return words;
}

/* Random runs, whose medians need not add up to the step. Each share is from 0 to 100 %, and the text of a finding has
 * the share of its table. If the medians do not exceed the step, the parts of the lost time add up to the lost time. */
TEST(random_runs)
{
    int sentences = 0;
    srand(1);
    for (int i = 0; i < 200; i++) {
        for (size_t ranks = 1; ranks <= 4; ranks *= 2) {
            double ms[4], step = 0, none, cost;
            for (int p = 0; p < 4; p++)
                step += ms[p] = exp2(-8 + 16.0 * rand() / RAND_MAX);
            struct report_run *run =
                add_steps("r", ranks, 100 * (double)ranks, ms[0], ms[1], ms[2], ms[3], (i % 2 ? 1.1 : 0.9) * step);
            none = run_figure(run, "none", "step").value;
            cost = none * (5.0 * rand() / RAND_MAX - 1);
            add_figure(run, "ddp", "sync_cost", cost, cost - none / 2, cost + none / 2);
            run->sequences = 1;
        }
        analyse();
        for (const struct bottleneck *b = found.item; b < found.item + found.n; b++) {
            const char *sign = strstr(b->finding.text, " % of a step");
            ck_assert_msg(b->finding.share >= 0 && b->finding.share <= 1, "%s: %g", b->finding.name, b->finding.share);
            if (sign)
                ck_assert_double_eq_tol(strtod(strpbrk(b->finding.text, "0123456789"), NULL), 100 * b->finding.share,
                                        0.051);
        }
        document = document_create("a");
        section_add_summary(document, &runs, &scaling, &found);
        const char *longer = strstr(said(), "A step takes ");
        double lost, part[PARTS];
        if (longer) {
            ck_assert_msg(
                sscanf(longer,
                       "A step takes %lf ms longer for the same number of tokens a rank: compute %lf ms, data loading "
                       "%lf ms, exposed communication %lf ms, other %lf ms.",
                       &lost, &part[0], &part[1], &part[2], &part[3]) == 5,
                "%s", longer);
            if (i % 2)
                ck_assert_double_eq_tol(part[0] + part[1] + part[2] + part[3], lost, 0.03);
            sentences++;
        }
        teardown();
        found = (struct bottlenecks){0};
        scaling = (struct scaling){0};
        setup();
    }
    ck_assert_int_gt(sentences, 50);
}

TEST(hosts_that_share_a_machine_are_disclosed)
{
    struct report_run *run = add_steps("4node", 4, 400, 3, 6, 0, 0, 10);
    run->hosts = 4;
    run->threads = 1;
    run->cpus_per_rank = 0.5;
    run->place = (struct place){1, 2, 1e9};
    analyse();
    document = document_create("a");
    section_add_summary(document, &runs, &scaling, &found);
    const char *text = said();
    check_has(text,
              "Warning: CPUs are oversubscribed in 4node: a rank has 1 thread and 0.5 logical CPUs; timings include "
              "scheduling "
              "delays");
    check_has(
        text,
        "Warning: in 4node the 4 hosts are 1 machine with 2 logical CPUs, so the figures are not those of 4 machines");
    run->cpus_per_rank = 1;
    document = document_create("a");
    section_add_summary(document, &runs, &scaling, &found);
    text = said();
    check_has(text, "Warning: in 4node the 4 hosts are 1 machine with 2 logical CPUs");
    check_lacks(text, "oversubscribed");
}

TEST(the_verdict_in_words_and_as_a_picture)
{
    struct report_run *run = add_steps("2node", 2, 200, 3, 6, 0, 0, 10);
    cJSON_AddItemToObject(
        run->saved.summary, "verdict",
        cJSON_Parse(
            "{\"best\": \"best\", \"options\": \"--implementations ddp_bucketed --bucket-size-mb 8\", "
            "\"within\": 0.02, \"decided\": true, \"others\": ["
            "{\"implementation\": \"other\", \"verdict\": \"tie\", \"ratio\": 1.01, \"low\": 1, \"high\": 1.02}, "
            "{\"implementation\": \"far\", \"verdict\": \"slower\", \"ratio\": 1.2, \"low\": 1.1, \"high\": 1.3}]}"));
    document = document_create("a");
    section_add_choice(document, runs.item);
    const char *svg = json_string(cJSON_GetObjectItem(document, "blocks")->child->next->next, "svg");
    check_has(svg, "best is the best; other is a tie; far (+20.0 %) is slower</title>");
    check_has(svg, ">+20.0 % [+10.0, +30.0]<");
    check_has(said(),
              "In 2node, best is the best; other is a tie; far (+20.0 %) is slower. Options: `--implementations "
              "ddp_bucketed --bucket-size-mb 8`");
}

/* A busy machine, or one that is undecided, has a shortest so far, not a best. */
TEST(the_best_may_be_only_the_shortest_so_far)
{
    struct report_run *run = add_steps("2node", 2, 200, 3, 6, 0, 0, 10);
    cJSON *verdict = cJSON_Parse("{\"best\": \"best\", \"within\": 0.02, \"decided\": false, \"others\": []}");
    for (int i = 0; i < 8; i++)
        cJSON_AddItemToArray(cJSON_GetObjectItem(verdict, "others"),
                             cJSON_Parse("{\"implementation\": \"b\", \"verdict\": \"tie\", \"ratio\": 1}"));
    cJSON_AddItemToObject(run->saved.summary, "verdict", verdict);
    document = document_create("a");
    section_add_choice(document, runs.item);
    const char *text = said();
    check_has(text,
              "In 2node, best is the shortest so far; b, b, b, b, b, b, b and b are ties. Options: `` (no picture: too "
              "few rounds for intervals)");
}

TEST(a_run_without_a_verdict_has_no_picture)
{
    add_steps("2node", 2, 200, 3, 6, 0, 0, 10);
    document = document_create("a");
    section_add_choice(document, runs.item);
    check_has(said(), "2node has no verdict in its summary.json, so nothing is drawn.");
}

/* Medians of steps, or steps of other rounds, may have another order than the ratios. The verdict's order counts. */
TEST(the_best_bucket_size_is_that_of_the_verdict)
{
    struct report_run *run = add_steps("2node", 2, 200, 3, 6, 0, 0, 10);
    static const struct run_implementation size[] = {{"one", "ddp_bucketed", 1, "", 1, 4, 9},
                                                     {"two", "ddp_bucketed", 1, "", 2, 2, 9},
                                                     {"dropped", "ddp_bucketed", 1, "", 4, 1, 9}};
    run->implementations = 3;
    run->implementation = allocate(3, sizeof *size);
    memcpy(run->implementation, size, sizeof size);
    for (int i = 0; i < 3; i++)
        add_figure(run, size[i].subject, "step", 0.03 - 0.01 * i, NAN, NAN);
    cJSON_AddItemToObject(
        run->saved.summary, "verdict",
        cJSON_Parse("{\"best\": \"none of these\", \"within\": 0.02, \"others\": [{\"implementation\": "
                    "\"two\", \"ratio\": 1.2}, {\"implementation\": \"one\", \"ratio\": 1.1}]}"));
    document = document_create("a");
    section_add_buckets(document, &runs);
    check_has(said(), "30.00 *");
}

static void add_call(struct report_run *run, double bytes, double us)
{
    struct figure f = {.subject = "all_reduce float sum in_place",
                       .name = "time",
                       .unit = "s",
                       .bytes = bytes,
                       .value = 1e-6 * us,
                       .low = NAN,
                       .high = NAN,
                       .n = 9};
    figures_add(&run->saved.figures, &f);
    strcpy(f.name, "algbw");
    f.value = bytes / f.value;
    figures_add(&run->saved.figures, &f);
    strcpy(f.name, "busbw");
    f.value = run->ranks > 1 ? f.value : NAN;
    figures_add(&run->saved.figures, &f);
}

TEST(calls_of_one_rank_are_not_communication)
{
    struct report_run *one = add_run("allreduce", "single", 1, NAN), *two = add_run("allreduce", "quick", 2, NAN);
    struct report_run *four = add_run("allreduce", "slow", 4, NAN);
    add_call(one, 8, 0.01);
    for (double bytes = 8; bytes < 1e6; bytes *= 2) {
        add_call(two, bytes, 2 + bytes / 1e3);
        add_call(four, bytes, 4000);
    }
    document = document_create("a");
    section_add_collectives(document, &runs);
    const cJSON *pictures = cJSON_GetObjectItemCaseSensitive(document, "blocks")->child->next;
    check_lacks(json_string(pictures, "svg"), "single");
    const char *text = said();
    check_has(text, "quick 2 all_reduce float sum in_place 8 2.008");
    check_has(text, "quick 2 all_reduce float sum in_place 524288 526.3");
    check_lacks(text, "single");
}

/* Returns the picture of this name; NULL: there is none. */
static const char *picture_named(const char *name)
{
    for (const cJSON *b = json_first(document, "blocks"); b; b = b->next)
        if (!strcmp(json_string(b, "name"), name)) {
            const char *svg = json_string(b, "svg");
            ck_assert_msg(!picture_fault(svg), "%s", picture_fault(svg));
            return svg;
        }
    return NULL;
}

/* The picture of a profile is named by its label; its lines are means over the ranks, at the global steps. */
TEST(a_profile_has_a_timeline)
{
    struct report_run *run = add_profile("a/b", 2, 10);
    strcpy(run->saved.directory, scratch_make());
    run->implementation = calloc(1, sizeof *run->implementation);
    strcpy(run->implementation[run->implementations++].subject, run->subject);
    for (int rank = 0; rank < 2; rank++) {
        FILE *out = printing();
        for (int i = 0; i < 3; i++)
            fprintf(out,
                    "{\"implementation\": \"%s\", \"captured\": true, \"profiler_step\": %d, \"global_step\": %d, "
                    "\"step_ms\": 50, "
                    "\"compute_ms\": %d, \"communication_ms\": %d, \"overlap_ms\": %d}\n",
                    run->subject, i, 7 + i, 10 + 2 * rank, 20 + 4 * rank, 5 + rank);
        saved_file(run->saved.directory, rank ? "rank_1_metrics.jsonl" : "rank_0_metrics.jsonl", printed());
    }
    run_read_blocks(run);
    document = document_create("a");
    section_add_timeline(document, runs.item);
    const char *svg = picture_named("a.b_timeline"), *path = svg;
    double x, y[4];
    check_has(svg, "<title>a/b: 25 % of the communication overlaps with computation<");
    for (int i = 0; i < 4; i++, path++) {
        path = strstr(path, "<path class=\"dp-line");
        ck_assert_int_eq(sscanf(strstr(path, "\"M"), "\"M%lf %lf", &x, &y[i]), 2);
    }
    ck_assert_double_eq_tol((y[2] - y[0]) / (y[0] - y[1]), 0.5, 0.01); /* 11, 22, 5.5 and 50 ms */
    ck_assert_double_eq_tol((y[1] - y[3]) / (y[0] - y[1]), 28 / 11.0, 0.02);
    check_has(svg, ">global step");
    check_has(svg, ">40</text>"); /* means, not sums */
    check_lacks(svg, ">100</text>");
    check_has(svg, ">9</text>");
    said();
}

/* Adds the lines of a rank: four rounds of two timed steps of ddp, in which the machine is busy in the third. */
static void add_rounds(struct report_run *run, size_t rank, double third_block_ms, double wait_ms)
{
    static const char *const cores[] = {"null", "0.1", "1.9", "0.1"};
    char name[40];
    FILE *out = printing();
    for (int i = 0; i < 8; i++)
        fprintf(out,
                "{\"implementation\": \"ddp\", \"timed\": true, \"round\": %d, \"block\": %d, \"block_ms\": %g, "
                "\"gradient_sync_ms\": %g, \"other_processes_cores\": %s}\n",
                i / 2, 3 * (i / 2), i / 2 == 2 ? third_block_ms : 20, wait_ms, cores[i / 2]);
    snprintf(name, sizeof name, "rank_%zu_metrics.jsonl", rank);
    saved_file(run->saved.directory, name, printed());
}

TEST(rounds_show_busy_machines_and_late_ranks)
{
    struct report_run *run = add_steps("r", 2, 100, 3, 6, 0, 1, 10);
    strcpy(run->saved.directory, scratch_make());
    cJSON *others = cJSON_AddObjectToObject(run->saved.summary, "other_processes");
    json_add_number(others, "share", 0.3);
    json_add_number(others, "machine_cores", 2);
    run->implementation = calloc(1, sizeof *run->implementation);
    strcpy(run->implementation[run->implementations++].subject, "ddp");
    add_rounds(run, 0, 20, 2);
    add_rounds(run, 1, 40, 0); /* the slowest rank counts: 20 ms a step */
    run_read_blocks(run);
    document = document_create("a");
    section_add_breakdown(document, &runs);
    runs.item->is_alone = 1;
    section_add_rounds(document, runs.item);
    const char *rounds = picture_named("rounds"), *line = strstr(rounds, "<path class=\"dp-line\" d=\"M");
    check_has(rounds,
              "<title>In 25 % of the blocks of steps other processes used over 10 % of the 2 cores; these steps "
              "took 2.00 times as long<");
    double y[4], x;
    ck_assert_int_eq(
        sscanf(strchr(line, 'M'), "M%lf %lfL%lf %lfL%lf %lfL%lf %lf", &x, &y[0], &x, &y[1], &x, &y[2], &x, &y[3]), 8);
    ck_assert_double_eq_tol(y[0], y[1], 0.05); /* the first block is in the window of the second */
    ck_assert_double_lt(y[2], y[1] - 50);
    check_has(picture_named("late-ranks"), "<title>Rank 1 is late, by 16 % of a step<"); /* 2 ms of 12.5 */
    check_has(picture_named("waits"), "<title>Rank 0 waits longest for communication: 16 % of a step<");
    ck_assert_uint_eq(count_of(picture_named("waits"), ">20.0<") + count_of(picture_named("waits"), ">16.00<"), 4);
    ck_assert_uint_eq(count_of(picture_named("step-breakdown"), "r=\"2.5\""), 4); /* a dot for each round */
    said();
}

TEST(each_run_of_a_scaling_has_a_name)
{
    add_steps("one", 1, 100, 3, 6, 0, 0, 10);
    add_steps("two", 2, 200, 3, 6, 0, 2, 12);
    analyse();
    document = document_create("a");
    section_add_scaling(document, &scaling);
    const char *svg = picture_named("scaling");
    ck_assert_uint_eq(
        count_of(svg, ">one<") + count_of(svg, ">two<") + count_of(svg, ">ddp<") + count_of(svg, ">ideal<"), 4);
    check_has(svg, "efficient on 2 ranks: exposed communication costs most, 2.00 ms a step<");
    said();
}

/* Limits of 100 GFLOP/s and 10 GB/s: `wide` would save most at its limit, `quick` is above its own, and `copy` has no
 * FLOP. A run without limits has no picture. */
TEST(operations_are_below_their_limits)
{
    add_run("profile", "old", 2, 100);
    struct report_run *run = add_run("profile", "r", 2, 100);
    add_figure(run, "ddp", "product_peak", 100e9, NAN, NAN);
    add_figure(run, "ddp", "memory_bandwidth", 10e9, NAN, NAN);
    for (struct report_run *r = runs.item; r < runs.item + 2; r++) {
        cJSON_Delete(r->saved.summary);
        r->saved.summary = json_object(
            "{\"tables\": [{\"key\": \"operations\", \"rows\": ["
            "{\"name\": \"dense\", \"kind\": \"operation\", \"flops\": 80e9, \"bandwidth\": 4e9, \"share\": 0.6},"
            "{\"name\": \"wide\", \"kind\": \"operation\", \"flops\": 3e9, \"bandwidth\": 6e9, \"share\": 0.4},"
            "{\"name\": \"quick\", \"kind\": \"operation\", \"flops\": 6e9, \"bandwidth\": 12e9, \"share\": 0.9},"
            "{\"name\": \"copy\", \"kind\": \"operation\", \"flops\": null, \"bandwidth\": 6e9, \"share\": 1},"
            "{\"name\": \"step\", \"kind\": \"phase\", \"flops\": 1e9, \"bandwidth\": 1e9, \"share\": 1}]}]}");
    }
    document = document_create("a");
    ck_assert_int_eq(section_add_roofline(document, &runs.item[0]), 0);
    ck_assert_int_eq(section_add_roofline(document, &runs.item[1]), 1);
    const cJSON *block = cJSON_GetObjectItemCaseSensitive(document, "blocks")->child->next;
    ck_assert_str_eq(json_string(block, "title"),
                     "r: wide is at 60 % of what memory bandwidth allows here, and takes 40 % of a step");
    ck_assert_msg(!picture_fault(json_string(block, "svg")), "%s", picture_fault(json_string(block, "svg")));
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(document, "blocks")), 3);
    const char *text = said();
    check_has(text, "dense 20.00 80.0 products 80 60.0");
    check_has(text, "wide 0.50 3.0 memory 60 40.0");
    check_has(text, "quick 0.50 6.0 memory 120 90.0");
    check_lacks(text, "copy");
    check_lacks(text, "step 1");
}

SUITE("analysis", setup, teardown)
