/* section_summary.c - writes a report's summary, bottlenecks, advice on what to use, and list of runs. */
#include "report/sections.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- summary ---- */

/* Whether a run is the first with its label and number of ranks, without counting runs that cannot be read. */
static int is_first(const struct report_runs *runs, const struct report_run *run)
{
    const struct report_run *r = runs->item;
    while (r < run && (*r->problem || strcmp(r->label, run->label) || r->ranks != run->ranks))
        r++;
    return r == run && !*run->problem;
}

/* Writes what a run measured: the model and batch, the machine, and what joins the ranks. */
static void describe_run(char text[800], const struct report_run *run)
{
    char what[360], cpus[CELL] = "";
    snprintf(what, sizeof what, "%s",
             strcmp(run->mode, "isolate") ? "collectives" : "messages between pairs, matrix products and copies");
    if (*run->workload && isfinite(run->parameters + run->sequences))
        snprintf(what, sizeof what, "%s, %.2f M parameters, %.4g sequence%s a step on each rank", run->workload,
                 1e-6 * run->parameters, run->sequences, run->sequences == 1 ? "" : "s");
    else if (*run->workload)
        snprintf(what, sizeof what, "%s", run->workload);
    if (run->place.cpus)
        snprintf(cpus, sizeof cpus, ", %zu logical CPU%s in all", run->place.cpus, text_plural(run->place.cpus));
    snprintf(text, 800, "%s; on %s%s%s%s", what, run->machine, cpus, *run->link ? ", joined by " : "", run->link);
}

/* Adds what was measured: a line for each model, batch, machine and link, with the runs that have them. */
static void summarise_runs(cJSON *document, const struct report_runs *runs)
{
    enum { LINES = 8 };
    size_t lines = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        char text[800], other[800], labels[200] = "";
        const char *last = NULL;
        size_t all = 0, like = 0, before = 0;
        int fits = 1;
        describe_run(text, run);
        for (const struct report_run *r = runs->item; r < runs->item + runs->n; r++) {
            describe_run(other, r);
            int same = !*r->problem && !strcmp(text, other);
            all += !*r->problem;
            like += (size_t)same;
            before += same && r < run;
            if (same && fits && (!last || strcmp(last, r->label) != 0))
                fits = text_append(labels, sizeof labels, "%s%s", last ? ", " : "", r->label);
            last = same ? r->label : last;
        }
        if (*run->problem || before || lines++ >= LINES)
            continue;
        if (like == all)
            document_add_item(document, "Measured: %s.", text);
        else
            document_add_item(document, "Measured in %s%s: %s.", labels, fits ? "" : " ...", text);
    }
}

/* Warns if CPUs are oversubscribed, or if several hosts are the same machine. */
static void warn_of_sharing(cJSON *document, const struct report_run *run)
{
    const struct place *place = &run->place;
    if (run->cpus_per_rank < (double)run->threads)
        document_add_item(document,
                          "Warning: CPUs are oversubscribed in %s: a rank has %zu thread%s and %.4g logical CPUs; "
                          "timings include scheduling delays, and a cluster scales differently.",
                          run->label, run->threads, text_plural(run->threads), run->cpus_per_rank);
    if (place->machines && place->machines < run->hosts)
        document_add_item(document,
                          "Warning: in %s the %zu hosts are %zu machine%s with %zu logical CPU%s, so the figures are "
                          "not those of %zu machines.",
                          run->label, run->hosts, place->machines, text_plural(place->machines), place->cpus,
                          text_plural(place->cpus), run->hosts);
}

/* Adds a sentence on the efficiency on the most ranks, and on which parts of a step got longer or shorter. */
static void summarise_scaling(cJSON *document, const struct scaling *s)
{
    const struct scaling_row *last = &s->row[s->n - 1];
    const double lost = 1e3 * last->lost_s.value;
    char interval[80] = "", why[300] = "", batch[80] = "";
    if (isfinite(last->efficiency.low))
        snprintf(interval, sizeof interval, " [%.1f, %.1f]", 100 * last->efficiency.low, 100 * last->efficiency.high);
    if (fabs(last->sequences - s->row->sequences) > 0)
        snprintf(batch, sizeof batch, " (%.4g and %.4g sequences a rank)", s->row->sequences, last->sequences);
    if (lost > 0) {
        snprintf(why, sizeof why, " A step takes %.2f ms longer for the same number of tokens a rank:", lost);
        for (int p = 0; p < PARTS; p++)
            text_append(why, sizeof why, " %s %+.2f ms%s", part_name[p], 1e3 * last->lost_part_s[p],
                        p + 1 < PARTS ? "," : ".");
    }
    document_add_item(
        document, "From %zu to %zu ranks%s the throughput %s %.2f: an efficiency of %.1f %%%s.%s", s->row->run->ranks,
        last->run->ranks, batch, last->speedup < 1 ? "falls by a factor of" : "grows by a factor of",
        last->speedup < 1 ? 1 / last->speedup : last->speedup, 100 * last->efficiency.value, interval, why);
    if (s->row->run->threads != last->run->threads)
        document_add_item(document,
                          "Warning: a rank has %zu thread%s on %zu rank%s and %zu on %zu, so threads also change the "
                          "efficiency: give all runs the same --threads.",
                          s->row->run->threads, text_plural(s->row->run->threads), s->row->run->ranks,
                          text_plural(s->row->run->ranks), last->run->threads, last->run->ranks);
}

/* ---- which implementation to use ---- */

void section_add_verdict(cJSON *document, const char *name, const char *of, const cJSON *verdict, int in_words)
{
    struct intervals all = {0};
    char finding[2000], subtitle[900];
    verdict_intervals(&all, verdict);
    intervals_finding(finding, sizeof finding, &all, 8);
    snprintf(subtitle, sizeof subtitle,
             "%.300s. %s: ratio of paired steps - 1; intervals that hold at once in 95 %% of runs", of, all.what);
    if (in_words)
        document_add_item(document, "In %s, %s. Options: `%s`%s", of, finding, json_string(verdict, "options"),
                          all.known ? "" : " (no picture: too few rounds for intervals)");
    if (all.known)
        document_add_picture(document, name, finding, chart_intervals(finding, subtitle, &all));
    free(all.row);
}

int section_add_choice(cJSON *document, const struct report_run *run)
{
    const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(run->saved.summary, "verdict");
    if (run->ranks < 2 || !run_compares(run) || (verdict && !json_first(verdict, "others")))
        return 0;
    document_begin_section(document, "What to use");
    if (verdict)
        section_add_verdict(document, "verdict", run->label, verdict, 1);
    else
        document_add_item(document, "%s has no verdict in its summary.json, so nothing is drawn.", run->label);
    return 1;
}

void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         const struct bottlenecks *bottlenecks)
{
    const struct bottleneck *b = bottlenecks->item;
    size_t unread = 0, unfinished = 0;
    document_add_heading(document, "Summary");
    summarise_runs(document, runs);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        unread += *run->problem != 0;
        unfinished += *run->unfinished != 0;
        if (*run->unfinished && run->done == 0)
            document_add_item(
                document, "%s ended before its rounds (the controls); its figures are from the captured steps only.",
                run->label);
        if (is_first(runs, run))
            warn_of_sharing(document, run);
    }
    if (unread)
        document_add_item(document, "Left out: %zu of %zu runs, which could not be read (see Runs).", unread, runs->n);
    if (unfinished)
        document_add_item(document,
                          "Interrupted: %zu of %zu runs; their figures are from their last summary (see Runs).",
                          unfinished, runs->n);
    if (bottlenecks->n && finding_is_significant(&b->finding))
        document_add_item(document, "Main bottleneck: %s in %s: %s. Try: %s.", b->finding.name, b->label,
                          b->finding.text, b->finding.advice);
    if (scaling->n)
        summarise_scaling(document, scaling);
}

/* ---- bottlenecks ---- */

#define FIELD(field) offsetof(struct bottleneck, field)
/* clang-format off */
static const struct column bottleneck_columns[] = {
    {"bottleneck", "bottleneck", COLUMN_CHARS, FIELD(finding.name), NULL, 1, -22, 0},
    {"run", "run", COLUMN_CHARS, FIELD(label), NULL, 1, -10, 0},
    {"mode", "source", COLUMN_NAME, FIELD(mode), NULL, 1, -9, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"lost", "lost\nms a step", COLUMN_REAL, FIELD(finding.loss.value), "s", 1e3, 9, 2},
    {"lost_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct bottleneck, finding.loss.low, finding.loss.high), "s", 1e3, -16, 2},
    {"share", "% of\nthe step", COLUMN_REAL, FIELD(finding.share), "1", 100, 8, 1},
    {"level", "level", COLUMN_NAME, FIELD(level), NULL, 1, -7, 0},
    {"text", NULL, COLUMN_CHARS, FIELD(finding.text), NULL, 1, 0, 0},
};
/* clang-format on */
#undef FIELD

void section_add_bottlenecks(cJSON *document, const struct bottlenecks *found)
{
    enum { EXPLAINED = 8 };
    document_add_heading(document, "Top bottlenecks");
    if (!found->n) {
        document_add_paragraph(document, "None: no figure is known to be beyond a threshold.");
        return;
    }
    const struct table table = {
        .key = "bottlenecks",
        TABLE_COLUMNS(bottleneck_columns),
        TABLE_ROWS(found->item, found->n),
        .shown = 20,
        .note = {"lost: by how much a step is longer. Losses overlap, so they do not add up. N/A: not known. No "
                 "interval: the steps of one capture are not independent, or there are fewer than 6 rounds.",
                 "level: a finding of a profile has a threshold of its own; any other loss is high above 20 % of "
                 "the step, warning above 5 %, note below. On a busy machine every level is a note."}};
    document_add_table(document, &table);
    size_t described = finding_is_significant(&found->item->finding) != 0; /* by the section Summary */
    for (size_t i = described; i < found->n && i < EXPLAINED; i++) {
        const struct finding *b = &found->item[i].finding;
        size_t first = 0; /* index of the first bottleneck with this advice */
        while (strcmp(found->item[first].finding.advice, b->advice) != 0)
            first++;
        document_add_item(document, "%s in %s: %s.%s%s%s", b->name, found->item[i].label, b->text,
                          first < i ? "" : " Try: ", first < i ? "" : b->advice, first < i ? "" : ".");
    }
}

/* ---- runs ---- */

struct run_row {
    struct report_run run;
    const char *state;
    double ranks, hosts, cpus, memory; /* NAN: not known */
};

#define FIELD(field) offsetof(struct run_row, field)
/* clang-format off */
static const struct column run_columns[] = {
    {"run", "run", COLUMN_CHARS, FIELD(run.label), NULL, 1, -10, 0},
    {"mode", "mode", COLUMN_CHARS, FIELD(run.mode), NULL, 1, -9, 0},
    {"ranks", "ranks", COLUMN_REAL, FIELD(ranks), "1", 1, 5, 0},
    {"hosts", "hosts", COLUMN_REAL, FIELD(hosts), "1", 1, 5, 0},
    {"time", "time", COLUMN_CHARS, FIELD(run.time), NULL, 1, -24, 0},
    {"machine", "machine", COLUMN_CHARS, FIELD(run.machine), NULL, 1, -10, 0},
    {"cpus", "logical\nCPUs", COLUMN_REAL, FIELD(cpus), "1", 1, 7, 0},
    {"memory", "memory\nGiB", COLUMN_REAL, FIELD(memory), "B", 0x1p-30, 7, -3},
    {"workload", NULL, COLUMN_CHARS, FIELD(run.workload), NULL, 1, 0, 0},
    {"directory", "directory", COLUMN_CHARS, FIELD(run.saved.directory), NULL, 1, -9, 0},
    {"state", "state", COLUMN_NAME, FIELD(state), NULL, 1, -8, 0},
    {"problem", "problem", COLUMN_CHARS, FIELD(run.problem), NULL, 1, -7, 0},
};
/* clang-format on */

void section_add_runs(cJSON *document, const struct report_runs *runs)
{
    struct run_row *row = allocate(runs->n + 1, sizeof *row);
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run *r = &runs->item[i];
        row[i] = (struct run_row){.run = *r, .state = run_state(r)};
        row[i].ranks = r->ranks ? (double)r->ranks : NAN;
        row[i].hosts = r->hosts ? (double)r->hosts : NAN;
        row[i].cpus = r->place.cpus ? (double)r->place.cpus : NAN;
        row[i].memory = r->place.cpus ? r->place.memory_bytes : NAN;
    }
    document_add_heading(document, "Runs");
    document_add_table(
        document, &(struct table){.key = "runs", TABLE_COLUMNS(run_columns), TABLE_ROWS(row, runs->n), .shown = 100});
    free(row);
}
