/* version.h - the versions of the program and of the layout of its results. */
#ifndef BENCH_BASE_VERSION_H
#define BENCH_BASE_VERSION_H

/* The version of the layout of run.json and summary.json. Results in another layout are rejected. */
#define RESULTS_SCHEMA 4

/* Returns ddpbench's version, as git described it at build time. */
const char *version_text(void);

#endif
