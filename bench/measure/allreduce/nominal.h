/* nominal.h - the rate of a link, and the share of it that busbw normally reaches. Pure. */
#ifndef BENCH_MEASURE_ALLREDUCE_NOMINAL_H
#define BENCH_MEASURE_ALLREDUCE_NOMINAL_H

#include "base/option_table.h"

/* A sort of link. Sources are in bench/measure/allreduce/README.md. */
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

/* Why this link cannot carry data between the ranks, in words; NULL: it can. on_device: GPUs run the collectives. */
const char *nominal_unused(const struct nominal *nominal, int hosts, int on_device);

/* The largest share of the rate that a latency allows: t / (latency + t), where t = bus_bytes / rate. */
double nominal_attainable(const struct nominal *nominal, double latency, double bus_bytes);

/* Writes and returns a share of the nominal rate (1: all of it) in words, and whether it is normal for the link, given
 * that the latency allows only `attainable` of the rate (NAN: not known). */
enum { NOMINAL_WORDS = 256 };
const char *nominal_words(char text[NOMINAL_WORDS], const struct nominal *nominal, double share, double attainable);

#endif
