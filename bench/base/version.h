/* version.h - the versions of the program and of the layout of its results. */
#ifndef BENCH_BASE_VERSION_H
#define BENCH_BASE_VERSION_H

/* The version of the layout of run.json and summary.json. Results in another layout are rejected. */
#define RESULTS_SCHEMA 4

/* Returns the version of bench/VERSION, and how git describes the sources if it does, as in "0.9.0 (3f47bd21)". */
const char *version_text(void);

#endif
