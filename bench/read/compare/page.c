/* page.c - prints a comparison as an HTML page: verdict, picture, table, runs and settings. */
#include "compare/outcome.h"

#include "base/json.h"
#include "base/text.h"
#include "chart/chart.h"

#include <stdlib.h>
#include <string.h>

/* Draws the worst figures. */
static void draw(cJSON *document, const struct comparison *c)
{
    enum { DRAWN = 24 };
    struct intervals all = compare_intervals(c);
    const size_t n = all.n;
    char title[500], subtitle[700];
    all.n = n < DRAWN ? n : DRAWN;
    intervals_finding(title, sizeof title, &all, 1);
    snprintf(subtitle, sizeof subtitle,
             "%s: %s / %s - 1 (of rates: the reverse), with the intervals of the table%s; the worst %zu of %zu figures",
             all.what, c->name[CANDIDATE], c->name[BASELINE], all.known ? "" : " (none below 5 baselines)", all.n, n);
    if (n)
        document_add_picture(document, "compare", title, chart_intervals(title, subtitle, &all));
    free(all.row);
}

/* Adds each line of what `print` prints, as a block of that kind. */
static void add_lines(cJSON *document, const char *kind, void (*print)(FILE *, const struct comparison *),
                      const struct comparison *c)
{
    char *text, *rest;
    size_t length;
    FILE *out = text_begin(&text, &length);
    print(out, c);
    text_end(out);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        document_add(document, kind, "%s", line);
    free(text);
}

/* Adds the runs with their differences, and the settings of the first one. */
static void add_runs(cJSON *document, const struct comparison *c)
{
    char machine[128], settings[6000] = "";
    document_add_heading(document, "Runs and settings");
    add_lines(document, "item", compare_print_runs, c);
    for (const struct compare_run *run = *c->run; run < *c->run + c->n[BASELINE] + c->n[CANDIDATE]; run++) {
        const cJSON *of = run->saved.run;
        place_machine(machine, sizeof machine, of);
        document_add_item(document, "%s: %s of %s, %s %s, on %s", run->saved.directory, json_string(of, "mode"),
                          json_string(of, "time"), json_string(of, "program"), json_string(of, "version"), machine);
    }
    for (const cJSON *one = (*c->run)->setting[SETTING]->child; one; one = one->next)
        text_append(settings, sizeof settings, "%s %s%s", one->string, one->valuestring, one->next ? ", " : "");
    document_add_item(document, "Settings of %s: %s", (*c->run)->saved.directory, settings);
}

void compare_print_html(FILE *out, const void *shown)
{
    const struct comparison *c = shown;
    const int comparable = c->status != COMPARE_INCOMPARABLE;
    cJSON *document = document_create(COMPARE_TITLE "%s", comparable ? verdict_name[c->verdict] : "incomparable");
    add_lines(document, "paragraph", compare_print_verdict, c);
    if (comparable) {
        cJSON *table = compare_table(c);
        draw(document, c);
        document_add_saved_table(document, table);
        cJSON_Delete(table);
    }
    add_runs(document, c);
    document_print_html(out, document);
    cJSON_Delete(document);
}
