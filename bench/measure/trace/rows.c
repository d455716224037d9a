/* rows.c - texts and times in a trace, and the members that all rows have. */
#include "trace/rows.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- text ---- */

void trace_put_us(struct trace_writer *w, int64_t ns)
{
    int64_t value = ns > 0 ? ns : 0;
    fprintf(w->out, "%" PRId64 ".%03d", value / 1000, (int)(value % 1000));
}

void trace_put_string(struct trace_writer *w, const char *text)
{
    putc('"', w->out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            putc('\\', w->out);
        putc(*c >= ' ' && *c <= '~' ? *c : '?', w->out); /* host names and labels should be ASCII */
    }
    putc('"', w->out);
}

/* ---- rows ---- */

int64_t trace_row_time(const struct trace *t, int64_t ns)
{
    return alignment_apply(t->alignment, ns) - t->base_ns;
}

void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread, int64_t ts)
{
    fprintf(w->out, "%s\n{\"ph\": \"%s\", \"pid\": %ld, \"tid\": %ld, \"ts\": ", w->first ? "" : ",", phase, pid,
            thread);
    w->first = 0;
    trace_put_us(w, ts);
}

void trace_ts_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start,
                         int64_t end, long id)
{
    trace_row_begin(w, "X", pid, thread, start);
    fputs(", \"dur\": ", w->out);
    trace_put_us(w, end - (start > 0 ? start : 0));
    w->end = end > w->end ? end : w->end;
    fprintf(w->out, ", \"cat\": \"%s\", \"args\": {\"External id\": %ld", category, id);
}

void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start_ns,
                      int64_t end_ns, long id)
{
    trace_ts_span_begin(w, category, pid, thread, trace_row_time(w->trace, start_ns), trace_row_time(w->trace, end_ns),
                        id);
}

void trace_span_end(struct trace_writer *w, const char *name)
{
    fputs("}, \"name\": ", w->out);
    trace_put_string(w, name);
    fputs("}", w->out);
}

void trace_put_stamped(struct trace_writer *w, long id)
{
    if (w->trace->gpu && !w->trace->activities)
        fprintf(w->out, ", \"correlation\": %ld", id);
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
        fprintf(w->out, ", \"name\": \"%s_%s\", \"args\": {\"%s\": ", of, what, what);
        trace_put_string(w, i ? labels : name);
        fputs("}}", w->out);
    }
    trace_row_begin(w, "M", pid, thread, 0);
    fprintf(w->out, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %d}}", of, place);
}
