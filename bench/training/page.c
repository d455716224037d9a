/* page.c - what --live shows of a training. */
#include "training/training.h"

#include "base/exposition.h"
#include "kernels/error.h"

#include <pthread.h>
#include <stdlib.h>

struct training_page {
    const struct implementation *row;
    int n;
    pthread_mutex_t lock; /* of what follows */
    struct page_values {
        int running; /* an implementation; -1: none yet */
        long steps_run;
        struct page_row {
            int known;
            double step, phase[PHASES]; /* seconds */
            double tokens_per_second, loss, learning_rate;
        } row[MAX_IMPLEMENTATIONS];
    } now;
};

/* ---- storing ---- */

void training_page_run(struct training_page *page, int implementation)
{
    if (!page)
        return;
    pthread_mutex_lock(&page->lock);
    page->now.running = implementation;
    pthread_mutex_unlock(&page->lock);
}

void training_page_step(struct training_page *page, int implementation, const struct step_times *step,
                        double tokens_per_second, double loss, double learning_rate, long steps_run)
{
    if (!page)
        return;
    struct page_row row = {.known = 1,
                           .step = (double)(step->end_ns - step->start_ns) / 1e9,
                           .tokens_per_second = tokens_per_second,
                           .loss = loss,
                           .learning_rate = learning_rate};
    for (int p = 0; p < PHASES; p++)
        row.phase[p] = (double)step->phase_ns[p] / 1e9;
    pthread_mutex_lock(&page->lock);
    page->now.row[implementation] = row;
    page->now.steps_run = steps_run;
    pthread_mutex_unlock(&page->lock);
}

/* ---- printing, from the thread of --live ---- */

/* A metric with a sample of each implementation that has run. */
static void print_rows(const struct training_page *page, const struct page_values *now, const char *name,
                       const char *help, size_t offset, FILE *out)
{
    exposition_metric(out, name, "gauge", help);
    for (int i = 0; i < page->n; i++) {
        const struct exposition_label label = {"implementation", page->row[i].label};
        if (now->row[i].known)
            exposition_sample(out, name, &label, 1,
                              *(const double *)(const void *)((const char *)&now->row[i] + offset));
    }
}

static void print_phases(const struct training_page *page, const struct page_values *now, FILE *out)
{
    static const char name[] = "ddpbench_step_phase_seconds";
    exposition_metric(out, name, "gauge", "Phases of the last step of an implementation, on rank 0.");
    for (int i = 0; i < page->n; i++)
        for (int p = 0; p < PHASES; p++) {
            const struct exposition_label label[] = {{"implementation", page->row[i].label}, {"phase", phase_name[p]}};
            double seconds = now->row[i].phase[p];
            if (now->row[i].known && (p != PHASE_CHECKPOINT || seconds > 0)) /* as in the telemetry */
                exposition_sample(out, name, label, 2, seconds);
        }
}

static void print_running(const struct training_page *page, int running, FILE *out)
{
    static const char name[] = "ddpbench_implementation_running";
    exposition_metric(out, name, "gauge", "1 for the implementation that runs, or ran last.");
    for (int i = 0; i < page->n; i++) {
        const struct exposition_label label = {"implementation", page->row[i].label};
        exposition_sample(out, name, &label, 1, i == running);
    }
}

static void print_page(void *context, FILE *out)
{
    struct training_page *page = context;
    int known = 0;
    pthread_mutex_lock(&page->lock);
    const struct page_values now = page->now;
    pthread_mutex_unlock(&page->lock);
    print_running(page, now.running, out);
    for (int i = 0; i < page->n; i++)
        known |= now.row[i].known;
    if (!known)
        return;
    exposition_single(out, "ddpbench_steps_total", "counter", "Steps that were run, of all implementations.",
                      (double)now.steps_run);
    print_rows(page, &now, "ddpbench_step_seconds", "The last step of an implementation, on rank 0.",
               offsetof(struct page_row, step), out);
    print_phases(page, &now, out);
    print_rows(page, &now, "ddpbench_tokens_per_second", "Tokens that all ranks together trained on.",
               offsetof(struct page_row, tokens_per_second), out);
    print_rows(page, &now, "ddpbench_loss", "Loss of that step, of rank 0's part of the batch.",
               offsetof(struct page_row, loss), out);
    print_rows(page, &now, "ddpbench_learning_rate", "Learning rate of that step.",
               offsetof(struct page_row, learning_rate), out);
}

struct training_page *training_page_create(struct live *live, const struct implementation *row, int n)
{
    if (!live)
        return NULL;
    struct training_page *page = allocate(1, sizeof *page);
    page->row = row;
    page->n = n;
    page->now.running = -1;
    pthread_mutex_init(&page->lock, NULL);
    live_add(live, print_page, page);
    return page;
}

void training_page_destroy(struct training_page *page)
{
    if (!page)
        return;
    pthread_mutex_destroy(&page->lock);
    free(page);
}
