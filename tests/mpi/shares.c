/* shares.c - tests the figures and findings of random made-up captures: a part is at most its whole, a share lies
 * between 0 and 100 %, and the text of a finding has the figure that its table has. */
#include "profile/summary.h"

#include "kernels/error.h"
#include "kernels/random.h"
#include "tests/support/made_up.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, BUCKETS = 3, MOST = 8, CAPTURES = 40 };
static struct job job;
static uint64_t state;

/* Returns a random number from 0 to 1; all ranks draw the same ones. */
static double draw(void)
{
    return (double)(random_bits(state += RANDOM_STEP) >> 11) * 0x1p-53;
}

/* Returns a random duration of 2^4 to 2^24 ns, so that often one phase is nearly all of a step. */
static int64_t duration(void)
{
    return (int64_t)exp2(4 + 20 * draw());
}

/* A capture of this rank, which draws the times of all ranks, since collectives end after their last post. */
static void make_capture(struct capture *c, struct timeline *timeline)
{
    int64_t at[MOST], posted[MOST][BUCKETS], waits[MOST][STEPS];
    double scale[MOST] = {0}; /* a rank may be far slower than others */
    *c = (struct capture){.overlap = allocate(STEPS, sizeof *c->overlap),
                          .trace = {.steps = STEPS,
                                    .step = allocate(STEPS, sizeof *c->trace.step),
                                    .times = allocate(STEPS, sizeof *c->trace.times),
                                    .parameters = allocate(BUCKETS, sizeof *c->trace.parameters)}};
    for (int r = 0; r < job.size; r++) {
        at[r] = 1000;
        scale[r] = exp2(-4 * draw());
    }
    for (int s = 0; s < STEPS; s++) {
        timeline->step = s;
        int64_t ended[BUCKETS] = {0};
        for (int r = 0; r < job.size; r++) {
            int64_t data = at[r] + duration(), forward = data + (int64_t)(scale[r] * (double)duration());
            int64_t backward = forward + (int64_t)(scale[r] * (double)duration()) + BUCKETS;
            for (int b = 0; b < BUCKETS; b++) {
                posted[r][b] = forward + (int64_t)((double)(backward - forward) * (b + draw()) / BUCKETS);
                ended[b] = posted[r][b] > ended[b] ? posted[r][b] : ended[b];
            }
            if (r == job.rank) {
                made_up_phase(timeline, PHASE_DATA_LOADING, at[r], data);
                made_up_phase(timeline, PHASE_FORWARD, data, forward);
                made_up_phase(timeline, PHASE_BACKWARD, forward, backward);
            }
            waits[r][s] = (int64_t)(draw() * (double)(backward - forward));
            at[r] = backward;
        }
        for (int b = 0; b < BUCKETS; b++) { /* collectives complete in order */
            int64_t before = b && ended[b - 1] > ended[b] ? ended[b - 1] : ended[b];
            ended[b] = before + duration() / 8;
            made_up_collective(timeline, (size_t)s * BUCKETS + (size_t)b + 1, b, 10, posted[job.rank][b], ended[b]);
        }
        for (int r = 0; r < job.size; r++) {
            int64_t synced = at[r] > ended[BUCKETS - 1] ? at[r] : ended[BUCKETS - 1], end = synced + duration() / 16;
            if (r == job.rank) {
                made_up_phase(timeline, PHASE_GRADIENT_SYNC, at[r], synced);
                made_up_phase(timeline, PHASE_OPTIMIZER, synced, end);
            }
            at[r] = end;
        }
    }
    steps_from_timeline(timeline, c->trace.times, STEPS);
    for (int s = 0; s < STEPS; s++)
        c->trace.times[s].core_wait_ns[PHASE_BACKWARD] = waits[job.rank][s];
    overlap_of_steps(timeline, c->trace.times, STEPS, &timeline->lane[LANE_COMPUTE], 0, c->overlap);
    collectives_create(&c->collectives, timeline, &c->alignment, job.size);
    collectives_exchange(&c->collectives, &job, timeline, &c->alignment, 0, STEPS);
}

static void is_part(const char *of, double part, double whole)
{
    ck_assert_msg(!(part < 0) && !(part > whole * (1 + 1e-9)), "%s: %g of %g", of, part, whole);
}

static void check_figures(const struct profile_figures *f)
{
    double shares = 0, longest = 0;
    for (int p = 0; p < PHASES; p++) {
        is_part(f->phase[p].name, f->phase[p].share, 1);
        shares += f->phase[p].share;
    }
    ck_assert_double_eq_tol(shares, 1, 1e-9);
    for (const struct collective_figure *c = f->collective; c < f->collective + f->collectives; c++) {
        ck_assert_uint_eq(c->known, c->calls); /* the clocks are exact; calls that waited for no one count as 0 */
        is_part("wait of a collective", c->wait, c->duration);
        is_part("transfer of a collective", c->transfer, c->duration);
    }
    for (const struct rank_figure *r = f->rank; r < f->rank + f->ranks; r++) {
        is_part("exposed", r->mean.exposed, r->mean.step);
        is_part("without a core", r->core_wait, r->step);
        longest = fmax(longest, r->step);
    }
    for (int r = 0; r < f->ranks; r++) /* faster work of a rank cannot save more than the longest step */
        is_part("saves", f->rank[r].saves, longest);
}

/* Checks that each number before "% of ... step" in a text is a share. */
static void check_text(const char *text)
{
    for (const char *sign = strstr(text, " % of "); sign; sign = strstr(sign + 1, " % of ")) {
        const char *number = sign;
        while (number > text && strchr("0123456789.-", number[-1]))
            number--;
        ck_assert_msg(strtod(number, NULL) >= 0 && strtod(number, NULL) <= 100, "%s", text);
    }
}

static int has(const char *text, const char *format, double value)
{
    char words[80];
    snprintf(words, sizeof words, format, value);
    return strstr(text, words) != NULL;
}

static void check_finding(const struct finding *f, const struct profile_figures *figures)
{
    int of_rank;
    double ms;
    check_text(f->text);
    if (!isfinite(f->loss.value))
        return;
    is_part(f->name, f->share, 1);
    ck_assert_msg(has(f->text, "%.2f ms", 1e3 * f->loss.value) || has(f->text, "is %.3f ms", 1e3 * f->loss.value) ||
                      has(f->text, "%.1f %% of", 100 * f->share),
                  "a loss of %g ms, %.1f %%: %s", 1e3 * f->loss.value, 100 * f->share, f->text);
    const char *of = strstr(f->text, "exposed communication takes ");
    if (of && sscanf(of, "exposed communication takes %lf ms on rank %d", &ms, &of_rank) == 2) /* as in its row */
        ck_assert_double_eq_tol(ms, 1e3 * figures->rank[of_rank].mean.exposed, 0.0051);
}

/* The rounds of the controls: a step of `none`, and one that takes longer by a cost whose interval is above 0. */
static void draw_controls(struct controls *c)
{
    double none = 1e-9 * (double)duration(), cost = 1e-9 * (double)duration();
    *c = (struct controls){.rounds = 12, .communicates = 1};
    c->step_none.median = none;
    c->step.median = none + cost;
    c->sync_cost = (struct estimate){.median = draw() < 0.5 ? cost : NAN, .ci_low = cost / 2, .ci_high = 2 * cost};
    c->comm_alone.median = 1e-9 * (double)duration();
    c->backward_none.median = none * draw();
}

TEST(random_captures)
{
    static const struct profile_options options = {
        .thresholds = {.busy = 70, .data_loading = 30, .exposed = 20, .memory = 90}};
    static struct profile profile;
    struct profile *p = &profile;
    int seen = 0;
    for (int i = 0; i < CAPTURES; i++) {
        struct timeline timeline;
        *p = (struct profile){
            .options = &options,
            .facts = {.label = "ddp", .ranks = job.size, .threads = 1, .cores_per_rank = 1, .tune = "tune"}};
        state = random_bits((uint64_t)i + 1);
        made_up_create(&timeline, 60);
        make_capture(&p->capture, &timeline);
        profile_figures_create(&p->figures, &job, &p->capture);
        check_figures(&p->figures);
        draw_controls(&p->controls);
        findings_create(p);
        for (int f = 0; f < p->findings; f++)
            check_finding(&p->finding[f], &p->figures);
        seen += p->findings;
        profile_figures_destroy(&p->figures);
        capture_destroy(&p->capture);
        timeline_destroy(&timeline);
    }
    ck_assert_int_gt(seen, CAPTURES); /* random times have findings */
}

SUITE_OF_RANKS("shares", job, NULL, NULL)
