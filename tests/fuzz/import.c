/* import.c - fuzzes --model-from: each file is read as a user's model, or refused with a message. In an input, byte 0
 * chooses whether a list of parameters is given beside it; the rest is the file. */
#include "import/import.h"

#include "kernels/error.h"
#include "tests/fuzz/support/support.h"

#include <string.h>

static const char list[] = "[[\"a.0.w\", [3, 4], true], [\"b\", [7], false], [\"c\", [7], true]]";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return fuzz_begin();
}

/* Whatever was read, its tensors lie in the arena, and its times are numbers. */
static void check(const struct imported *m)
{
    const struct step_profile *p = &m->profile;
    for (int i = 0; i < p->tensors; i++)
        if (!p->tensor[i].count || p->tensor[i].offset + p->tensor[i].count > p->arena)
            FATAL("tensor %d is not in the arena", i);
    for (size_t i = 0; i < p->steps; i++)
        for (int t = 0; t < p->tensors; t++)
            if (p->step[i].ready[t] != p->step[i].ready[t])
                FATAL("a time is not a number");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct imported m;
    if (!size)
        return -1;
    fuzz_put_file("list", (const uint8_t *)list, sizeof list - 1);
    fuzz_put_file("file", data + 1, size - 1);
    error_clear();
    if (!import_read(&m, "model-from", data[0] & 1 ? "file,list" : "file"))
        check(&m);
    else if (!*error_text())
        FATAL("refused without an error message");
    import_destroy(&m);
    return 0;
}
