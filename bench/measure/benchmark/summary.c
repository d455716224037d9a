/* summary.c - writes a ranking as figures, table and notes of summary.json. */
#include "benchmark/ranking.h"

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- figures ---- */

void ranking_add_figures(const struct ranking *c, struct figure_list *figures)
{
    for (const struct ranking_row *row = c->row; row < c->row + c->n; row++) {
        const struct estimate *step = &row->seconds[FIGURE_STEP];
        const char *label = row->label;
        figures_add_estimate(figures, label, "step", "s", step, BETTER_LOWER, 1);
        figures_add_value(figures, label, "step_p5", "s", step->p5, step->n, BETTER_NONE);
        figures_add_value(figures, label, "step_p95", "s", step->p95, step->n, BETTER_NONE);
        for (int figure = 0; figure < FIGURES; figure++) {
            const struct sample_figure of = sample_figure(figure);
            if (figure != FIGURE_STEP && row->seconds[figure].median > 0) /* the phase ran */
                figures_add_estimate(figures, label, of.name, of.unit, &row->seconds[figure], BETTER_LOWER, 0);
        }
        figures_add_estimate(figures, label, "tokens_per_second", "1/s", &row->tokens_per_second, BETTER_HIGHER, 0);
        figures_add_estimate(figures, label, "communication_ratio", "1", &row->communication_ratio, BETTER_LOWER, 0);
        figures_add_estimate(figures, label, "sync_cost", "s", &row->sync_cost, BETTER_LOWER, 0);
        figures_add_estimate(figures, label, "step_to_ddp", "1", &row->to_ddp, BETTER_NONE, 0);
        if (row->to_fastest.ratio.n)
            figures_add_estimate(figures, label, "step_to_shortest", "1", &row->to_fastest.ratio, BETTER_NONE, 0);
        figures_add_value(figures, label, "gradient_error", "1", row->error.first, 1, BETTER_LOWER);
        figures_add_value(figures, label, "gradient_error_last", "1", row->error.last, 1, BETTER_LOWER);
        figures_add_estimate(figures, label, "attainable", "s", &row->attainable, BETTER_NONE, 0);
        figures_add_estimate(figures, label, "step_to_attainable", "1", &row->step_to_attainable, BETTER_LOWER, 0);
    }
}

/* ---- tables ---- */

#define FIELD(field) offsetof(struct ranking_row, field)

/* clang-format off */
/* When a column is shown: if one of its figures is above 0; if there are rows with other arithmetic; if one of its
 * figures is above 5 % of the row's step. */
enum shown { ALWAYS, POSITIVE, OTHER_ARITHMETIC, LARGE };

static const struct row_column {
    struct column column;
    enum shown shown;
} row_columns[] = {
    {{"implementation", "implementation", COLUMN_NAME, FIELD(label), NULL, 1, -14, 0}, ALWAYS},
    {{"data_loading", "data\nms", COLUMN_REAL, FIELD(seconds[PHASE_DATA_LOADING].median), "s", 1e3, 7, 2}, LARGE},
    {{"forward_pass", "forward\nms", COLUMN_REAL, FIELD(seconds[PHASE_FORWARD].median), "s", 1e3, 8, 2}, ALWAYS},
    {{"parameter_gather", "gather\nms", COLUMN_REAL, FIELD(seconds[PHASE_PARAMETER_GATHER].median), "s", 1e3, 8, 2}, POSITIVE},
    {{"backward_pass", "backward\nms", COLUMN_REAL, FIELD(seconds[PHASE_BACKWARD].median), "s", 1e3, 8, 2}, ALWAYS},
    {{"gradient_sync", "sync\nms", COLUMN_REAL, FIELD(seconds[PHASE_GRADIENT_SYNC].median), "s", 1e3, 8, 2}, ALWAYS},
    {{"optimizer_step", "optimizer\nms", COLUMN_REAL, FIELD(seconds[PHASE_OPTIMIZER].median), "s", 1e3, 9, 2}, ALWAYS},
    {{"other", "other\nms", COLUMN_REAL, FIELD(other), "s", 1e3, 7, 2}, LARGE},
    {{"step", "step\nms", COLUMN_REAL, FIELD(seconds[FIGURE_STEP].median), "s", 1e3, 8, 2}, ALWAYS},
    {{"best", "", COLUMN_NAME, FIELD(mark), NULL, 1, -1, 0}, ALWAYS},
    {{"step_to_ddp", "vs\nddp", COLUMN_REAL, FIELD(to_ddp.median), "1", 1, 5, 3}, POSITIVE},
    {{"communication_ratio", "comm\nratio", COLUMN_REAL, FIELD(communication_ratio.median), "1", 1, 6, 3}, ALWAYS},
    {{"tokens_per_second", "tokens\nper s", COLUMN_REAL, FIELD(tokens_per_second.median), "1/s", 1, 8, 0}, ALWAYS},
    {{"sync_cost", "sync cost\nms", COLUMN_REAL, FIELD(sync_cost.median), "s", 1e3, 9, 2}, ALWAYS},
    {{"sync_cost_95", "95 %\ninterval", COLUMN_INTERVAL, COLUMN_ENDS(struct ranking_row, sync_cost.ci_low, sync_cost.ci_high), "s", 1e3, -16, 2}, ALWAYS},
    {{"gradient_error", "gradient\nerror", COLUMN_ERROR, FIELD(error.first), "1", 1, 8, 1}, POSITIVE},
    {{"gradient_error_last", "in last\nstep", COLUMN_ERROR, FIELD(error.last), "1", 1, 8, 1}, POSITIVE},
    {{"final_loss", "loss", COLUMN_REAL, FIELD(final_loss), "1", 1, 7, 3}, OTHER_ARITHMETIC},
    {{"checkpoint", "check-\npoint ms", COLUMN_REAL, FIELD(seconds[PHASE_CHECKPOINT].median), "s", 1e3, 9, 2}, POSITIVE},
    {{"attainable", "attain-\nable ms", COLUMN_REAL, FIELD(attainable.median), "s", 1e3, 9, 2}, POSITIVE},
    {{"step_to_attainable", "step /\nattainable", COLUMN_REAL, FIELD(step_to_attainable.median), "1", 1, 6, 2}, POSITIVE},
};
/* clang-format on */

/* Whether the column is shown. A figure that is NAN does not count. */
static int is_shown(const struct ranking *c, const struct row_column *column)
{
    int shown = column->shown == ALWAYS;
    double value, least = column->shown == LARGE ? 0.05 : 0;
    for (const struct ranking_row *row = c->row; row < c->row + c->n && !shown; row++) {
        memcpy(&value, (const char *)row + column->column.offset, sizeof value);
        shown = column->shown == OTHER_ARITHMETIC ? traits_approximate(implementation_traits(row->implementation))
                                                  : value > least * row->seconds[FIGURE_STEP].median;
    }
    return shown;
}

void ranking_add_table(const struct ranking *c, size_t block_steps, cJSON *summary)
{
    enum { COLUMNS = sizeof row_columns / sizeof *row_columns };
    struct column column[COLUMNS];
    char note[1200];
    size_t columns = 0;
    int to_ddp = 0, to_none = 0, gathers = 0, releases = 0, errors = 0, last = 0, other = 0, rest = 0;
    for (int i = 0; i < c->n; i++) {
        to_ddp |= c->row[i].to_ddp.median > 0;
        to_none |= c->row[i].sync_cost.n > 0;
        gathers |= implementation_traits(c->row[i].implementation)->shards;
        releases |= implementation_traits(c->row[i].implementation)->releases;
        errors |= c->row[i].error.first > 0;
        last |= c->row[i].error.last > 0;
        other |= traits_approximate(implementation_traits(c->row[i].implementation));
    }
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_shown(c, &row_columns[i])) {
            rest |= !strcmp(row_columns[i].column.key, "other");
            column[columns++] = row_columns[i].column;
        }
    snprintf(
        note, sizeof note,
        "%s over %zu round%s; a sample is the mean of %zu timed step%s.%s%s "
        "sync: time spent waiting for communication after backward%s.%s%s%s%s%s%s",
        c->resolve > 0 ? "Medians" : "Geometric means", c->rounds, text_plural(c->rounds), block_steps,
        text_plural(block_steps),
        c->resolve > 0
            ? " Medians of ratios are not ratios of medians: vs ddp, comm ratio, sync cost and * come from the "
              "ratios in each round."
            : "",
        to_ddp ? " vs ddp: step / step of `ddp` in the same round." : "",
        releases ? ", and during backward for a free buffer" : "",
        rest ? " other: the rest of the step; the step is the slowest rank's, phases are means over the ranks." : "",
        gathers ? " gather: time that forward waited for weights that other ranks had updated; starting these "
                  "all-gathers counts as optimizer."
                : "",
        to_none ? " sync cost: (step / step of `none` in the same round - 1) x step of `none`; the interval is the "
                  "ratio's, at this step of `none`."
                : "",
        errors ? " gradient error: relative L2 distance of the reduced gradient from the exact sum, in the first step "
                 "of a block."
               : "",
        last ? " in last step: the same in the last step of a block, for strategies that approximate." : "",
        other ? " loss: in the last step of a block; ddp_powersgd and ddp_local train with other arithmetic, so they "
                "are controls, not compared with the others."
              : "");
    results_add_table(summary,
                      &(struct table){"implementations", NULL, column, columns, c->row, (size_t)c->n, sizeof *c->row, 0,
                                      .note = {c->fastest >= 0 && *c->row[c->fastest].mark
                                                   ? "*: the shortest step of those that reduce. =: tie."
                                                   : NULL,
                                               note}});
}

/* ---- the verdict ---- */

void ranking_add_verdict(const struct ranking *c, int ranks, size_t planned, double round_seconds, int busy,
                         cJSON *summary)
{
    struct verdict_item other[MAX_IMPLEMENTATIONS];
    const struct ranking_row *best = c->fastest >= 0 ? &c->row[c->fastest] : NULL, *sized = NULL;
    int sizes = 0;
    struct verdict verdict = implementations_verdict(best ? best->implementation : NULL, round_seconds);
    verdict.ranks = ranks;
    verdict.candidates = c->compared;
    verdict.within = c->within;
    verdict.anytime = c->resolve > 0;
    verdict.option = c->resolve > 0 ? "by a longer --max-minutes" : "--rounds";
    verdict.busy = busy;
    verdict.item = other;
    if (best) {
        verdict.step = best->seconds[FIGURE_STEP];
        verdict.cost = best->sync_cost;
    }
    for (const struct ranking_row *row = c->row; row < c->row + c->n; row++) {
        if (best && row != best && row->compared)
            other[verdict.n++] = (struct verdict_item){row->label, row->to_fastest};
        if (row->implementation->strategy == &strategy_none)
            verdict.none = row->seconds[FIGURE_STEP].median;
        if (!*row->implementation->size.words || !row->compared)
            continue;
        sizes++;
        sized = !sized || row->to_fastest.ratio.median < sized->to_fastest.ratio.median ? row : sized;
    }
    if (sizes > 1)
        verdict.best_size = sized->implementation->size.words;
    verdict_add(&verdict, "notes", summary);
    if (c->resolve <= 0)
        return;
    int over = c->rounds >= planned, answered = c->rounds_needed <= (double)c->rounds;
    json_add_text(summary, "ended", !over ? "unfinished" : answered ? "resolved" : "max_minutes");
    results_add_sentence(summary, "notes", "%s to %g %%%s: %zu round%s.", answered ? "Resolved" : "Not resolved",
                         100 * c->resolve,
                         answered ? ""
                         : over   ? " within --max-minutes"
                                  : " so far",
                         c->rounds, text_plural(c->rounds));
}
