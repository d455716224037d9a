/* text.c - the text of a trace. Numbers are put down digit by digit: printf would take most of the time of a
 * large one. */
#include "trace/text.h"

#include "kernels/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int trace_text_flush(struct trace_text *t)
{
    if (!t->failed && t->n)
        t->failed = t->sink->write(t->sink->context, t->text, t->n) != 0;
    t->n = 0;
    return t->failed ? -1 : 0;
}

void trace_text_bytes(struct trace_text *t, const char *text, size_t n)
{
    if (t->n + n > sizeof t->text)
        (void)trace_text_flush(t);
    memcpy(t->text + t->n, text, n);
    t->n += n;
}

void trace_text_put(struct trace_text *t, const char *text)
{
    trace_text_bytes(t, text, strlen(text));
}

void trace_text_print(struct trace_text *t, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof text)
        FATAL("a trace row of %d characters", n);
    trace_text_bytes(t, text, (size_t)n);
}

void trace_text_count(struct trace_text *t, uint64_t value)
{
    char digit[24];
    size_t n = sizeof digit;
    do
        digit[--n] = (char)('0' + value % 10);
    while (value /= 10);
    trace_text_bytes(t, digit + n, sizeof digit - n);
}

void trace_text_us(struct trace_text *t, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    char decimals[4] = {'.', (char)('0' + value / 100 % 10), (char)('0' + value / 10 % 10), (char)('0' + value % 10)};
    trace_text_count(t, value / 1000);
    trace_text_bytes(t, decimals, sizeof decimals);
}

void trace_text_string(struct trace_text *t, const char *text)
{
    trace_text_put(t, "\"");
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            trace_text_print(t, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            trace_text_put(t, "?"); /* names of hosts and labels are ASCII; whatever is not stays readable */
        else
            trace_text_bytes(t, c, 1);
    trace_text_put(t, "\"");
}
