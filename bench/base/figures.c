/* figures.c - the list of figures in every summary.json. */
#include "base/figures.h"

#include "base/json.h"
#include "base/text.h"
#include "kernels/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const figure_better_name[] = {"lower", "higher", "none"};

void figures_add(struct figure_list *list, const struct figure *figure)
{
    if (!isfinite(figure->value))
        return;
    list->item = allocate_more(list->item, list->n, sizeof *list->item);
    list->item[list->n++] = *figure;
}

static void set_names(struct figure *figure, const char *subject, const char *name, const char *unit)
{
    snprintf(figure->subject, sizeof figure->subject, "%s", subject);
    snprintf(figure->name, sizeof figure->name, "%s", name);
    snprintf(figure->unit, sizeof figure->unit, "%s", unit);
}

void figures_add_estimate(struct figure_list *list, const char *subject, const char *name, const char *unit,
                          const struct estimate *estimate, enum better better, int judged)
{
    struct figure figure = {.value = estimate->median,
                            .low = estimate->ci_low,
                            .high = estimate->ci_high,
                            .n = estimate->n,
                            .better = better,
                            .judged = judged};
    set_names(&figure, subject, name, unit);
    figures_add(list, &figure);
}

void figures_add_value(struct figure_list *list, const char *subject, const char *name, const char *unit, double value,
                       size_t n, enum better better)
{
    const struct estimate estimate = {value, NAN, NAN, NAN, NAN, n};
    figures_add_estimate(list, subject, name, unit, &estimate, better, 0);
}

const struct figure *figures_find(const struct figure_list *list, const char *subject, const char *name, double bytes)
{
    for (const struct figure *f = list->item; f < list->item + list->n; f++)
        if (f->bytes == bytes && !strcmp(f->name, name) && !strcmp(f->subject, subject))
            return f;
    return NULL;
}

/* ---- JSON ---- */

cJSON *figures_json(const struct figure_list *list)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < list->n; i++) {
        const struct figure *figure = &list->item[i];
        cJSON *row = json_add_row(array);
        json_add_text(row, "subject", figure->subject);
        json_add_text(row, "name", figure->name);
        if (figure->bytes > 0)
            json_add_number(row, "bytes", figure->bytes);
        json_add_text(row, "unit", figure->unit);
        json_add_number(row, "value", figure->value);
        json_add_number(row, "low", figure->low);
        json_add_number(row, "high", figure->high);
        json_add_number(row, "n", (double)figure->n);
        json_add_text(row, "better", figure_better_name[figure->better]);
        cJSON_AddBoolToObject(row, "judged", figure->judged);
    }
    return array;
}

static int by_what(const void *a, const void *b)
{
    const struct figure *x = a, *y = b;
    int by_name = strcmp(x->name, y->name), by_subject = strcmp(x->subject, y->subject);
    return by_name ? by_name : by_subject ? by_subject : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Checks that no figure is a duplicate. Returns 0; or -1, reported. */
static int check_twice(const struct figure_list *list, const char *path)
{
    struct figure *sorted = allocate(list->n + 1, sizeof *sorted);
    int status = 0;
    if (list->n)
        memcpy(sorted, list->item, list->n * sizeof *sorted);
    qsort(sorted, list->n, sizeof *sorted, by_what);
    for (size_t i = 1; i < list->n && !status; i++)
        if (!by_what(&sorted[i - 1], &sorted[i]))
            status = error_report("%s: has %s of %s twice", path, sorted[i].name, sorted[i].subject);
    free(sorted);
    return status;
}

int figures_read(struct figure_list *list, const char *path, const cJSON *json)
{
    *list = (struct figure_list){0};
    if (!cJSON_IsArray(json))
        return error_report("%s: lacks the list \"figures\", so ddpbench did not write it", path);
    for (const cJSON *row = json->child; row; row = row->next) {
        const char *subject = json_string(row, "subject"), *name = json_string(row, "name");
        const char *unit = json_string(row, "unit"), *better = json_string(row, "better");
        double n = json_number(row, "n"), bytes = json_number(row, "bytes");
        int direction = 0;
        while (direction <= BETTER_NONE && strcmp(better, figure_better_name[direction]) != 0)
            direction++;
        struct figure figure = {.bytes = isnan(bytes) ? 0 : bytes,
                                .value = json_number(row, "value"),
                                .low = json_number(row, "low"),
                                .high = json_number(row, "high"),
                                .n = json_count(row, "n"),
                                .better = (enum better)direction,
                                .judged = json_is_true(row, "judged")};
        if (!*subject || !*name || !*unit || !isfinite(figure.value) || direction > BETTER_NONE || !(n >= 0) ||
            strlen(subject) >= sizeof figure.subject || strlen(name) >= sizeof figure.name ||
            strlen(unit) >= sizeof figure.unit)
            return error_report("%s: figure %zu lacks one or more of subject, name, unit, value, n and better (lower, "
                                "higher or none)",
                                path, list->n + 1);
        if (cJSON_GetObjectItemCaseSensitive(row, "bytes") && !(bytes >= 0 && isfinite(bytes)))
            return error_report("%s: figure %zu (%s of %s): its bytes are no finite number from 0 on", path,
                                list->n + 1, name, subject);
        if (figure.low > figure.high)
            return error_report("%s: figure %zu (%s of %s): its interval ends before it begins", path, list->n + 1,
                                name, subject);
        set_names(&figure, subject, name, unit);
        figures_add(list, &figure);
    }
    return check_twice(list, path);
}

/* ---- CSV ---- */

void figures_print_csv(FILE *out, const struct figure_list *list, const char *const *field, size_t n)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct figure *figure = &list->item[i];
        const double number[] = {figure->bytes > 0 ? figure->bytes : NAN, figure->value, figure->low, figure->high};
        char text[4][32] = {""}; /* empty fields for numbers that are not finite */
        for (int k = 0; k < 4; k++)
            if (isfinite(number[k]))
                snprintf(text[k], sizeof text[k], "%.15g", number[k]);
        for (size_t k = 0; k < n; k++) {
            text_print_csv(out, field[k]);
            fputc(',', out);
        }
        text_print_csv(out, figure->subject);
        fputc(',', out);
        text_print_csv(out, figure->name);
        fprintf(out, ",%s,", text[0]);
        text_print_csv(out, figure->unit);
        fprintf(out, ",%s,%s,%s,%zu,%s,%d\n", text[1], text[2], text[3], figure->n, figure_better_name[figure->better],
                figure->judged);
    }
}

void figures_destroy(struct figure_list *list)
{
    free(list->item);
    *list = (struct figure_list){0};
}
