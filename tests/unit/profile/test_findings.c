/* test_findings.c - a profile's findings just below and just above each threshold, and the ranks they name. */
#include "tests/support/healthy.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct healthy h;

static void busy(double percent) /* utilisation of rank 1; rank 0 has 80 % */
{
    h.rank[1].mean.utilisation = percent / 100;
}

static void copies(double percent) /* copies between host and GPU on rank 1; a step takes 0.1 s */
{
    h.profile.facts.on_gpu = 1;
    h.rank[1].copies = percent / 100 * 0.1;
}

static void data_loading(double percent)
{
    h.profile.figures.phase[PHASE_DATA_LOADING].share = percent / 100;
    h.profile.figures.phase[PHASE_DATA_LOADING].mean = percent / 100 * 0.1;
}

static void exposed(double percent) /* exposed share of rank 0 (rank 1 has 2 %); backward is made far longer */
{
    h.rank[0].mean.exposed = percent / 100 * 0.1;
    h.rank[0].backward = 10;
}

static void exposed_and_backward(double percent) /* exposed share of backward, which takes half of the step */
{
    exposed(percent / 2);
    h.rank[0].backward = 0.05;
}

static void exposed_half_of_backward(double percent) /* exposed share of the step; backward takes half of it */
{
    exposed_and_backward(2 * percent);
}

static void collectives(double percent)
{
    h.profile.controls.comm_alone.median = h.profile.controls.backward_none.median * percent / 100;
}

static void memory(double percent) /* memory of a machine with two ranks */
{
    h.profile.facts.peak_bytes = (size_t)lround(percent * 5000);
}

static void gpu_memory(double percent) /* memory of a GPU that a single rank uses */
{
    h.profile.facts.on_gpu = 1;
    h.profile.facts.memory_bytes = 2000000;
    h.profile.facts.peak_bytes = (size_t)lround(percent * 20000);
}

static void straggling(double percent) /* cost of rank 1, in per cent of a step of 0.1 s */
{
    h.straggler[0] = (struct straggler){.last = 5, .most = 1e-3, .cost = 1e-4 / 3};
    h.straggler[1] = (struct straggler){.last = 45, .most = 2.5e-3, .cost = percent / 100 * 0.1};
    h.rank[1].late = 6e-3;
    h.rank[1].late_in[PHASE_FORWARD] = 5.5e-3;
    h.rank[1].late_in[PHASE_DATA_LOADING] = 5.2e-3;
    h.rank[1].saves = 6e-3;
}

/* straggling_by_chance: rank 1 comes last in about half of the collectives of two ranks. */
static void straggling_by_chance(double percent)
{
    straggling(percent);
    h.straggler[1].last = 26;
    h.straggler[1].p = 0.3;
    h.rank[1].late = 0;
}

/* straggling_without_core: a straggler waits for a core for most of its additional time. without_core: a rank waits for
 * a core for this percentage of the step. */
static void straggling_without_core(double percent)
{
    straggling(percent);
    h.rank[0].core_wait = 1e-3;
    h.rank[1].core_wait = 6e-3;
}

static void without_core(double percent)
{
    h.rank[1].core_wait = percent / 100 * 0.1;
}

static void without_core_by_quota(double percent)
{
    without_core(percent);
    h.profile.facts.stops.periods = 7;
}

static struct link_rates rates[4];

static void sending(double percent) /* send rate of the third of four hosts, whose first ranks are 0, 2, 4, 6 */
{
    h.profile.facts.hosts = 4;
    for (int i = 0; i < 4; i++)
        rates[i] = (struct link_rates){2 * i, 50e6, 60e6};
    rates[2].send = percent / 100 * 50e6;
    h.profile.links = rates;
}

static void receiving(double percent)
{
    sending(100);
    rates[3].receive = percent / 100 * 60e6;
}

static void sending_one_way(double percent) /* send rate of the second of two hosts, and receive rate of the first */
{
    sending(100);
    h.profile.facts.hosts = 2;
    rates[1].send = rates[0].receive = percent / 100 * 50e6;
    rates[1].receive = 50e6;
}

static const struct {
    const char *name;
    void (*figure)(double percent);
    double percent;           /* a value without a finding, near the threshold */
    double beyond, threshold; /* `beyond` gives a finding, whose text names `threshold` */
    enum level level;
    const char *words[4];
} limits[] = {
    {"idle device", busy, 80, 79.9, 80, LEVEL_NOTE, {"only 79.9 %", "threshold 80 %", "rank 1)"}},
    {"idle device", busy, 80, 69.9, 70, LEVEL_WARNING, {"only 69.9 %", "threshold 70 %", "rank 1)"}},
    {"idle device", busy, 80, 50, 70, LEVEL_WARNING, {"50.0 %"}},
    {"idle device", busy, 80, 49.9, 70, LEVEL_HIGH, {"49.9 %", "rank 1)"}},
    {"host-device copies", copies, 4.9, 5.1, 5, LEVEL_NOTE, {"run in 5.1 %", "threshold 5 %; above it: rank 1)"}},
    {"host-device copies", copies, 4.9, 15.1, 5, LEVEL_HIGH, {"run in 15.1 %"}},
    {"data loading", data_loading, 9.9, 10.1, 10, LEVEL_NOTE, {"10.1 %", "threshold 10 %", "all ranks"}},
    {"data loading", data_loading, 9.9, 29.9, 10, LEVEL_NOTE, {"29.9 %"}},
    {"data loading", data_loading, 9.9, 30.1, 30, LEVEL_WARNING, {"30.1 %", "threshold 30 %"}},
    {"data loading", data_loading, 9.9, 49.9, 30, LEVEL_WARNING, {"49.9 %"}},
    {"data loading", data_loading, 9.9, 50.1, 30, LEVEL_HIGH, {"50.1 %"}},
    {"exposed communication", exposed, 19.99, 20.1, 20, LEVEL_WARNING, {"20.1 % of the step", "20 %", "rank 0)"}},
    {"exposed communication",
     exposed_and_backward,
     14.8,
     15.2,
     15,
     LEVEL_NOTE,
     {"a ratio of 15.2 %", "threshold 15 %"}},
    {"exposed communication",
     exposed_and_backward,
     14.8,
     39.9,
     15,
     LEVEL_NOTE,
     {"19.95 ms on rank 0, and its backward pass 50.00 ms", "a ratio of 39.9 %"}},
    {"exposed communication", exposed_half_of_backward, 7.4, 20.1, 20, LEVEL_WARNING, {"20.1 % of the step"}},
    {"slow collectives", collectives, 14.9, 15.2, 15, LEVEL_NOTE, {"15.2 %", "7.6 ms", "12 rounds", "threshold 15 %"}},
    {"slow collectives", collectives, 14.9, 29.9, 15, LEVEL_NOTE, {"29.9 %"}},
    {"slow collectives", collectives, 14.9, 30.1, 15, LEVEL_HIGH, {"30.1 %", "high above 30 %"}},
    {"little memory left",
     memory,
     90,
     90.1,
     90,
     LEVEL_WARNING,
     {"the ranks of rank 0's machine", "90.1 %", "threshold 90 %"}},
    {"little memory left", gpu_memory, 90, 90.1, 90, LEVEL_WARNING, {"90.1 %", "fullest GPU", "threshold 90 %"}},
    {"slow link", sending, 50.1, 49.9, 50, LEVEL_WARNING, {"sending side of rank 4's host", "24.9 MB/s", "the 50.0"}},
    {"slow link", receiving, 50.1, 10, 50, LEVEL_WARNING, {"receiving side of rank 6's host", "6.0 MB/s, 10 %"}},
    {"slow link", sending_one_way, 50.1, 40, 50, LEVEL_WARNING, {"rank 2's host (or the receiving side of rank 0's)"}},
    {"straggler",
     straggling,
     4.9,
     5.1,
     5,
     LEVEL_WARNING,
     {"rank 1 came last in 45 of 50", "2.50 ms", "5.1 %",
      "works 6.00 ms a step longer than the fast ranks, most in forward_pass (5.50 ms)"}},
    {"straggler", straggling, 4.9, 19.9, 5, LEVEL_WARNING, {"19.9 %"}},
    {"straggler", straggling, 4.9, 20.1, 5, LEVEL_HIGH, {"20.1 %"}},
    {"straggler",
     straggling_without_core,
     4.9,
     25,
     5,
     LEVEL_NOTE,
     {"because of CPU contention: it had no core for 5.00 ms"}},
    {"straggler", straggling_by_chance, 4.9, 25, 5, LEVEL_NOTE, {"26 of 50 collectives, which may be chance"}},
    {"CPU contention", without_core, 9.9, 10.1, 10, LEVEL_WARNING, {"rank 1 was ready", "10.10 ms", "other processes"}},
    {"CPU contention",
     without_core_by_quota,
     9.9,
     10.1,
     10,
     LEVEL_WARNING,
     {"10.1 %", "a CPU quota stopped", "7 periods"}},
    {"CPU contention", without_core, 9.9, 30.1, 10, LEVEL_HIGH, {"30.1 %"}},
};

static void find_with(void (*figure)(double), double percent)
{
    healthy_create(&h);
    figure(percent);
    healthy_find(&h);
}

TEST_EACH(a_finding_begins_at_its_threshold, LENGTH(limits))
{
    find_with(limits[_i].figure, limits[_i].percent);
    ck_assert_msg(h.profile.findings == 0, "finding '%s' at %g %%", h.profile.finding[0].name, limits[_i].percent);
    find_with(limits[_i].figure, limits[_i].beyond);
    ck_assert_msg(h.profile.findings == 1, "%d findings for %s at %g %%", h.profile.findings, limits[_i].name,
                  limits[_i].beyond);
    const struct finding *f = &h.profile.finding[0];
    ck_assert_str_eq(f->name, limits[_i].name);
    ck_assert_msg(f->level == limits[_i].level, "%s at %g %% is a %s", f->name, f->percent, level_name[f->level]);
    ck_assert_double_eq_tol(f->threshold, limits[_i].threshold, 1e-9);
    ck_assert_double_eq_tol(f->percent, limits[_i].beyond, 1e-9);
    for (size_t i = 0; i < LENGTH(limits[_i].words) && limits[_i].words[i]; i++)
        check_has(f->text, limits[_i].words[i]);
    ck_assert_uint_gt(strlen(f->advice), 0);
}

TEST(healthy_figures_find_nothing)
{
    healthy_create(&h);
    h.profile.facts.peak_bytes = 400000;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 0);
    h.profile.controls =
        (struct controls){.comm_alone.median = NAN, .backward_none.median = NAN}; /* before the first round */
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 0);
    h.profile.facts.memory_bytes = 0; /* unknown memory size */
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 0);
}

/* Findings are sorted by the time they cost, largest first. */
TEST(findings_come_by_their_gain)
{
    healthy_create(&h);
    data_loading(40);
    memory(95);
    straggling(15);
    h.rank[1].saves = 0.01;
    h.rank[1].late = 0.02;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 3);
    ck_assert_str_eq(h.profile.finding[0].name, "data loading");
    ck_assert_double_eq_tol(h.profile.finding[0].loss.value, 0.04, 1e-12);
    ck_assert_str_eq(h.profile.finding[1].name, "straggler");
    ck_assert_double_eq(h.profile.finding[1].loss.value, 0.01);
    ck_assert_str_eq(h.profile.finding[2].name, "little memory left");
    ck_assert_double_nan(h.profile.finding[2].loss.value);
    h.rank[1].late_in[PHASE_FORWARD] = 0.0045; /* under 5 % of the rank's work, so no phase is named */
    h.rank[1].late_in[PHASE_DATA_LOADING] = 0;
    healthy_find(&h);
    check_lacks(h.profile.finding[1].text, "most in");
    h.profile.figures.phase[PHASE_GRADIENT_SYNC].median = 0.02; /* a longer wait leaves less work: over 5 % again */
    healthy_find(&h);
    check_has(h.profile.finding[1].text, "most in forward_pass (4.50 ms)");
    straggling(4.9); /* a straggler that costs little */
    h.rank[0].late_in[PHASE_OPTIMIZER] = 0.0085;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 3);
    ck_assert(h.profile.finding[1].level == LEVEL_NOTE);
    check_has(h.profile.finding[1].text, "rank 0 came last in 5 of 50");
    check_has(h.profile.finding[1].text, "it is late in most steps in optimizer_step (8.50 ms)");
    h.rank[0].late_in[PHASE_OPTIMIZER] = 0.0075; /* under 10 % of the rank's work: no finding */
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 2);
    straggling(15);
    h.rank[1].late = 0; /* rank 1 is late, but not because of its work */
    healthy_find(&h);
    ck_assert_double_eq(h.profile.finding[1].loss.value, h.straggler[1].cost);
    check_lacks(h.profile.finding[1].text, "rank 1 works");
    check_lacks(h.profile.finding[1].text, "it works");
}

/* Options change the thresholds, and the levels that depend on them. */
TEST(options_move_the_limits)
{
    static const struct {
        const char *name;
        void (*figure)(double);
        struct thresholds limit;
        double silent, beyond;
        enum level level;
    } moved[] = {
        {"idle device", busy, {35, 30, 20, 90}, 40, 34.9, LEVEL_WARNING},
        {"idle device", busy, {35, 30, 20, 90}, 40, 24.9, LEVEL_HIGH}, /* below 25 %, the level is high */
        {"data loading", data_loading, {70, 60, 20, 90}, 19.9, 59.9, LEVEL_NOTE},
        {"data loading", data_loading, {70, 60, 20, 90}, 19.9, 99.9, LEVEL_WARNING},
        {"data loading", data_loading, {70, 6, 20, 90}, 1.9, 10.1, LEVEL_HIGH},
        {"exposed communication", exposed, {70, 30, 60, 90}, 60, 60.1, LEVEL_WARNING},
        {"exposed communication", exposed_and_backward, {70, 30, 40, 90}, 29.8, 30.2, LEVEL_NOTE},
        {"little memory left", memory, {70, 30, 20, 40}, 40, 40.1, LEVEL_WARNING},
    };
    for (size_t i = 0; i < LENGTH(moved); i++)
        for (int beyond = 0; beyond < 2; beyond++) {
            healthy_create(&h);
            h.options.thresholds = moved[i].limit;
            moved[i].figure(beyond ? moved[i].beyond : moved[i].silent);
            healthy_find(&h);
            ck_assert_msg(h.profile.findings == beyond, "case %zu has %d findings", i, h.profile.findings);
            if (beyond) {
                ck_assert_str_eq(h.profile.finding[0].name, moved[i].name);
                ck_assert_msg(h.profile.finding[0].level == moved[i].level, "case %zu has another level", i);
            }
        }
}

/* ---- which ranks are named ---- */

TEST(all_ranks_beyond_a_limit_are_named)
{
    healthy_create(&h);
    h.profile.figures.ranks = 4;
    h.rank[0].mean.utilisation = 0.6;
    h.rank[2].mean.utilisation = 0.55;
    h.rank[3].mean.utilisation = 0.69999;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 1);
    ck_assert_double_eq_tol(h.profile.finding[0].percent, 55, 1e-9);
    ck_assert_msg(strstr(h.profile.finding[0].text, "ranks 0, 2, 3)") != NULL, "%s", h.profile.finding[0].text);
    healthy_create(&h);
    h.profile.figures.ranks = HEALTHY_RANKS;
    for (int r = 0; r < HEALTHY_RANKS; r++)
        h.rank[r].mean.exposed = r == 4 ? 0.00104 : 0.021 + r * 1e-5;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 1);
    ck_assert_str_eq(h.profile.finding[0].name, "exposed communication");
    ck_assert_double_eq_tol(h.profile.finding[0].percent, 21.11, 1e-9);
    ck_assert_msg(strstr(h.profile.finding[0].text, "ranks 0, 1, 2, 3, 5, 6, 7, 8 and 3 more)") != NULL, "%s",
                  h.profile.finding[0].text);
}

/* The finding names the rank that costs most time, not the rank that came last most often. */
TEST(the_costliest_straggler_is_named)
{
    for (int costliest = 0; costliest < 4; costliest++) {
        healthy_create(&h);
        h.profile.capture.collectives.ranks = h.profile.figures.ranks = 4;
        for (int r = 0; r < 4; r++)
            h.straggler[r] =
                (struct straggler){.last = r == costliest ? 3 : 15, .most = 1e-4, .cost = 0.0053 + 1e-9 * r};
        h.straggler[costliest].cost = 0.01;
        healthy_find(&h);
        ck_assert_int_eq(h.profile.findings, 1);
        int named = -1;
        ck_assert_int_eq(sscanf(h.profile.finding[0].text, "rank %d came last in 3 of 50", &named), 1);
        ck_assert_int_eq(named, costliest);
        ck_assert_double_eq_tol(h.profile.finding[0].percent, 10, 1e-9);
    }
}

/* The loss given for exposed communication is the measured sync cost; the text has the time of collectives alone. */
TEST(exposed_communication_costs_what_the_rounds_measure)
{
    static const struct estimate costs[] = {{.median = 0.012, .ci_low = 0.01, .ci_high = 0.014, .n = 12},
                                            {.median = 0.012, .ci_low = -0.001, .ci_high = 0.02, .n = 12}};
    for (int i = 0; i < 2; i++) {
        healthy_create(&h);
        exposed(25);
        collectives(31);
        h.profile.controls.sync_cost = costs[i];
        healthy_find(&h);
        const struct finding *f = h.profile.finding;
        ck_assert_int_eq(h.profile.findings, 1);
        ck_assert_double_eq(f->loss.low, costs[i].ci_low);
        ck_assert_double_eq_tol(f->share, 0.12, 1e-12);
        ck_assert(f->level == (i ? LEVEL_NOTE : LEVEL_HIGH));
        ck_assert_int_eq(strstr(f->text, "slower than without communication, which is not significant; ") != NULL, i);
        check_has(f->text, "; the reductions alone take 15.5 ms");
    }
}

/* If others use the CPUs, findings from times become notes that only advise to measure again, but not on memory. */
TEST(a_busy_machine_has_notes_only)
{
    healthy_create(&h);
    data_loading(60);
    busy(40);
    exposed(25);
    memory(95);
    h.profile.facts.busy = 1;
    healthy_find(&h);
    ck_assert_int_eq(h.profile.findings, 4);
    for (int i = 0; i < 4; i++) {
        const struct finding *f = &h.profile.finding[i];
        int of_memory = !strcmp(f->name, "little memory left");
        ck_assert_msg(f->level == (of_memory ? LEVEL_WARNING : LEVEL_NOTE), "%s is a %s", f->name,
                      level_name[f->level]);
        ck_assert_int_eq(strstr(f->text, "the machine was busy") == NULL, of_memory);
        ck_assert_int_eq(strcmp(f->advice, "measure again on an idle machine") != 0, of_memory);
    }
}

SUITE("findings", NULL, NULL)
