/* calibration.c - reads a step without overlap from the summary of a later run. */
#include "base/json.h"
#include "base/stats.h"
#include "kernels/error.h"
#include "predict/points.h"
#include "results/saved_run.h"

#include <math.h>
#include <string.h>

/* Sets the step from the first implementation that is a strategy in fp32 and has an interval. */
static void find_step(struct calibration *c, const struct saved_run *run, const char *strategy)
{
    for (const cJSON *item = json_first(run->run, "implementations"); item; item = item->next) {
        const struct figure *step = figures_find(&run->figures, json_string(item, "name"), "step", 0);
        if (c->strategy || strcmp(json_string(item, "strategy"), strategy) != 0 ||
            strcmp(json_string(item, "wire_dtype"), "fp32") != 0 || !step || step->n < STATS_LEAST ||
            !(step->low > 0 && step->high >= step->low))
            continue;
        c->strategy = strategy_find(strategy);
        c->step = step->value;
        c->error = log(step->high / step->low) / (2 * stats_t_quantile(0.975, (double)step->n - 1));
    }
}

/* Returns the name of a setting in which a later run differs; NULL: there is none. */
static const char *find_difference(const struct trained *t, const cJSON *run)
{
    cJSON *later = trained_settings(run);
    const cJSON *setting = t->settings->child;
    while (setting && cJSON_Compare(setting, cJSON_GetObjectItemCaseSensitive(later, setting->string), 1))
        setting = setting->next;
    cJSON_Delete(later);
    return setting ? setting->string : NULL;
}

int calibration_read(struct calibration *c, const char *directory, const struct trained *trained)
{
    struct saved_run run;
    int status = saved_run_read(&run, directory, 0);
    const char *mode = json_string(run.run, "mode"), *other;
    *c = (struct calibration){.ranks = json_count(cJSON_GetObjectItemCaseSensitive(run.run, "derived"), "world_size")};
    if (!status && strcmp(mode, "benchmark") != 0)
        status = error_report("--calibrate %s: is a run of %s; expected one of the benchmark", directory, mode);
    else if (!status && (other = find_difference(trained, run.run)))
        status = error_report("--calibrate %s: differs in %s from the run that predictions are made from; give a later "
                              "run with the same model, batch of a rank, device and threads",
                              directory, other);
    if (!status) {
        find_step(c, &run, "none");
        find_step(c, &run, "ddp_flat");
        if (!c->strategy)
            status = error_report("--calibrate %s: has neither `none` nor ddp_flat in fp32 with %d rounds or more",
                                  directory, STATS_LEAST);
    }
    saved_run_destroy(&run);
    return status ? -1 : 0;
}
