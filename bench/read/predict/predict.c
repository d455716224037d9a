/* predict.c - `ddpbench predict`: reads a run and a link, predicts, prints and writes. */
#include "predict/predict.h"

#include "base/files.h"
#include "base/option_table.h"
#include "base/stats.h"
#include "base/text.h"
#include "base/version.h"
#include "document/document.h"
#include "kernels/error.h"
#include "predict/export.h"
#include "predict/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, FAILED = 1, USAGE = 2 };
enum { MOST_RANKS = 1 << 20, MOST_NUMBERS = 64, MOST_SIZES = 64, MOST_FILES = 8192 };
enum form { FORM_JSON, FORM_HTML, FORM_CSV, FORMS };

struct predict_options {
    const char *run; /* result directory of a run of the benchmark */
    const char *link, *link_model, *link_intra, *implementations, *sizes, *ranks, *learn_from, *check, *chakra;
    size_t ranks_per_host, resamples;
    const char *form[FORMS]; /* file to write in each format; "": none, "-": standard output */
};

#define FIELD(field) offsetof(struct predict_options, field)
/* clang-format off */
static const struct option rows[] = {
    {.name = "link", .common = 1, .kind = &option_path, .offset = FIELD(link), .initial = "", .value_name = "DIR", .without = "link-model",
     .help = "result directories of `ddpbench allreduce` on the link, separated by commas: of all-reduces and, for sharded strategies, of --collective reduce_scatter and all_gather; of several numbers of ranks"},
    {.name = "link-model", .common = 1, .kind = &option_text, .offset = FIELD(link_model), .initial = "", .value_name = "WORDS",
     .help = "or the link's figures, such as latency=23us,bandwidth=11.7MB/s or bandwidth=100gbit: of one message, and busbw of a rank"},
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
    {.name = "learn-from", .kind = &option_text, .offset = FIELD(learn_from), .initial = "", .value_name = "LIST", .decides = "all",
     .help = "labels of implementations of the run, from which to learn how far computation and communication slow each other down"},
    {.name = "check", .common = 1, .kind = &option_path, .offset = FIELD(check), .initial = "", .value_name = "RUN", .without = "ranks,implementations,export-chakra",
     .help = "a run of the same model: predicts its implementations, and shows its steps beside the predictions"},
    {.name = "resamples", .kind = &option_count, .offset = FIELD(resamples), .initial = "1000", .low = 100, .high = 1e6,
     .help = "resamples from which intervals are made"},
    {.name = "export-chakra", .kind = &option_path, .offset = FIELD(chakra), .initial = "", .value_name = "DIR",
     .help = "directory to write a step of each prediction to, as Chakra execution traces: a file for each rank"},
    {.name = "json", .common = 1, .kind = &option_path, .offset = FIELD(form[FORM_JSON]), .initial = "",
     .help = "file to write the result to, as JSON; - prints it in place of the text"},
    {.name = "html", .common = 1, .kind = &option_path, .offset = FIELD(form[FORM_HTML]), .initial = "",
     .help = "file to write the result to, as one HTML page that needs no other file; - prints it in place of the text"},
    {.name = "csv", .common = 1, .kind = &option_path, .offset = FIELD(form[FORM_CSV]), .initial = "",
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
    const struct strategy *strategy[TRAINED_STRATEGIES];
    struct point size[MOST_SIZES]; /* size and caps are set */
    size_t ranks[MOST_NUMBERS];
    size_t strategies, sizes, numbers;
};

static int choose_ranks(struct choice *c, const char *text, const struct trained *t)
{
    char word[32];
    double number;
    int more;
    c->ranks[0] = t->ranks;
    c->numbers = !*text;
    for (struct option_list list = {"ranks", text, 0}; (more = option_next_word(&list, word, sizeof word));) {
        if (more < 0 || option_number(word, &number) || number != floor(number) || number < 1 || number > MOST_RANKS ||
            c->numbers == MOST_NUMBERS)
            return error_report("--ranks '%.100s': expected at most %d numbers from 1 to %d, such as 2,4,8", text,
                                MOST_NUMBERS, MOST_RANKS);
        c->ranks[c->numbers++] = (size_t)number;
    }
    return 0;
}

static int choose_sizes(struct choice *c, const char *text, const struct trained *t)
{
    char word[sizeof c->size->size], sizes[512] = "";
    double gradient = 4 * (double)t->arena / 0x1p20;
    int more;
    for (double mb = exp2(ceil(log2(gradient / 64))), at = 0; !strcmp(text, "auto") && mb < 2 * gradient; mb *= 2)
        at += snprintf(sizes + (size_t)at, sizeof sizes - (size_t)at, "%s%.6g", at > 0 ? "," : "", mb);
    for (struct option_list list = {"bucket-size-mb", *sizes ? sizes : text, 0};
         (more = option_next_word(&list, word, sizeof word));) {
        if (more < 0 || c->sizes == MOST_SIZES || bucket_caps_parse(&c->size[c->sizes].caps, word))
            return error_report("--bucket-size-mb '%.100s': expected auto, or at most %d sizes in MiB, such as "
                                "0.5,25,1+4+25",
                                text, MOST_SIZES);
        strcpy(c->size[c->sizes++].size, word);
    }
    return 0;
}

static int choose_strategies(struct choice *c, const char *text, const struct trained *t, int has_intra)
{
    char word[64];
    int more;
    for (size_t i = 0; i < t->strategies && !*text; i++)
        if (!t->strategy[i]->on_one_level || has_intra)
            c->strategy[c->strategies++] = t->strategy[i];
    for (struct option_list list = {"implementations", text, 0}; (more = option_next_word(&list, word, sizeof word));) {
        const struct strategy *s = more > 0 ? strategy_find(word) : NULL;
        if (!s || !strategy_is_compared(s) || c->strategies == TRAINED_STRATEGIES)
            return error_report("--implementations '%.100s': expected names of strategies that sum all gradients, "
                                "such as ddp,ddp_bucketed,ddp_sharded",
                                text);
        if (s->on_one_level && !has_intra)
            return error_report("--implementations: %s also needs the link within a host: --link-intra and "
                                "--ranks-per-host",
                                s->name);
        c->strategy[c->strategies++] = s;
    }
    int staged = 0;
    for (size_t i = 0; i < c->strategies; i++)
        staged |= c->strategy[i]->on_one_level != NULL;
    if (has_intra && !staged)
        return error_report("--link-intra: is for ddp_hierarchical, which is not among the implementations");
    return c->strategies ? 0 : error_report("--implementations: none of the run's can be predicted");
}

/* Makes the points of a choice: for each number of ranks, each strategy, with each size if it has buckets. */
static void make_points(const struct choice *c, struct prediction *all)
{
    all->groups = c->numbers;
    for (size_t s = 0; s < c->strategies; s++)
        all->n += c->strategy[s]->buckets ? c->sizes : 1;
    all->point = allocate(all->groups * all->n, sizeof *all->point);
    struct point *p = all->point;
    for (size_t g = 0; g < c->numbers; g++)
        for (size_t s = 0; s < c->strategies; s++)
            for (size_t i = 0; i < (c->strategy[s]->buckets ? c->sizes : 1); i++, p++) {
                *p = c->strategy[s]->buckets ? c->size[i] : (struct point){0};
                p->strategy = c->strategy[s];
                p->ranks = c->ranks[g];
                snprintf(p->label, sizeof p->label, "%s%s%s%s", p->strategy->name, *p->size ? ":" : "", p->size,
                         p->strategy->updates_early ? ":update" : "");
            }
}

/* ---- the result ---- */

#define TITLE "ddpbench predict: "
static const char *const form_name[FORMS] = {"json", "html", "csv"};
static const char *const form_mark[FORMS] = {"{\"title\":\"" TITLE, "<title>" TITLE, "implementation,ranks,"};

/* Writes the files, and prints the form whose option has the value "-", else the text. Returns 0; or -1, reported. */
static int write_result(const struct predict_options *o, cJSON *document, const struct prediction *all)
{
    int printed = 0, status = 0;
    for (enum form form = 0; form < FORMS && !status; form++) {
        char *text = NULL;
        size_t length;
        if (!*o->form[form])
            continue;
        FILE *out = text_begin(&text, &length);
        if (form == FORM_HTML)
            document_print_html(out, document);
        else if (form == FORM_CSV)
            prediction_print_csv(out, all);
        else
            document_print_json(out, document, NULL, NULL);
        text_end(out);
        if (strcmp(o->form[form], "-") != 0)
            status = files_replace_path(form_name[form], o->form[form], form_mark[form], text);
        else
            printed = fputs(text, stdout) >= 0;
        free(text);
    }
    if (!status && !printed)
        document_print_text(stdout, document);
    return status ? status : files_flush_stdout();
}

static int export_points(const struct predict_options *o, const struct points_model *m, const struct prediction *all,
                         cJSON *document)
{
    const struct point *end = all->point + all->groups * all->n;
    size_t files = 0;
    int status = 0;
    for (const struct point *p = all->point; p < end; p++) {
        files += p->ranks;
        if (p->strategy->on_one_level)
            return error_report("--export-chakra: %s has collectives of several groups, which the export lacks",
                                p->label);
    }
    if (files > MOST_FILES)
        return error_report("--export-chakra: %zu files, one for each rank of each prediction; at most %d: name fewer "
                            "--ranks, --implementations or --bucket-size-mb",
                            files, MOST_FILES);
    for (const struct point *p = all->point; p < end && !status; p++) {
        struct replay_plan plan;
        struct replay_compute compute;
        char prefix[200];
        snprintf(prefix, sizeof prefix, "%s.%zu_ranks", p->label, p->ranks);
        for (char *colon = prefix; (colon = strchr(colon, ':'));)
            *colon = '_';
        points_plan(m, p, &plan, &compute);
        status = export_chakra("export-chakra", o->chakra, prefix, &compute, &plan, p->ranks, m->trained->speed,
                               m->trained->ranks);
        free(plan.bucket);
        free(compute.ready);
    }
    document_add_paragraph(document, "%zu Chakra execution traces are in %s.", files, o->chakra);
    return status;
}

/* Checks that hosts are full. Returns 0; or -1, reported. */
static int check_ranks(const struct points_model *m, size_t ranks)
{
    return !m->intra || ranks % m->ranks_per_host == 0
               ? 0
               : error_report("--ranks-per-host %zu: %zu ranks are no multiple of it", m->ranks_per_host, ranks);
}

/* Makes points of the implementations of a run of the same model. */
static int make_checked(const struct predict_options *o, const struct points_model *m, const struct trained *target,
                        struct prediction *all)
{
    const struct trained *t = m->trained;
    for (int i = 0; i < t->tensors; i++)
        if (target->tensors != t->tensors || target->tensor[i].count != t->tensor[i].count)
            return error_report("--check %s: trains another model than %s", o->check, o->run);
    *all = (struct prediction){allocate(target->rows, sizeof *all->point), .groups = 1, .is_check = 1};
    for (const struct trained_row *row = target->row; row < target->row + target->rows; row++) {
        if (row->strategy->on_one_level && !m->intra)
            continue;
        struct point *p = &all->point[all->n++];
        *p = (struct point){.strategy = row->strategy, .caps = row->caps, .ranks = target->ranks};
        p->measured = stats_geometric(row->step, target->rounds).median;
        strcpy(p->label, row->label);
        strcpy(p->size, row->size);
    }
    return all->n ? check_ranks(m, target->ranks)
                  : error_report("--check %s: none of its implementations can be predicted", o->check);
}

/* Predicts the implementations of the run given to --check, and compares. */
static int check_run(const struct predict_options *o, const struct points_model *m, cJSON *document,
                     struct prediction *all)
{
    struct trained target;
    int status = trained_read(&target, o->check, "") || make_checked(o, m, &target, all);
    if (!status) {
        points_predict(m, all->point, all->n);
        prediction_add_check(document, all);
    }
    trained_destroy(&target);
    return status;
}

/* Makes the points that options choose. Returns 0; or -1, reported. */
static int choose_points(const struct predict_options *o, const struct points_model *m, struct prediction *all)
{
    struct choice choice = {0};
    if (choose_ranks(&choice, o->ranks, m->trained) || choose_sizes(&choice, o->sizes, m->trained) ||
        choose_strategies(&choice, o->implementations, m->trained, m->intra != NULL))
        return -1;
    for (size_t g = 0; g < choice.numbers; g++)
        if (check_ranks(m, choice.ranks[g]))
            return -1;
    make_points(&choice, all);
    return 0;
}

static int predict_points(const struct predict_options *o, const struct points_model *m, cJSON *document,
                          struct prediction *all)
{
    for (size_t g = 0; g < all->groups; g++)
        points_predict(m, all->point + g * all->n, all->n);
    prediction_add_steps(document, m, all);
    prediction_add_answers(document, m, all);
    prediction_add_bandwidths(document, m, all);
    return *o->chakra ? export_points(o, m, all, document) : 0;
}

static int predict(const struct predict_options *o)
{
    struct trained trained;
    struct link link = {0}, intra = {0};
    struct points_model m = {.trained = &trained, .link = &link, .resamples = o->resamples};
    struct prediction all = {0};
    cJSON *document = document_create(TITLE "%s", o->run);
    int status = *o->link_model && link_parse(&link, "link-model", o->link_model) ? USAGE : OK;
    m.intra = *o->link_intra ? &intra : NULL;
    m.ranks_per_host = o->ranks_per_host;
    if (trained_read(&trained, o->run, o->learn_from) || (*o->link && link_read(&link, "link", o->link)) ||
        (m.intra && link_read(&intra, "link-intra", o->link_intra)))
        status = status ? status : FAILED;
    if (!status && !*o->check && choose_points(o, &m, &all))
        status = USAGE;
    if (!status) {
        points_replay(&m);
        prediction_add_replay(document, &m);
        if ((*o->check ? check_run : predict_points)(o, &m, document, &all) || write_result(o, document, &all))
            status = FAILED;
    }
    cJSON_Delete(document);
    free(all.point);
    trained_destroy(&trained);
    link_destroy(&link);
    link_destroy(&intra);
    return status;
}

void predict_add_link_section(cJSON *document, const char *run, const char *sweeps)
{
    struct trained trained;
    struct link link = {0};
    struct prediction all = {0};
    struct points_model m = {.trained = &trained, .link = &link, .resamples = 100};
    char ranks[100];
    int failed = trained_read(&trained, run, "") || link_read(&link, "link", sweeps);
    snprintf(ranks, sizeof ranks, "%zu,%zu,%zu", trained.ranks, 2 * trained.ranks, 4 * trained.ranks);
    const struct predict_options options = {.sizes = "auto", .ranks = ranks, .implementations = ""};
    if (!failed && !choose_points(&options, &m, &all)) {
        points_replay(&m);
        for (size_t g = 0; g < all.groups; g++)
            points_predict(&m, all.point + g * all.n, all.n);
        prediction_add_bandwidths(document, &m, &all);
        document_add_paragraph(document,
                               "Predicted from %s and %s. `ddpbench predict` shows the steps, and how far they can be "
                               "trusted: a single block of the run is replayed to %.1f %% (root mean square).",
                               run, sweeps, 100 * m.error);
    }
    error_clear(); /* a run without --attainable, or a sweep of few sizes: there is no section */
    free(all.point);
    trained_destroy(&trained);
    link_destroy(&link);
}

/* ---- the command ---- */

/* Checks what the option table cannot check. Returns 0; or -1, reported. */
static int check_usage(const struct predict_options *o)
{
    int failed = 0;
    if (!o->run)
        return error_report("no run: name the result directory of a run of the benchmark with --attainable; see "
                            "--help");
    if (!*o->link && !*o->link_model)
        return error_report("no link: give --link DIR, a result directory of `ddpbench allreduce`, or --link-model");
    for (int i = 0; i < FORMS && !failed; i++) {
        if (*o->form[i] && strcmp(o->form[i], "-") != 0)
            failed = files_check_path(form_name[i], o->form[i], form_mark[i]);
        for (int j = 0; j < i && !failed; j++)
            failed = !strcmp(o->form[i], "-") && !strcmp(o->form[j], "-")
                         ? error_report("--%s and --%s: only one can be printed", form_name[j], form_name[i])
                         : files_check_apart(form_name[j], o->form[j], form_name[i], o->form[i]);
    }
    return failed;
}

static const char about[] =
    "Predicts the step that other bucket sizes, strategies, ranks and links would give, from one run of the\n"
    "benchmark with --attainable and a sweep of `ddpbench allreduce`: replays the run's steps with the link's times.\n"
    "Shows first how well the replay gives the run's own steps; then steps with 90 % intervals, the best of them,\n"
    "what limits them, and the bandwidth that would be needed.\n";

int run_predict(int argc, char *argv[])
{
    struct predict_options options = {0};
    struct option_table table = {.word = take_word, .context = &options};
    int status = OK;
    option_table_add(&table, (struct option_section){.title = "Options", OPTION_ROWS(rows), .base = &options});
    if (option_table_parse(&table, argc, argv) || (!table.help && !table.version && check_usage(&options)))
        status = USAGE;
    else if (table.help) {
        printf("Usage: " PREDICT_SYNOPSIS " [OPTION VALUE]...\n\n%s", about);
        option_table_help(stdout, &table, table.help);
        printf("\nExit status: 0 success, 1 something cannot be read or written, 2 the command line is wrong.\n");
    } else if (table.version)
        printf("ddpbench %s\n", version_text());
    else
        status = predict(&options);
    error_print();
    return status;
}
