/* test_overlap_verdict.c - the verdict whether communication was overlapped, or why not, from made-up figures. */
#include "tests/support/healthy.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct healthy h;
static const char *const verdict = h.profile.overlap;

static void one_rank(void)
{
    h.profile.facts.ranks = h.profile.facts.machine_ranks = 1;
}

static void no_strategy(void)
{
    static const struct implementation none = {.strategy = &strategy_none};
    h.profile.facts.row = &none;
    h.profile.facts.traits = strategy_none.traits[VARIANT_PLAIN];
}

static void after_backward(void)
{
    static const struct implementation ddp = {.strategy = &strategy_ddp};
    h.profile.facts.row = &ddp;
    h.profile.facts.traits = strategy_ddp.traits[VARIANT_PLAIN];
}

static void no_rounds(void)
{
    h.profile.controls = (struct controls){
        .overlap_efficiency = {NAN, NAN, NAN, NAN, NAN, 0}, .comm_alone.median = NAN, .backward_none.median = NAN};
}

static void five_rounds(void)
{
    h.profile.controls.rounds = h.profile.controls.overlap_efficiency.n = 5;
    h.profile.controls.overlap_efficiency.ci_low = h.profile.controls.overlap_efficiency.ci_high = NAN;
}

static void nothing(void) {}

/* Sets the efficiency, and the saved part of 6 ms of communication alone. */
static void efficiency(double value, double low, double high)
{
    h.profile.controls.overlap_efficiency = (struct estimate){value, low, high, NAN, NAN, 12};
    h.profile.controls.saved = (struct estimate){0.006 * value, 0.006 * low, 0.006 * high, NAN, NAN, 12};
}

static void just_enough(void)
{
    efficiency(0.1, 0.001, 0.2);
}

static void more_than_all(void)
{
    efficiency(1.14, 0.9, 1.4);
}

static void much_communication(void)
{
    h.profile.controls.comm_alone.median = 0.08;
}

/* From here to single_bucket, nothing is hidden and each function adds a reason; the verdict gives the last one. */
static void slowed_down(void)
{
    h.profile.facts.hosts = 2;
    efficiency(-0.2, -0.31, 0.1);
}

static void one_memory(void)
{
    slowed_down();
    h.profile.facts.hosts = 1;
}

static void longer_than_backward(void)
{
    one_memory();
    h.profile.controls.comm_alone.median = 0.08;
}

static void exposed_tail(double seconds)
{
    longer_than_backward(); /* collectives alone take 80 ms */
    h.rank[0].mean.exposed_tail = seconds;
}

static void just_some_progress(void)
{
    exposed_tail(0.063999999);
}

static void no_progress(void)
{
    exposed_tail(0.064000001);
}

static void oversubscribed(void)
{
    no_progress();
    h.profile.facts.cores_per_rank = 1.5;
}

static void single_bucket(void)
{
    oversubscribed();
    h.profile.facts.buckets = 1;
}

static void a_little(void)
{
    one_memory();
    efficiency(0.05, 0.02, 0.08);
}

static void noise(void)
{
    one_memory();
    efficiency(0.3, -0.25, 0.72);
}

static void noise_on_hosts(void)
{
    noise();
    h.profile.facts.hosts = 2;
}

static void on_gpus(void)
{
    h.profile.facts.on_gpu = h.profile.facts.comm_on_device = 1;
}

static void slowed_down_on_gpus(void)
{
    one_memory();
    on_gpus();
}

static void no_progress_with_a_spare_core(void)
{
    no_progress();
    h.profile.facts.cores_per_rank = h.profile.facts.threads + 1;
}

static void no_progress_on_gpus(void)
{
    oversubscribed(); /* on GPUs, cores of the host do not compute */
    on_gpus();
}

static const struct {
    void (*spoil)(void);
    const char *words[6];
} verdicts[] = {
    {one_rank, {"one rank does not communicate"}},
    {no_strategy, {"none does not communicate"}},
    {after_backward, {"by design, ddp starts", "after backward"}},
    {no_rounds, {"not measured", "--rounds 6 or more"}},
    {five_rounds, {"not known", "5 rounds are too few", "--rounds 6 or more"}},
    {nothing,
     {"happened", "saved 3.00 ms [2.40, 3.60] a step, 50 % of the 6.0 ms that could be hidden (n = 12 rounds)"}},
    {just_enough, {"happened", "10 % of the 6.0 ms"}},
    {more_than_all, {"happened", "a step, all of the 6.0 ms"}},
    {much_communication, {"happened", "(80.0 ms) is longer than backward (50.0 ms)", "30.0 ms cannot be hidden"}},
    {slowed_down, {"did not happen (saved: -1.20 ms [-1.86, 0.60] a step, n = 12", "slows computation down"}},
    {one_memory, {"did not happen", "share one machine's memory", "nothing to hide"}},
    {longer_than_backward, {"did not happen", "alone (80.0 ms) is longer than backward (50.0 ms)"}},
    {just_some_progress, {"did not happen", "longer than backward"}},
    {no_progress,
     {"did not happen", "no progress: the collectives, 80.0 ms by themselves, ended 64.0 ms after backward",
      "--mpi-progress sleep:US"}},
    {oversubscribed, {"did not happen", "CPUs are oversubscribed", "more threads than cores"}},
    {single_bucket, {"did not happen", "single bucket", "smaller --bucket-size-mb"}},
    {a_little, {"hardly happened (saved: 0.300 ms [0.120, 0.480] a step"}},
    {noise,
     {"not significantly different from none (saved: 1.80 ms [-1.50, 4.32]", "more --rounds", "machine's memory"}},
    {noise_on_hosts, {"not significantly different from none", "exceeds the effect; use more --rounds."}},
    {slowed_down_on_gpus, {"did not happen", "slows computation down"}},
    {no_progress_with_a_spare_core, {"no progress: the collectives", "--mpi-progress poll"}},
    {no_progress_on_gpus, {"did not happen", "no progress: the collectives, 80.0 ms", "--nccl-max-ctas"}},
};

TEST_EACH(verdict_has_known_words, LENGTH(verdicts))
{
    healthy_create(&h);
    verdicts[_i].spoil();
    overlap_verdict_write(&h.profile);
    for (int i = 0; verdicts[_i].words[i]; i++)
        check_has(verdict, verdicts[_i].words[i]);
    ck_assert_msg(verdict[strlen(verdict) - 1] == '.', "cut off: %s", verdict);
}

/* Verdicts make no false claims: no "cannot be hidden" if all can be hidden, no shared memory with several hosts. */
TEST(verdicts_claim_no_more_than_is_known)
{
    healthy_create(&h);
    overlap_verdict_write(&h.profile);
    check_lacks(verdict, "cannot be hidden");
    healthy_create(&h);
    noise_on_hosts();
    overlap_verdict_write(&h.profile);
    check_lacks(verdict, "memory");
}

SUITE("overlap_verdict", NULL, NULL)
