/* scratch.c - directories for the files of a test. */
#include "tests/support/scratch.h"

#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char directory[16][32];
static int directories;

const char *scratch_make(void)
{
    if (directories == sizeof directory / sizeof *directory)
        FATAL("more than %d directories", directories);
    strcpy(directory[directories], "/tmp/ddpbench_test_XXXXXX");
    if (!mkdtemp(directory[directories]))
        FATAL("cannot make a directory below /tmp");
    return directory[directories++];
}

void scratch_remove_all(void)
{
    char command[96];
    while (directories > 0) {
        const char *path = directory[--directories];
        snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", path, path);
        if (system(command))
            FATAL("cannot remove %s", path);
    }
}
