/* findings.c - writes findings (losses of time in a step) as JSON, reads them back, and sorts them. */
#include "results/findings.h"

#include "base/json.h"
#include "results/busy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const level_name[] = {[LEVEL_NOTE] = "note", [LEVEL_WARNING] = "warning", [LEVEL_HIGH] = "high"};

int finding_is_significant(const struct finding *finding)
{
    return !(finding->loss.low <= 0);
}

void finding_lower(struct finding *finding)
{
    finding->level = LEVEL_NOTE;
    snprintf(finding->advice, sizeof finding->advice, BUSY_ADVICE);
}

int finding_compare(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    int known = isfinite(y->loss.value) - isfinite(x->loss.value);
    int significant = finding_is_significant(y) - finding_is_significant(x);
    int notes = (x->level == LEVEL_NOTE) - (y->level == LEVEL_NOTE); /* 1: x comes later */
    if (known || significant || (isfinite(x->loss.value) && notes))
        return known ? known : significant ? significant : notes;
    if (isfinite(x->loss.value) && x->loss.value != y->loss.value)
        return x->loss.value < y->loss.value ? 1 : -1;
    return x->level != y->level ? (int)y->level - (int)x->level : strcmp(x->name, y->name);
}

void finding_append(struct finding *finding, const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(finding->text);
    va_start(arguments, format);
    vsnprintf(finding->text + length, sizeof finding->text - length, format, arguments);
    va_end(arguments);
}

void finding_write(cJSON *list, const struct finding *finding)
{
    cJSON *json = json_add_row(list);
    json_add_text(json, "name", finding->name);
    json_add_text(json, "level", level_name[finding->level]);
    json_add_number(json, "percent", finding->percent);
    json_add_number(json, "threshold", finding->threshold);
    json_add_number(json, "loss", finding->loss.value);
    json_add_number(json, "loss_low", finding->loss.low);
    json_add_number(json, "loss_high", finding->loss.high);
    json_add_number(json, "share", finding->share);
    json_add_text(json, "text", finding->text);
    json_add_text(json, "advice", finding->advice);
}

void finding_read(struct finding *finding, const cJSON *json)
{
    const char *level = json_string(json, "level");
    *finding = (struct finding){
        .level = !strcmp(level, "high")      ? LEVEL_HIGH
                 : !strcmp(level, "warning") ? LEVEL_WARNING
                                             : LEVEL_NOTE,
        .percent = json_number(json, "percent"),
        .threshold = json_number(json, "threshold"),
        .loss = {json_number(json, "loss"), json_number(json, "loss_low"), json_number(json, "loss_high")},
        .share = json_number(json, "share"),
    };
    snprintf(finding->name, sizeof finding->name, "%s", json_string(json, "name"));
    snprintf(finding->text, sizeof finding->text, "%s", json_string(json, "text"));
    snprintf(finding->advice, sizeof finding->advice, "%s", json_string(json, "advice"));
}
