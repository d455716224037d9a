/* suite.h - runs a suite of Check tests to its end and tells main's status. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include "ddp/job.h"

#include <check.h>

/* Each test in a process of its own; frees the suite. Returns main's status. */
int suite_run(Suite *suite);

/* The same on every rank of a job, in this process (MPI does not survive a fork); rank 0 prints. Ends the job. */
int suite_run_ranks(Suite *suite, struct job *job);

#endif
