/* output.c - what a run of `isolate` found, in sentences, tables, figures and files. */
#include "isolate/output.h"

#include "base/files.h"
#include "base/text.h"
#include "isolate/measure.h"
#include "kernels/error.h"
#include "results/findings.h"
#include "results/results.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_name[] = {
    [MEMBER_HEALTHY] = "healthy", [MEMBER_SLOW] = "slow", [MEMBER_UNDECIDED] = "undecided"};

void outcome_create(struct outcome *o)
{
    o->progress = diagnosis_progress(o->diagnosis);
    matrix_create(o);
    o->fault = diagnosis_faults(o->diagnosis, &o->faults);
    o->state = allocate((size_t)o->members, sizeof *o->state);
    for (int m = 0; m < o->members; m++) {
        o->state[m] = diagnosis_member(o->diagnosis, o->fault, o->faults, m);
        o->count[o->state[m]]++;
    }
    o->left_out = hosts_leave_out(o);
    o->all = o->faults;
    for (int l = 0; o->load && l < o->load->levels; l++)
        for (int b = 0; b < o->load->level[l].groups; b++)
            if (load_is_fault(o->load, l, b)) {
                o->fault = allocate_more(o->fault, o->all, sizeof *o->fault);
                o->fault[o->all++] = load_fault(o->load, l, b);
            }
}

void outcome_destroy(struct outcome *o)
{
    free(o->row);
    free(o->fault);
    free(o->state);
    free(o->left_out);
}

enum isolate_status outcome_status(const struct outcome *o)
{
    return o->all ? ISOLATE_SLOW : o->count[MEMBER_UNDECIDED] ? ISOLATE_UNDECIDED : ISOLATE_HEALTHY;
}

/* ---- sentences ---- */

enum { WORDS = 2 * HOST_TEXT + 400 };

static const struct words {
    const char *before, *between, *verb, *peers;
    int is_rate; /* 1: reported as a share of the peers' rate; 0: as a multiple of their time */
    const char *advice;
} fault_word[] = {
#define AT_PORT "look at its port, cable and switch port: negotiated speed, errors, and what else they carry"
#define ON_PATH "look at the path between them: a link of several switches, a route"
    [FAULT_SENDS] = {"", "", "sends", "its peers'", 1, AT_PORT},
    [FAULT_RECEIVES] = {"", "", "receives", "its peers'", 1, AT_PORT},
#define AT_DELAY "look for power saving, interrupts and a longer path"
    [FAULT_ROUND_TRIP] = {"round trips with ", "", "take", "its peers'", 0, AT_DELAY},
    [FAULT_COMPUTES] = {"", "", "computes matrix products", "its peers'", 1,
                        "look at its clocks and temperature, and for other processes (--monitor-cpu, --monitor-gpu)"},
    [FAULT_COPIES] = {"", "", "copies memory", "its peers'", 1, "look for missing memory modules and other processes"},
    [FAULT_PAIR] = {"messages from ", " to ", "move", "other pairs'", 1, ON_PATH},
    [FAULT_PAIR_ROUND_TRIP] = {"round trips between ", " and ", "take", "those of other pairs", 0, AT_DELAY},
    [FAULT_GROUP] = {"all-reduces among the members from ", " to ", "take", "those of other groups of this size", 0,
                     "look at what its members share under load: a switch, its uplinks, links that are slow if both "
                     "directions are busy"}};

static const char *name_of(const struct fault *fault)
{
    return fault->open ? "open" : fault_name[fault->kind];
}

static void append_end(char text[WORDS], const struct outcome *o, const struct fault *f)
{
    const struct member *first = &o->member[f->member], *second = f->other < 0 ? first : &o->member[f->other];
    if (f->open)
        text_append(text, WORDS, "; it is undecided whether one of the two or the path between them is slow.");
    else if (f->kind == FAULT_GROUP)
        text_append(text, WORDS, ", though each of them is healthy alone.");
    else if (first != second)
        text_append(text, WORDS, "; it is enough to leave out %s (bad.txt).",
                    o->left_out[first->host] ? first->host_name : second->host_name);
    else
        text_append(text, WORDS, ".");
}

static const char *fault_words(char text[WORDS], const struct outcome *o, const struct fault *f)
{
    const struct words *w = &fault_word[f->kind];
    snprintf(text, WORDS, "%s%s%s%s %s ", w->before, o->member[f->member].name, w->between,
             f->other < 0 ? "" : o->member[f->other].name, w->verb);
    if (w->is_rate)
        text_append(text, WORDS, "at %.3g %% of %s rate [%.3g, %.3g]", 100 / f->ratio, w->peers, 100 / f->high,
                    100 / f->low);
    else
        text_append(text, WORDS, "%.3g times as long as %s [%.3g, %.3g]", f->ratio, w->peers, f->low, f->high);
    text_append(text, WORDS, " (n = %zu)", f->n);
    append_end(text, o, f);
    *text = (char)toupper((unsigned char)*text);
    return text;
}

/* Adds the undecided members and measurements and, unless the run goes on or was interrupted, what may decide them. */
static void add_undecided(const struct outcome *o, cJSON *summary)
{
    enum { MOST = 8 };
    char *names, spent[CELL], advice[200] = "";
    size_t length, n = 0;
    FILE *out = text_begin(&names, &length);
    for (int m = 0; m < o->members; m++)
        if (o->state[m] == MEMBER_UNDECIDED && n++ < MOST)
            fprintf(out, "%s%s", n > 1 ? ", " : "", o->member[m].name);
    if (n > MOST)
        fprintf(out, " and %zu more", n - MOST);
    text_end(out);
    const struct diagnosis_progress *p = &o->progress;
    if (o->complete)
        snprintf(advice, sizeof advice, "%s A longer --max-minutes may decide, or a larger --resolve than %g %%.",
                 o->crowded ? " Ranks share cores, which makes them differ: start at most one rank per core." : "",
                 100 * o->resolve);
    results_add_sentence(summary, "answers",
                         "Undecided %s %s%s, %zu of %d members: %s. Undecided measurements: messages %zu, "
                         "round trips %zu, products %zu, copies %zu.%s",
                         o->complete ? "after" : "so far, after", text_duration(spent, o->seconds),
                         o->complete ? "" : " (interrupted, or still running)", n, o->members, names, p->messages,
                         p->round_trips, p->products, p->copies, advice);
    free(names);
}

/* ---- the table of members ---- */

/* What is measured of a member: kinds of faults below KINDS, and the names of the figures. */
enum { KINDS = FAULT_COPIES + 1 };
static const char *const figure_name[KINDS] = {"send", "receive", "round_trip", "product", "copy"};

struct member_row {
    const char *name;
    char state[64];              /* with the names of the member's own faults */
    struct fault typical[KINDS]; /* messages and round trips: with its fastest partner */
    double value[KINDS];         /* their seconds, or a rate */
    double worst;                /* the largest ratio */
    int severity;
};
#define OF(field) offsetof(struct member_row, field)
static const struct column member_columns[] = {
    {"member", "member", COLUMN_NAME, OF(name), NULL, 0, -14, 0},
    {"send_rate", "sends\nMB/s", COLUMN_REAL, OF(value[0]), "B/s", 1e-6, 9, -4},
    {"send_ratio", "x", COLUMN_REAL, OF(typical[0].ratio), "1", 1, 6, 2},
    {"receive_rate", "receives\nMB/s", COLUMN_REAL, OF(value[1]), "B/s", 1e-6, 9, -4},
    {"receive_ratio", "x", COLUMN_REAL, OF(typical[1].ratio), "1", 1, 6, 2},
    {"round_trip", "round trip\nus", COLUMN_REAL, OF(value[2]), "s", 1e6, 11, -4},
    {"round_trip_ratio", "x", COLUMN_REAL, OF(typical[2].ratio), "1", 1, 6, 2},
    {"product", "product\nms", COLUMN_REAL, OF(value[3]), "s", 1e3, 9, -4},
    {"product_ratio", "x", COLUMN_REAL, OF(typical[3].ratio), "1", 1, 6, 2},
    {"copy_rate", "copy\nGB/s", COLUMN_REAL, OF(value[4]), "B/s", 1e-9, 7, -4},
    {"copy_ratio", "x", COLUMN_REAL, OF(typical[4].ratio), "1", 1, 6, 2},
    {"state", "state", COLUMN_CHARS, OF(state), NULL, 0, -12, 0},
};

static int by_severity(const void *a, const void *b)
{
    const struct member_row *x = a, *y = b;
    return x->severity != y->severity ? y->severity - x->severity : (x->worst < y->worst) - (x->worst > y->worst);
}

static void write_state(char text[64], const struct outcome *o, int member)
{
    const char *last = NULL;
    snprintf(text, 64, "%s", state_name[o->state[member]]);
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++)
        if ((f->member == member || f->other == member) && last != name_of(f)) {
            text_append(text, 64, "%s%s", last ? ", " : ": ", name_of(f));
            last = name_of(f);
        }
}

static void keep_best(struct fault *best, const struct fault *measured)
{
    if (isfinite(measured->ratio) && !(best->ratio <= measured->ratio)) /* best->ratio is NAN at first */
        *best = *measured;
}

/* Fills typical[] of row[members]. Messages and round trips are those with the fastest partner, because a member that
 * is slow itself is slow with every partner. */
static void find_typical(const struct outcome *o, struct member_row *row)
{
    for (int m = 0; m < o->members; m++)
        for (int kind = 0; kind < KINDS; kind++)
            row[m].typical[kind] = kind > FAULT_ROUND_TRIP
                                       ? diagnosis_typical(o->diagnosis, (enum fault_kind)kind, m, -1)
                                       : (struct fault){.ratio = NAN, .low = NAN, .high = NAN, .seconds = NAN};
    for (const struct matrix_row *pair = o->row; pair < o->row + o->rows; pair++) {
        int from = pair->message.member, to = pair->message.other;
        keep_best(&row[from].typical[FAULT_SENDS], &pair->message);
        keep_best(&row[to].typical[FAULT_RECEIVES], &pair->message);
        keep_best(&row[from].typical[FAULT_ROUND_TRIP], &pair->round_trip);
    }
}

/* Sets the value of a kind, and adds its figure, whose subject is the member's name. */
static void add_kind(const struct outcome *o, int kind, struct member_row *row, struct figure_list *figures)
{
    const struct fault *typical = &row->typical[kind];
    const size_t message = kind <= FAULT_RECEIVES ? o->bytes : 0;
    const size_t amount = kind == FAULT_COPIES ? o->copy_bytes : message;
    matrix_add_figure(figures, row->name, figure_name[kind], typical, message, kind != FAULT_ROUND_TRIP);
    row->value[kind] = amount ? (double)amount / typical->seconds : typical->seconds;
    row->worst = fmax(row->worst, typical->ratio);
}

static void add_members(const struct outcome *o, cJSON *summary, struct figure_list *figures)
{
    enum { SHOWN = 40 };
    struct member_row *row = allocate((size_t)o->members, sizeof *row);
    find_typical(o, row);
    for (int m = 0; m < o->members; m++) {
        row[m].name = o->member[m].name;
        row[m].severity = (int)o->state[m];
        write_state(row[m].state, o, m);
        for (int kind = 0; kind < KINDS; kind++)
            add_kind(o, kind, &row[m], figures);
        figures_add_value(figures, row[m].name, "member_state", "1", row[m].severity, o->progress.rounds, BETTER_LOWER);
    }
    results_add_table(
        summary,
        &(struct table){
            "members", NULL, TABLE_COLUMNS(member_columns), TABLE_ROWS(row, (size_t)o->members), SHOWN,
            .note = {"x: its time / the median of all: 1.00 is typical, 2.00 takes twice as long. Messages and "
                     "round trips are those with its fastest partner. slow: known to take longer by more "
                     "than half of --resolve; healthy: by less than --resolve."},
            .order = by_severity});
    free(row);
}

/* ---- faults ---- */

struct fault_row {
    const char *kind, *member, *other;
    struct fault fault;
};
#define OF_FAULT(field) offsetof(struct fault_row, field)
static const struct column fault_columns[] = {
    /* none is printed, since the answers have them */
    {"fault", NULL, COLUMN_NAME, OF_FAULT(kind), NULL, 0, 0, 0},
    {"member", NULL, COLUMN_NAME, OF_FAULT(member), NULL, 0, 0, 0},
    {"other", NULL, COLUMN_NAME, OF_FAULT(other), NULL, 0, 0, 0},
    {"ratio", NULL, COLUMN_REAL, OF_FAULT(fault.ratio), "1", 1, 0, 0},
    {"ratio", NULL, COLUMN_INTERVAL, COLUMN_ENDS(struct fault_row, fault.low, fault.high), "1", 1, 0, 0},
    {"n", NULL, COLUMN_COUNT, OF_FAULT(fault.n), "1", 1, 0, 0},
};

/* Writes a fault as a finding, which `report` lists with the findings of profiles. */
static void write_finding(const struct outcome *o, const struct fault *f, const char *words, cJSON *list)
{
    struct finding finding = {.level = LEVEL_HIGH,
                              .percent = 100 * (f->ratio - 1),
                              .threshold = 100 * o->resolve,
                              .loss = {NAN, NAN, NAN},
                              .share = NAN};
    snprintf(finding.name, sizeof finding.name, "%s", fault_name[f->kind]);
    finding_append(&finding, "%.*s", (int)strlen(words) - 1, words); /* without its full stop */
    snprintf(finding.advice, sizeof finding.advice, "%s", fault_word[f->kind].advice);
    if (o->busy)
        finding_lower(&finding);
    finding_write(list, &finding);
}

/* Adds each fault as a finding and as a row of a table, which is not printed, and the first 8 also as answers. */
static void add_faults(const struct outcome *o, cJSON *summary)
{
    enum { MOST = 8 };
    char words[WORDS];
    cJSON *findings = cJSON_AddArrayToObject(summary, "findings");
    struct fault_row *row = allocate(o->all + 1, sizeof *row);
    for (size_t i = 0; i < o->all; i++) {
        const struct fault *f = &o->fault[i];
        row[i] =
            (struct fault_row){name_of(f), o->member[f->member].name, f->other < 0 ? "" : o->member[f->other].name, *f};
        write_finding(o, f, fault_words(words, o, f), findings);
        if (i < MOST)
            results_add_sentence(summary, "answers", "%s", words);
    }
    if (o->all > MOST)
        results_add_sentence(summary, "answers", "%zu more faults are in summary.json.", o->all - MOST);
    if (o->all)
        results_add_table(summary,
                          &(struct table){"faults", NULL, TABLE_COLUMNS(fault_columns), TABLE_ROWS(row, o->all)});
    free(row);
}

void outcome_add(const struct outcome *o, cJSON *summary, struct figure_list *figures)
{
    static const char *const counted[] = {"healthy_members", "undecided_members", "slow_members"};
    add_members(o, summary, figures);
    add_faults(o, summary);
    if (o->count[MEMBER_HEALTHY] == (size_t)o->members)
        results_add_sentence(summary, "answers",
                             "All %d members are healthy within %g %%: in sending, receiving, matrix products and "
                             "copies in memory, and in round trips within %g %%.",
                             o->members, 100 * o->resolve, 100 * fmax(o->resolve, ROUND_TRIP_RESOLVE));
    if (o->count[MEMBER_UNDECIDED])
        add_undecided(o, summary);
    matrix_add(o, summary, figures);
    if (o->load)
        load_output(o->load, o->member, summary, figures);
    for (int s = 0; s < 3; s++)
        figures_add_value(figures, "all", counted[s], "1", (double)o->count[s], (size_t)o->members,
                          s ? BETTER_LOWER : BETTER_HIGHER);
}

/* ---- files ---- */

int outcome_write_files(const struct outcome *o, const char *directory)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out, const struct outcome *outcome);
    } files[] = {{"good.txt", hosts_print_good}, {"bad.txt", hosts_print_bad}, {"matrix.csv", matrix_print}};
    int failed = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text;
        size_t length;
        FILE *out = text_begin(&text, &length);
        files[i].print(out, o);
        text_end(out);
        failed |= files_replace(directory, files[i].name, text);
        free(text);
    }
    return failed ? -1 : 0;
}

static void add_case(struct junit *junit, const char *name, enum junit_outcome outcome, const char *type,
                     const char *message)
{
    junit_add(junit, &(struct junit_case){"ddpbench.isolate", name, NAN, outcome, type, message});
}

static void add_case_of_member(struct junit *junit, const struct outcome *o, int member)
{
    static const enum junit_outcome outcome[] = {
        [MEMBER_HEALTHY] = JUNIT_PASSED, [MEMBER_SLOW] = JUNIT_FAILED, [MEMBER_UNDECIDED] = JUNIT_SKIPPED};
    char words[WORDS], message[4 * WORDS] = "";
    for (const struct fault *f = o->fault; f < o->fault + o->faults; f++)
        if (f->member == member || f->other == member)
            text_append(message, sizeof message, "%s%s", *message ? " " : "", fault_words(words, o, f));
    if (!*message)
        strcpy(message, "neither known to be slow nor to be healthy");
    add_case(junit, o->member[member].name, outcome[o->state[member]], state_name[o->state[member]], message);
}

int outcome_write_junit(const struct outcome *o, const char *path)
{
    struct junit junit;
    char words[WORDS], name[2 * sizeof o->member->name + 8], *text;
    size_t length;
    if (!*path)
        return 0;
    FILE *out = text_begin(&text, &length);
    junit_begin(&junit);
    add_case(&junit, "the run finished", o->complete ? JUNIT_PASSED : JUNIT_ERROR, "unfinished",
             "the run was interrupted, failed, or is still going on");
    for (int m = 0; m < o->members; m++)
        add_case_of_member(&junit, o, m);
    for (const struct fault *f = o->fault + o->faults; f < o->fault + o->all; f++) { /* of groups */
        snprintf(name, sizeof name, "%s to %s", o->member[f->member].name, o->member[f->other].name);
        add_case(&junit, name, JUNIT_FAILED, "slow", fault_words(words, o, f));
    }
    junit_end(&junit, out, "ddpbench isolate", "");
    text_end(out);
    int status = files_replace_named((struct named_path){"junit", path, OUTCOME_JUNIT_MARK}, text);
    free(text);
    return status;
}
