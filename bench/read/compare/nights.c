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

/* Runs with the same settings. */
struct settings {
    struct compare_run first; /* only its settings */
    struct settings *family;  /* the first settings that `compare` compares with these; NULL: not known yet */
    char differs[120];        /* from the first family of the mode */
};

struct night_run {
    size_t column;         /* of the run's values in the lines: runs are numbered as they are found */
    size_t root, settings; /* indices of the directory that the user named, and of the settings */
    int side;
    char *directory, night_name[NIGHT_NAME], version[64];
    double began;
    dev_t device;
    ino_t inode;
};

struct reading {
    struct night_run *run; /* [runs]; from read_runs on, those that count; from make_nights on, by night's name */
    size_t runs, failed;   /* failed: in directories NAME.failed or NAME.part */
    struct settings *settings, **family; /* [n_settings] as they were read; [families] in the order of nights */
    size_t n_settings, families;
    struct compare_lines lines;
    const char *control;
    enum night_rule rule;
    cJSON *json;
};

/* ---- the directories ---- */

/* Whether the first name of a path, or a label, is the control's. */
static int is_control(const char *path, const char *control)
{
    size_t n = strlen(control);
    return !strncmp(path, control, n) && strchr("-/", path[n]); /* strchr finds the end of the text, too */
}

/* Adds the run of a path, ROOT/NIGHT/.../run.json, unless it failed. below: the part from the / after ROOT on. */
static void add_run(struct reading *r, size_t root, const char *path, const char *below)
{
    struct night_run run = {
        .column = r->runs, .root = root, .directory = strndup(path, strlen(path) - strlen("/run.json"))};
    if (!run.directory)
        fatal_no_memory(0, 0);
    if (strstr(below, ".failed/") || strstr(below, ".part/")) {
        r->failed++;
        free(run.directory);
        return;
    }
    snprintf(run.night_name, sizeof run.night_name, "%.*s", (int)strcspn(below + 1, "/"), below + 1);
    for (const char *slash = below; slash; slash = strchr(slash + 1, '/'))
        run.side |= is_control(slash + 1, r->control);
    r->run = allocate_more(r->run, r->runs, sizeof *r->run);
    r->run[r->runs++] = run;
}

static int find_runs(struct reading *r, const char *directory, size_t root)
{
    static const char pattern[] = "*/*/*/*/run.json";
    enum { DEEPEST = 4 };
    const size_t before = r->runs;
    struct stat status;
    if (stat(directory, &status) || !S_ISDIR(status.st_mode))
        return error_report("%s: is not a directory that can be read; give one whose subdirectories are nights",
                            directory);
    for (size_t depth = 0; depth <= DEEPEST; depth++) {
        glob_t found;
        const size_t n = files_find(&found, directory, pattern + 2 * (DEEPEST - depth));
        for (size_t i = 0; i < n && depth; i++)
            add_run(r, root, found.gl_pathv[i], found.gl_pathv[i] + strlen(directory));
        globfree(&found);
        if (n && !depth)
            return error_report("%s: is itself a run; give the directory above the nights, in which each subdirectory "
                                "is a night with its runs",
                                directory);
    }
    for (size_t i = before; i < r->runs; i++)
        if (is_control(r->run[i].night_name, r->control))
            return error_report("%s: holds the runs of one night, such as %s; give the directory above it", directory,
                                r->run[i].directory);
    return r->runs > before ? 0
                            : error_report("%s: holds no run: expected %s/NIGHT/RUN/run.json, as launch/nightly.sh "
                                           "makes them",
                                           directory, directory);
}

/* ---- the runs ---- */

/* Returns the index of the settings of a run; takes them from it if they are new. */
static size_t settings_of(struct reading *r, struct compare_run *run)
{
    for (size_t i = 0; i < r->n_settings; i++)
        if (cJSON_Compare(r->settings[i].first.setting[SETTING], run->setting[SETTING], 1))
            return i;
    r->settings = allocate_more(r->settings, r->n_settings, sizeof *r->settings);
    r->settings[r->n_settings] = (struct settings){.first = *run};
    r->settings[r->n_settings].first.saved = (struct saved_run){0};
    memset(run->setting, 0, sizeof run->setting);
    return r->n_settings++;
}

/* Takes what is needed of a run, and its judged figures into the lines. Returns 0; or -1, reported, if it does not
 * count. */
static int take_run(struct reading *r, struct night_run *run, struct compare_run *read)
{
    const struct figure_list *figures = &read->saved.figures;
    const char *time = json_string(read->saved.run, "time"), *version = json_string(read->saved.run, "version");
    const char *commit = strchr(version, '(');
    for (const struct figure *f = figures->item; f < figures->item + figures->n; f++)
        if (!strcmp(f->name, "wrong_elements") && f->value > 0)
            return error_report("%s: found wrong elements in %s", run->directory, f->subject);
    if (read->began <= 0)
        return error_report("%s/run.json: time '%s': expected a time such as 2026-11-01T03:00:00+0100", run->directory,
                            time);
    for (const struct figure *f = figures->item; f < figures->item + figures->n; f++)
        if (f->judged && f->better != BETTER_NONE && f->value > 0)
            compare_values_of(&r->lines, f)[run->column] = f->value;
    snprintf(run->version, sizeof run->version, "%s", commit ? commit + 1 : version);
    run->version[strcspn(run->version, ")")] = 0;
    run->began = read->began;
    run->device = read->saved.device;
    run->inode = read->saved.inode;
    run->side |= is_control(json_string(read->saved.run, "label"), r->control);
    if (r->rule == NIGHT_DATE)
        snprintf(run->night_name, sizeof run->night_name, "%.10s", time);
    run->settings = settings_of(r, read);
    return 0;
}

/* Reads all runs. Removes those that do not count, with a warning of them. */
static int read_runs(struct reading *r)
{
    struct progress progress;
    size_t found = r->runs, kept = 0;
    char why[400];
    r->lines.runs = found;
    progress_begin(&progress, found, 0);
    for (size_t i = 0; i < found; i++) {
        struct compare_run read = {0};
        progress_show(&progress, i, r->run[i].directory);
        if (compare_run_read(&read, r->run[i].directory) || take_run(r, &r->run[i], &read))
            free(r->run[i].directory);
        else
            r->run[kept++] = r->run[i];
        compare_run_destroy(&read);
    }
    progress_end(&progress);
    r->runs = kept;
    snprintf(why, sizeof why, "%s", error_text()); /* of the first run that does not count */
    error_clear();
    if (!kept)
        return error_report("no run can be read, such as: %s", why);
    if (r->failed)
        results_add_sentence(r->json, "warnings",
                             "Left out: %zu run%s that failed, in directories named .failed or .part.", r->failed,
                             text_plural(r->failed));
    if (kept < found)
        results_add_sentence(r->json, "warnings", "Left out: %zu of %zu runs, such as: %s.", found - kept, found, why);
    for (size_t i = 0; i < kept; i++)
        for (size_t k = 0; k < i; k++)
            if (r->run[i].inode == r->run[k].inode && r->run[i].device == r->run[k].device)
                return error_report("%s and %s are the same run; name each once, and no symbolic link to it",
                                    r->run[k].directory, r->run[i].directory);
    return 0;
}

/* ---- the nights ---- */

/* Names nights by the commits of their candidates; a control belongs to the candidate that is nearest in time. */
static void name_by_commit(struct reading *r)
{
    for (struct night_run *run = r->run; run < r->run + r->runs; run++) {
        const struct night_run *nearest = run;
        double least = run->side == NIGHT_CONTROL ? INFINITY : 0;
        for (const struct night_run *other = r->run; other < r->run + r->runs; other++)
            if (other->side == NIGHT_CANDIDATE && fabs(other->began - run->began) < least) {
                least = fabs(other->began - run->began);
                nearest = other;
            }
        strcpy(run->night_name, nearest->version);
    }
}

static int by_name(const void *a, const void *b)
{
    const struct night_run *x = a, *y = b;
    int by_night = strcmp(x->night_name, y->night_name);
    return by_night ? by_night : strcmp(x->directory, y->directory);
}

static int by_time(const void *a, const void *b)
{
    const struct night *x = a, *y = b;
    return x->began < y->began ? -1 : x->began > y->began ? 1 : strcmp(x->name, y->name);
}

/* Makes the nights, in the order of time. Returns 0; or -1, reported, if two have one name, or if no run has the label
 * of --control. */
static int make_nights(struct nights *all, struct reading *r)
{
    size_t controls = 0;
    if (!r->runs)
        return -1; /* reported by read_runs */
    if (r->rule == NIGHT_COMMIT)
        name_by_commit(r);
    qsort(r->run, r->runs, sizeof *r->run, by_name);
    for (size_t i = 0; i < r->runs; i++) {
        const struct night_run *run = &r->run[i];
        if (!i || strcmp(run->night_name, run[-1].night_name) != 0) {
            all->night = allocate_more(all->night, all->n, sizeof *all->night);
            all->night[all->n] = (struct night){.began = run->began, .first_run = i};
            strcpy(all->night[all->n++].name, run->night_name);
        }
        struct night *night = &all->night[all->n - 1];
        if (r->rule == NIGHT_DIRECTORY && run->root != r->run[night->first_run].root)
            return error_report("%s and %s belong to two nights of one name; rename one of them",
                                r->run[night->first_run].directory, run->directory);
        night->end_run = i + 1;
        night->began = fmin(night->began, run->began);
        night->ended = fmax(night->ended, run->began);
        night->runs[run->side]++;
        controls += run->side == NIGHT_CONTROL;
        if (!run->side && !*night->commit)
            strcpy(night->commit, run->version);
    }
    qsort(all->night, all->n, sizeof *all->night, by_time);
    return controls || !strcmp(r->control, "control")
               ? 0
               : error_report("--control %s: no run has this label, or is in a directory named %s or %s-...",
                              r->control, r->control, r->control);
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
    *differs = 0;
    differences_add(differences, &a->first, &b->first, "");
    for (const cJSON *d = differences->child; d; d = d->next)
        if (difference_kind(d) == DIFFERENCE_REFUSED)
            text_append(differs, size, "%s%s %.30s", *differs ? ", " : "", json_string(d, "key"),
                        json_string(d, "other"));
    cJSON_Delete(differences);
}

static const char *mode_of(const struct settings *settings)
{
    return json_string(settings->first.setting[SETTING], "mode");
}

/* Finds the family of settings that are new. night: of the first run that has them. */
static void find_family(struct reading *r, struct settings *new, const struct night *night)
{
    for (size_t k = 0; k < r->families && !new->family; k++) {
        char differs[sizeof new->differs];
        if (strcmp(mode_of(new), mode_of(r->family[k])) != 0)
            continue;
        compare_settings(r->family[k], new, differs, sizeof differs);
        if (!*differs)
            new->family = r->family[k];
        else if (!*new->differs)
            strcpy(new->differs, differs);
    }
    if (new->family)
        return;
    r->family[r->families++] = new->family = new;
    if (*new->differs)
        results_add_sentence(r->json, "warnings",
                             "From %s on, there are runs of %s with other settings (%s): they are figures of their "
                             "own.",
                             night->name, mode_of(new), new->differs);
}

/* Tells runs of different settings apart, in the order of nights. */
static void tell_apart(struct reading *r, const struct nights *all)
{
    r->family = allocate(r->n_settings, sizeof(struct settings *));
    for (const struct night *night = all->night; night < all->night + all->n; night++)
        for (size_t i = night->first_run; i < night->end_run; i++)
            if (!r->settings[r->run[i].settings].family)
                find_family(r, &r->settings[r->run[i].settings], night);
}

/* ---- the series ---- */

/* Sets begins[nights] to where levels of a family begin; warns of that, and of nights without a control. */
static void check_controls(const struct reading *r, const struct nights *all, const struct settings *family,
                           unsigned char *begins)
{
    const char *mode = mode_of(family), *last = NULL, *lacks = NULL;
    size_t lacking = 0, lost = 0, last_lost = 0;
    int before = 0; /* whether there are nights before the first control */
    for (size_t t = 0; t < all->n; t++) {
        const char *build = NULL;
        int has_candidate = 0;
        for (size_t i = all->night[t].first_run; i < all->night[t].end_run; i++) {
            const struct night_run *run = &r->run[i];
            const int is_own = r->settings[run->settings].family == family;
            has_candidate |= is_own && run->side == NIGHT_CANDIDATE;
            build = is_own && run->side == NIGHT_CONTROL && !build ? run->version : build;
        }
        if (has_candidate && build) {
            begins[t] = last ? strcmp(last, build) != 0 : before;
            if (begins[t])
                results_add_sentence(
                    r->json, "warnings", "From %s on, %s: nights from then on are not compared with earlier ones (%s).",
                    all->night[t].name, last ? "the control is of another build" : "there is a control", mode);
            last = build;
        } else if (has_candidate && last) {
            lacks = lacks ? lacks : all->night[t].name;
            lacking++;
        } else if (has_candidate) {
            before = 1;
        } else if (build) {
            lost++;
            last_lost = t;
        }
    }
    if (lost)
        results_add_sentence(r->json, "warnings",
                             "Missing: %zu night%s of %s with a control and no candidate, such as %s.", lost,
                             text_plural(lost), mode, all->night[last_lost].name);
    if (lacking)
        results_add_sentence(r->json, "warnings", "Left out: %zu night%s of %s without a control, such as %s.", lacking,
                             text_plural(lacking), mode, lacks);
}

/* Adds the series of a line in a family, unless no candidate has a value: medians over the runs of each night. */
static __attribute__((nonnull)) void add_series(struct nights *all, const struct reading *r,
                                                const struct verdict_figure *line, const struct settings *family,
                                                const unsigned char *begins)
{
    const struct figure *f = &line->figure;
    double *night = allocate(4 * all->n, sizeof *night), *values = allocate(NIGHT_SIDES * r->runs, sizeof *values);
    struct night_series series = {.figure = *f,
                                  .value = {night, night + all->n},
                                  .y = night + 2 * all->n,
                                  .begins = memcpy(night + 3 * all->n, begins, all->n)};
    int has_candidate = 0;
    for (size_t t = 0; t < all->n; t++) {
        size_t n[NIGHT_SIDES] = {0, 0};
        for (size_t i = all->night[t].first_run; i < all->night[t].end_run; i++) {
            const struct night_run *run = &r->run[i];
            if (r->settings[run->settings].family == family && !isnan(line->baseline[run->column]))
                values[(size_t)run->side * r->runs + n[run->side]++] = line->baseline[run->column];
        }
        double candidate = series.value[NIGHT_CANDIDATE][t] = stats_median(values, n[NIGHT_CANDIDATE]);
        double control = series.value[NIGHT_CONTROL][t] = stats_median(values + r->runs, n[NIGHT_CONTROL]);
        has_candidate |= n[NIGHT_CANDIDATE] > 0;
        series.has_control |= n[NIGHT_CANDIDATE] > 0 && n[NIGHT_CONTROL] > 0;
        series.y[t] =
            (f->better == BETTER_HIGHER ? -1 : 1) * (log(candidate) - (series.has_control ? log(control) : 0));
    }
    free(values);
    if (!has_candidate) {
        free(night);
        return;
    }
    char size[CELL];
    snprintf(series.name, sizeof series.name, "%s %s%s%s", f->subject, f->name, f->bytes > 0 ? " " : "",
             f->bytes > 0 ? text_bytes(size, f->bytes) : "");
    int is_double = 0; /* two modes may have a figure of one name */
    for (size_t i = 0; i < all->figures; i++)
        is_double |= !strcmp(all->series[i].name, series.name);
    if (*family->differs || is_double)
        text_append(series.name, sizeof series.name, " (%s)", *family->differs ? family->differs : mode_of(family));
    all->series = allocate_more(all->series, all->figures, sizeof *all->series);
    all->series[all->figures++] = series;
}

/* Makes the series of all lines in all families of settings. */
static void make_series(struct nights *all, const struct reading *r)
{
    for (size_t k = 0; k < r->families; k++) {
        unsigned char *begins = allocate(all->n, 1);
        check_controls(r, all, r->family[k], begins);
        for (size_t l = 0; l < r->lines.n; l++)
            add_series(all, r, r->lines.line[l], r->family[k], begins);
        free(begins);
    }
}

int nights_read(struct nights *nights, const char *const *directory, size_t n, const char *control,
                enum night_rule rule, cJSON *json)
{
    struct reading r = {.control = control, .rule = rule, .json = json};
    int status = 0;
    *nights = (struct nights){0};
    for (size_t i = 0; i < n && !status; i++)
        status = find_runs(&r, directory[i], i);
    status = status || read_runs(&r) || make_nights(nights, &r) ? -1 : 0;
    if (!status) {
        check_clock(nights, json);
        tell_apart(&r, nights);
        make_series(nights, &r);
        if (!nights->figures)
            status = error_report("%s: no candidate has a figure to judge; runs in directories named %s or %s-... are "
                                  "controls",
                                  *directory, control, control);
    }
    for (size_t i = 0; i < r.runs; i++)
        free(r.run[i].directory);
    for (size_t s = 0; s < r.n_settings; s++)
        compare_run_destroy(&r.settings[s].first);
    free(r.run);
    free(r.settings);
    free(r.family);
    compare_lines_destroy(&r.lines);
    return status;
}

void nights_destroy(struct nights *nights)
{
    for (size_t f = 0; f < nights->figures; f++)
        free(nights->series[f].value[NIGHT_CANDIDATE]); /* the block that all arrays of a series are in */
    free(nights->series);
    free(nights->night);
    *nights = (struct nights){0};
}
