/* nights.c - reads runs below directories of nights as one series a figure. */
#include "compare/nights.h"

#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "compare/match.h"
#include "kernels/error.h"
#include "results/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A run, in the order in which it was found: its values are in this column of the lines. */
struct night_run {
    size_t column, root, night, settings;
    int side;
    char *directory, night_name[NIGHT_NAME], version[64];
    double began;
    dev_t device;
    ino_t inode;
};

/* Runs with the same settings. */
struct settings {
    struct compare_run first; /* only its settings */
    char *text;
    size_t family;     /* index of the first settings that `compare` compares with these */
    int is_known;      /* 1: family is set */
    char differs[120]; /* from the first family of the mode */
};

struct reading {
    struct night_run *run;
    size_t runs, found, failed; /* failed: in directories NAME.failed or NAME.part */
    struct settings *settings;
    size_t n_settings;
    struct compare_lines lines;
    const char *control;
    enum night_rule rule;
    cJSON *json;
};

/* ---- the directories ---- */

static int is_control_name(const char *name, size_t length, const char *control)
{
    size_t n = strlen(control);
    return length >= n && !strncmp(name, control, n) && (length == n || name[n] == '-');
}

/* Adds the runs below a directory. */
static int find_runs(struct reading *r, const char *directory, size_t root)
{
    static const char *const pattern[] = {"*/run.json", "*/*/run.json", "*/*/*/run.json", "*/*/*/*/run.json"};
    struct stat status;
    glob_t found;
    size_t before = r->runs;
    if (stat(directory, &status) || !S_ISDIR(status.st_mode))
        return error_report("%s: is not a directory that can be read; give one whose subdirectories are nights",
                            directory);
    if (files_find(&found, directory, "run.json")) {
        globfree(&found);
        return error_report("%s: is itself a run; give the directory above the nights, in which each subdirectory is "
                            "a night with its runs",
                            directory);
    }
    for (size_t i = 0; i < sizeof pattern / sizeof *pattern; i++) {
        size_t n = files_find(&found, directory, pattern[i]);
        for (size_t k = 0; k < n; k++) {
            struct night_run run = {.column = r->runs, .root = root, .directory = strdup(found.gl_pathv[k])};
            if (!run.directory)
                fatal_no_memory(0, 0);
            run.directory[strlen(run.directory) - strlen("/run.json")] = 0;
            const char *name = run.directory + strlen(directory) + 1, *last = strrchr(run.directory, '.');
            if (last && (!strcmp(last, ".failed") || !strcmp(last, ".part"))) {
                r->failed++;
                free(run.directory);
                continue;
            }
            snprintf(run.night_name, sizeof run.night_name, "%.*s", (int)strcspn(name, "/"), name);
            for (size_t length; *name; name += length + (name[length] == '/')) {
                length = strcspn(name, "/");
                run.side |= is_control_name(name, length, r->control);
            }
            r->run = allocate_more(r->run, r->runs, sizeof *r->run);
            r->run[r->runs++] = run;
        }
        globfree(&found);
    }
    return r->runs > before ? 0
                            : error_report("%s: holds no run: expected %s/NIGHT/RUN/run.json, as launch/nightly.sh "
                                           "makes them",
                                           directory, directory);
}

/* ---- the runs ---- */

/* Returns the index of the settings of a run; takes them from it if they are new. */
static size_t settings_of(struct reading *r, struct compare_run *run)
{
    char *text = json_print(run->setting[SETTING], 0);
    size_t i = 0;
    while (i < r->n_settings && strcmp(r->settings[i].text, text) != 0)
        i++;
    if (i < r->n_settings) {
        free(text);
        return i;
    }
    r->settings = allocate_more(r->settings, r->n_settings, sizeof *r->settings);
    r->settings[r->n_settings++] = (struct settings){.first = *run, .text = text};
    r->settings[i].first.saved = (struct saved_run){0};
    memset(run->setting, 0, sizeof run->setting);
    return i;
}

/* Reads a run, and its judged figures into the lines. Returns 0; or -1, reported, if the run does not count. */
static int read_run(struct reading *r, struct night_run *run)
{
    struct compare_run read = {0};
    int status = compare_run_read(&read, run->directory);
    const struct figure_list *figures = &read.saved.figures;
    for (const struct figure *f = figures->item; !status && f < figures->item + figures->n; f++)
        if (!strcmp(f->name, "wrong_elements") && f->value > 0)
            status = error_report("%s: found wrong elements in %s", run->directory, f->subject);
    for (const struct figure *f = figures->item; !status && f < figures->item + figures->n; f++)
        if (f->judged && f->better != BETTER_NONE && f->value > 0)
            compare_line_of(&r->lines, f)->value[run->column] = f->value;
    if (!status) {
        const char *version = json_string(read.saved.run, "version"), *commit = strchr(version, '(');
        snprintf(run->version, sizeof run->version, "%s", commit ? commit + 1 : version);
        run->version[strcspn(run->version, ")")] = 0;
        run->began = read.began;
        run->device = read.saved.device;
        run->inode = read.saved.inode;
        run->side |= is_control_name(json_string(read.saved.run, "label"), strlen(json_string(read.saved.run, "label")),
                                     r->control);
        if (r->rule == NIGHT_DATE)
            snprintf(run->night_name, sizeof run->night_name, "%.10s", json_string(read.saved.run, "time"));
        if (r->rule == NIGHT_COMMIT)
            snprintf(run->night_name, sizeof run->night_name, "%s", run->version);
        run->settings = settings_of(r, &read);
    }
    compare_run_destroy(&read);
    return status;
}

static int by_file(const void *a, const void *b)
{
    const struct night_run *x = a, *y = b;
    return x->device != y->device ? (x->device < y->device ? -1 : 1) : (x->inode > y->inode) - (x->inode < y->inode);
}

/* Reads all runs. Removes those that do not count, with a warning of them. */
static int read_runs(struct reading *r)
{
    struct progress progress;
    char why[400] = "";
    size_t kept = 0;
    r->lines.runs = r->found = r->runs;
    progress_begin(&progress, r->found);
    for (size_t i = 0; i < r->found; i++) {
        progress_show(&progress, i, r->run[i].directory);
        if (!read_run(r, &r->run[i])) {
            r->run[kept++] = r->run[i];
            continue;
        }
        if (!*why)
            snprintf(why, sizeof why, "%s", error_text());
        error_clear();
        free(r->run[i].directory);
    }
    progress_end(&progress);
    r->runs = kept;
    if (!kept)
        return error_report("no run can be read, such as: %s", why);
    if (r->failed)
        results_add_sentence(r->json, "warnings",
                             "Left out: %zu run%s that failed, in directories named .failed or .part.", r->failed,
                             text_plural(r->failed));
    if (kept < r->found)
        results_add_sentence(r->json, "warnings", "Left out: %zu of %zu runs, such as: %s.", r->found - kept, r->found,
                             why);
    qsort(r->run, kept, sizeof *r->run, by_file);
    for (size_t i = 1; i < kept; i++)
        if (!by_file(&r->run[i - 1], &r->run[i]))
            return error_report("%s and %s are the same run; name each once", r->run[i - 1].directory,
                                r->run[i].directory);
    return 0;
}

/* ---- the nights ---- */

static int by_night_name(const void *a, const void *b)
{
    const struct night_run *x = a, *y = b;
    int by_name = strcmp(x->night_name, y->night_name);
    return by_name ? by_name : strcmp(x->directory, y->directory);
}

static int by_time(const void *a, const void *b)
{
    const struct night *x = a, *y = b;
    return x->began < y->began ? -1 : x->began > y->began ? 1 : strcmp(x->name, y->name);
}

static int by_night(const void *a, const void *b)
{
    const struct night_run *x = a, *y = b;
    return x->night != y->night ? (x->night < y->night ? -1 : 1) : strcmp(x->directory, y->directory);
}

/* Makes the nights of the runs, and sorts both by time. Returns 0; or -1, reported. */
static int make_nights(struct nights *all, struct reading *r)
{
    qsort(r->run, r->runs, sizeof *r->run, by_night_name);
    all->night = allocate(r->runs, sizeof *all->night);
    for (size_t i = 0; i < r->runs; i++) {
        const struct night_run *run = &r->run[i];
        struct night *night = all->n ? &all->night[all->n - 1] : NULL;
        if (!night || strcmp(night->name, run->night_name) != 0) {
            night = &all->night[all->n++];
            night->began = night->ended = run->began;
            strcpy(night->name, run->night_name);
        } else if (run->root != run[-1].root && r->rule == NIGHT_DIRECTORY)
            return error_report("%s and %s belong to two nights of one name; rename one of them", run[-1].directory,
                                run->directory);
        night->began = fmin(night->began, run->began);
        night->ended = fmax(night->ended, run->began);
        night->runs[run->side]++;
        if (!run->side && !*night->commit)
            strcpy(night->commit, run->version);
    }
    qsort(all->night, all->n, sizeof *all->night, by_time);
    for (size_t i = 0; i < r->runs; i++)
        while (strcmp(all->night[r->run[i].night].name, r->run[i].night_name) != 0)
            r->run[i].night++;
    qsort(r->run, r->runs, sizeof *r->run, by_night);
    return 0;
}

/* Warns if times overlap or names that are dates are in another order: a clock may have jumped. */
static void check_clock(const struct nights *all, cJSON *json)
{
    for (size_t t = 1; t < all->n; t++) {
        const struct night *before = &all->night[t - 1], *night = &all->night[t];
        int dated = strspn(before->name, "0123456789-") >= 10 && strspn(night->name, "0123456789-") >= 10;
        if (before->ended <= night->began && !(dated && strcmp(before->name, night->name) > 0))
            continue;
        results_add_sentence(json, "warnings",
                             "Doubtful order: by the times in run.json, %s %s %s: a clock may have jumped. Nights are "
                             "in the order of their first runs.",
                             night->name, before->ended > night->began ? "began before the end of" : "is later than",
                             before->name);
        return;
    }
}

/* ---- the settings ---- */

/* Writes to differs what makes the settings of two runs incomparable; "": nothing. */
static void compare_settings(const struct settings *a, const struct settings *b, char *differs, size_t size)
{
    cJSON *differences = cJSON_CreateArray();
    size_t at = 0;
    *differs = 0;
    differences_add(differences, &a->first, &b->first, "");
    for (const cJSON *d = differences->child; d; d = d->next)
        if (difference_is_refused(d) && at < size)
            at += (size_t)snprintf(differs + at, size - at, "%s%s %.30s", at ? ", " : "", json_string(d, "key"),
                                   json_string(d, "other"));
    cJSON_Delete(differences);
}

/* Tells runs of different settings apart, in the order of nights: replaces the settings of each run by its family's. */
static void tell_apart(struct reading *r, const struct nights *all)
{
    size_t *family = allocate(r->n_settings, sizeof *family), families = 0;
    for (size_t i = 0; i < r->runs; i++) {
        const size_t s = r->run[i].settings;
        struct settings *new = &r->settings[s];
        const char *mode = json_string(new->first.setting[SETTING], "mode");
        for (size_t k = 0; k < families && !new->is_known; k++) {
            const struct settings *old = &r->settings[family[k]];
            char differs[sizeof new->differs];
            if (strcmp(mode, json_string(old->first.setting[SETTING], "mode")) != 0)
                continue;
            compare_settings(old, new, differs, sizeof differs);
            new->is_known = !*differs;
            new->family = family[k];
            if (new->is_known || !*new->differs)
                strcpy(new->differs, differs);
        }
        if (!new->is_known) {
            new->is_known = 1;
            family[families++] = new->family = s;
            if (*new->differs)
                results_add_sentence(r->json, "warnings",
                                     "From %s on, there are runs of %s with other settings (%s): they are figures of "
                                     "their own.",
                                     all->night[r->run[i].night].name, mode, new->differs);
        }
        r->run[i].settings = new->family;
    }
    free(family);
}

/* ---- the series ---- */

/* Finds the control's build of each night in a family; warns of nights without a control and of changed builds. */
static void check_controls(const struct reading *r, const struct nights *all, size_t family, unsigned char *begins)
{
    const char **build = allocate(all->n, sizeof *build), *last = NULL;
    unsigned char *has = allocate(all->n, 1);
    const char *mode = json_string(r->settings[family].first.setting[SETTING], "mode");
    size_t lacking = 0, first_lacking = 0, before = 0;
    for (size_t i = 0; i < r->runs; i++) {
        const struct night_run *run = &r->run[i];
        if (run->settings != family)
            continue;
        has[run->night] |= run->side == NIGHT_CANDIDATE;
        if (run->side == NIGHT_CONTROL && !build[run->night])
            build[run->night] = run->version;
    }
    for (size_t t = 0; t < all->n; t++) {
        if (!has[t])
            continue;
        if (!build[t]) {
            first_lacking = last && !lacking ? t : first_lacking;
            lacking += last != NULL;
            before++;
            continue;
        }
        begins[t] = last ? strcmp(last, build[t]) != 0 : before > 0;
        if (begins[t])
            results_add_sentence(
                r->json, "warnings", "From %s on, %s: nights from then on are not compared with earlier ones (%s).",
                all->night[t].name, last ? "the control is of another build" : "there is a control", mode);
        last = build[t];
    }
    if (lacking)
        results_add_sentence(r->json, "warnings", "Left out: %zu night%s of %s without a control, such as %s.", lacking,
                             text_plural(lacking), mode, all->night[first_lacking].name);
    free(has);
    free(build);
}

/* Fills the values of a series: medians over the runs of each night. Returns whether a candidate has a value. */
static int fill_values(struct night_series *series, const struct reading *r, const struct compare_line *line,
                       size_t family, double *values)
{
    int has = 0;
    for (size_t i = 0, next; i < r->runs; i = next) {
        size_t t = r->run[i].night, n[NIGHT_SIDES] = {0, 0};
        for (next = i; next < r->runs && r->run[next].night == t; next++)
            if (r->run[next].settings == family && !isnan(line->value[r->run[next].column])) {
                int side = r->run[next].side;
                values[(size_t)side * r->runs + n[side]++] = line->value[r->run[next].column];
            }
        for (int side = 0; side < NIGHT_SIDES; side++)
            series->value[side][t] = stats_median(values + (size_t)side * r->runs, n[side]);
        has |= n[NIGHT_CANDIDATE] > 0;
    }
    return has;
}

static void fill_y(struct night_series *series, size_t nights)
{
    int controlled = 0;
    double sign = series->figure.better == BETTER_HIGHER ? -1 : 1;
    for (size_t t = 0; t < nights; t++) {
        double candidate = series->value[NIGHT_CANDIDATE][t], control = series->value[NIGHT_CONTROL][t];
        controlled |= !isnan(candidate) && !isnan(control);
        series->y[t] = sign * (controlled ? log(candidate) - log(control) : log(candidate));
    }
}

static void free_series(struct night_series *series)
{
    for (int side = 0; side < NIGHT_SIDES; side++)
        free(series->value[side]);
    free(series->y);
    free(series->begins);
}

/* Makes the series of the lines in one family of settings. */
static void add_family(struct nights *all, const struct reading *r, size_t family)
{
    const char *differs = r->settings[family].differs;
    double *values = allocate(NIGHT_SIDES * r->runs, sizeof *values);
    unsigned char *begins = allocate(all->n, 1);
    check_controls(r, all, family, begins);
    for (size_t l = 0; l < r->lines.n; l++) {
        const struct compare_line *line = r->lines.line[l];
        const struct figure *f = &line->figure;
        struct night_series series = {
            .figure = *f, .y = allocate(all->n, sizeof(double)), .begins = allocate(all->n, 1)};
        char size[CELL];
        for (int side = 0; side < NIGHT_SIDES; side++)
            series.value[side] = allocate(all->n, sizeof(double));
        if (!fill_values(&series, r, line, family, values)) {
            free_series(&series);
            continue;
        }
        fill_y(&series, all->n);
        memcpy(series.begins, begins, all->n);
        snprintf(series.name, sizeof series.name, "%s %s%s%s%s%s%s", f->subject, f->name, f->bytes > 0 ? " " : "",
                 f->bytes > 0 ? text_bytes(size, f->bytes) : "", *differs ? " (" : "", differs, *differs ? ")" : "");
        all->series = allocate_more(all->series, all->figures, sizeof *all->series);
        all->series[all->figures++] = series;
    }
    free(begins);
    free(values);
}

int nights_read(struct nights *nights, const char *const *directory, size_t n, const char *control,
                enum night_rule rule, cJSON *json)
{
    struct reading r = {.control = control, .rule = rule, .json = json};
    int status = 0;
    *nights = (struct nights){0};
    for (size_t i = 0; i < n && !status; i++)
        status = find_runs(&r, directory[i], i);
    if (!status && !(status = read_runs(&r)) && !(status = make_nights(nights, &r))) {
        check_clock(nights, json);
        tell_apart(&r, nights);
        for (size_t s = 0; s < r.n_settings; s++)
            if (r.settings[s].family == s)
                add_family(nights, &r, s);
        if (!nights->figures)
            status = error_report("%s: no candidate has a figure to judge; runs in directories named %s or %s-... are "
                                  "controls",
                                  *directory, control, control);
    }
    for (size_t i = 0; i < r.runs; i++)
        free(r.run[i].directory);
    for (size_t s = 0; s < r.n_settings; s++) {
        compare_run_destroy(&r.settings[s].first);
        free(r.settings[s].text);
    }
    free(r.run);
    free(r.settings);
    compare_lines_destroy(&r.lines);
    return status;
}

void nights_destroy(struct nights *nights)
{
    for (size_t f = 0; f < nights->figures; f++)
        free_series(&nights->series[f]);
    free(nights->series);
    free(nights->night);
    *nights = (struct nights){0};
}
