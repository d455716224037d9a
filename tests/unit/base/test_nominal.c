/* test_nominal.c - nominal rates of links by name and by number, and the text that judges the share reached. */
#include "base/nominal.h"

#include "kernels/error.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

static const struct option option = {.name = "nominal"};

static struct nominal rate_of(const char *text)
{
    struct nominal nominal = {0};
    ck_assert_msg(option_nominal.parse(&option, text, &nominal) == 0, "%s: %s", text, error_text());
    return nominal;
}

TEST(rates_are_read)
{
    static const struct {
        const char *text;
        double rate;
    } known[] = {{"100mbit", 12.5e6},    {"1gbit", 125e6},       {"2.5gbit", 312.5e6},  {"10Gbit/s", 1.25e9},
                 {"25gbit", 3.125e9},    {"40gbit", 5e9},        {"100gbit", 12.5e9},   {"200gbit", 25e9},
                 {"400gbit", 50e9},      {"pcie3x16", 15.754e9}, {"pcie4x16", 31.51e9}, {"pcie5x16", 63.02e9},
                 {"nvlink3", 300e9},     {"nvlink4", 450e9},     {"NVLink5", 900e9},    {"117000000", 117e6},
                 {"12.5G/s", 12.5e9},    {"12.5GB/s", 12.5e9},   {"64K", 64e3},         {"3M", 3e6},
                 {"1000000B/s", 1000000}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct nominal nominal = rate_of(known[i].text);
        ck_assert_double_eq_tol(nominal.rate / known[i].rate, 1, 1e-4);
        ck_assert_str_eq(nominal.name, known[i].text);
    }
}

static void refused(const char *text, const char *words, const char *more)
{
    struct nominal nominal = {0};
    ck_assert_msg(option_nominal.parse(&option, text, &nominal) == -1, "'%s' is accepted", text);
    ck_assert(nominal.rate == 0);
    ck_assert_msg(strstr(error_text(), words) && strstr(error_text(), more), "%s", error_text());
    error_clear();
}

TEST(other_words_are_not_rates)
{
    static const char *const bad[] = {
        "",      "gbit", "-1gbit",  "0gbit", "1e9",      "nvlink",   "pcie4", "5gb it",
        "1.2.3", "nan",  "infgbit", "0x10",  "100gbits", "2000000G", "0.5",   "1.00000000000000000000000000000000gbit"};
    static const char *const bits_or_bytes[] = {"10Gb/s", "100Mb", "5gb", "64b"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(bad[i], "expected a rate such as", "nvlink5");
    for (size_t i = 0; i < sizeof bits_or_bytes / sizeof *bits_or_bytes; i++)
        refused(bits_or_bytes[i], bits_or_bytes[i], "b is ambiguous");
}

/* If no ranks communicate over the link of the nominal rate, there is a message. */
TEST(a_link_that_is_not_used_is_reported)
{
    static const struct {
        const char *link;
        int hosts, on_device;
        const char *words;
    } known[] = {{"100gbit", 1, 0, "no network"},
                 {"100gbit", 1, 1, "no network"},
                 {"100gbit", 2, 0, NULL},
                 {"nvlink4", 1, 1, NULL},
                 {"nvlink4", 1, 0, "GPUs"},
                 {"pcie4x16", 2, 0, "GPUs"},
                 {"5G/s", 1, 0, "share its memory"},
                 {"5G/s", 1, 1, NULL},
                 {"5G/s", 2, 0, NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct nominal nominal = rate_of(known[i].link);
        const char *words = nominal_unused(&nominal, known[i].hosts, known[i].on_device);
        ck_assert_msg(!words == !known[i].words && (!words || strstr(words, known[i].words)), "row %zu: %s", i, words);
    }
}

TEST(latency_bounds_the_share)
{
    struct nominal nominal = rate_of("1gbit");
    ck_assert_double_eq(nominal_attainable(&nominal, 0, 8), 1);
    ck_assert_double_eq_tol(nominal_attainable(&nominal, 0.002, 250000), 0.5, 1e-12); /* 2 ms latency, 2 ms transfer */
    ck_assert(isnan(nominal_attainable(&nominal, NAN, 8)));
}

TEST(a_share_is_judged)
{
    static const struct {
        const char *link;
        double share, attainable;
        const char *words;
    } known[] = {
        {"100gbit", 0.81, 1, "81.0 % of 100gbit, lower than normal (85 to 98 %; latency leaves 100 %)"},
        {"100gbit", 0.81, 0.9, "81.0 % of 100gbit, normal (76 to 88 %; latency leaves 90 %)"},
        {"100gbit", 0.93, 0.9,
         "93.0 % of 100gbit, higher than normal (76 to 88 %; above the 90 % that the fitted latency leaves)"},
        {"nvlink4", 0.9, 0.999, "90.0 % of nvlink4, higher than normal (75 to 85 %; latency leaves 99.9 %)"},
        {"nvlink4", 1.06, 1,
         "106.0 % of nvlink4, more than a link can carry: reduced in the network, or several links"},
        {"nvlink4", 1.06, NAN,
         "106.0 % of nvlink4, more than a link can carry: reduced in the network, or several links"},
        {"10gbit", 0.3, 0.4, "30.0 % of 10gbit; too small a message to judge the link by (latency leaves 40 %)"},
        {"10gbit", 0.3, NAN, "30.0 % of 10gbit; to judge that, the latency must be known: use 4 sizes or more"},
        {"5G/s", 0.7, 0.99, "70.0 % of 5G/s (latency leaves 99 %)"},
    };
    char text[NOMINAL_WORDS];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct nominal nominal = rate_of(known[i].link);
        ck_assert_str_eq(nominal_words(text, &nominal, known[i].share, known[i].attainable), known[i].words);
    }
}

TEST(a_rate_is_described)
{
    char text[NOMINAL_WORDS];
    struct nominal nominal = rate_of("nvlink4");
    ck_assert_str_eq(nominal_describe(text, &nominal),
                     "Nominal rate nvlink4: 450 GB/s each way; normal is 75 to 85 % with NCCL.");
}

SUITE("nominal rates", NULL, error_clear)
