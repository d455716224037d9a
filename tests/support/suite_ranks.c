/* suite_ranks.c - runs a suite of Check tests on every rank of a job. */
#include "tests/support/suite.h"

#include <stdio.h>

int suite_run_ranks(Suite *suite, struct job *job)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, job->rank == 0 ? CK_NORMAL : CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    double any = job_max(job, failed);
    if (any > 0 && failed == 0 && job->rank == 0)
        printf("ranks other than 0 failed, at most %.0f checks on one rank\n", any);
    return job_end(job, any > 0);
}
