/* link.c - how long a collective takes on a link: from sweeps, and by a model of the libraries' algorithms. */
#include "predict/link.h"

#include "base/json.h"
#include "base/link_model.h"
#include "base/nominal.h"
#include "kernels/error.h"
#include "results/saved_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const link_basis_name[LINK_BASES] = {"measured", "interpolated", "extrapolated", "folded"};

/* ---- the model ---- */

static double model_seconds(const struct link *link, enum comm_kind kind, size_t ranks, double bytes)
{
    struct algorithm a[2];
    double latency = link->latency * link->latency_scale, bandwidth = link->bandwidth * link->bandwidth_scale;
    algorithms_find(a, link->library, kind, ranks, bytes, link->alone_on_host);
    return fmin(a[0].stages * latency + a[0].volume * bytes / bandwidth,
                a[1].stages * latency + a[1].volume * bytes / bandwidth);
}

/* ---- times ---- */

/* Returns the time of `bytes` bytes on the line through sizes i and k of a sweep. */
static double on_line(const struct link_sweep *s, size_t i, size_t k, double bytes)
{
    return s->seconds[i] + (s->seconds[k] - s->seconds[i]) * (bytes - s->bytes[i]) / (s->bytes[k] - s->bytes[i]);
}

/* Returns the time of `bytes` bytes between the ranks of a sweep. */
static double sweep_seconds(const struct link_sweep *s, double bytes, enum link_basis *basis)
{
    size_t at = 0; /* the first size that is not below `bytes` */
    while (at < s->n && s->bytes[at] < bytes)
        at++;
    *basis = at == s->n ? LINK_EXTRAPOLATED : s->bytes[at] == bytes ? LINK_MEASURED : LINK_INTERPOLATED;
    if (at == s->n)
        return fmax(s->seconds[at - 1], on_line(s, at - 2, at - 1, bytes));
    return at == 0 || *basis == LINK_MEASURED ? s->seconds[at] : on_line(s, at - 1, at, bytes);
}

/* Returns the sweep of a kind of collective with the nearest number of ranks; NULL: there is none of that kind. */
static const struct link_sweep *nearest_sweep(const struct link *link, enum comm_kind kind, size_t ranks)
{
    const struct link_sweep *nearest = NULL;
    double least = INFINITY;
    for (const struct link_sweep *s = link->sweep; s < link->sweep + link->n; s++) {
        double p = (double)s->ranks, q = (double)ranks, ratio = fmax(p / q, q / p);
        if (s->kind == kind && (ratio < least || (ratio == least && s->ranks > ranks))) {
            nearest = s;
            least = ratio;
        }
    }
    return nearest;
}

double link_seconds(const struct link *link, enum comm_kind kind, size_t ranks, double bytes, enum link_basis *basis)
{
    enum link_basis of_time = LINK_EXTRAPOLATED;
    const struct link_sweep *own = nearest_sweep(link, kind, ranks);
    const struct link_sweep *s = own ? own : nearest_sweep(link, COMM_ALL_REDUCE, ranks);
    if (ranks <= 1)
        return 0;
    double seconds = model_seconds(link, kind, ranks, bytes);
    if (s) {
        double measured = sweep_seconds(s, bytes, &of_time), latency = fmin(measured, s->seconds[0]);
        double scaled = link->latency_scale * latency + (measured - latency) / link->bandwidth_scale;
        seconds = scaled * (seconds / model_seconds(link, s->kind, s->ranks, bytes));
    }
    if (!own || own->ranks != ranks || link->latency_scale != 1 || link->bandwidth_scale != 1)
        of_time = LINK_EXTRAPOLATED;
    if ((!own || own->ranks != ranks) && kind != COMM_ALL_GATHER && algorithms_fold(link->library, ranks))
        of_time = LINK_FOLDED;
    *basis = *basis > of_time ? *basis : of_time;
    return seconds;
}

/* ---- reading sweeps ---- */

struct reader {
    struct link *link;
    const char *option, *directory; /* for messages: the option, and the directory that is being read */
    double squares;                 /* sum of the squared relative standard errors of times with an interval */
    size_t intervals;               /* number of these times */
};

static int add_time(struct reader *r, struct link_sweep *s, const struct figure *time)
{
    if (!(time->bytes > (s->n ? s->bytes[s->n - 1] : 0) && time->value > 0 && time->value <= 1e6))
        return error_report("--%s %s: %s of %.0f bytes takes %g s; sizes must increase, and times be above 0, at most "
                            "1e6 s",
                            r->option, r->directory, comm_kind_name[s->kind], time->bytes, time->value);
    s->bytes = allocate_more(s->bytes, s->n, sizeof *s->bytes);
    s->seconds = allocate_more(s->seconds, s->n, sizeof *s->seconds);
    s->bytes[s->n] = time->bytes;
    s->seconds[s->n++] = time->value;
    if (time->low > 0 && time->high >= time->low) {
        /* a 95 % interval is 2 x 1.96 standard errors wide; a ratio of its ends could overflow, logarithms do not */
        r->squares += pow((log(time->high) - log(time->low)) / (2 * 1.96), 2);
        r->intervals++;
    }
    return 0;
}

/* Adds to the link the sweep of a kind of collective, if the figures have one. */
static int add_sweep(struct reader *r, const struct figure_list *figures, enum comm_kind kind, size_t ranks)
{
    struct link_sweep sweep = {.kind = kind, .ranks = ranks};
    const struct link_sweep *other = nearest_sweep(r->link, kind, ranks);
    int status = 0, has_one = other && other->ranks == ranks;
    for (int i = 0; i < 2 && !sweep.n; i++) {
        char subject[sizeof figures->item->subject];
        snprintf(subject, sizeof subject, "%s %s %s %s", comm_kind_name[kind], comm_dtype_name[COMM_FLOAT32],
                 comm_reduces(kind) ? comm_op_name[COMM_SUM] : "none", i ? "out_of_place" : "in_place");
        for (const struct figure *f = figures->item; f < figures->item + figures->n && !status; f++)
            if (!strcmp(f->name, "time") && !strcmp(f->subject, subject))
                status = add_time(r, &sweep, f);
    }
    if (!sweep.n)
        return status;
    r->link->sweep = allocate_more(r->link->sweep, r->link->n, sizeof sweep);
    r->link->sweep[r->link->n++] = sweep;
    if (has_one)
        return error_report("--%s %s: is a second sweep of %s between %zu ranks; give one of each", r->option,
                            r->directory, comm_kind_name[kind], ranks);
    if (!status && sweep.n < 4)
        return error_report("--%s %s: has %zu sizes of %s; 4 or more are needed (--step-factor)", r->option,
                            r->directory, sweep.n, comm_kind_name[kind]);
    return status;
}

static int add_run(struct reader *r, const struct saved_run *run)
{
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(run->run, "derived");
    const char *mode = json_string(run->run, "mode"), *comm = json_string(derived, "comm");
    size_t ranks = json_count(derived, "world_size"), sweeps = r->link->n;
    int uses_nccl = !strcmp(comm, "nccl"), major = 0, minor = 0;
    if (strcmp(mode, "allreduce") != 0)
        return error_report("--%s %s: is a run of %s; expected one of allreduce", r->option, r->directory, mode);
    if (ranks < 2)
        return error_report("--%s %s: is a run of %zu ranks; give 2 or more", r->option, r->directory, ranks);
    if ((!uses_nccl && strcmp(comm, "mpi") != 0) || (sweeps && uses_nccl != (r->link->library == LIBRARY_NCCL)))
        return error_report("--%s %s: has comm '%s'; all must have mpi, or all nccl", r->option, r->directory, comm);
    r->link->library = uses_nccl ? LIBRARY_NCCL : LIBRARY_MPICH;
    sscanf(json_string(derived, "nccl"), "NCCL %d.%d", &major, &minor);
    int alone = json_count(derived, "host_count") == ranks && (major > 2 || (major == 2 && minor >= 23));
    r->link->alone_on_host = alone && (!sweeps || r->link->alone_on_host);
    for (enum comm_kind kind = COMM_ALL_REDUCE; kind <= COMM_ALL_GATHER; kind++)
        if (add_sweep(r, &run->figures, kind, ranks))
            return -1;
    if (r->link->n == sweeps)
        return error_report("--%s %s: has no times of all_reduce, reduce_scatter (float, sum) or all_gather (float)",
                            r->option, r->directory);
    return 0;
}

/* Fits latency and bandwidth to the all-reduces between the fewest ranks (link_read). */
static int fit_model(struct link *link, const char *option)
{
    struct link_regime regime[LINK_REGIMES] = {0};
    struct algorithm a[2];
    const struct link_sweep *s = nearest_sweep(link, COMM_ALL_REDUCE, 1);
    if (!s)
        return error_report("--%s: no run has times of all_reduce; also give one that has", option);
    double *bus_bytes = allocate(s->n, sizeof *bus_bytes), factor = comm_bus_factor(COMM_ALL_REDUCE, (int)s->ranks);
    double bytes = s->bytes[s->n - 1];
    for (size_t i = 0; i < s->n; i++)
        bus_bytes[i] = factor * s->bytes[i];
    int regimes = link_model_fit(regime, bus_bytes, s->seconds, s->n);
    free(bus_bytes);
    const struct link_regime *large = &regime[regimes > 1];
    double seconds = large->latency + factor * bytes / large->bandwidth;
    link->fitted_ranks = s->ranks;
    link->fitted_latency = regime->latency;
    link->fitted_bandwidth = large->bandwidth;
    algorithms_find(a, link->library, COMM_ALL_REDUCE, s->ranks, s->bytes[0], 0);
    link->latency = link->fitted_latency / fmin(a[0].stages, a[1].stages);
    algorithms_find(a, link->library, COMM_ALL_REDUCE, s->ranks, bytes, 0);
    /* of the two bandwidths that fit an algorithm, the lower one gives the faster algorithm the fitted time */
    double seconds_per_byte = fmax((seconds - a[0].stages * link->latency) / (a[0].volume * bytes),
                                   (seconds - a[1].stages * link->latency) / (a[1].volume * bytes));
    link->bandwidth = 1 / seconds_per_byte;
    if (!regimes)
        return error_report("--%s: has %zu sizes of all_reduce; from %d to %d can be fitted", option, s->n, LINK_SIZES,
                            LINK_MOST_SIZES);
    if (!(seconds_per_byte > 0))
        return error_report("--%s: all_reduce of %.0f bytes takes hardly longer than its latency; measure larger sizes",
                            option, bytes);
    return 0;
}

/* Returns the relative error of interpolated times: a quarter of the root mean square error of each size interpolated
 * from its two neighbours, since the error of a line is proportional to the square of the distance between its ends. */
static double interpolation_error(const struct link *link)
{
    double squares = 0;
    size_t n = 0;
    for (const struct link_sweep *s = link->sweep; s < link->sweep + link->n; s++)
        for (size_t i = 1; i + 1 < s->n; i++, n++)
            squares += pow(log(s->seconds[i] / on_line(s, i - 1, i + 1, s->bytes[i])), 2);
    return sqrt(squares / (double)n) / 4;
}

int link_read(struct link *link, const char *option, const char *directories)
{
    struct reader r = {.link = link, .option = option};
    char *copy = allocate(strlen(directories) + 1, 1), *next = strcpy(copy, directories);
    int failed = 0;
    *link = (struct link){.latency_scale = 1, .bandwidth_scale = 1};
    while (!failed && (r.directory = strsep(&next, ","))) {
        struct saved_run run = {0};
        failed = !*r.directory || saved_run_read(&run, r.directory, 0) || add_run(&r, &run);
        saved_run_destroy(&run);
        if (!*r.directory)
            error_report("--%s '%s': expected directories, separated by commas", option, directories);
    }
    free(copy);
    if (failed || fit_model(link, option))
        return -1;
    link->error = hypot(r.intervals ? sqrt(r.squares / (double)r.intervals) : 0, interpolation_error(link));
    return 0;
}

/* ---- a latency and a bandwidth ---- */

static int parse_latency(const char *option, const char *text, double *latency)
{
    static const char *const units[] = {"s", "ms", "us", "ns"}; /* each is a thousandth of the one before */
    char digits[32], unit[3], rest;
    if (sscanf(text, "%31[0-9.]%2[a-z]%c", digits, unit, &rest) == 2 && !option_number(digits, latency))
        for (int i = 0; i < 4; i++, *latency /= 1000)
            if (!strcmp(unit, units[i]) && *latency <= 10)
                return 0;
    return error_report("--%s latency=%s: expected at most 10 s, in s, ms, us or ns, such as 23us", option, text);
}

int link_parse(struct link *link, const char *option, const char *words)
{
    struct nominal rate = {0};
    char name[32], value[32];
    int more = 0, failed = 0;
    *link = (struct link){.latency = NAN, .latency_scale = 1, .bandwidth_scale = 1};
    for (struct option_list list = {option, words, 0}; !failed && (more = option_next_pair(&list, name, value)) > 0;)
        failed = !strcmp(name, "latency")     ? parse_latency(option, value, &link->latency)
                 : !strcmp(name, "bandwidth") ? option_nominal.parse(&(struct option){.name = option}, value, &rate)
                                              : -1;
    link->fitted_latency = link->latency;
    link->fitted_bandwidth = link->bandwidth = rate.rate;
    if (failed || more || !(rate.rate > 0) || isnan(link->latency))
        return error_report("--%s %s: expected a latency and a bandwidth, such as latency=23us,bandwidth=11.7MB/s",
                            option, words);
    return 0;
}

void link_destroy(struct link *link)
{
    for (size_t i = 0; i < link->n; i++) {
        free(link->sweep[i].bytes);
        free(link->sweep[i].seconds);
    }
    free(link->sweep);
    *link = (struct link){0};
}
