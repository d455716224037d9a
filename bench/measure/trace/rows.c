/* rows.c - the text of a trace, and the members that all rows have. Numbers are formatted without printf, for speed. */
#include "trace/rows.h"

#include "kernels/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

int trace_flush(struct trace_writer *w)
{
    if (!w->failed && w->n)
        w->failed = w->sink->write(w->sink->context, w->text, w->n) != 0;
    w->n = 0;
    return w->failed ? -1 : 0;
}

static void put_bytes(struct trace_writer *w, const char *text, size_t n)
{
    if (w->n + n > sizeof w->text)
        (void)trace_flush(w);
    memcpy(w->text + w->n, text, n);
    w->n += n;
}

void trace_put(struct trace_writer *w, const char *text)
{
    put_bytes(w, text, strlen(text));
}

void trace_print(struct trace_writer *w, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof text)
        FATAL("a row of the trace has %d characters, more than 1023", n);
    put_bytes(w, text, (size_t)n);
}

void trace_put_count(struct trace_writer *w, uint64_t value)
{
    char digit[24];
    size_t n = sizeof digit;
    do
        digit[--n] = (char)('0' + value % 10);
    while (value /= 10);
    put_bytes(w, digit + n, sizeof digit - n);
}

void trace_put_us(struct trace_writer *w, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    char decimals[4] = {'.', (char)('0' + value / 100 % 10), (char)('0' + value / 10 % 10), (char)('0' + value % 10)};
    trace_put_count(w, value / 1000);
    put_bytes(w, decimals, sizeof decimals);
}

void trace_put_string(struct trace_writer *w, const char *text)
{
    trace_put(w, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            trace_put(w, "\\");
        put_bytes(w, *c >= ' ' && *c <= '~' ? c : "?", 1); /* host names and labels should be ASCII */
    }
    trace_put(w, "\"");
}

/* ---- rows ---- */

int64_t trace_row_time(const struct trace *t, int64_t ns)
{
    return alignment_apply(t->alignment, ns) - t->base_ns;
}

void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts)
{
    trace_put(w, w->first ? "\n{\"ph\": \"" : ",\n{\"ph\": \"");
    w->first = 0;
    trace_put(w, phase);
    trace_put(w, "\", \"pid\": ");
    trace_put_count(w, (uint64_t)pid);
    trace_put(w, ", \"tid\": ");
    trace_put_count(w, (uint64_t)thread);
    trace_put(w, ", \"ts\": ");
    trace_put_us(w, ts);
}

void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id)
{
    trace_row_begin(w, "X", pid, thread, start);
    trace_put(w, ", \"dur\": ");
    trace_put_us(w, end - (start > 0 ? start : 0));
    w->end = end > w->end ? end : w->end;
    trace_put(w, ", \"cat\": \"");
    trace_put(w, category);
    trace_put(w, "\", \"args\": {\"External id\": ");
    trace_put_count(w, (uint64_t)id);
}

void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id)
{
    trace_ts_span_begin(w, category, pid, thread, trace_row_time(w->trace, start_ns), trace_row_time(w->trace, end_ns),
                        id);
}

void trace_span_end(struct trace_writer *w, const char *name)
{
    trace_put(w, "}, \"name\": ");
    trace_put_string(w, name);
    trace_put(w, "}");
}

void trace_put_stamped(struct trace_writer *w, long id)
{
    if (w->trace->gpu && !w->trace->activities)
        trace_print(w, ", \"correlation\": %ld", id);
}

void trace_put_lane(struct trace_writer *w, const char *of, long pid, long thread, int place, const char *labels,
                    const char *format, ...)
{
    char name[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    for (int i = 0; i < (labels ? 2 : 1); i++) {
        const char *what = i ? "labels" : "name";
        trace_row_begin(w, "M", pid, thread, 0);
        trace_print(w, ", \"name\": \"%s_%s\", \"args\": {\"%s\": ", of, what, what);
        trace_put_string(w, i ? labels : name);
        trace_put(w, "}}");
    }
    trace_row_begin(w, "M", pid, thread, 0);
    trace_print(w, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %d}}", of, place);
}
