/* compare.c - `ddpbench compare`: reads, checks, judges, prints. */
#include "compare/compare.h"

#include "base/files.h"
#include "base/json.h"
#include "base/version.h"
#include "compare/outcome.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The chance, over the whole call, that any figure is called regressed although none is. */
#define LEVEL 0.05

/* A run that counts twice would make its group look sure of itself. */
static int check_twice(const struct compare_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (run[i].saved.device == run[j].saved.device && run[i].saved.inode == run[j].saved.inode)
                return error_report("%s and %s are the same run; name each run once", run[j].saved.directory,
                                    run[i].saved.directory);
    return 0;
}

static enum compare_status judge(cJSON *json, const struct compare_options *o, const struct compare_run *run,
                                 const struct verdict_rules *rules)
{
    struct compare_lines lines;
    struct verdicts verdicts = {0};
    enum compare_status status = COMPARE_FAILED;
    if (!compare_match(&lines, run, o->baselines, o->candidates)) {
        if (compare_choose(&lines, o->metrics)) {
            status = *o->metrics ? COMPARE_USAGE : COMPARE_FAILED;
        } else {
            verdicts_create(&verdicts, rules, lines.item, lines.judged, o->baselines, o->candidates);
            compare_add_rows(json, &lines, &verdicts, o);
            status = verdicts.count[VERDICT_REGRESSED]   ? COMPARE_REGRESSED
                     : verdicts.count[VERDICT_MISSING]   ? COMPARE_MISSING
                     : verdicts.count[VERDICT_AMBIGUOUS] ? COMPARE_AMBIGUOUS
                                                         : COMPARE_OK;
        }
    }
    compare_lines_destroy(&lines);
    verdicts_destroy(&verdicts);
    return status;
}

/* Puts what is found into the JSON. Errors are reported. */
static enum compare_status compare_runs(cJSON *json, const struct compare_options *o, struct compare_run *run)
{
    const struct verdict_rules rules = {o->tolerance / 100, o->floor / 100, LEVEL};
    size_t runs = o->baselines + o->candidates;
    for (size_t i = 0; i < runs; i++)
        if (compare_run_read(&run[i], o->directory[i]))
            return COMPARE_FAILED;
    if (check_twice(run, o->baselines) || check_twice(run + o->baselines, o->candidates))
        return COMPARE_USAGE;
    compare_add_heading(json, o, run, &rules);
    cJSON *differences = cJSON_GetObjectItemCaseSensitive(json, "differences");
    for (size_t i = 1; i < runs; i++)
        differences_add(differences, &run[0], &run[i], i < o->baselines ? "another baseline" : "candidate");
    if (differences_allow(differences, o->allow, &run[0]))
        return COMPARE_USAGE;
    for (const cJSON *difference = differences->child; difference; difference = difference->next)
        if (difference_is_refused(difference))
            return COMPARE_INCOMPARABLE;
    return judge(json, o, run, &rules);
}

static int print(const cJSON *json, const struct compare_options *o)
{
    char *text = cJSON_Print(json);
    int status = 0, instead = !strcmp(o->json, "-");
    if (!text)
        FATAL("no memory to print the comparison");
    if (instead)
        printf("%s\n", text);
    else
        compare_print(stdout, json, o);
    if (fflush(stdout) || ferror(stdout))
        status = error_report("cannot write the comparison to standard output");
    else if (*o->json && !instead)
        status = files_replace_path("json", o->json, text);
    cJSON_free(text);
    return status;
}

static enum compare_status compare_and_print(const struct compare_options *o)
{
    static const char *const verdict[] = {[COMPARE_OK] = "ok",
                                          [COMPARE_REGRESSED] = "regressed",
                                          [COMPARE_AMBIGUOUS] = "ambiguous",
                                          [COMPARE_MISSING] = "missing",
                                          [COMPARE_INCOMPARABLE] = "incomparable"};
    struct compare_run *run = allocate(o->baselines + o->candidates, sizeof *run);
    cJSON *json = cJSON_CreateObject();
    enum compare_status status = compare_runs(json, o, run);
    if (status != COMPARE_FAILED && status != COMPARE_USAGE) {
        json_add_text(json, "verdict", verdict[status]);
        json_add_number(json, "exit_status", status);
        status = print(json, o) ? COMPARE_FAILED : status;
    }
    cJSON_Delete(json);
    for (size_t i = 0; i < o->baselines + o->candidates; i++)
        compare_run_destroy(&run[i]);
    free(run);
    return status;
}

int run_compare(int argc, char *argv[])
{
    struct compare_options options;
    enum compare_status status = COMPARE_OK;
    if (compare_options_parse(&options, argc, argv))
        status = COMPARE_USAGE;
    else if (options.table.help)
        compare_options_help(stdout, &options);
    else if (options.table.version)
        printf("ddpbench %s\n", version_text());
    else
        status = compare_and_print(&options);
    if (status == COMPARE_FAILED || status == COMPARE_USAGE)
        fprintf(stderr, "ddpbench: %s\n", error_text());
    compare_options_destroy(&options);
    return (int)status;
}
