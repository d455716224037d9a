/* predict.c - `ddpbench predict`: reads a run and a link, predicts, prints and writes. */
#include "predict/predict.h"

#include "base/option_table.h"
#include "document/document.h"
#include "import/import.h"
#include "kernels/error.h"
#include "predict/export.h"
#include "predict/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 1 << 20, MOST_FILES = 8192, MOST_LISTED = 64, MOST_STRATEGIES = 32 };
enum { FORM_JSON, FORM_HTML, FORM_CSV, FORMS };

struct predict_options {
    const char *run; /* result directory of a run of the benchmark, or a trace */
    const char *link, *link_model, *link_intra, *implementations, *sizes, *ranks, *calibrate, *chakra;
    size_t ranks_per_host;
    const char *form[FORMS]; /* file to write in each format; "": none, "-": standard output */
};

#define FIELD(field) offsetof(struct predict_options, field)
/* clang-format off */
static const struct option rows[] = {
    {.name = "link", .common = 1, .kind = &option_path, .offset = FIELD(link), .initial = "", .value_name = "DIR", .without = "link-model",
     .help = "result directories of `ddpbench allreduce` on the link, separated by commas: of all-reduces and, for sharded strategies, of --collective reduce_scatter and all_gather; of several numbers of ranks"},
    {.name = "link-model", .common = 1, .kind = &option_text, .offset = FIELD(link_model), .initial = "", .value_name = "WORDS",
     .help = "or the latency of one message and the bandwidth (busbw) of a rank, such as latency=23us,bandwidth=11.7MB/s or latency=5us,bandwidth=100gbit"},
    {.name = "link-intra", .kind = &option_path, .offset = FIELD(link_intra), .initial = "", .value_name = "DIR", .needs = "ranks-per-host",
     .help = "result directories of `ddpbench allreduce` within one host, for ddp_hierarchical"},
    {.name = "ranks-per-host", .kind = &option_count, .offset = FIELD(ranks_per_host), .initial = "1", .low = 1, .high = 1024, .needs = "link-intra",
     .help = "ranks of each host of the predictions"},
    {.name = "ranks", .common = 1, .kind = &option_text, .offset = FIELD(ranks), .initial = "", .value_name = "LIST", .decides = "those of the run",
     .help = "numbers of ranks, such as 2,4,8,1024; each computes what a rank of the run does (weak scaling)"},
    {.name = "bucket-size-mb", .common = 1, .kind = &option_text, .offset = FIELD(sizes), .initial = "auto", .value_name = "LIST",
     .help = "bucket sizes in MiB, as in the benchmark, such as 0.5,1+4+25; auto: powers of 2, from 1/64 of the gradient to all of it"},
    {.name = "implementations", .common = 1, .kind = &option_text, .offset = FIELD(implementations), .initial = "", .value_name = "LIST",
     .decides = "those of the run", .help = "names of strategies, separated by commas"},
    {.name = "calibrate", .common = 1, .kind = &option_path, .offset = FIELD(calibrate), .initial = "", .value_name = "DIR",
     .help = "result directory of a later run of the benchmark, whose step of none, or else of ddp_flat, shows how fast the machine computes by then"},
    {.name = "export-chakra", .kind = &option_path, .offset = FIELD(chakra), .initial = "", .value_name = "DIR",
     .help = "directory to write a step of each prediction to, as Chakra execution traces: a file for each rank"},
    {.name = "json", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_JSON]), .initial = "",
     .help = "file to write the result to, as JSON; - prints it in place of the text"},
    {.name = "html", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_HTML]), .initial = "",
     .help = "file to write the result to, as one HTML page that needs no other file; - prints it in place of the text"},
    {.name = "csv", .common = 1, .kind = &option_form, .offset = FIELD(form[FORM_CSV]), .initial = "",
     .help = "file to write all predictions to, as comma-separated values; - prints them in place of the text"},
};
/* clang-format on */

static int take_word(void *context, const char *word)
{
    struct predict_options *o = context;
    if (o->run)
        return error_report("'%s': only one run can be given; it is '%s'", word, o->run);
    o->run = word;
    return 0;
}

/* ---- which points ---- */

struct choice {
    struct {
        const struct strategy *strategy;
        enum variant variant;
    } row[MOST_STRATEGIES];
    struct point size[MOST_LISTED]; /* size and caps are set */
    size_t ranks[MOST_LISTED];
    size_t strategies, sizes, numbers;
};

/* Reads --ranks; each number must be a multiple of per_host. */
static int choose_ranks(struct choice *c, const char *text, const struct trained *t, size_t per_host)
{
    char word[32];
    double number;
    int more;
    c->ranks[0] = t->ranks;
    c->numbers = !*text;
    for (struct option_list list = {"ranks", text, 0}; (more = option_next_word(&list, word, sizeof word));) {
        if (more < 0 || option_number(word, &number) || number != floor(number) || number < 1 || number > MOST_RANKS ||
            c->numbers == MOST_LISTED)
            return error_report("--ranks '%.100s': expected at most %d numbers from 1 to %d, such as 2,4,8", text,
                                MOST_LISTED, MOST_RANKS);
        for (size_t i = 0; i < c->numbers; i++)
            if (c->ranks[i] == (size_t)number)
                return error_report("--ranks '%.100s': %g ranks are listed twice; name them once", text, number);
        c->ranks[c->numbers++] = (size_t)number;
    }
    for (size_t i = 0; i < c->numbers; i++)
        if (c->ranks[i] % per_host)
            return error_report("--ranks-per-host %zu: %zu ranks are not a multiple of it", per_host, c->ranks[i]);
    return 0;
}

static int choose_sizes(struct choice *c, const char *text, const struct trained *t)
{
    char word[sizeof c->size->size], sizes[512] = "";
    double gradient = 4 * (double)t->profile.arena / 0x1p20;
    int more;
    if (t->traced && !strcmp(text, "auto"))
        strcpy(sizes, "1+25"); /* PyTorch's default */
    for (double mb = exp2(ceil(log2(gradient / 64))), at = (double)strlen(sizes);
         !strcmp(text, "auto") && mb < 2 * gradient; mb *= 2)
        at += snprintf(sizes + (size_t)at, sizeof sizes - (size_t)at, "%s%.6g", at > 0 ? "," : "", mb);
    for (struct option_list list = {"bucket-size-mb", *sizes ? sizes : text, 0};
         (more = option_next_word(&list, word, sizeof word));) {
        if (more < 0 || c->sizes == MOST_LISTED || bucket_caps_parse(&c->size[c->sizes].caps, word))
            return error_report("--bucket-size-mb '%.100s': expected auto, or at most %d sizes in MiB, such as "
                                "0.5,25,1+4+25, or block",
                                text, MOST_LISTED);
        if (c->size[c->sizes].caps.blocks && !t->profile.tensor[t->profile.tensors - 1].layer)
            return error_report("--bucket-size-mb block: the block of each tensor is not known: %s",
                                t->traced ? "give the names as a second file, FILE,LIST"
                                          : "an earlier version made the run; make it again");
        for (size_t i = 0; i < c->sizes; i++)
            if (!memcmp(&c->size[i].caps, &c->size[c->sizes].caps, sizeof c->size->caps))
                return error_report("--bucket-size-mb: %s and %s are one size; name it once", c->size[i].size, word);
        strcpy(c->size[c->sizes++].size, word);
    }
    return 0;
}

static int is_staged(const struct strategy *strategy)
{
    return strategy->traits[VARIANT_PLAIN]->staged;
}

static int choose_strategies(struct choice *c, const char *text, const struct trained *t, int has_intra)
{
    char word[64];
    int more, staged = 0;
    for (int i = 0; strategies[i] && t->traced && !*text; i++)
        if (strategy_is_compared(strategies[i]) && !is_staged(strategies[i]) &&
            !strategies[i]->traits[VARIANT_PLAIN]->shards)
            c->row[c->strategies++].strategy = strategies[i];
    for (size_t i = 0; i < t->rows && !*text && !t->traced; i++) {
        size_t first = 0;
        while (t->row[first].strategy != t->row[i].strategy || t->row[first].variant != t->row[i].variant)
            first++;
        if (first != i || (!has_intra && is_staged(t->row[i].strategy)))
            continue;
        c->row[c->strategies].strategy = t->row[i].strategy;
        c->row[c->strategies++].variant = t->row[i].variant;
    }
    for (struct option_list list = {"implementations", text, 0}; (more = option_next_word(&list, word, sizeof word));) {
        const struct strategy *s = more > 0 ? strategy_find(word) : NULL;
        if (!s || !strategy_is_compared(s))
            return error_report("--implementations '%.100s': expected names of strategies that sum all gradients, "
                                "such as ddp,ddp_bucketed,ddp_sharded",
                                text);
        c->row[c->strategies].strategy = s;
        c->row[c->strategies++].variant = VARIANT_PLAIN;
    }
    for (size_t i = 0; i < c->strategies; i++)
        staged += is_staged(c->row[i].strategy);
    if (!has_intra && (staged || !c->strategies))
        return error_report("--implementations: ddp_hierarchical also needs the link within a host: --link-intra and "
                            "--ranks-per-host");
    if (has_intra && !staged)
        return error_report("--link-intra: only ddp_hierarchical uses it; add that to --implementations");
    return 0;
}

static size_t sizes_of(const struct choice *c, size_t row)
{
    return c->row[row].strategy->traits[VARIANT_PLAIN]->buckets ? c->sizes : 1;
}

/* Makes the points that options choose: for each number of ranks, each strategy, with each size if it has buckets.
 * Returns 0; or -1, reported. */
static int choose_points(const struct predict_options *o, struct prediction *all)
{
    const struct points_model *m = &all->model;
    struct choice c = {0};
    if (choose_ranks(&c, o->ranks, &m->trained, m->ranks_per_host) || choose_sizes(&c, o->sizes, &m->trained) ||
        choose_strategies(&c, o->implementations, &m->trained, *o->link_intra != 0))
        return -1;
    all->groups = c.numbers;
    for (size_t s = 0; s < c.strategies; s++)
        all->n += sizes_of(&c, s);
    struct point *p = all->point = allocate(all->groups * all->n, sizeof *all->point);
    for (size_t g = 0; g < c.numbers; g++)
        for (size_t s = 0; s < c.strategies; s++)
            for (size_t i = 0; i < sizes_of(&c, s); i++, p++) {
                *p = c.row[s].strategy->traits[VARIANT_PLAIN]->buckets ? c.size[i] : (struct point){0};
                p->strategy = c.row[s].strategy;
                p->variant = c.row[s].variant;
                p->link = *o->link ? o->link : o->link_model;
                p->ranks = c.ranks[g];
                snprintf(p->label, sizeof p->label, "%s%s%s%s", p->strategy->name, *p->size ? ":" : "", p->size,
                         p->variant == VARIANT_UPDATE ? ":update" : "");
            }
    return 0;
}

/* ---- the result ---- */

#define TITLE "ddpbench predict: "

static void print_json(FILE *out, const void *shown)
{
    const struct prediction *all = shown;
    document_print_json(out, all->document, "figures", cJSON_Duplicate(all->figures, 1));
}

static const struct form forms[FORMS] = {
    [FORM_JSON] = {"json", "{\"title\":\"" TITLE, print_json},
    [FORM_HTML] = {"html", DOCUMENT_HTML_BEGIN TITLE, forms_print_html},
    [FORM_CSV] = {"csv", "implementation,ranks,buckets,step,mark,interval_low,", prediction_print_csv}};

/* Checks the files of a point, or writes them. Returns 0; or -1, reported. */
static int export_point(const struct predict_options *o, const struct points_model *model, const struct point *p,
                        int writes)
{
    struct replay_plan plan;
    struct step_compute compute;
    char prefix[200];
    snprintf(prefix, sizeof prefix, "%s.%zu_ranks", p->label, p->ranks);
    for (char *colon = prefix; (colon = strchr(colon, ':'));)
        *colon = '_';
    points_plan(model, p, &plan, &compute);
    struct replay_event *event = allocate(5 * (size_t)plan.n + 4, sizeof *event);
    struct exported_step step = {.event = event,
                                 .n = replay(&compute, &plan, model->overlap, event).events,
                                 .plan = &plan,
                                 .ranks = p->ranks,
                                 .scale = p->step / p->at.step};
    int status = export_chakra("export-chakra", o->chakra, prefix, &step, writes);
    free(event);
    free(plan.bucket);
    free(compute.ready);
    return status;
}

/* Checks all files of --export-chakra, and then writes them. Returns 0; or -1, reported. */
static int export_points(const struct predict_options *o, const struct prediction *all)
{
    const struct point *end = all->point + all->groups * all->n;
    size_t files = 0;
    int status = 0;
    for (const struct point *p = all->point; p < end; p++) {
        files += p->ranks;
        if (is_staged(p->strategy))
            return error_report("--export-chakra: %s has collectives of several groups, which the export lacks",
                                p->label);
    }
    if (files > MOST_FILES)
        return error_report("--export-chakra: %zu files, one for each rank of each prediction; at most %d: name fewer "
                            "--ranks, --implementations or --bucket-size-mb",
                            files, MOST_FILES);
    status = files_make_directories("export-chakra", o->chakra);
    for (int writes = 0; writes < 2; writes++) /* all files are checked before one is written */
        for (size_t i = 0; i < all->groups * all->n && !status; i++)
            status = export_point(o, &all->model, &all->point[i], writes);
    document_add_paragraph(all->document, "%zu Chakra execution traces are in %s.", files, o->chakra);
    return status;
}

/* Reads and predicts. Returns the exit status; release with prediction_destroy in any case. */
static int prediction_create(struct prediction *all, const struct predict_options *o)
{
    struct points_model *m = &all->model;
    *all = (struct prediction){.figures = cJSON_CreateArray(), .model = {.ranks_per_host = o->ranks_per_host}};
    if (*o->calibrate && import_is_file(o->run)) {
        error_report("--calibrate: steps of a run of the benchmark can be calibrated; %s is a file", o->run);
        return STATUS_USAGE;
    }
    if (*o->link_model && link_parse(&m->link, "link-model", o->link_model))
        return STATUS_USAGE;
    if ((import_is_file(o->run) ? trained_import(&m->trained, o->run) : trained_read(&m->trained, o->run)) ||
        (*o->link && link_read(&m->link, "link", o->link)) ||
        (*o->link_intra && link_read(&m->intra, "link-intra", o->link_intra)) ||
        (*o->calibrate && calibration_read(&m->calibration, o->calibrate, &m->trained)))
        return STATUS_FAILED;
    if (choose_points(o, all))
        return STATUS_USAGE;
    points_replay(m);
    if (m->calibration.strategy && points_calibrate(m))
        return STATUS_FAILED;
    for (size_t g = 0; g < all->groups; g++)
        points_predict(m, all->point + g * all->n, all->n);
    return STATUS_OK;
}

static void prediction_destroy(struct prediction *all)
{
    cJSON_Delete(all->figures);
    free(all->point);
    trained_destroy(&all->model.trained);
    link_destroy(&all->model.link);
    link_destroy(&all->model.intra);
}

static int predict(const struct predict_options *o)
{
    struct prediction all = {0};
    char busy[BUSY_WORDS];
    const struct named_path chakra = {"export-chakra", o->chakra, NULL};
    int status = forms_check(forms, o->form, FORMS, &chakra, 1) ? STATUS_FAILED : prediction_create(&all, o);
    if (!status) {
        all.document = document_create(TITLE "%s", o->run);
        if (*busy_sentence(busy, all.model.trained.busy, " during the run"))
            document_add_paragraph(all.document, "%s", busy);
        if (all.model.trained.traced)
            document_add_paragraph(all.document, "%s", all.model.trained.traced);
        prediction_add_replay(&all);
        prediction_add_steps(&all);
        prediction_add_answers(&all);
        prediction_add_bandwidths(&all);
        if ((*o->chakra && export_points(o, &all)) || forms_write(forms, o->form, FORMS, &all) ||
            forms_print(forms, o->form, FORMS, &all, forms_print_text))
            status = STATUS_FAILED;
        cJSON_Delete(all.document);
    }
    prediction_destroy(&all);
    return status;
}

void predict_add_link_section(cJSON *document, const char *run, size_t ranks, const char *sweeps)
{
    struct prediction all;
    char numbers[100];
    snprintf(numbers, sizeof numbers, "%zu,%zu,%zu", ranks, 2 * ranks, 4 * ranks);
    const struct predict_options options = {.run = run,
                                            .link = sweeps,
                                            .link_model = "",
                                            .link_intra = "",
                                            .calibrate = "",
                                            .implementations = "",
                                            .sizes = "auto",
                                            .ranks = numbers,
                                            .ranks_per_host = 1};
    if (!prediction_create(&all, &options)) {
        all.document = document;
        prediction_add_bandwidths(&all);
        document_add_paragraph(document,
                               "Predicted from %s and %s. `ddpbench predict` shows the steps, and how far they can be "
                               "trusted: the replay of a single block of the run is wrong by %.1f %% (root mean "
                               "square).",
                               run, sweeps, 100 * all.model.error);
    }
    error_clear(); /* a run without --attainable, or a sweep of few sizes: there is no section */
    prediction_destroy(&all);
}

/* ---- the command ---- */

static int check_usage(void *context)
{
    const struct predict_options *o = context;
    if (!o->run)
        return error_report("no run: name the result directory of a run of the benchmark with --attainable, or a "
                            "trace; see --help");
    if (!*o->link && !*o->link_model)
        return error_report("no link: give --link DIR, a result directory of `ddpbench allreduce`, or --link-model");
    for (int i = 0; i < FORMS && *o->chakra; i++) {
        const char *end = strrchr(o->form[i], '.');
        if (end && !strcmp(end, ".et"))
            return error_report("--%s %s: the files of --export-chakra end in .et; choose another name",
                                forms[i].option, o->form[i]);
    }
    return forms_check_printed(forms, o->form, FORMS);
}

static const char usage[] =
    "Usage: " PREDICT_SYNOPSIS " [OPTION VALUE]...\n\n"
    "Predicts the step that other bucket sizes, strategies, ranks and links would give, from one run of the benchmark "
    "with --attainable, or from a trace of torch.profiler, and a sweep of `ddpbench allreduce`: replays the steps with "
    "the link's times. Shows first "
    "how well the replay gives the run's own steps; then steps with 90 % intervals, the best of them, what limits "
    "them, "
    "and the bandwidth that would be needed.\n";

int run_predict(int argc, char *argv[])
{
    struct predict_options options = {0};
    struct option_table table = {.word = take_word, .check = check_usage, .context = &options};
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &options});
    option_table_add(&table, option_config_section());
    int printed = option_table_begin(&table, usage, OPTION_STATUSES, argc, argv);
    return printed < 0 ? STATUS_USAGE : printed ? STATUS_OK : predict(&options);
}
