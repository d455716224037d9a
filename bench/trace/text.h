/* text.h - the text of a trace on its way to a sink, in pieces of 64 KiB. Nothing is written after a failure. */
#ifndef BENCH_TRACE_TEXT_H
#define BENCH_TRACE_TEXT_H

#include "trace/trace.h"

/* To begin with, zeroed but for the sink. */
struct trace_text {
    const struct trace_sink *sink;
    size_t n;
    int failed;
    char text[1 << 16];
};

/* Adds text: n bytes (64 KiB at most); all of a string; printf's, of less than 1 KiB. */
void trace_text_bytes(struct trace_text *t, const char *text, size_t n);
void trace_text_put(struct trace_text *t, const char *text);
void trace_text_print(struct trace_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a whole number; nanoseconds as microseconds with three decimals, 0 for a negative time; a JSON string. */
void trace_text_count(struct trace_text *t, uint64_t value);
void trace_text_us(struct trace_text *t, int64_t ns);
void trace_text_string(struct trace_text *t, const char *text);

/* Writes what is left. Returns 0; or -1 if the sink failed. */
int trace_text_flush(struct trace_text *t);

#endif
