/* compare.c - `ddpbench compare`: reads, checks, judges, prints. */
#include "compare/compare.h"

#include "base/version.h"
#include "compare/outcome.h"
#include "kernels/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The chance, over the whole call, that any figure is called regressed although none is. */
#define LEVEL 0.05

static int read_runs(struct compare_run *run, const char *const *directory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (compare_run_read(&run[i], directory[i]))
            return -1;
    return 0;
}

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

/* In what the runs differ, and whether that is allowed. */
static int check_settings(struct comparison *c)
{
    const struct compare_options *o = c->options;
    const struct settings *first = &c->baseline[0].settings;
    for (size_t i = 1; i < o->baselines; i++)
        differences_add(&c->differences, first, &c->baseline[i].settings, "another baseline");
    for (size_t i = 0; i < o->candidates; i++)
        differences_add(&c->differences, first, &c->candidate[i].settings, "candidate");
    return *o->allow ? differences_allow(&c->differences, o->allow, first) : 0;
}

static void judge(struct comparison *c)
{
    const struct compare_options *o = c->options;
    struct verdict_figure *figure = allocate(c->lines.n, sizeof *figure);
    size_t n = 0;
    c->line_of = allocate(c->lines.n + c->lines.size_groups, sizeof *c->line_of);
    for (size_t i = 0; i < c->lines.n; i++) {
        const struct compare_line *line = &c->lines.item[i];
        if (!line->judged)
            continue;
        c->line_of[n] = i;
        figure[n++] = (struct verdict_figure){line->size_group, line->figure->better == BETTER_HIGHER, line->wrong,
                                              line->baseline, line->candidate};
    }
    verdicts_create(&c->verdicts, &c->rules, figure, n, o->baselines, o->candidates);
    for (size_t i = n; i < c->verdicts.n; i++)
        for (size_t g = n; g-- > 0;)
            c->line_of[i] = figure[g].size_group == c->verdicts.row[i].size_group ? c->line_of[g] : c->line_of[i];
    free(figure);
    const size_t *count = c->verdicts.count;
    c->status = count[VERDICT_REGRESSED]   ? COMPARE_REGRESSED
                : count[VERDICT_MISSING]   ? COMPARE_MISSING
                : count[VERDICT_AMBIGUOUS] ? COMPARE_AMBIGUOUS
                                           : COMPARE_OK;
}

/* Returns the exit status for an error, reported; or 0. */
static enum compare_status compare_runs(struct comparison *c)
{
    const struct compare_options *o = c->options;
    if (read_runs(c->baseline, o->baseline, o->baselines) || read_runs(c->candidate, o->candidate, o->candidates))
        return COMPARE_FAILED;
    if (check_twice(c->baseline, o->baselines) || check_twice(c->candidate, o->candidates) || check_settings(c))
        return COMPARE_USAGE;
    if (differences_refused(&c->differences)) {
        c->status = COMPARE_INCOMPARABLE;
        return COMPARE_OK;
    }
    if (compare_match(&c->lines, c->baseline, o->baselines, c->candidate, o->candidates))
        return COMPARE_FAILED;
    if (compare_choose(&c->lines, o->baselines, o->candidates, o->metrics))
        return *o->metrics ? COMPARE_USAGE : COMPARE_FAILED;
    judge(c);
    return COMPARE_OK;
}

static int print(const struct comparison *c)
{
    if (!strcmp(c->options->json, "-"))
        return compare_write_json(c, NULL);
    compare_print(stdout, c);
    if (fflush(stdout) || ferror(stdout))
        return error_report("cannot write the comparison to standard output");
    return *c->options->json ? compare_write_json(c, c->options->json) : 0;
}

static void destroy(struct comparison *c)
{
    for (size_t i = 0; i < c->options->baselines; i++)
        compare_run_destroy(&c->baseline[i]);
    for (size_t i = 0; i < c->options->candidates; i++)
        compare_run_destroy(&c->candidate[i]);
    free(c->baseline);
    free(c->candidate);
    free(c->line_of);
    differences_destroy(&c->differences);
    compare_lines_destroy(&c->lines);
    verdicts_destroy(&c->verdicts);
}

int run_compare(int argc, char *argv[])
{
    struct compare_options options;
    enum compare_status failed = compare_options_parse(&options, argc, argv) ? COMPARE_USAGE : COMPARE_OK;
    struct comparison c = {.options = &options,
                           .baseline = allocate(options.baselines, sizeof *c.baseline),
                           .candidate = allocate(options.candidates, sizeof *c.candidate),
                           .rules = {options.tolerance / 100, options.floor / 100, LEVEL}};
    if (!failed && options.help)
        compare_options_help(stdout, options.help);
    else if (!failed && options.version)
        printf("ddpbench %s\n", version_text());
    else if (!failed) {
        failed = compare_runs(&c);
        if (!failed && print(&c))
            failed = COMPARE_FAILED;
    }
    if (failed)
        fprintf(stderr, "ddpbench: %s\n", error_text());
    enum compare_status status = failed ? failed : c.status;
    destroy(&c);
    compare_options_destroy(&options);
    return (int)status;
}
