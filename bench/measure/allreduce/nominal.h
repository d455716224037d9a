/* nominal.h - what a link is rated at, and what share of that busbw normally reaches. Pure. */
#ifndef BENCH_MEASURE_ALLREDUCE_NOMINAL_H
#define BENCH_MEASURE_ALLREDUCE_NOMINAL_H

#include "base/option_table.h"

/* What is known of a sort of link. Sources are in bench/measure/allreduce/README.md. */
struct link_sort {
    int of_gpus;      /* between the GPUs of a host; 0: between hosts, or anything */
    double low, high; /* the share of the rate that is normal with large messages; NAN: not known */
    const char *normal;
};

struct nominal {
    double rate; /* bytes / second in each direction; 0: none was given */
    const char *name;
    const struct link_sort *sort;
};

/* Reads 100gbit and the like, a name such as nvlink4, or bytes / second with a decimal suffix, such as 12.5G/s. */
extern const struct option_kind option_nominal; /* struct nominal, with the name in argv */

/* Why such a link carries nothing between these ranks, in words; NULL: it may. on_device: collectives are work of
 * the GPUs. */
const char *nominal_unused(const struct nominal *nominal, int hosts, int on_device);

/* What share of the rate is the most that a latency leaves: t / (latency + t), where t = bus_bytes / rate. */
double nominal_attainable(const struct nominal *nominal, double latency, double bus_bytes);

/* In words: `share` of the nominal rate (1 is all of it), and whether that is normal for such a link, or, where latency
 * leaves only `attainable` of the rate (NAN: not known), for that. Writes and returns text. */
enum { NOMINAL_WORDS = 256 };
const char *nominal_words(char text[NOMINAL_WORDS], const struct nominal *nominal, double share, double attainable);

#endif
