/* forms.c - prints a report in each file format, and writes the files. */
#include "report/forms.h"

#include "base/json.h"
#include "chart/chart.h"
#include "kernels/error.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Prints the report as JSON {title, blocks, runs}; a run is {label, directory, state, figures}. */
static void print_json(FILE *out, const void *shown)
{
    const struct report *report = shown;
    cJSON *list = cJSON_CreateArray();
    for (const struct report_run *run = report->runs.item; run < report->runs.item + report->runs.n; run++) {
        cJSON *row = json_add_row(list);
        json_add_text(row, "label", run->label);
        json_add_text(row, "directory", run->saved.directory);
        json_add_text(row, "state", run_state(run));
        cJSON_AddItemToObject(row, "figures", figures_json(&run->saved.figures));
    }
    document_print_json(out, report->document, "runs", list);
}

#define CSV_COLUMNS "directory,label,state," FIGURES_CSV_COLUMNS

static void print_csv(FILE *out, const void *shown)
{
    const struct report *report = shown;
    fprintf(out, CSV_COLUMNS "\n");
    for (const struct report_run *run = report->runs.item; run < report->runs.item + report->runs.n; run++)
        figures_print_csv(out, &run->saved.figures,
                          (const char *const[]){run->saved.directory, run->label, run_state(run)}, 3);
}

const struct form report_forms[FORMS] = {[FORM_HTML] = {"html", DOCUMENT_HTML_BEGIN FORMS_TITLE, forms_print_html},
                                         [FORM_MARKDOWN] = {"markdown", "# " FORMS_TITLE, forms_print_markdown},
                                         [FORM_JSON] = {"json", "{\"title\":\"" FORMS_TITLE, print_json},
                                         [FORM_CSV] = {"csv", CSV_COLUMNS, print_csv}};

/* ---- a directory of all forms ---- */

static const char *const file_name[FORMS] = {"report.html", "BOTTLENECK_ANALYSIS.md", "report.json", "report.csv"};

/* Converts a picture to a PNG file of twice the size. Returns 0; or -1, reported. */
static int write_png(struct named_path png, const char *svg)
{
    static char *tool[][8] = {{"rsvg-convert", "--zoom=2", "--background-color=white", NULL},
                              {"magick", "-density", "192", "-background", "white", "svg:-", "png:-", NULL},
                              {"convert", "-density", "192", "-background", "white", "svg:-", "png:-", NULL},
                              {"inkscape", "--pipe", "--export-type=png", "--export-dpi=192",
                               "--export-background=white", "--export-filename=-", NULL}};
    enum { TOOLS = sizeof tool / sizeof *tool };
    struct new_file file;
    int status = -1, t = 0, opened = !new_file_open(&file, png.path, 0);
    for (; opened && t < TOOLS && (status = files_filter(tool[t], svg, file.file)) < 0; t++)
        ;
    if (opened && t == TOOLS)
        error_report("--%s: none of rsvg-convert, magick, convert and inkscape is on the PATH: install librsvg2-bin "
                     "(Debian, Ubuntu) or librsvg2-tools (Fedora)",
                     png.option);
    else if (opened && status)
        error_report("%s: %s failed with status %d", png.path, tool[t][0], status);
    return new_file_end(&file, status) || status ? -1 : 0;
}

/* Checks each picture in `output` or, if is_png, in `png` together with the forms by files_check_named, or writes it.
 * Returns 0; or -1, reported. */
static int each_picture(const struct report *report, const struct form *form, const char *const *path, int is_png,
                        int is_written)
{
    const cJSON *block = json_first(report->document, "blocks");
    const char *directory = is_png ? report->png : report->output;
    char own[FILES_PATH + 160]; /* a path that is cut off is longer than FILES_PATH, so it is rejected */
    int status = 0;
    for (; block && !status && *directory; block = block->next) {
        if (strcmp(json_string(block, "kind"), "picture") != 0)
            continue;
        snprintf(own, sizeof own, is_png ? "%.*s/%.140s.png" : "%.*s/pictures/%.140s.svg", FORMS_DIRECTORY, directory,
                 json_string(block, "name"));
        const struct named_path picture = {is_png ? "png" : "output", own, is_png ? "\x89PNG" : SVG_MARK};
        status = !is_written ? forms_check(form, path, *report->output ? 2 * FORMS : FORMS, &picture, 1)
                 : is_png    ? write_png(picture, json_string(block, "svg"))
                             : files_replace_named(picture, json_string(block, "svg"));
    }
    return status;
}

/* Makes the directory and locks it until *lock is closed. Returns 0; or -1, reported. */
static int open_directory(const char *directory, int *lock)
{
    char pictures[FILES_PATH];
    snprintf(pictures, sizeof pictures, "%.*s/pictures", FORMS_DIRECTORY, directory);
    return files_make_directories("output", directory) || files_lock_directory("output", directory, lock) ||
                   files_make_directories("output", pictures)
               ? -1
               : 0;
}

int report_write(const struct report *report)
{
    const char *directory = report->output;
    struct form all[2 * FORMS]; /* the files that options name, then those in the directory */
    const char *all_paths[2 * FORMS];
    char in_directory[FORMS][FILES_PATH];
    size_t n = *directory ? 2 * FORMS : FORMS;
    int lock = -1;
    for (size_t i = 0; i < FORMS; i++) {
        all[i] = all[FORMS + i] = report_forms[i];
        all[FORMS + i].option = "output";
        snprintf(in_directory[i], FILES_PATH, "%.*s/%s", FORMS_DIRECTORY, directory, file_name[i]);
        all_paths[i] = report->form[i];
        all_paths[FORMS + i] = in_directory[i];
    }
    int failed = (*directory && open_directory(directory, &lock)) ||
                 (*report->png && files_make_directories("png", report->png)) ||
                 each_picture(report, all, all_paths, 0, 0) || each_picture(report, all, all_paths, 1, 0) ||
                 forms_check(all, all_paths, n, NULL, 0) || each_picture(report, all, all_paths, 0, 1) ||
                 forms_write(all, all_paths, n, report) || each_picture(report, all, all_paths, 1, 1);
    if (lock >= 0) /* before a reader of standard output can make this process wait */
        close(lock);
    return failed || forms_print(report_forms, report->form, FORMS, report, forms_print_text) ? -1 : 0;
}
