/* test_link.c - times on a link: read from sweeps, interpolated, scaled to other ranks and links; and what is refused.
 */
#include "predict/link.h"

#include "base/figures.h"
#include "base/version.h"
#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *root;
static struct link the_link;

static void setup(void)
{
    root = scratch_make();
    error_clear();
}

static void teardown(void)
{
    link_destroy(&the_link);
    scratch_remove_all();
    error_clear();
}

/* Fails the test unless a time and its basis are as expected. */
static void seconds_are(enum comm_kind kind, size_t ranks, double bytes, double expected, enum link_basis basis)
{
    enum link_basis of_time = LINK_MEASURED;
    double seconds = link_seconds(&the_link, kind, ranks, bytes, &of_time);
    ck_assert_msg(fabs(seconds / expected - 1) < 1e-9, "%s of %g bytes, %zu ranks: %.12g s, not %.12g s",
                  comm_kind_name[kind], bytes, ranks, seconds, expected);
    ck_assert_str_eq(link_basis_name[of_time], link_basis_name[basis]);
}

/* ---- made-up runs ---- */

struct point {
    double bytes, seconds, low, high;
};

/* Times of a link with MPICH and 2 ranks: two messages of 0.1 ms each, and 10 MB/s. */
static const struct point plain[] = {
    {4096, 6.096e-4, NAN, NAN}, {8192, 1.0192e-3, NAN, NAN}, {65536, 6.7536e-3, NAN, NAN}, {1e6, 0.1002, NAN, NAN}};
#define POINTS(array) (array), sizeof(array) / sizeof *(array)

static struct figure_list figures;

static void add_figures(const char *subject, const char *name, const struct point *point, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++) {
        struct figure figure = {.unit = "s",
                                .bytes = point[i].bytes,
                                .value = point[i].seconds * factor,
                                .low = point[i].low * factor,
                                .high = point[i].high * factor,
                                .n = 5};
        snprintf(figure.subject, sizeof figure.subject, "%s", subject);
        snprintf(figure.name, sizeof figure.name, "%s", name);
        figures_add(&figures, &figure);
    }
}

/* Writes a run with the figures added so far, and then forgets them. derived: more members of `derived` in run.json.
 * Returns the run's directory. */
static const char *write_run_of(const char *name, const char *mode, const char *comm, size_t ranks, const char *derived)
{
    static char directory[4][100];
    static int at;
    char run[300];
    at = (at + 1) % 4;
    snprintf(directory[at], sizeof directory[at], "%s/%s", root, name);
    snprintf(run, sizeof run,
             "{\"schema_version\": %d, \"mode\": \"%s\", \"configuration\": {}, "
             "\"derived\": {\"world_size\": %zu, \"comm\": \"%s\"%s}}",
             RESULTS_SCHEMA, mode, ranks, comm, derived);
    saved_run(directory[at], mode, "", &figures);
    saved_file(directory[at], "run.json", run);
    figures_destroy(&figures);
    return directory[at];
}

static const char *write_run(const char *name, const char *mode, const char *comm, size_t ranks)
{
    return write_run_of(name, mode, comm, ranks, "");
}

#define ALL_REDUCE "all_reduce float sum in_place"

/* Writes a sweep of all-reduces whose times are the times of points times a factor. */
static const char *write_sweep(const char *name, const char *comm, size_t ranks, const struct point *point, size_t n,
                               double factor)
{
    add_figures(ALL_REDUCE, "time", point, n, factor);
    return write_run(name, "allreduce", comm, ranks);
}

static const char *write_plain(const char *name, size_t ranks, double factor)
{
    return write_sweep(name, "mpi", ranks, POINTS(plain), factor);
}

/* Reads one directory, or two if the second is not "". */
static int read_list(const char *first, const char *second)
{
    char list[300];
    snprintf(list, sizeof list, "%s%s%s", first, *second ? "," : "", second);
    link_destroy(&the_link);
    return link_read(&the_link, "link", list);
}

static void read_runs(const char *first, const char *second)
{
    ck_assert_msg(read_list(first, second) == 0, "%s", error_text());
}

/* ---- sweeps ---- */

/* Expected values are from summary.csv of the sample, and from its table of the link, which `allreduce` printed. */
#define FITTED_LATENCY   1.4791850036752844e-05
#define FITTED_BANDWIDTH 12124300.809805458
TEST(a_real_sweep_is_read)
{
    read_runs("results/reference/allreduce-100mbit", "");
    ck_assert(the_link.n == 1 && the_link.sweep->n == 11 && the_link.sweep->ranks == 2 &&
              the_link.library == LIBRARY_MPICH);
    ck_assert_int_eq(the_link.sweep->kind, COMM_ALL_REDUCE);
    seconds_are(COMM_ALL_REDUCE, 2, 1024, 9.45584825e-05, LINK_MEASURED);
    seconds_are(COMM_ALL_REDUCE, 2, 16777216, 1.405130726, LINK_MEASURED);
    seconds_are(COMM_ALL_REDUCE, 2, 2097152, 0.0878465565 + (0.3512629845 - 0.0878465565) / 3, LINK_INTERPOLATED);
    seconds_are(COMM_ALL_REDUCE, 2, 4, 1.860898125e-05, LINK_INTERPOLATED);
    seconds_are(COMM_ALL_REDUCE, 2, 40, (1.860898125e-05 + 1.861203375e-05) / 2, LINK_INTERPOLATED);
    seconds_are(COMM_ALL_REDUCE, 2, 33554432, 1.405130726 + (1.405130726 - 0.3512629845) * 4 / 3, LINK_EXTRAPOLATED);
    const double seconds =
        FITTED_LATENCY + 16777216 / FITTED_BANDWIDTH; /* of two messages; of one for the smallest size */
    ck_assert_double_eq_tol(the_link.fitted_latency / FITTED_LATENCY, 1, 1e-9);
    ck_assert_double_eq_tol(the_link.fitted_bandwidth / FITTED_BANDWIDTH, 1, 1e-9);
    ck_assert_double_eq_tol(the_link.latency / FITTED_LATENCY, 1, 1e-9);
    ck_assert_double_eq_tol(the_link.bandwidth * (seconds - 2 * FITTED_LATENCY) / 16777216, 1, 1e-9);
    ck_assert_double_eq_tol(the_link.error, hypot(0.0030006222583, 0.0128584209757), 1e-9); /* computed by a script */
}

TEST(basis_is_only_raised)
{
    enum link_basis basis = LINK_INTERPOLATED;
    read_runs(write_plain("two", 2, 1), "");
    link_seconds(&the_link, COMM_ALL_REDUCE, 2, 4096, &basis);
    ck_assert_int_eq(basis, LINK_INTERPOLATED);
    ck_assert_double_eq(link_seconds(&the_link, COMM_ALL_REDUCE, 1, 1e9, &basis), 0);
    ck_assert_int_eq(basis, LINK_INTERPOLATED);
    link_seconds(&the_link, COMM_ALL_REDUCE, 2, 1e9, &basis);
    ck_assert_int_eq(basis, LINK_EXTRAPOLATED);
}

/* Intervals of exp(+-1.96 x 0.01) have a standard error of 1 %. Times at sizes 1 to 4 are 1, 3, 3 and 4. Interpolation
 * between their neighbours gives 2 and 3.5 in place of 3 and 3. */
TEST(error_is_of_medians_and_of_interpolation)
{
    const double reach = 1.96 * 0.01;
    static const double times[] = {1, 3, 3, 4};
    struct point point[4];
    for (int i = 0; i < 4; i++)
        point[i] = (struct point){1 + i, times[i], times[i] * exp(-reach), times[i] * exp(reach)};
    point[2].low = point[2].high = NAN;
    read_runs(write_sweep("spread", "mpi", 2, POINTS(point), 1), "");
    double interpolation = sqrt((pow(log(3 / 2.0), 2) + pow(log(3 / 3.5), 2)) / 2) / 4;
    ck_assert_double_eq_tol(the_link.error, hypot(0.01, interpolation), 1e-9);
}

/* Above the largest size times do not fall. A time below the smallest size's time counts as latency only. */
TEST(times_that_fall)
{
    static const struct point falling[] = {
        {8, 1e-4, NAN, NAN}, {16, 8e-5, NAN, NAN}, {32, 3e-4, NAN, NAN}, {64, 2e-4, NAN, NAN}};
    read_runs(write_sweep("falling", "mpi", 2, POINTS(falling), 1), "");
    seconds_are(COMM_ALL_REDUCE, 2, 128, 2e-4, LINK_EXTRAPOLATED);
    the_link.latency_scale = 2;
    the_link.bandwidth_scale = 4;
    seconds_are(COMM_ALL_REDUCE, 2, 16, 2 * 8e-5, LINK_EXTRAPOLATED);
}

TEST(sums_in_place_come_first)
{
    add_figures("all_reduce float sum out_of_place", "time", POINTS(plain), 5);
    add_figures(ALL_REDUCE, "time_min", POINTS(plain), 0.5);
    add_figures(ALL_REDUCE, "time", POINTS(plain), 1);
    add_figures("all_reduce double sum in_place", "time", POINTS(plain), 2);
    add_figures("all_reduce float max in_place", "time", POINTS(plain), 3);
    read_runs(write_run("both", "allreduce", "mpi", 2), "");
    seconds_are(COMM_ALL_REDUCE, 2, 4096, 6.096e-4, LINK_MEASURED);
    add_figures("all_reduce float sum out_of_place", "time", POINTS(plain), 5);
    read_runs(write_run("out", "allreduce", "mpi", 2), "");
    seconds_are(COMM_ALL_REDUCE, 2, 4096, 5 * 6.096e-4, LINK_MEASURED);
}

/* ---- other numbers of ranks, other kinds, other links ---- */

/* The model fits the 2 ranks of `plain` exactly, so the times of other numbers of ranks are the model's. */
TEST(mpich_scales_by_its_algorithms)
{
    read_runs(write_plain("two", 2, 1), "");
    ck_assert_double_eq_tol(the_link.fitted_latency, 2e-4, 1e-12);
    ck_assert_double_eq_tol(the_link.latency, 1e-4, 1e-12);
    ck_assert_double_eq_tol(the_link.bandwidth, 1e7, 1e-2);
    seconds_are(COMM_ALL_REDUCE, 8, 1e6, 6e-4 + 1.75 * 0.1, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 8, 4096, 6e-4 + 1.75 * 4.096e-4, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 3, 1e6, 4e-4 + 3.00 * 0.1, LINK_FOLDED); /* measured in an emulated network: 3.00 */
    seconds_are(COMM_ALL_REDUCE, 6, 1e6, 6e-4 + 3.5 * 0.1, LINK_FOLDED);
}

/* 2 ranks, 10 us a message, 10 GB/s: both algorithms send two messages. The ring carries half the bytes of the tree. */
TEST(nccl_scales_by_the_faster_of_ring_and_tree)
{
    static const struct point nccl[] = {
        {1000, 2.01e-5, NAN, NAN}, {1e4, 2.1e-5, NAN, NAN}, {1e6, 1.2e-4, NAN, NAN}, {1e9, 0.10002, NAN, NAN}};
    read_runs(write_sweep("nccl", "nccl", 2, POINTS(nccl), 1), "");
    ck_assert(the_link.library == LIBRARY_NCCL);
    ck_assert_double_eq_tol(the_link.latency, 1e-5, 1e-12);
    ck_assert_double_eq_tol(the_link.bandwidth, 1e10, 1);
    seconds_are(COMM_ALL_REDUCE, 64, 1e4, 12e-5 + 2 * 1e-6, LINK_EXTRAPOLATED);             /* tree */
    seconds_are(COMM_ALL_REDUCE, 64, 1e9, 126e-5 + 2 * 63 / 64.0 * 0.1, LINK_EXTRAPOLATED); /* ring */
    seconds_are(COMM_REDUCE_SCATTER, 64, 1e9, 63e-5 + 63 / 64.0 * 0.1, LINK_EXTRAPOLATED);  /* never a tree */
    seconds_are(COMM_ALL_GATHER, 64, 1e4, 63e-5 + 63 / 64.0 * 1e-6, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 8, 1e6, 6e-5 + 2e-4, LINK_EXTRAPOLATED); /* tree */
}

/* Between 8 ranks the largest all-reduce of this sweep took less than the 14 messages of a ring, so it was a tree. */
TEST(a_sweep_of_small_sizes_is_fitted_by_a_tree)
{
    static const struct point small[] = {
        {1, 6.00002e-5, NAN, NAN}, {1e4, 6.2e-5, NAN, NAN}, {2e4, 6.4e-5, NAN, NAN}, {1e5, 8e-5, NAN, NAN}};
    read_runs(write_sweep("small", "nccl", 8, POINTS(small), 1), "");
    ck_assert_double_eq_tol(the_link.latency, 1e-5, 1e-12);
    ck_assert_double_eq_tol(the_link.bandwidth, 1e10, 1);
    seconds_are(COMM_ALL_REDUCE, 16, 1e5, 8e-5 + 2e-5, LINK_EXTRAPOLATED);
}

/* From NCCL 2.23 on, reduce-scatters and all-gathers between hosts of one rank each may take PAT's few stages. */
TEST(nccl_has_pat_where_each_host_has_one_rank)
{
    static const struct {
        const char *nccl;
        int hosts, has_pat;
    } known[] = {{"NCCL 2.23.4", 2, 1}, {"NCCL 2.22.3", 2, 0}, {"NCCL 2.28.3, CTAs chosen by NCCL", 2, 1},
                 {"NCCL 2.28.3", 1, 0}, {"NCCL 3.0.1", 2, 1},  {"", 2, 0}};
    static const struct point nccl[] = {
        {1000, 2.01e-5, NAN, NAN}, {1e4, 2.1e-5, NAN, NAN}, {1e6, 1.2e-4, NAN, NAN}, {1e9, 0.10002, NAN, NAN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char derived[100];
        snprintf(derived, sizeof derived, ", \"nccl\": \"%s\", \"host_count\": %d", known[i].nccl, known[i].hosts);
        add_figures(ALL_REDUCE, "time", POINTS(nccl), 1);
        read_runs(write_run_of("pat", "allreduce", "nccl", 2, derived), "");
        seconds_are(COMM_ALL_GATHER, 64, 1e4, (known[i].has_pat ? 6e-5 : 63e-5) + 63 / 64.0 * 1e-6, LINK_EXTRAPOLATED);
        seconds_are(COMM_ALL_REDUCE, 64, 1e4, 12e-5 + 2 * 1e-6, LINK_EXTRAPOLATED); /* a tree */
    }
}

/* The sweep of 8 ranks has 7 times the model's times, which shows which of the two sweeps is used. */
TEST(nearest_number_of_ranks_counts)
{
    add_figures(ALL_REDUCE, "time",
                (struct point[]){{4096, 7 * 1.3168e-3, NAN, NAN},
                                 {8192, 7 * 2.0336e-3, NAN, NAN},
                                 {65536, 7 * 12.0688e-3, NAN, NAN},
                                 {1e6, 7 * 0.1756, NAN, NAN}},
                4, 1);
    const char *eight = write_run("eight", "allreduce", "mpi", 8);
    for (int turned = 0; turned < 2; turned++) {
        const char *two = write_plain("two", 2, 1);
        read_runs(turned ? eight : two, turned ? two : eight);
        ck_assert_double_eq_tol(the_link.latency, 1e-4, 1e-12); /* from the sweep of the fewest ranks */
        seconds_are(COMM_ALL_REDUCE, 8, 1e6, 7 * 0.1756, LINK_MEASURED);
        seconds_are(COMM_ALL_REDUCE, 2, 1e6, 0.1002, LINK_MEASURED);
        seconds_are(COMM_ALL_REDUCE, 3, 1e6, 4e-4 + 3 * 0.1, LINK_FOLDED);
        seconds_are(COMM_ALL_REDUCE, 4, 1e6, 7 * (4e-4 + 1.5 * 0.1), LINK_EXTRAPOLATED); /* both are equally near */
        seconds_are(COMM_ALL_REDUCE, 5, 1e6, 7 * (6e-4 + 3.5 * 0.1), LINK_FOLDED);
        seconds_are(COMM_ALL_REDUCE, 1024, 1e6, 7 * (20e-4 + 2 * 1023 / 1024.0 * 0.1), LINK_EXTRAPOLATED);
    }
}

/* The ratio of the ends of an interval may exceed the largest double. The error of the link is finite even then. */
TEST(a_wide_interval_has_a_finite_error)
{
    struct point wide[4];
    memcpy(wide, plain, sizeof wide);
    wide[0].low = 1e-300;
    wide[0].high = 1e300;
    read_runs(write_sweep("wide", "mpi", 2, POINTS(wide), 1), "");
    ck_assert_double_eq_tol(the_link.error, 600 * log(10) / (2 * 1.96), 0.01); /* of one time with an interval */
}

TEST(other_kinds_follow_from_an_all_reduce)
{
    read_runs(write_plain("two", 2, 1), "");
    seconds_are(COMM_ALL_GATHER, 2, 1e6, 0.1002 / 2, LINK_EXTRAPOLATED);
    seconds_are(COMM_REDUCE_SCATTER, 2, 4096, 6.096e-4 / 2, LINK_EXTRAPOLATED);
    seconds_are(COMM_REDUCE_SCATTER, 8, 65536, 3e-4 + 0.875 * 6.5536e-3, LINK_EXTRAPOLATED);
    seconds_are(COMM_REDUCE_SCATTER, 8, 1e6, 3e-4 + 0.875 * 0.1, LINK_EXTRAPOLATED);
}

/* A sweep of the kind of collective is used, even if its number of ranks differs from the sweep of all-reduces. */
TEST(each_kind_has_its_sweep)
{
    add_figures("all_gather float none in_place", "time", POINTS(plain), 0.7);
    const char *gathers = write_run("gathers", "allreduce", "mpi", 8);
    add_figures("reduce_scatter float sum in_place", "time", POINTS(plain), 0.9);
    add_figures(ALL_REDUCE, "time", POINTS(plain), 1);
    read_runs(gathers, write_run("both", "allreduce", "mpi", 2));
    ck_assert_uint_eq(the_link.n, 3);
    seconds_are(COMM_ALL_GATHER, 8, 4096, 0.7 * 6.096e-4, LINK_MEASURED);
    seconds_are(COMM_REDUCE_SCATTER, 2, 4096, 0.9 * 6.096e-4, LINK_MEASURED);
    seconds_are(COMM_REDUCE_SCATTER, 8, 1e6, 0.9 * 0.1002 * (3e-4 + 0.0875) / 0.0501, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_GATHER, 2, 1e6, 0.7 * 0.1002 * 0.0501 / (7e-4 + 0.0875), LINK_EXTRAPOLATED);
}

/* A link of twice the latency and half the bandwidth: the time of the smallest size is latency, the rest is sending. */
TEST(factors_change_the_link)
{
    read_runs(write_plain("two", 2, 1), "");
    ck_assert(the_link.latency_scale == 1 && the_link.bandwidth_scale == 1);
    the_link.latency_scale = 2;
    the_link.bandwidth_scale = 0.5;
    const double seconds = 2 * 6.096e-4 + (0.1002 - 6.096e-4) / 0.5;
    seconds_are(COMM_ALL_REDUCE, 2, 1e6, seconds, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 2, 4096, 2 * 6.096e-4, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 8, 1e6, seconds * (12e-4 + 1.75 * 0.2) / (4e-4 + 0.2), LINK_EXTRAPOLATED);
    the_link.latency_scale = the_link.bandwidth_scale = 1;
    seconds_are(COMM_ALL_REDUCE, 2, 1e6, 0.1002, LINK_MEASURED);
}

/* ---- refused runs ---- */

static void refuses(const char *first, const char *second, const char *words)
{
    ck_assert_msg(read_list(first, second) == -1, "accepted, expected: %s", words);
    check_has(error_text(), words);
    check_has(error_text(), second); /* names the run */
    error_clear();
}

TEST(other_runs_are_refused)
{
    char summary[200];
    add_figures("ddp", "step", POINTS(plain), 1);
    refuses(write_run("steps", "benchmark", "mpi", 2), "", "steps: is a run of benchmark; expected one of allreduce");
    refuses(write_plain("alone", 1, 1), "", "alone: is a run of 1 ranks; give 2 or more");
    refuses(write_sweep("comm", "self", 2, POINTS(plain), 1), "",
            "comm: has comm 'self'; all must have mpi, or all nccl");
    const char *two = write_plain("two", 2, 1);
    refuses(two, write_sweep("nccl", "nccl", 4, POINTS(plain), 1), "has comm 'nccl'; all must have mpi, or all nccl");
    refuses("absent", "", "cannot read absent");
    const char *unfinished = write_plain("unfinished", 2, 1);
    snprintf(summary, sizeof summary,
             "{\"schema_version\": %d, \"mode\": \"allreduce\", \"done\": 3, \"planned\": 22, \"of\": \"rows\"}",
             RESULTS_SCHEMA);
    saved_file(unfinished, "summary.json", summary);
    refuses(unfinished, "", "has 3 of 22 rows: the run has not finished");
    refuses("", "", "--link '': expected directories, separated by commas");
    refuses(two, ",a", "expected directories, separated by commas");
}

TEST(other_sweeps_are_refused)
{
    const char *two = write_plain("two", 2, 1);
    add_figures("all_reduce float sum out_of_place", "time", POINTS(plain), 1);
    refuses(two, write_run("again", "allreduce", "mpi", 2), "is a second sweep of all_reduce between 2 ranks");
    refuses(two, two, "is a second sweep of all_reduce between 2 ranks; give one of each");
    refuses(write_sweep("few", "mpi", 2, plain, 3, 1), "", "few: has 3 sizes of all_reduce; 4 or more are needed");
    add_figures("all_reduce bf16 sum in_place", "time", POINTS(plain), 1);
    refuses(two, write_run("bf16", "allreduce", "mpi", 4), "has no times of all_reduce, reduce_scatter (float, sum)");
    add_figures("all_gather float none in_place", "time", POINTS(plain), 1);
    refuses(write_run("gathers", "allreduce", "mpi", 2), "", "--link: no run has times of all_reduce");
}

TEST(bad_times_are_refused)
{
    static const struct {
        const char *name;
        struct point point[4];
        size_t n;
        const char *words;
    } bad[] = {{"zero",
                {{8, 1, NAN, NAN}, {16, 0, NAN, NAN}},
                2,
                "zero: all_reduce of 16 bytes takes 0 s; sizes must increase"},
               {"huge",
                {{8, 1, NAN, NAN}, {16, 2e6, NAN, NAN}},
                2,
                "of 16 bytes takes 2e+06 s; sizes must increase, and times"},
               {"no_size", {{0, 1, NAN, NAN}}, 1, "of 0 bytes takes 1 s; sizes must increase"},
               {"unsorted", {{8, 1, NAN, NAN}, {4, 1, NAN, NAN}}, 2, "of 4 bytes takes 1 s; sizes must increase"},
               {"flat",
                {{8, 1e-4, NAN, NAN}, {64, 1e-4, NAN, NAN}, {512, 1e-4, NAN, NAN}, {4096, 1e-4, NAN, NAN}},
                4,
                "of 4096 bytes takes hardly longer than its latency"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(write_sweep(bad[i].name, "mpi", 2, bad[i].point, bad[i].n, 1), "", bad[i].words);
}

/* ---- a latency and a bandwidth ---- */

TEST(words_make_a_link)
{
    static const struct {
        const char *words;
        double latency, bandwidth;
    } known[] = {
        {"latency=23us,bandwidth=11.7MB/s", 23e-6, 11.7e6}, {"bandwidth=100gbit,latency=1.5ms", 1.5e-3, 12.5e9},
        {"latency=800ns,bandwidth=450GB/s", 8e-7, 450e9},   {"latency=0s,bandwidth=100mbit", 0, 12.5e6},
        {"latency=10s,bandwidth=1000B/s", 10, 1000},        {"latency=2us,bandwidth=nvlink4", 2e-6, 450e9},
        {"latency=2us,bandwidth=64KB/s", 2e-6, 64e3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_msg(link_parse(&the_link, "link", known[i].words) == 0, "%s", error_text());
        ck_assert_double_eq_tol(the_link.latency, known[i].latency, 1e-12);
        ck_assert_double_eq_tol(the_link.bandwidth / known[i].bandwidth, 1, 1e-12);
        ck_assert(the_link.n == 0 && !the_link.library && the_link.latency_scale == 1 && the_link.bandwidth_scale == 1);
        ck_assert(the_link.error == 0 && the_link.n == 0);
    }
}

TEST(without_sweeps_the_model_counts)
{
    ck_assert_int_eq(link_parse(&the_link, "link", "latency=1ms,bandwidth=1MB/s"), 0);
    seconds_are(COMM_ALL_REDUCE, 2, 1e6, 2e-3 + 1, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 4, 2048, 2 * (1e-3 + 2.048e-3), LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_REDUCE, 4, 2049, 4e-3 + 1.5 * 2.049e-3, LINK_EXTRAPOLATED);
    seconds_are(COMM_ALL_GATHER, 4, 1e6, 3e-3 + 0.75, LINK_EXTRAPOLATED);
    the_link.latency_scale = 3;
    the_link.bandwidth_scale = 2;
    seconds_are(COMM_ALL_REDUCE, 4, 1e6, 12e-3 + 0.75, LINK_EXTRAPOLATED);
}

TEST(other_words_are_refused)
{
    static const char both[] = ": expected a latency and a bandwidth, such as latency=23us,bandwidth=11.7MB/s";
    static const char time[] = ": expected at most 10 s, in s, ms, us or ns, such as 23us";
    static const struct {
        const char *words, *message;
    } bad[] = {{"", both},
               {"latency=23us", both},
               {"bandwidth=1gbit", both},
               {"latency=23us,bandwidth=1gbit,", both},
               {"latency=23us,bandwidth", both},
               {"latency=23us,bandwidth=", both},
               {"latency=23us,rate=1gbit", both},
               {"latency=23us,bandwidth=1gbit,ranks=2", both},
               {"latency=23us,latency=24us", "'latency' is listed twice"},
               {"latency=23,bandwidth=1gbit", time},
               {"latency=us,bandwidth=1gbit", time},
               {"latency=-1us,bandwidth=1gbit", time},
               {"latency=1e3us,bandwidth=1gbit", time},
               {"latency=1.2.3us,bandwidth=1gbit", time},
               {"latency=23min,bandwidth=1gbit", time},
               {"latency=1uss,bandwidth=1gbit", time},
               {"latency=10001ms,bandwidth=1gbit", time},
               {"latency=23us,bandwidth=5Gb/s", "--link 5Gb/s: b is ambiguous"},
               {"latency=23us,bandwidth=0gbit", "--link 0gbit: expected a rate such as 100mbit"},
               {"latency=23us,bandwidth=fast", "--link fast: expected a rate such as 100mbit"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(link_parse(&the_link, "link", bad[i].words) == -1, "'%s' is accepted", bad[i].words);
        check_has(error_text(), bad[i].message);
        check_has(error_text(), "--link");
        error_clear();
    }
}

SUITE("times on a link", setup, teardown)
