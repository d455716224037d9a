/* section_summary.c - the conclusions of a report: summary, bottlenecks, and what to use. */
#include "report/sections.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- summary ---- */

/* Adds the step of a run, with the shares of its parts, such as "64 % compute, 30 % exposed communication". */
static void summarise_step(cJSON *document, const struct report_run *run)
{
    struct breakdown b;
    char step[CELL], shares[160] = "";
    if (run_breakdown(&b, run, run->subject))
        return;
    for (int p = 0; p < PARTS; p++)
        if (b.part[p] >= 0.005 * b.step.value)
            snprintf(shares + strlen(shares), sizeof shares - strlen(shares), "%s%.0f %% %s", *shares ? ", " : "",
                     100 * b.part[p] / b.step.value, part_name[p]);
    document_add_item(document, "A step of %s takes %s on %zu rank%s: %s.", run->subject,
                      text_milliseconds(step, b.step.value, b.step.low, b.step.high), run->ranks,
                      text_plural(run->ranks), shares);
}

/* Whether a run can be read, and no earlier one with its label and number of ranks can. */
static int is_first(const struct report_runs *runs, const struct report_run *run)
{
    const struct report_run *r = runs->item;
    while (r < run && (*r->problem || strcmp(r->label, run->label) || r->ranks != run->ranks))
        r++;
    return r == run && !*run->problem;
}

/* Adds what was measured: model and batch of the first run that trains, the ranks of each label, and the machine. */
static void summarise_runs(cJSON *document, const struct report_runs *runs)
{
    enum { LABELS = 8 };
    const struct report_run *model = NULL, *last = NULL;
    char what[360] = "collectives", ranks[600] = "", memory[CELL] = "";
    size_t labels = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        model = model || !isfinite(run->parameters + run->sequences) || !*run->workload ? model : run;
        if (!is_first(runs, run))
            continue;
        last = run;
        if (labels++ < LABELS)
            snprintf(ranks + strlen(ranks), sizeof ranks - strlen(ranks), "; %.40s: %zu rank%s on %zu host%s",
                     run->label, run->ranks, text_plural(run->ranks), run->hosts, text_plural(run->hosts));
    }
    if (!last)
        return;
    if (model)
        snprintf(what, sizeof what, "%s, %.2f M parameters, %.4g sequence%s a step on each rank", model->workload,
                 1e-6 * model->parameters, model->sequences, model->sequences == 1 ? "" : "s");
    if (last->place.cpus)
        snprintf(memory, sizeof memory, ", %zu logical CPU%s in all", last->place.cpus, text_plural(last->place.cpus));
    document_add_item(document, "Measured: %s%s%s; on %s%s%s%s.", what, ranks, labels > LABELS ? "; ..." : "",
                      last->machine, memory, *last->link ? ", joined by " : "", last->link);
}

/* Warns of oversubscribed CPUs, and of hosts that are one machine. */
static void warn_of_sharing(cJSON *document, const struct report_run *run)
{
    char hosts[200] = "";
    if (run->place.machines && run->place.machines < run->hosts)
        snprintf(hosts, sizeof hosts,
                 "the %zu hosts are %zu machine%s with %zu logical CPU%s, so the figures are not those of %zu machines",
                 run->hosts, run->place.machines, text_plural(run->place.machines), run->place.cpus,
                 text_plural(run->place.cpus), run->hosts);
    if (run->cpus_per_rank < (double)run->threads)
        document_add_item(document,
                          "Warning: CPUs are oversubscribed in %s: a rank has %zu thread%s and %.2g logical CPUs; "
                          "timings include scheduling delays, and a cluster scales differently%s%s.",
                          run->label, run->threads, text_plural(run->threads), run->cpus_per_rank, *hosts ? "; " : "",
                          hosts);
    else if (*hosts)
        document_add_item(document, "Warning: in %s %s.", run->label, hosts);
}

/* Adds the efficiency on the most ranks, whether fewer ranks are faster, and the part of a step that loses most. */
static void summarise_scaling(cJSON *document, const struct scaling *s)
{
    const struct scaling_row *first = s->row, *last = &s->row[s->n - 1], *fastest = scaling_fastest(s);
    char interval[80] = "", lost[CELL], part_lost[CELL], change[CELL], why[200] = "", slower[240] = "";
    int most = 0;
    for (int p = 1; p < PARTS; p++)
        most = last->lost_part_s[p] > last->lost_part_s[most] ? p : most;
    struct measured to_fastest = scaling_throughput(last, fastest);
    if (to_fastest.value < 1)
        snprintf(slower, sizeof slower,
                 " %zu ranks are %s in total than %zu: %.0f instead of %.0f tokens per second, %s%s.", last->run->ranks,
                 to_fastest.high < 1 ? "slower" : "no faster", fastest->run->ranks, last->tokens_s, fastest->tokens_s,
                 text_change(change, to_fastest.value, to_fastest.low, to_fastest.high),
                 to_fastest.high >= 1 ? ", not significantly different" : "");
    if (isfinite(last->efficiency.low))
        snprintf(interval, sizeof interval, " [%.1f, %.1f]", 100 * last->efficiency.low, 100 * last->efficiency.high);
    if (last->lost_s.value > 0)
        snprintf(why, sizeof why, " Of the %s that a step loses, %s are %s.",
                 text_milliseconds(lost, last->lost_s.value, NAN, NAN),
                 text_milliseconds(part_lost, last->lost_part_s[most], NAN, NAN),
                 most == PART_COMPUTE ? "slower computation" : part_name[most]);
    document_add_item(
        document, "From %zu to %zu ranks the throughput grows by a factor of %.2f: an efficiency of %.1f %%%s.%s%s",
        first->run->ranks, last->run->ranks, last->speedup, 100 * last->efficiency.value, interval, slower, why);
}

/* ---- which implementation to use ---- */

/* What to try if the best bucket size is the smallest or the largest that was tried; or NULL. */
static const char *find_edge(const struct report_run *run, const struct run_implementation *best)
{
    int smaller = 0, larger = 0;
    for (size_t i = 0; i < run->implementations; i++) {
        smaller |= run->implementation[i].mb < best->mb;
        larger |= run->implementation[i].mb > best->mb;
    }
    return run_edge_advice(best, smaller, larger);
}

void section_add_choices(cJSON *document, const struct report_runs *runs)
{
    enum { CHOICES = 6 };
    size_t choices = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && choices < CHOICES; run++) {
        const struct run_implementation *best = run_find_implementation(run, run->subject);
        const cJSON *verdict = cJSON_GetObjectItemCaseSensitive(run->summary, "verdict");
        char tie[200], undecided[200];
        if (!best || !run_compares(run) || run->ranks < 2)
            continue;
        if (!choices++)
            document_add_heading(document, "What to use");
        const char *edge = find_edge(run, best);
        document_add_item(document, "In %s, `%s` has the shortest step of those compared%s%s.%s%s", run->label,
                          json_string(verdict, "options"), edge ? "; its bucket size is " : "", edge ? edge : "",
                          verdict_labels(tie, sizeof tie, verdict, VERDICT_TIE),
                          verdict_labels(undecided, sizeof undecided, verdict, VERDICT_UNDECIDED));
    }
}

/* Lists the first interrupted runs. */
static void list_interrupted(cJSON *document, const struct report_runs *runs)
{
    enum { NAMED = 8 };
    size_t n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (*run->unfinished && n++ < NAMED)
            document_add_item(document, "%s (%s): %s; its figures are from the complete part.", run->label, run->mode,
                              run->unfinished);
    if (n > NAMED)
        document_add_item(document, "%zu more were interrupted (see Runs).", n - NAMED);
}

void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings, const struct bottlenecks *bottlenecks)
{
    const struct bottleneck *b = bottlenecks->item;
    size_t unread = 0;
    document_add_heading(document, "Summary");
    summarise_runs(document, runs);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        unread += *run->problem != 0;
        if (is_first(runs, run))
            warn_of_sharing(document, run);
    }
    list_interrupted(document, runs);
    if (bottlenecks->n)
        document_add_item(document, "Main bottleneck: %s in %s: %s. Try: %s.", b->finding.name, b->run->label,
                          b->finding.text, b->finding.advice);
    for (size_t i = 0; i < scalings; i++)
        summarise_scaling(document, &scaling[i]);
    if (runs->n == 1)
        summarise_step(document, runs->item);
    if (unread)
        document_add_item(document, "%zu of %zu runs could not be read, and are left out (see Runs).", unread, runs->n);
}

/* ---- bottlenecks ---- */

#define FIELD(field) offsetof(struct bottleneck, field)
/* clang-format off */
static const struct column bottleneck_columns[] = {
    {"bottleneck", "bottleneck", COLUMN_CHARS, FIELD(finding.name), NULL, 1, -22, 0},
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
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
    if (!found->n)
        document_add_paragraph(document, "None: no figure is beyond its threshold.");
    if (found->n)
        document_add_table(
            document,
            &(struct table){
                .key = "bottlenecks",
                TABLE_COLUMNS(bottleneck_columns),
                TABLE_ROWS(found->item, found->n),
                .shown = 20,
                .note = {
                    "lost: by how much a step is longer. Losses overlap, so they do not add up. n/a: not known. No "
                    "interval: the steps of one capture are not independent, or there are fewer than 6 rounds.",
                    "level: of a profile's finding by its threshold; of the others high above 20 % of the step, "
                    "warning above 5 %, note below."}});
    for (size_t i = 0; i < found->n && i < EXPLAINED; i++) {
        const struct finding *b = &found->item[i].finding;
        size_t first = 0; /* bottleneck with this advice */
        while (strcmp(found->item[first].finding.advice, b->advice) != 0)
            first++;
        document_add_item(document, "%s in %s: %s.%s%s%s", b->name, found->item[i].run->label, b->text,
                          first < i ? "" : " Try: ", first < i ? "" : b->advice, first < i ? "" : ".");
    }
}
