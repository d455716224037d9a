/* exposition.c - numbers in the text format of Prometheus. */
#include "base/exposition.h"

#include "base/text.h"

#include <math.h>

void exposition_metric(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_label(FILE *out, const struct exposition_label *label)
{
    fprintf(out, "%s=\"", label->name);
    for (const char *c = label->value; *c;) {
        const char *escape = *c == '\\' ? "\\\\" : *c == '"' ? "\\\"" : *c == '\n' ? "\\n" : NULL;
        if (escape)
            fputs(escape, out);
        c += escape ? 1 : text_print_character(out, c);
    }
    putc('"', out);
}

void exposition_sample(FILE *out, const char *name, const struct exposition_label *label, size_t n, double value)
{
    fputs(name, out);
    for (size_t i = 0; i < n; i++) {
        putc(i ? ',' : '{', out);
        print_label(out, &label[i]);
    }
    if (n)
        putc('}', out);
    if (isfinite(value))
        fprintf(out, " %.15g\n", value);
    else
        fprintf(out, " %s\n", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
}

void exposition_single(FILE *out, const char *name, const char *type, const char *help, double value)
{
    if (isnan(value))
        return;
    exposition_metric(out, name, type, help);
    exposition_sample(out, name, NULL, 0, value);
}
