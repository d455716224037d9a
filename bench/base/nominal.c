/* nominal.c - known links: their rates, and the share of the rate that is normal for each. */
#include "base/nominal.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct link_sort network = {0, 0.85, 0.98,
                                         "85 to 98 %; TCP with packets of 1500 bytes usually reaches 94 %"};
static const struct link_sort nvlink = {1, 0.75, 0.85, "75 to 85 % with NCCL"};
static const struct link_sort pcie = {1, 0.75, 0.85, "75 to 85 % from GPU to GPU, less through a CPU"};
static const struct link_sort unknown = {0, NAN, NAN, "not known for a rate without the name of a link"};

/* Rates of a GPU in each direction. PCIe: 16 lanes, 128 data bits in 130; NVLink: 12 x 25, 18 x 25, 18 x 50 GB/s. */
static const struct {
    const char *name;
    double rate;
    const struct link_sort *sort;
} links[] = {{"pcie3x16", 16e9 * 128 / 130, &pcie}, {"pcie4x16", 32e9 * 128 / 130, &pcie},
             {"pcie5x16", 64e9 * 128 / 130, &pcie}, {"nvlink3", 300e9, &nvlink},
             {"nvlink4", 450e9, &nvlink},           {"nvlink5", 900e9, &nvlink}};

/* Suffixes of a rate; /s may follow. Case is ignored, but b in place of B is refused as ambiguous. */
static const struct {
    const char *suffix;
    double bytes;
    const struct link_sort *sort;
} units[] = {{"mbit", 1e6 / 8, &network}, {"gbit", 1e9 / 8, &network}, {"", 1, &unknown},    {"B", 1, &unknown},
             {"K", 1e3, &unknown},        {"KB", 1e3, &unknown},       {"M", 1e6, &unknown}, {"MB", 1e6, &unknown},
             {"G", 1e9, &unknown},        {"GB", 1e9, &unknown}};

static int nominal_parse(const struct option *option, const char *text, void *field)
{
    struct nominal *nominal = field;
    char word[32], *unit;
    size_t length = strlen(text), digits = strspn(text, "0123456789.");
    if (length > 2 && !strcmp(text + length - 2, "/s"))
        length -= 2;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!strcasecmp(text, links[i].name)) {
            *nominal = (struct nominal){links[i].rate, text, links[i].sort};
            return 0;
        }
    double number = digits && length < sizeof word ? strtod(word, &unit) : 0;
    for (size_t i = 0; number > 0 && unit == word + digits && i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(unit, units[i].suffix) != 0)
            continue;
        if (word[length - 1] == 'b')
            return error_report("--%s %s: b is ambiguous: expected mbit or gbit for bits, such as 10gbit, or B for "
                                "bytes, such as 10GB",
                                option->name, text);
        if (number * units[i].bytes >= 1 && number * units[i].bytes <= 1e15) {
            *nominal = (struct nominal){number * units[i].bytes, text, units[i].sort};
            return 0;
        }
    }
    return error_report("--%s %s: expected a rate such as 100mbit, 10gbit or 400gbit (Ethernet, InfiniBand), one of "
                        "pcie3x16, pcie4x16, pcie5x16, nvlink3, nvlink4 and nvlink5, or bytes a second up to 1e15, "
                        "such as 12.5G/s",
                        option->name, text);
}

const struct option_kind option_nominal = {VALUE_TEXT, "VALUE", nominal_parse, NULL};

const char *nominal_unused(const struct nominal *nominal, int hosts, int on_device)
{
    if (nominal->sort->of_gpus)
        return on_device ? NULL
                         : "the ranks exchange data between processes of CPUs, so no link between GPUs is involved";
    if (hosts > 1)
        return NULL;
    return nominal->sort == &network ? "all ranks are on one host, so no network is involved"
           : on_device               ? NULL
                                     : "all ranks are on one host and share its memory, so no link is involved";
}

double nominal_attainable(const struct nominal *nominal, double latency, double bus_bytes)
{
    double seconds = bus_bytes / nominal->rate;
    return seconds / (latency + seconds);
}

const char *nominal_words(char text[NOMINAL_WORDS], const struct nominal *nominal, double share, double attainable)
{
    double low = nominal->sort->low * attainable, high = nominal->sort->high * attainable;
    char of[64], most[64];
    snprintf(of, sizeof of, "%.1f %% of %.32s", 100 * share, nominal->name);
    snprintf(most, sizeof most,
             share > attainable ? "above the %.3g %% that the fitted latency leaves" : "latency leaves %.3g %%",
             100 * attainable);
    if (share > 1)
        snprintf(text, NOMINAL_WORDS, "%s, more than a link can carry: reduced in the network, or several links", of);
    else if (!isfinite(attainable))
        snprintf(text, NOMINAL_WORDS, "%s; to judge that, the latency must be known: use 4 sizes or more", of);
    else if (attainable < 0.5)
        snprintf(text, NOMINAL_WORDS, "%s; too small a message to judge the link by (%s)", of, most);
    else if (!isfinite(low))
        snprintf(text, NOMINAL_WORDS, "%s (%s)", of, most);
    else
        snprintf(text, NOMINAL_WORDS, "%s, %snormal (%.0f to %.0f %%; %s)", of,
                 share < low    ? "lower than "
                 : share > high ? "higher than "
                                : "",
                 100 * low, 100 * high, most);
    return text;
}

const char *nominal_describe(char text[NOMINAL_WORDS], const struct nominal *nominal)
{
    char rate[CELL];
    snprintf(text, NOMINAL_WORDS, "Nominal rate %s: %s each way; normal is %s.", nominal->name,
             text_value_like(rate, nominal->rate, "B/s", nominal->rate), nominal->sort->normal);
    return text;
}
