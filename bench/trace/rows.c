/* rows.c - what all rows of a trace have. */
#include "trace/rows.h"

#include <math.h>

int64_t row_time(const struct trace *t, int64_t ns)
{
    return alignment_apply(t->alignment, ns) - t->base_ns;
}

void begin_row(struct writer *w, const char *phase, long pid, long thread)
{
    text_put(&w->out, w->first ? "\n{\"ph\": \"" : ",\n{\"ph\": \"");
    w->first = 0;
    text_put(&w->out, phase);
    text_put(&w->out, "\", \"pid\": ");
    text_count(&w->out, (uint64_t)pid);
    text_put(&w->out, ", \"tid\": ");
    text_count(&w->out, (uint64_t)thread);
}

void begin_span(struct writer *w, const char *category, long pid, long thread, int64_t start, int64_t end, long id)
{
    begin_row(w, "X", pid, thread);
    text_put(&w->out, ", \"ts\": ");
    text_us(&w->out, start);
    text_put(&w->out, ", \"dur\": ");
    text_us(&w->out, end - (start > 0 ? start : 0));
    text_put(&w->out, ", \"cat\": \"");
    text_put(&w->out, category);
    text_put(&w->out, "\", \"args\": {\"External id\": ");
    text_count(&w->out, (uint64_t)id);
}

void end_row(struct writer *w)
{
    text_put(&w->out, "}}");
}

void put_name(struct writer *w, const char *name)
{
    text_put(&w->out, ", \"name\": \"");
    text_put(&w->out, name);
    text_put(&w->out, "\"");
}

void end_span(struct writer *w, const char *name)
{
    text_put(&w->out, "}, \"name\": ");
    text_string(&w->out, name);
    text_put(&w->out, "}");
}

void put_annotation(struct writer *w, const char *name, int64_t start, int64_t end, long id)
{
    begin_span(w, "user_annotation", w->pid, w->trace->thread, start, end, id);
    text_put(&w->out, "}");
    put_name(w, name);
    text_put(&w->out, "}");
}

void put_metadata(struct writer *w, const char *kind, long pid, long thread, const char *key, const char *value)
{
    begin_row(w, "M", pid, thread);
    text_put(&w->out, ", \"ts\": 0.000");
    put_name(w, kind);
    text_print(&w->out, ", \"args\": {\"%s\": ", key);
    text_string(&w->out, value);
    end_row(w);
}

void put_sort_index(struct writer *w, const char *kind, long pid, long thread, int index)
{
    begin_row(w, "M", pid, thread);
    text_put(&w->out, ", \"ts\": 0.000");
    put_name(w, kind);
    text_print(&w->out, ", \"args\": {\"sort_index\": %d", index);
    end_row(w);
}

void put_counter(struct writer *w, const char *name, int64_t ts, const char *series, double value)
{
    if (!isfinite(value))
        return;
    begin_row(w, "C", w->pid, w->trace->thread);
    text_put(&w->out, ", \"ts\": ");
    text_us(&w->out, ts);
    put_name(w, name);
    text_print(&w->out, ", \"args\": {\"%s\": %.9g", series, value);
    end_row(w);
}
