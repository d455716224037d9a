/* junit.c - prints test results as JUnit XML. */
#include "base/junit.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    text_print_markup(out, value);
    fputc('"', out);
}

void junit_begin(struct junit *junit)
{
    *junit = (struct junit){0};
    junit->out = text_begin(&junit->text, &junit->length);
}

/* Writes the message twice, because GitLab shows the text of the element, and Jenkins the attribute `message`. */
void junit_add(struct junit *junit, const struct junit_case *test)
{
    static const char *const element[] = {
        [JUNIT_FAILED] = "failure", [JUNIT_ERROR] = "error", [JUNIT_SKIPPED] = "skipped"};
    fputs("    <testcase", junit->out);
    print_attribute(junit->out, "classname", test->class);
    print_attribute(junit->out, "name", test->name);
    if (isfinite(test->seconds)) {
        fprintf(junit->out, " time=\"%.9f\"", test->seconds);
        junit->seconds += test->seconds;
    }
    junit->n[test->outcome]++;
    if (test->outcome == JUNIT_PASSED) {
        fputs("/>\n", junit->out);
        return;
    }
    fprintf(junit->out, ">\n      <%s", element[test->outcome]);
    print_attribute(junit->out, "type", test->type);
    print_attribute(junit->out, "message", test->message);
    fputc('>', junit->out);
    text_print_markup(junit->out, test->message);
    fprintf(junit->out, "</%s>\n    </testcase>\n", element[test->outcome]);
}

/* Prints the attributes of an element that holds all cases: name, number of cases by outcome, total duration. */
static void print_sums(const struct junit *junit, FILE *out, const char *name)
{
    size_t all = 0;
    for (int i = 0; i < JUNIT_OUTCOMES; i++)
        all += junit->n[i];
    print_attribute(out, "name", name);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.9f\">\n", all,
            junit->n[JUNIT_FAILED], junit->n[JUNIT_ERROR], junit->n[JUNIT_SKIPPED], junit->seconds);
}

/* Prints `words` as XML text; keeps newlines, which text_print_markup would replace. */
static void print_lines(FILE *out, const char *words)
{
    char *copy = allocate(strlen(words) + 1, 1), *rest = strcpy(copy, words);
    for (char *line; (line = strsep(&rest, "\n"));) {
        text_print_markup(out, line);
        fputs(rest ? "\n" : "", out);
    }
    free(copy);
}

void junit_end(struct junit *junit, FILE *out, const char *name, const char *words)
{
    text_end(junit->out);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    print_sums(junit, out, name);
    fputs("  <testsuite", out);
    print_sums(junit, out, name);
    fputs(junit->text, out);
    if (*words) {
        fputs("    <system-out>", out);
        print_lines(out, words);
        fputs("</system-out>\n", out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
    free(junit->text);
    *junit = (struct junit){0};
}
