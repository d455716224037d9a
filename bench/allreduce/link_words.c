/* link_words.c - the fitted model of a link in words and as JSON. */
#include "allreduce/link_model.h"
#include "base/json.h"
#include "base/text.h"
#include "results/results.h"
#include "training/training.h"

#include <math.h>

/* A unit to print numbers in: a value / scale. */
struct unit {
    const char *name;
    double scale;
};

static struct unit unit_of_time(double seconds)
{
    return seconds < 0.9995e-3 ? (struct unit){"us", 1e-6} : (struct unit){"ms", 1e-3};
}

static struct unit unit_of_bandwidth(double bandwidth)
{
    return bandwidth < 0.9995e9 ? (struct unit){"MB/s", 1e6} : (struct unit){"GB/s", 1e9};
}

/* Three digits. */
static void print_number(FILE *out, double value, struct unit unit)
{
    double v = value / unit.scale;
    fprintf(out, "%.*f", v == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : v >= 0.9995 ? 2 : 3, v);
}

/* "23.1 us [22.0, 24.2]"; an end that is infinite is "[22.0 or more]". */
static void print_estimate(FILE *out, double value, double low, double high, struct unit unit)
{
    print_number(out, value, unit);
    fprintf(out, " %s [", unit.name);
    print_number(out, low, unit);
    if (isfinite(high)) {
        fprintf(out, ", ");
        print_number(out, high, unit);
    }
    fprintf(out, isfinite(high) ? "]" : " or more]");
}

/* "(3.20 us or less)". */
static void print_limit(FILE *out, double value, struct unit unit, const char *which)
{
    fprintf(out, " (");
    print_number(out, value, unit);
    fprintf(out, " %s %s)", unit.name, which);
}

static void print_transfer(FILE *out, const struct link_regime *r, double bus_factor)
{
    if (bus_factor != 1)
        fprintf(out, "%.4g ", bus_factor);
    fprintf(out, "S / ");
    print_estimate(out, r->bandwidth, r->bandwidth_low, r->bandwidth_high, unit_of_bandwidth(r->bandwidth));
}

static void print_regime(FILE *out, const struct link_regime *r, double bus_factor)
{
    if (r->latency_s > 0)
        print_estimate(out, r->latency_s, r->latency_low_s, r->latency_high_s, unit_of_time(r->latency_s));
    if (r->latency_s > 0 && isfinite(r->bandwidth))
        fprintf(out, " + ");
    if (isfinite(r->bandwidth))
        print_transfer(out, r, bus_factor);
    else {
        fprintf(out, ", bandwidth not seen");
        if (isfinite(r->bandwidth_low))
            print_limit(out, r->bandwidth_low, unit_of_bandwidth(r->bandwidth_low), "or more");
        else
            fprintf(out, " (times do not grow with S)");
    }
    if (r->latency_s == 0) {
        fprintf(out, ", latency not seen");
        if (r->latency_high_s > 0)
            print_limit(out, r->latency_high_s, unit_of_time(r->latency_high_s), "or less");
        else
            fprintf(out, " (times grow as fast as S, or faster)");
    }
    fprintf(out, "\n");
}

static double message_bytes(double bus_bytes, double bus_factor)
{
    return round(bus_bytes / bus_factor);
}

static const char *size_words(double bus_bytes, double bus_factor, char text[CELL])
{
    return text_memory(text, (size_t)fmin(message_bytes(bus_bytes, bus_factor), 1e19));
}

void link_model_print(FILE *out, const struct link_model *model, double bus_factor)
{
    char from[CELL], to[CELL];
    for (int i = 0; i < model->regimes; i++) {
        const struct link_regime *r = &model->regime[i];
        size_words(r->from_bytes, bus_factor, from);
        size_words(r->to_bytes, bus_factor, to);
        if (model->regimes > 1 && i == 0)
            fprintf(out, "up to %s ", to);
        else if (i > 0 && i < model->regimes - 1)
            fprintf(out, "from %s to %s ", from, to);
        else if (i > 0)
            fprintf(out, "from %s ", from);
        fprintf(out, i ? "it behaves like " : "this link behaves like ");
        print_regime(out, r, bus_factor);
    }
    const struct link_residuals *residuals = &model->residuals;
    fprintf(out, "residuals: rms %.1f %%, largest %+.1f %% at %s (%zu sizes)\n", 100 * residuals->rms,
            100 * residuals->largest, size_words(residuals->largest_at_bytes, bus_factor, to), model->sizes);
}

/* ---- JSON ---- */

static void add_estimate(cJSON *json, const char *name, double value, double low, double high, struct unit unit)
{
    cJSON *estimate = cJSON_AddObjectToObject(json, name);
    json_add_number(estimate, "estimate", value / unit.scale);
    json_add_number(estimate, "ci_low", low / unit.scale);
    json_add_number(estimate, "ci_high", high / unit.scale);
    cJSON_AddStringToObject(estimate, "unit", unit.name);
}

static void add_residuals(cJSON *json, const struct link_residuals *residuals, double bus_factor)
{
    cJSON *object = cJSON_AddObjectToObject(json, "residuals");
    json_add_number(object, "rms", residuals->rms);
    json_add_number(object, "largest", residuals->largest);
    json_add_number(object, "largest_at_bytes", message_bytes(residuals->largest_at_bytes, bus_factor));
}

void link_model_json(cJSON *json, const struct link_model *model, double bus_factor)
{
    cJSON *object = cJSON_AddObjectToObject(json, "link_model");
    json_add_number(object, "bus_factor", bus_factor);
    cJSON_AddNumberToObject(object, "points", (double)model->points);
    cJSON_AddNumberToObject(object, "sizes", (double)model->sizes);
    add_residuals(object, &model->residuals, bus_factor);
    cJSON *regimes = cJSON_AddArrayToObject(object, "regimes");
    for (int i = 0; i < model->regimes; i++) {
        const struct link_regime *r = &model->regime[i];
        cJSON *regime = cJSON_CreateObject();
        json_add_number(regime, "from_bytes", message_bytes(r->from_bytes, bus_factor));
        json_add_number(regime, "to_bytes", message_bytes(r->to_bytes, bus_factor));
        cJSON_AddNumberToObject(regime, "points", (double)r->points);
        add_estimate(regime, "latency", r->latency_s, r->latency_low_s, r->latency_high_s, (struct unit){"us", 1e-6});
        add_estimate(regime, "bandwidth", r->bandwidth, r->bandwidth_low, r->bandwidth_high,
                     (struct unit){"GB/s", 1e9});
        add_residuals(regime, &r->residuals, bus_factor);
        cJSON_AddItemToArray(regimes, regime);
    }
}
