/* junit.c - a comparison as test cases, for CI systems. */
#include "base/junit.h"

#include "base/json.h"
#include "base/text.h"
#include "compare/outcome.h"
#include "compare/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_settings(struct junit *junit, const cJSON *json)
{
    int differ = json_number(json, "exit_status") == COMPARE_INCOMPARABLE;
    junit_add(junit, &(struct junit_case){.class = "ddpbench.compare",
                                          .name = "the same settings",
                                          .seconds = NAN,
                                          .outcome = differ ? JUNIT_ERROR : JUNIT_PASSED,
                                          .type = "incomparable",
                                          .message = "the settings of the runs differ; see the output"});
}

static enum junit_outcome outcome_of(const char *verdict)
{
    return !strcmp(verdict, verdict_name[VERDICT_REGRESSED]) || !strcmp(verdict, verdict_name[VERDICT_MISSING])
               ? JUNIT_FAILED
           : !strcmp(verdict, verdict_name[VERDICT_AMBIGUOUS]) ? JUNIT_SKIPPED
                                                               : JUNIT_PASSED;
}

static void add_figure(struct junit *junit, const cJSON *figure, const struct compare_options *o)
{
    const char *verdict = json_string(figure, "verdict");
    struct compare_cells cells = {0};
    char name[300], message[600];
    compare_fill_cells(&cells, figure, o);
    int sized = *cells.size != '-';
    snprintf(name, sizeof name, "%s%s%s", cells.name, sized ? " " : "", sized ? cells.size : "");
    if (json_number(figure, "sizes") > 1)
        snprintf(message, sizeof message, "%s: change %s, the mean over %.0f sizes", cells.verdict, cells.change,
                 json_number(figure, "sizes"));
    else
        snprintf(message, sizeof message, "%s: %s %s, %s %s, change %s", cells.verdict, o->name[0], cells.baseline,
                 o->name[1], cells.candidate, cells.change);
    junit_add(junit, &(struct junit_case){
                         .class = "ddpbench.compare",
                         .name = name,
                         .seconds = strcmp(json_string(figure, "unit"), "s") ? NAN : json_number(figure, "candidate"),
                         .outcome = outcome_of(verdict),
                         .type = verdict,
                         .message = message});
}

void compare_print_junit(FILE *out, const cJSON *json, const struct compare_options *o)
{
    struct junit junit;
    char *words = NULL;
    size_t length = 0;
    FILE *text = text_begin(&words, &length);
    compare_print(text, json, o);
    text_end(text);
    junit_begin(&junit);
    add_settings(&junit, json);
    for (const cJSON *row = cJSON_GetObjectItemCaseSensitive(json, "judged")->child; row; row = row->next)
        add_figure(&junit, row, o);
    junit_end(&junit, out, "ddpbench compare", words);
    free(words);
}
