/* version.h - which program wrote a result, and in which layout. */
#ifndef BENCH_BASE_VERSION_H
#define BENCH_BASE_VERSION_H

/* The layout of run.json and summary.json. Results of another layout are refused, never guessed at. */
#define RESULTS_SCHEMA 3

/* ddpbench's version, as git described it when it was built. */
const char *version_text(void);

#endif
