/* section_members.c - writes the section on the messages between the members of a run of `isolate`. */
#include "report/sections.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a run measured ---- */

struct member {
    const char *name;
    int is_slow;
    size_t place; /* row and column in the pictures, if the member is shown; else NOT_SHOWN */
};
enum { NOT_SHOWN = CHART_HEAT };

struct message {
    struct member *from, *to;
    const char *from_name, *to_name;
    double seconds, bytes_per_second, ratio, interval[2], round_trip_seconds, round_trip_ratio;
    size_t n;
    int of_slow; /* 1: the sender or the receiver is slow */
};

struct messages {
    struct message *message; /* [n], owned; messages of slow members first, then the others, each the slowest first */
    size_t n;
    struct member *member; /* [members], owned, in the order of the run, which owns their names */
    struct member **named; /* [members], owned: the same members, by name */
    size_t members, shown;
};

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct member *const *)a)->name, (*(struct member *const *)b)->name);
}

/* Reads the members of a run, each of which has a figure of its state. */
static void read_members(struct messages *all, const struct report_run *run)
{
    enum { SLOW = 2 };
    all->member = allocate(run->saved.figures.n + 1, sizeof *all->member);
    all->named = allocate(run->saved.figures.n + 1, sizeof(struct member *));
    for (const struct figure *f = run->saved.figures.item; f < run->saved.figures.item + run->saved.figures.n; f++)
        if (!strcmp(f->name, "member_state")) {
            struct member *member = all->named[all->members] = &all->member[all->members];
            *member = (struct member){f->subject, f->value >= SLOW, NOT_SHOWN};
            all->members++;
        }
    qsort(all->named, all->members, sizeof(struct member *), by_name);
}

/* Returns the member of that name; NULL: none. */
static struct member *find_member(const struct messages *all, const char *name)
{
    struct member member = {.name = name}, *key = &member;
    struct member *const *found = bsearch(&key, all->named, all->members, sizeof(struct member *), by_name);
    return found ? *found : NULL;
}

static double worst(const struct message *m)
{
    return fmax(m->ratio, m->round_trip_ratio); /* the other one if one is NAN */
}

static int by_slowness(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    return x->of_slow != y->of_slow ? y->of_slow - x->of_slow : (worst(x) < worst(y)) - (worst(x) > worst(y));
}

/* Reads the rows of a run's table "matrix", of its members. Release with messages_destroy. */
static void read_messages(struct messages *all, const struct report_run *run, const cJSON *rows)
{
    *all = (struct messages){.message = allocate((size_t)cJSON_GetArraySize(rows) + 1, sizeof *all->message)};
    read_members(all, run);
    for (const cJSON *row = rows->child; row; row = row->next) {
        struct member *from = find_member(all, json_string(row, "from")),
                      *to = find_member(all, json_string(row, "to"));
        if (!from || !to)
            continue;
        all->message[all->n++] =
            (struct message){.from = from,
                             .to = to,
                             .from_name = from->name,
                             .to_name = to->name,
                             .seconds = json_number(row, "seconds"),
                             .bytes_per_second = json_number(row, "bytes_per_second"),
                             .ratio = json_number(row, "ratio"),
                             .interval = {json_number(row, "ratio_low"), json_number(row, "ratio_high")},
                             .round_trip_seconds = json_number(row, "round_trip_seconds"),
                             .round_trip_ratio = json_number(row, "round_trip_ratio"),
                             .n = json_count(row, "n"),
                             .of_slow = from->is_slow || to->is_slow};
    }
    qsort(all->message, all->n, sizeof *all->message, by_slowness);
}

static void messages_destroy(struct messages *all)
{
    free(all->message);
    free(all->member);
    free(all->named);
}

/* ---- pictures ---- */

/* Chooses the members that are shown: all, if there is room; else the members of the first messages, which are those of
 * slow members if there are any, else the slowest ones. */
static void choose_members(struct messages *all)
{
    size_t chosen = 0;
    for (const struct message *m = all->message; m < all->message + all->n && all->members > CHART_HEAT; m++) {
        size_t more = (size_t)(m->from->place == NOT_SHOWN) + (size_t)(m->to->place == NOT_SHOWN);
        if (chosen + more > CHART_HEAT || m->of_slow < all->message->of_slow)
            break;
        chosen += more;
        m->from->place = m->to->place = 0;
    }
    for (struct member *member = all->member; member < all->member + all->members; member++)
        if (all->members <= CHART_HEAT || member->place == 0)
            member->place = all->shown++;
}

/* Draws the times of messages or of round trips / their median; round trips only if one that is shown is slow. */
static void draw_members(cJSON *document, const struct messages *all, const char *label, int is_round_trip)
{
    const double slow = 1.25; /* the least ratio above which `isolate` calls a round trip slow */
    struct chart_cell *cell = allocate(all->n + 1, sizeof *cell);
    const char *names[CHART_HEAT];
    const struct message *slowest = NULL;
    char title[500], subtitle[300];
    size_t cells = 0;
    double most = 0;
    for (const struct member *member = all->member; member < all->member + all->members; member++)
        if (member->place != NOT_SHOWN)
            names[member->place] = member->name;
    for (const struct message *m = all->message; m < all->message + all->n; m++) {
        double ratio = is_round_trip ? m->round_trip_ratio : m->ratio;
        if (m->from->place == NOT_SHOWN || m->to->place == NOT_SHOWN)
            continue;
        cell[cells++] = (struct chart_cell){m->from->place, m->to->place, ratio};
        slowest = ratio > most ? m : slowest;
        most = fmax(most, ratio);
    }
    if (slowest && most > slow)
        snprintf(title, sizeof title, "%.100s to %.100s is slowest: %.2f times the median %s (%.100s)",
                 slowest->from_name, slowest->to_name, most, is_round_trip ? "round trip" : "time of a message", label);
    else
        snprintf(title, sizeof title, "All messages in %.100s take at most %.2f times the median", label, most);
    snprintf(subtitle, sizeof subtitle, "time / the median of all: 1.00 is typical, 2.00 takes twice as long");
    if (all->shown < all->members)
        text_append(subtitle, sizeof subtitle, "; %zu of %zu members: %s", all->shown, all->members,
                    all->message->of_slow ? "those that are slow, and their partners"
                                          : "those of the slowest messages");
    const char *from = is_round_trip ? "" : "sender", *to = is_round_trip ? "" : "receiver";
    const struct chart_heat chart = {names, names,           from, to, cell, all->shown, all->shown,
                                     cells, "time / median", NULL};
    if (!is_round_trip || most > slow)
        document_add_picture(document, is_round_trip ? "round-trips" : "messages", title,
                             chart_heat(title, subtitle, &chart));
    free(cell);
}

/* ---- the section ---- */

#define FIELD(field) offsetof(struct message, field)
/* clang-format off */
static const struct column message_columns[] = {
    {"from", "from", COLUMN_NAME, FIELD(from_name), NULL, 1, -14, 0},
    {"to", "to", COLUMN_NAME, FIELD(to_name), NULL, 1, -14, 0},
    {"rate", "MB/s", COLUMN_REAL, FIELD(bytes_per_second), "B/s", 1e-6, 9, -4},
    {"ratio", "x", COLUMN_REAL, FIELD(ratio), "1", 1, 6, 2},
    {"ratio", "95 % interval", COLUMN_INTERVAL, FIELD(interval), "1", 1, 14, 2},
    {"n", "n", COLUMN_COUNT, FIELD(n), "1", 1, 5, 0},
    {"round_trip", "round trip\nus", COLUMN_REAL, FIELD(round_trip_seconds), "s", 1e6, 11, -4},
    {"round_trip_ratio", "x", COLUMN_REAL, FIELD(round_trip_ratio), "1", 1, 6, 2},
    {"seconds", NULL, COLUMN_REAL, FIELD(seconds), "s", 1, 0, 0},
};
/* clang-format on */

int section_add_members(cJSON *document, const struct report_run *run)
{
    const cJSON *rows = run_rows(run, "matrix"), *first = json_first(run->saved.summary, "answers");
    struct messages all;
    if (!rows)
        return 0;
    document_begin_section(document, "Messages between members");
    read_messages(&all, run, rows);
    choose_members(&all);
    for (const cJSON *answer = first; answer && !run->is_alone; answer = answer->next)
        if (answer != first || !run_is_busy(run)) /* the report already says that the machine was busy */
            document_add_paragraph(document, "%s: %s", run->label, answer->valuestring ? answer->valuestring : "");
    draw_members(document, &all, run->label, 0);
    draw_members(document, &all, run->label, 1);
    const struct table table = {.key = "messages",
                                .title = "Messages: those of slow members first, then the slowest",
                                TABLE_COLUMNS(message_columns),
                                TABLE_ROWS(all.message, all.n),
                                .shown = 20,
                                .note = {"x: its time / the median of all: 1.00 is typical, 2.00 takes twice as "
                                         "long. A round trip is the same for both members."}};
    document_add_table(document, &table);
    messages_destroy(&all);
    return 1;
}
