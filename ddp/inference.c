/* inference.c - a step of inference; read inference_run from top to bottom. */
#include "ddp/inference.h"

#include "ddp/step.h"
#include "kernels/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void inference_create(struct trainer *t)
{
    char path[1024];
    if (!t->inference.directory)
        return;
    snprintf(path, sizeof path, "%.900s/predictions", t->inference.directory);
    if (mkdir(path, 0777) && errno != EEXIST)
        FATAL("cannot create %s: %s", path, strerror(errno));
    t->inference.output = t->device->allocate_host(t->model->source->output_bytes(t->model));
    t->inference.prediction =
        allocate(t->model->sizes.batch * t->model->sizes.context, sizeof *t->inference.prediction);
}

void inference_destroy(struct trainer *t)
{
    if (t->inference.output)
        t->device->release_host(t->inference.output);
    free(t->inference.prediction);
}

/* Writes a line for each token. With 8 significant bits, the probability of the target gives no loss. Returns 0; or an
 * error number. */
static int write_lines(const struct trainer *t, const int32_t *target, const char *path)
{
    const struct prediction *p = t->inference.prediction;
    FILE *file = fopen(path, "we");
    if (!file)
        return errno;
    int failed = fputs("sequence,position,target,predicted,probability,loss\n", file) < 0;
    for (size_t i = 0; !failed && i < t->model->sizes.batch * t->model->sizes.context; i++) {
        fprintf(file, "%zu,%zu,%d,%d,%.6g,", i / t->model->sizes.context, i % t->model->sizes.context, target[i],
                p[i].token, (double)p[i].probability);
        if (t->model->compute_bytes == sizeof(float))
            fprintf(file, "%.6g", -log((double)p[i].of_target));
        failed = fputc('\n', file) < 0;
    }
    int error = failed ? errno : 0;
    return fclose(file) && !error ? errno : error;
}

static void save(const struct trainer *t, const int32_t *target)
{
    char path[1024];
    snprintf(path, sizeof path, "%.900s/predictions/rank_%d_step_%ld.csv", t->inference.directory, t->inference.rank,
             t->inference.keeps ? t->step + 1 : 0);
    int error = write_lines(t, target, path);
    if (error || !t->inference.keeps)
        unlink(path);
    if (error)
        fatal(NULL, 0, "cannot write %s: %s; files written earlier are complete", path, strerror(error));
}

void inference_run(struct trainer *t, int slot)
{
    const struct device *device = t->device;
    const struct source *source = t->model->source;
    size_t tokens = t->model->sizes.batch * t->model->sizes.context;
    float *loss = t->record + slot * RECORDS + RECORD_LOSS;

    t->timeline->step = slot;
    step_enter_phase(t, PHASE_DATA_LOADING);
    device->zero(loss, RECORDS);
    const int32_t *target = trainer_load_batch(t).target;

    step_enter_phase(t, PHASE_FORWARD);
    source->forward(t->model, t->batch.input, t->batch.target, loss, 1 / (float)tokens, 1, NULL);
    device->synchronize();

    step_enter_phase(t, PHASE_SAVE_RESULTS);
    source->predict(t->model, target, t->inference.output, t->inference.prediction);
    save(t, target);
    t->step++;
    step_enter_phase(t, PHASES);
}
