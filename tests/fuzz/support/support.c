/* support.c - what the fuzzed programs share. */
#include "tests/fuzz/support/support.h"

#include "kernels/error.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void crash(int status)
{
    (void)status;
    abort();
}

int fuzz_begin(void)
{
    const char *scratch = getenv("FUZZ_SCRATCH"); /* NOLINT(concurrency-mt-unsafe) */
    fatal_set_job(0, crash);
    if (!scratch || chdir(scratch))
        FATAL("FUZZ_SCRATCH has to name an empty directory; tests/fuzz/run.sh makes one");
    return 0;
}

void fuzz_put_file(const char *path, const uint8_t *data, size_t size)
{
    if (!data) {
        unlink(path);
        return;
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file))
        FATAL("cannot write %s", path);
}
