/* rows.c - what all rows of a trace have. */
#include "trace/rows.h"

#include <math.h>

int64_t trace_row_time(const struct trace *t, int64_t ns)
{
    return alignment_apply(t->alignment, ns) - t->base_ns;
}

void trace_row_begin(struct trace_writer *w, const char *phase, long pid, long thread)
{
    trace_text_put(&w->out, w->first ? "\n{\"ph\": \"" : ",\n{\"ph\": \"");
    w->first = 0;
    trace_text_put(&w->out, phase);
    trace_text_put(&w->out, "\", \"pid\": ");
    trace_text_count(&w->out, (uint64_t)pid);
    trace_text_put(&w->out, ", \"tid\": ");
    trace_text_count(&w->out, (uint64_t)thread);
}

void trace_span_begin(struct trace_writer *w, const char *category, long pid, long thread, int64_t start, int64_t end,
                      long id)
{
    trace_row_begin(w, "X", pid, thread);
    trace_text_put(&w->out, ", \"ts\": ");
    trace_text_us(&w->out, start);
    trace_text_put(&w->out, ", \"dur\": ");
    trace_text_us(&w->out, end - (start > 0 ? start : 0));
    trace_text_put(&w->out, ", \"cat\": \"");
    trace_text_put(&w->out, category);
    trace_text_put(&w->out, "\", \"args\": {\"External id\": ");
    trace_text_count(&w->out, (uint64_t)id);
}

void trace_row_end(struct trace_writer *w)
{
    trace_text_put(&w->out, "}}");
}

void trace_put_name(struct trace_writer *w, const char *name)
{
    trace_text_put(&w->out, ", \"name\": \"");
    trace_text_put(&w->out, name);
    trace_text_put(&w->out, "\"");
}

void trace_span_end(struct trace_writer *w, const char *name)
{
    trace_text_put(&w->out, "}, \"name\": ");
    trace_text_string(&w->out, name);
    trace_text_put(&w->out, "}");
}

void trace_put_annotation(struct trace_writer *w, const char *name, int64_t start, int64_t end, long id)
{
    trace_span_begin(w, "user_annotation", w->pid, w->trace->thread, start, end, id);
    trace_text_put(&w->out, "}");
    trace_put_name(w, name);
    trace_text_put(&w->out, "}");
}

void trace_put_metadata(struct trace_writer *w, const char *kind, long pid, long thread, const char *key,
                        const char *value)
{
    trace_row_begin(w, "M", pid, thread);
    trace_text_put(&w->out, ", \"ts\": 0.000");
    trace_put_name(w, kind);
    trace_text_print(&w->out, ", \"args\": {\"%s\": ", key);
    trace_text_string(&w->out, value);
    trace_row_end(w);
}

void trace_put_sort_index(struct trace_writer *w, const char *kind, long pid, long thread, int index)
{
    trace_row_begin(w, "M", pid, thread);
    trace_text_put(&w->out, ", \"ts\": 0.000");
    trace_put_name(w, kind);
    trace_text_print(&w->out, ", \"args\": {\"sort_index\": %d", index);
    trace_row_end(w);
}

void trace_put_counter(struct trace_writer *w, const char *name, int64_t ts, const char *series, double value)
{
    if (!isfinite(value))
        return;
    trace_row_begin(w, "C", w->pid, w->trace->thread);
    trace_text_put(&w->out, ", \"ts\": ");
    trace_text_us(&w->out, ts);
    trace_put_name(w, name);
    trace_text_print(&w->out, ", \"args\": {\"%s\": %.9g", series, value);
    trace_row_end(w);
}
