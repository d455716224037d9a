/* summary.c - what a run of allreduce says of itself: its heading, the share of the nominal rate, all that is known. */
#include "allreduce/parts.h"

#include "base/text.h"
#include "base/version.h"

#include <math.h>
#include <stdio.h>

static void add_heading(const struct allreduce *a, cJSON *summary)
{
    const struct allreduce_options *o = a->options;
    const struct timing_options *t = &o->timing;
    const struct job *job = a->job;
    const struct comm *comm = a->endpoint.comm;
    const char *machine = a->opened.on_gpu ? a->opened.gpu.name : a->host.cpu[0] ? a->host.cpu : a->host.name;
    char iters[64] = "as many as fit into 0.2 s at the fastest call's pace, 5 to 2000";
    results_add_sentence(
        summary, "heading", "ddpbench %s allreduce on %d rank%s x %d thread%s on %d host%s (%s), comm %s%s%s%s, %s",
        version_text(), job->size, text_plural((size_t)job->size), a->threads, text_plural((size_t)a->threads),
        job->hosts, text_plural((size_t)job->hosts), machine, comm->name, comm->on_device ? " (" : "",
        comm->on_device ? comm->progress : "", comm->on_device ? ")" : "",
        blocking_name[o->overlap ? BLOCKING_YIELDS : timing_blocking(&a->endpoint, t->blocking)]);
    if (*o->workload.preset_words)
        results_add_sentence(summary, "heading", "Model: preset %s", o->workload.preset_words);
    if (o->overlap) {
        results_add_sentence(summary, "heading", "%s", comm_kind_name[o->choice.kind]);
        return;
    }
    if (t->iters)
        snprintf(iters, sizeof iters, "%zu", t->iters);
    results_add_sentence(
        summary, "heading", "%s; iterations: %s; warm-up %zu; cycles %zu; check %zu; time of an iteration: %s",
        comm_kind_name[o->choice.kind], iters, t->warmup_iters, t->cycles, t->check, rank_time_name[t->time]);
}

/* What share of the nominal rate the largest size of each type, operation and placement reaches. */
static void add_nominal(const struct allreduce *a, cJSON *summary, const struct fitted_link *link, size_t links)
{
    const struct nominal *nominal = &a->options->nominal;
    char rate[CELL], size[CELL], words[NOMINAL_WORDS];
    const char *unused = nominal_unused(nominal, a->job->hosts, a->endpoint.comm->on_device);
    results_add_sentence(summary, "notes", "Nominal rate %s: %s each way; normal is %s.", nominal->name,
                         text_value_like(rate, nominal->rate, "B/s", nominal->rate), nominal->sort->normal);
    if (unused)
        results_add_sentence(summary, "notes", "But %s, and a share of its rate says nothing.", unused);
    for (const struct fitted_link *l = link; l < link + links && !unused; l++) {
        const struct collective_timing *t = l->largest;
        double latency = l->regimes ? l->regime[l->regimes - 1].latency : NAN; /* of that size */
        nominal_words(words, nominal, t->nominal_share, nominal_attainable(nominal, latency, l->bus_bytes));
        results_add_sentence(summary, "notes", "%s %s %s, %s on %d rank%s: %s.", t->dtype, t->op, t->placement,
                             text_bytes(size, (double)t->bytes), a->job->size, text_plural((size_t)a->job->size),
                             words);
    }
}

cJSON *allreduce_summary(const struct allreduce *a)
{
    const char *label = a->options->results.label;
    struct fitted_link link[FITTED_LINKS];
    size_t links = 0;
    cJSON *json = results_summary_create("allreduce", label, (double)a->finished, (double)a->timings, "rows");
    cJSON *tables = cJSON_GetObjectItemCaseSensitive(json, "tables");
    add_heading(a, json);
    cJSON_AddItemReferenceToArray(tables, a->table.json);
    if (!a->options->overlap && a->finished == a->timings)
        links = links_fit(link, a->timing, a->timings, a->job->size);
    cJSON_AddItemToArray(tables, link_table(link, links));
    if (!a->options->overlap && a->options->timing.check)
        results_add_sentence(json, "notes", "Out of bounds values : %.0f %s", a->wrong, a->wrong > 0 ? "FAILED" : "OK");
    if (!a->options->overlap && a->finished)
        results_add_sentence(json, "notes", "Avg bus bandwidth : %.4f GB/s", 1e-9 * a->busbw / (double)a->finished);
    if (a->options->nominal.rate > 0 && links)
        add_nominal(a, json, link, links);
    if (a->job->size == 1)
        results_add_sentence(json, "notes", "One rank: nothing is sent, so there is no bus bandwidth.");
    for (int i = 0; i < a->findings.n; i++)
        results_add_sentence(json, "notes", "Note: %s.", a->findings.finding[i].text);
    monitor_findings_describe(&a->findings, json);
    return json;
}
