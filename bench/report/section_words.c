/* section_words.c - what a report concludes: the summary, the bottlenecks, what to do, and what was read. */
#include "report/sections.h"

#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- summary ---- */

/* Such as "64 % compute, 30 % exposed communication, 6 % other". */
static const char *shares(const struct breakdown *b, char text[160])
{
    *text = 0;
    for (int p = 0; p < PARTS; p++)
        if (b->part[p] >= 0.005 * b->step)
            snprintf(text + strlen(text), 160 - strlen(text), "%s%.0f %% %s", *text ? ", " : "",
                     100 * b->part[p] / b->step, part_name[p]);
    return text;
}

static void summarise_step(cJSON *document, const struct report_run *run)
{
    struct breakdown b;
    char step[CELL], interval[80] = "", text[160];
    if (run_breakdown(&b, run, run->subject))
        return;
    if (isfinite(b.low))
        snprintf(interval, sizeof interval, " [%.2f, %.2f]", 1e3 * b.low, 1e3 * b.high);
    document_add_item(document, "%s: a step of %s takes %s%s on %zu rank%s: %s.", run->label, run->subject,
                      text_value_like(step, b.step, "s", b.step), interval, run->ranks, text_plural(run->ranks),
                      shares(&b, text));
}

/* The largest part of what was lost. */
static void summarise_scaling(cJSON *document, const struct scaling *s)
{
    const struct scaling_row *first = s->row, *last = &s->row[s->n - 1];
    char interval[80] = "", lost[CELL], part_lost[CELL], why[200] = "";
    int most = 0;
    for (int p = 1; p < PARTS; p++)
        most = last->lost_part_s[p] > last->lost_part_s[most] ? p : most;
    if (isfinite(last->low))
        snprintf(interval, sizeof interval, " [%.0f, %.0f]", 100 * last->low, 100 * last->high);
    if (last->lost_s > 0)
        snprintf(why, sizeof why, " Of the %s that a step loses, %s are %s.",
                 text_value_like(lost, last->lost_s, "s", last->lost_s),
                 text_value_like(part_lost, last->lost_part_s[most], "s", last->lost_s),
                 most == PART_COMPUTE ? "slower computation" : part_name[most]);
    document_add_item(document, "From %zu to %zu ranks the throughput grows %.2f times: an efficiency of %.0f %%%s.%s",
                      first->run->ranks, last->run->ranks, last->speedup, 100 * last->efficiency, interval, why);
}

static void summarise_bottleneck(cJSON *document, const struct bottleneck *b)
{
    char lost[CELL], cost[120] = "";
    if (isfinite(b->lost_s))
        snprintf(cost, sizeof cost, ", up to %s of a step (%.0f %%)", text_value_like(lost, b->lost_s, "s", b->lost_s),
                 100 * b->share);
    document_add_item(document, "The largest bottleneck is %s in %s%s: %s.", b->name, b->run->label, cost, b->text);
    document_add_item(document, "Try: %s.", b->advice);
}

/* Whose figures are of less than was planned. */
static void name_interrupted(cJSON *document, const struct report_runs *runs)
{
    enum { NAMED = 8 };
    size_t n = 0;
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++)
        if (*run->unfinished && n++ < NAMED)
            document_add_item(document, "%s (%s): %s; its figures are of these.", run->label, run->mode,
                              run->unfinished);
    if (n > NAMED)
        document_add_item(document, "So were %zu more (see Runs).", n - NAMED);
}

void section_add_summary(cJSON *document, const struct report_runs *runs, const struct scaling *scaling,
                         size_t scalings, const struct bottlenecks *bottlenecks)
{
    enum { STEPS = 8 };
    size_t unread = 0, said = 0;
    document_add_heading(document, 2, "Summary");
    if (bottlenecks->n)
        summarise_bottleneck(document, bottlenecks->item);
    for (size_t i = 0; i < scalings; i++)
        summarise_scaling(document, &scaling[i]);
    for (const struct report_run *run = runs->item; run < runs->item + runs->n; run++) {
        unread += *run->problem != 0;
        if (*run->subject && said < STEPS) {
            summarise_step(document, run);
            said++;
        }
    }
    name_interrupted(document, runs);
    if (unread)
        document_add_item(document, "%zu of %zu runs could not be read, and are not in what follows (see Runs).",
                          unread, runs->n);
}

/* ---- bottlenecks ---- */

struct bottleneck_row {
    int number;
    const char *label, *name, *level;
    size_t ranks;
    double lost, interval[2], share;
};

#define FIELD(field) offsetof(struct bottleneck_row, field)
/* clang-format off */
static const struct column bottleneck_columns[] = {
    {"number", "", COLUMN_INT, FIELD(number), "1", 1, 3, 0},
    {"bottleneck", "bottleneck", COLUMN_NAME, FIELD(name), NULL, 1, -22, 0},
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"ranks", "ranks", COLUMN_COUNT, FIELD(ranks), "1", 1, 5, 0},
    {"lost", "lost\nms a step", COLUMN_REAL, FIELD(lost), "s", 1e3, 9, 2},
    {"lost_95", "95 %\ninterval", COLUMN_INTERVAL, FIELD(interval), "s", 1e3, -16, 2},
    {"share", "% of\nthe step", COLUMN_REAL, FIELD(share), "1", 100, 8, 1},
    {"level", "level", COLUMN_NAME, FIELD(level), NULL, 1, -7, 0},
};
/* clang-format on */
#undef FIELD

enum { EXPLAINED = 8 };

void section_add_bottlenecks(cJSON *document, const struct bottlenecks *found)
{
    struct bottleneck_row *row = allocate(found->n + 1, sizeof *row);
    document_add_heading(document, 2, "Top bottlenecks");
    if (!found->n)
        document_add_paragraph(document, "None: no figure is beyond its threshold.");
    for (size_t i = 0; i < found->n; i++) {
        const struct bottleneck *b = &found->item[i];
        row[i] = (struct bottleneck_row){(int)i + 1,    b->run->label, b->name,           b->level,
                                         b->run->ranks, b->lost_s,     {b->low, b->high}, b->share};
    }
    if (found->n)
        document_add_table(document,
                           &(struct table){.key = "bottlenecks",
                                           .column = bottleneck_columns,
                                           .columns = sizeof bottleneck_columns / sizeof *bottleneck_columns,
                                           .row = row,
                                           .rows = found->n,
                                           .row_bytes = sizeof *row,
                                           .shown = 20,
                                           .note = "lost: what a step would be shorter without it, at most; they "
                                                   "overlap, so that they do not add up. n/a: not known.\n"});
    for (size_t i = 0; i < found->n && i < EXPLAINED; i++)
        document_add_item(document, "%s in %s: %s.", found->item[i].name, found->item[i].run->label,
                          found->item[i].text);
    free(row);
}

/* ---- what to do ---- */

void section_add_recommendations(cJSON *document, const struct report_runs *runs, const struct bottlenecks *found)
{
    enum { CHOICES = 8 };
    size_t choices = 0;
    document_add_heading(document, 2, "Recommendations");
    for (size_t i = 0, n = found->n < EXPLAINED ? found->n : EXPLAINED; i < n; i++) {
        size_t before = 0;
        while (before < i && strcmp(found->item[before].advice, found->item[i].advice) != 0)
            before++;
        if (before == i)
            document_add_item(document, "Against %s: %s.", found->item[i].name, found->item[i].advice);
    }
    for (const struct report_run *run = runs->item; run < runs->item + runs->n && choices < CHOICES; run++) {
        const struct figure *to_ddp = figures_find(&run->figures, run->subject, "step_to_ddp", 0);
        char than_ddp[80] = "";
        if ((strcmp(run->mode, "benchmark") != 0 && strcmp(run->mode, "tune") != 0) || !*run->options || run->ranks < 2)
            continue;
        if (to_ddp && to_ddp->value < 1)
            snprintf(than_ddp, sizeof than_ddp, ", %.1f %% shorter than that of ddp", 100 * (1 - to_ddp->value));
        document_add_item(document, "On %zu ranks (%s) use %s: it has the shortest step%s.", run->ranks, run->label,
                          run->options, than_ddp);
        choices++;
    }
    if (!choices && !found->n)
        document_add_paragraph(document, "None.");
}

/* ---- what was read ---- */

struct run_row {
    const char *label, *mode, *time, *machine, *workload, *directory, *state, *problem;
    double ranks, hosts; /* NAN: not known */
};

#define FIELD(field) offsetof(struct run_row, field)
/* clang-format off */
static const struct column run_columns[] = {
    {"run", "run", COLUMN_NAME, FIELD(label), NULL, 1, -10, 0},
    {"mode", "mode", COLUMN_NAME, FIELD(mode), NULL, 1, -9, 0},
    {"ranks", "ranks", COLUMN_REAL, FIELD(ranks), "1", 1, 5, 0},
    {"hosts", "hosts", COLUMN_REAL, FIELD(hosts), "1", 1, 5, 0},
    {"time", "time", COLUMN_NAME, FIELD(time), NULL, 1, -24, 0},
    {"machine", "machine", COLUMN_NAME, FIELD(machine), NULL, 1, -10, 0},
    {"workload", NULL, COLUMN_NAME, FIELD(workload), NULL, 1, 0, 0},
    {"directory", "directory", COLUMN_NAME, FIELD(directory), NULL, 1, -9, 0},
    {"state", "state", COLUMN_NAME, FIELD(state), NULL, 1, -8, 0},
    {"problem", "problem", COLUMN_NAME, FIELD(problem), NULL, 1, -7, 0},
};
/* clang-format on */
#undef FIELD

static double known(size_t n)
{
    return n ? (double)n : NAN;
}

void section_add_runs(cJSON *document, const struct report_runs *runs)
{
    struct run_row *row = allocate(runs->n + 1, sizeof *row);
    for (size_t i = 0; i < runs->n; i++) {
        const struct report_run *r = &runs->item[i];
        row[i] = (struct run_row){
            r->label,     r->mode,      r->time,    r->machine,  r->workload,
            r->directory, run_state(r), r->problem, known(r->ranks), known(r->hosts)};
    }
    document_add_heading(document, 2, "Runs");
    document_add_table(document, &(struct table){.key = "runs",
                                                 .column = run_columns,
                                                 .columns = sizeof run_columns / sizeof *run_columns,
                                                 .row = row,
                                                 .rows = runs->n,
                                                 .row_bytes = sizeof *row,
                                                 .shown = 100});
    free(row);
}
