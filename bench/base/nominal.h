/* nominal.h - the rate of a link, and the share of it that is normally reached. All functions are pure. */
#ifndef BENCH_BASE_NOMINAL_H
#define BENCH_BASE_NOMINAL_H

#include "base/option_table.h"

/* A kind of link. The sources of the shares (collectives: of busbw) are in bench/measure/allreduce/README.md. */
struct link_sort {
    int of_gpus;        /* 1: joins the GPUs of a host; 0: joins hosts, or unknown */
    double low, high;   /* bounds of the normal share of the rate for large messages; NAN: unknown */
    const char *normal; /* these bounds in words */
};

struct nominal {
    double rate; /* bytes / second in each direction; 0: none was given */
    const char *name;
    const struct link_sort *sort;
};

/* Parses a rate such as 100gbit, a name such as nvlink4, or bytes / second with a decimal suffix such as 12.5G/s. */
extern const struct option_kind option_nominal; /* fills a struct nominal; its name points into argv */

/* Returns why this link cannot carry data between the ranks, or NULL if it can. on_device: data goes between GPUs. */
const char *nominal_unused(const struct nominal *nominal, int hosts, int on_device);

/* Returns the largest share of the rate that a latency allows: t / (latency + t), where t = bus_bytes / rate. */
double nominal_attainable(const struct nominal *nominal, double latency, double bus_bytes);

/* Writes into text, and returns, a sentence on a share of the nominal rate (1: all of it): whether it is normal for the
 * link. attainable: the largest share that the latency allows; below 1/2, or NAN (unknown), the share is not judged. */
enum { NOMINAL_WORDS = 256 };
const char *nominal_words(char text[NOMINAL_WORDS], const struct nominal *nominal, double share, double attainable);

/* Writes into text, and returns, a sentence on the nominal rate and what is normal. */
const char *nominal_describe(char text[NOMINAL_WORDS], const struct nominal *nominal);

#endif
