/* analysis.c - puts the sections of a report together. */
#include "report/analysis.h"

#include "base/json.h"
#include "document/document.h"
#include "report/bottlenecks.h"
#include "report/scaling.h"
#include "report/sections.h"

#include <stdio.h>
#include <string.h>

cJSON *analysis_create(const struct report_runs *runs)
{
    struct scaling *scaling;
    struct bottlenecks bottlenecks;
    size_t scalings = scaling_find(&scaling, runs);
    bottlenecks_find(&bottlenecks, runs, scaling, scalings);
    const struct report_run *single = runs->n == 1 ? runs->item : NULL;
    const char *unfinished = single ? single->unfinished : "";
    cJSON *document = !single ? document_create(ANALYSIS_TITLE "%zu runs", runs->n)
                              : document_create(*unfinished ? ANALYSIS_TITLE "%s (%s)" : ANALYSIS_TITLE "%s",
                                                single->label, unfinished);
    section_add_summary(document, runs, scaling, scalings, &bottlenecks);
    section_add_bottlenecks(document, &bottlenecks);
    section_add_choices(document, runs);
    section_add_breakdown(document, runs);
    section_add_steps(document, runs);
    section_add_scaling(document, scaling, scalings);
    section_add_buckets(document, runs);
    section_add_collectives(document, runs);
    section_add_runs(document, runs);
    bottlenecks_destroy(&bottlenecks);
    scaling_destroy(scaling, scalings);
    return document;
}

static void add_lines(cJSON *document, const cJSON *summary, const char *list)
{
    const cJSON *line;
    cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(summary, list))
    {
        const char *text = cJSON_GetStringValue(line);
        if (text && *text)
            document_add_paragraph(document, "%s", text);
    }
}

void analysis_add_run(cJSON *document, const struct report_run *run)
{
    const cJSON *table;
    document_add_heading(document, "What the run printed");
    add_lines(document, run->summary, "heading");
    add_lines(document, run->summary, "answers");
    cJSON_ArrayForEach(table, cJSON_GetObjectItemCaseSensitive(run->summary, "tables"))
    {
        if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(table, "detail")))
            document_add_saved_table(document, table);
    }
    add_lines(document, run->summary, "notes");
}
