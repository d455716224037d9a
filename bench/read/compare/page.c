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

void compare_print_html(FILE *out, const void *shown)
{
    const struct comparison *c = shown;
    int comparable = c->status != COMPARE_INCOMPARABLE;
    char *text = compare_text(c), *table = strstr(text, "\n\n"), *verdict = strstr(table, "\nVerdict: "), *rest = NULL;
    char machine[128], *settings = json_print((*c->run)->setting[SETTING], 0);
    cJSON *json = comparable ? compare_table(c) : NULL,
          *document = document_create(COMPARE_TITLE "%s", comparable ? verdict_name[c->verdict] : "incomparable");
    document_add_paragraph(document, "%.*s", (int)strcspn(verdict + 1, "\n"), verdict + 1);
    *table = 0;
    if (comparable) {
        draw(document, c);
        document_add_saved_table(document, json);
    }
    document_add_heading(document, "Runs and settings");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        document_add_item(document, "%s", line);
    for (const struct compare_run *run = *c->run; run < *c->run + c->n[BASELINE] + c->n[CANDIDATE]; run++) {
        const cJSON *of = run->saved.run;
        place_machine(machine, sizeof machine, of);
        document_add_item(document, "%s: %s of %s, %s %s, on %s", run->saved.directory, json_string(of, "mode"),
                          json_string(of, "time"), json_string(of, "program"), json_string(of, "version"), machine);
    }
    document_add_item(document, "Settings of %s: %s", (*c->run)->saved.directory, settings);
    document_print_html(out, document);
    cJSON_Delete(document);
    cJSON_Delete(json);
    free(settings);
    free(text);
}
