/* tokens.c - fuzzes --data: each file is opened, checked and read to its end, or refused with a message. In an input,
 * byte 0 chooses a token shard or bytes, byte 1 the vocabulary, byte 2 the context length; the rest is the file. */
#include "ddp/data_source.h"
#include "kernels/error.h"
#include "tests/fuzz/support/support.h"

#include <stdlib.h>

enum { HEADER = 3 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return fuzz_begin();
}

static void read_all(const struct source *source)
{
    char why[200];
    int32_t *row = malloc((source->T + 1) * sizeof *row);
    unsigned char *raw = malloc(source->token_bytes * (source->T + 1));
    for (size_t place = 0; place <= source->sequences; place++) {
        if (source_read(source, place, row, raw, why, sizeof why))
            FATAL("a checked file cannot be read: %s", why);
        for (size_t t = 0; t <= source->T; t++)
            if (row[t] < 0 || (size_t)row[t] >= source->vocabulary)
                FATAL("token %d is not below %zu", (int)row[t], source->vocabulary);
    }
    free(row);
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source;
    if (size < HEADER)
        return -1;
    const struct data_options options = {.path = data[0] & 1 ? "tokens.bin" : "tokens.txt",
                                         .vocabulary = (size_t)(data[1] ? data[1] : 65536),
                                         .context_length = (size_t)data[2] + 1,
                                         .global_batch = 2,
                                         .micro_batches = 1,
                                         .ranks = 1};
    fuzz_put_file(options.path, data + HEADER, size - HEADER);
    error_clear();
    if (!source_open(&source, &options)) {
        read_all(&source);
        source_close(&source);
    } else if (!*error_text())
        FATAL("refused without an error message");
    return 0;
}
