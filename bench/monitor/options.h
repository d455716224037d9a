/* options.h - the options that start the monitors. */
#ifndef BENCH_MONITOR_OPTIONS_H
#define BENCH_MONITOR_OPTIONS_H

#include "base/option_table.h"

struct monitor_options {
    int cpu, gpu; /* 1: watch them */
};

struct option_section monitor_options_section(struct monitor_options *options);

#endif
