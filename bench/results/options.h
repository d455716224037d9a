/* options.h - the options that say where results go and what they are called. */
#ifndef BENCH_RESULTS_OPTIONS_H
#define BENCH_RESULTS_OPTIONS_H

#include "base/option_table.h"

struct results_options {
    const char *output, *label; /* "": results/<time>[-<label>]; "": none */
};

struct option_section results_options_section(struct results_options *options);

#endif
