/* support.c - shared by the fuzzed programs. */
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

static size_t printed; /* bytes written to stderr since the last call of fuzz_was_explained */

static ssize_t count_bytes(void *cookie, const char *bytes, size_t n)
{
    (void)cookie;
    (void)bytes;
    printed += n;
    return (ssize_t)n;
}

int fuzz_was_explained(void)
{
    fflush(stderr);
    int explained = printed > 0 || *error_text();
    printed = 0;
    return explained;
}

int fuzz_begin(void)
{
    const char *scratch = getenv("FUZZ_SCRATCH"); /* NOLINT(concurrency-mt-unsafe) */
    fatal_set_job(0, crash);
    if (!scratch || chdir(scratch))
        FATAL("FUZZ_SCRATCH has to name an empty directory; tests/fuzz/run.sh makes one");
    stderr =
        fopencookie(NULL, "w", (cookie_io_functions_t){.write = count_bytes}); /* libFuzzer prints to another stream */
    return stderr ? 0 : 1;
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
