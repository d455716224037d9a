/* test_options.c - the command line of profile mode: rows, lists, cycles, options that need or exclude --profile. */
#include "kernels/error.h"
#include "tests/support/command_line.h"
#include "tests/support/suite.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- profiled rows and their controls ---- */

/* {command line, its words separated by |; rows}; a row: label, strategy, bucket size if any, bf16, early,
 * traced, captured, late */
static const char *const profiles[][2] = {
    {"--profile", "ddp ddp traced captured; untraced ddp; none none traced"},
    {"--profile|--profile-implementation|none", "none none traced captured; untraced none"},
    {"--profile-implementation=ddp_flat|--profile",
     "ddp_flat ddp_flat traced captured; untraced ddp_flat; none none traced"},
    {"--profile|--profile-implementation|ddp_individual",
     "ddp_individual ddp_individual traced captured; untraced ddp_individual; "
     "after_backward ddp_individual traced late; none none traced"},
    {"--profile|--profile-implementation|ddp_individual_v2",
     "ddp_individual_v2 ddp_individual_v2 traced captured; untraced ddp_individual_v2; "
     "after_backward ddp_individual_v2 traced late; none none traced"},
    {"--profile|--profile-implementation|ddp_bucketed|--bucket-size-mb|0.5",
     "ddp_bucketed ddp_bucketed 0.5 traced captured; untraced ddp_bucketed 0.5; "
     "after_backward ddp_bucketed 0.5 traced late; none none traced"},
    /* several profiles: controls have the label of their profile; `none` is one of the profiles or a control of all */
    {"--profile|--profile-implementation|ddp,b=ddp_individual",
     "ddp ddp traced captured; untraced:ddp ddp; b ddp_individual traced captured; "
     "untraced:b ddp_individual; after_backward:b ddp_individual traced late; none none traced"},
    {"--profile|--profile-implementation|none,ddp",
     "none none traced captured; untraced:none none; ddp ddp traced captured; untraced:ddp ddp"},
    {"--profile|--profile-implementation|b=ddp_bucketed:1|--update-in-backward",
     "b ddp_bucketed 1 traced captured; untraced:b ddp_bucketed 1; after_backward:b ddp_bucketed 1 traced late; "
     "b:update ddp_bucketed 1 early traced captured; untraced:b:update ddp_bucketed 1 early; "
     "after_backward:b:update ddp_bucketed 1 early traced late; none none traced"},
};

TEST(all_are_profiled_with_each_bucket_size)
{
    const struct training_options *t =
        &parsed("--profile|--profile-implementation|all|--bucket-size-mb|1,25")->run.training;
    int all = 0, captured = 0, found = 0; /* all: rows of plain variants */
    for (int i = 0; strategies[i]; i++)
        all += strategies[i]->number.letter ? 0 : strategies[i]->traits[VARIANT_PLAIN]->buckets ? 2 : 1;
    for (int i = 0; i < t->n; i++) {
        captured += t->implementation[i].captured;
        found += !strcmp(t->implementation[i].label, "ddp_bucketed:1");
        found += !strcmp(t->implementation[i].label, "after_backward:ddp_bucketed:25");
    }
    ck_assert_int_eq(captured, all);
    ck_assert_int_eq(found, 2);
}

TEST_EACH(profile_makes_rows, LENGTH(profiles))
{
    ck_assert_str_eq(rows_of(parsed(profiles[_i][0])), profiles[_i][1]);
}

/* ---- accepted options ---- */

static const struct {
    const char *line, *name, *value;
} taken[] = {
    {"--profile|--rounds|0", "rounds", "0"},
    {"--profile|--label|x|--profile-output-dir|a b/c", "profile-output-dir", "a b/c"},
    {"--profile|--verbose", "inject-delay", "(none)"},
    {"--profile|--profile-activities|cpu,cuda", "profile-activities", "cpu,cuda"},
    {"--profile|--thresholds|busy=50", "thresholds", "busy=50,data_loading=30,exposed=20,memory=90"},
    {"--profile|--thresholds|memory=0.5,data_loading=100", "thresholds",
     "busy=70,data_loading=100,exposed=20,memory=0.5"},
    {"--profile|--thresholds|busy=1,exposed=2", "thresholds", "busy=1,data_loading=30,exposed=2,memory=90"},
    {"--profile|--thresholds|busy=2,memory=90", "thresholds", "busy=2,data_loading=30,exposed=20,memory=90"},
    {"--inject-delay|rank=1,ms=5,phase=backward_pass", "inject-delay", "rank=1,ms=5,phase=backward_pass"},
    {"--regime|warmup|--inject-delay|rank=1,ms=5,phase=gradient_clipping_warmup", "inject-delay",
     "rank=1,ms=5,phase=gradient_clipping_warmup"},
    {"--profile|--inject-delay|phase=zero_grad,ms=0.25,rank=0", "inject-delay", "rank=0,ms=0.25,phase=zero_grad"},
    {"--inject-delay|rank=1,ms=5,phase=backward_pass|--inject-delay|rank=0,ms=2,phase=zero_grad", "inject-delay",
     "rank=1,ms=5,phase=backward_pass rank=0,ms=2,phase=zero_grad"},
    /* cycles that fit the steps of the run: 10, or 30 in the last case */
    {"--profile|--profile-wait|9", "profile-wait", "9"},
    {"--profile|--profile-active|10", "profile-active", "10"},
    {"--profile|--profile-wait|2|--profile-warmup|1|--profile-active|2|--profile-repeat|2", "profile-repeat", "2"},
    {"--profile|--profile-active|1|--profile-repeat|10", "profile-repeat", "10"},
    {"--profile|--profile-wait|20|--profile-active|1|--steps-per-epoch|3", "profile-wait", "20"},
};

TEST_EACH(value_is_accepted, LENGTH(taken))
{
    ck_assert_str_eq(value_of(parsed(taken[_i].line), taken[_i].name).text, taken[_i].value);
}

TEST(delays_know_every_phase)
{
    for (int p = 0; p < PHASE_SAVE_RESULTS; p++) { /* of training */
        char line[96];
        snprintf(line, sizeof line, "--profile|--checkpoint-every|9|--inject-delay|rank=2,ms=1.5,phase=%s",
                 phase_name[p]);
        struct delays delays = parsed(line)->run.training.delays;
        struct delay delay = delays.item[0];
        ck_assert_int_eq(delays.n, 1);
        ck_assert_int_eq(delay.rank, 2);
        ck_assert_double_eq(delay.ms, 1.5);
        ck_assert_int_eq((int)delay.phase, p);
    }
    ck_assert_int_eq(parsed("")->run.training.delays.n, 0);
}

/* Blocks of a profile are short, however long epochs are. */
TEST(blocks_are_short)
{
    ck_assert_uint_eq(parsed("--profile")->run.training.block_steps, 3);
    ck_assert_uint_eq(parsed("--profile|--steps-per-epoch|1000")->run.training.block_steps, 3);
    ck_assert_uint_eq(parsed("--profile|--steps-per-block|8")->run.training.block_steps, 8);
    ck_assert_uint_eq(parsed("--profile|--num-epochs|3")->run.training.block_steps,
                      3); /* a run without an active epoch */
    ck_assert_uint_eq(parsed("--profile|--steps-per-epoch|1000")->run.training.warmup_steps, 3000);
}

/* ---- refused options and their errors ---- */

static const struct {
    const char *line, *words[3];
} refused[] = {
    /* options that need --profile */
    {"--rounds|0", {"--rounds 0", "from 1", "--profile"}},
    {"--profile-implementation|ddp", {"--profile-implementation needs --profile"}},
    {"--profile-wait|0", {"--profile-wait needs --profile"}},
    {"--thresholds|busy=5", {"--thresholds needs --profile"}},
    /* options that exclude --profile */
    {"--profile|--implementations|ddp", {"--implementations is for the benchmark", "--profile-implementation"}},
    {"--profile|--output|x", {"--output is for the benchmark", "--profile-output-dir"}},
    /* unknown or repeated implementations */
    {"--profile|--profile-implementation|magic", {"--profile-implementation: unknown", "'magic'", "ddp_individual_v2"}},
    {"--profile|--profile-implementation|ddp,ddp", {"'ddp' is listed twice"}},
    {"--profile|--profile-implementation|none=ddp", {"the label 'none' is reserved"}},
    {"--profile|--profile-implementation|ddp,comparison=none", {"the label 'comparison' is reserved"}},
    {"--profile|--profile-implementation|all|--bucket-size-mb|1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
     {"profiles; at most 21"}},
    {"--profile|--bucket-size-mb|1", {"--bucket-size-mb: none of the implementations has buckets"}},
    {"--profile|--resolve|1%", {"--resolve does not go with --profile"}},
    {"--profile|--update-in-backward", {"--update-in-backward: none of the implementations can"}},
    {"--profile|--wire-dtype|bf16", {"--wire-dtype bf16: none of the implementations sends it"}},
    {"--profile|--thresholds|busy=70,busy=60", {"--thresholds: 'busy' is listed twice"}},
    {"--profile|--profile-ranks|0,1,0", {"--profile-ranks: '0' is listed twice"}},
    {"--profile|--profile-ranks|0,00", {"--profile-ranks: rank 0 is listed twice"}},
    /* invalid words and numbers */
    {"--profile|--profile-activities|cpu;cuda",
     {"--profile-activities cpu;cuda", "expected auto, cpu, cuda or cpu,cuda"}},
    /* cycles that do not fit */
    {"--profile|--profile-wait|10", {"1 x 11 steps", "10 steps of the run", "--num-epochs"}},
    {"--profile|--profile-active|11", {"1 x 11 steps", "10 steps"}},
    {"--profile|--profile-wait|2|--profile-active|2|--profile-repeat|3", {"3 x 4 steps", "10 steps"}},
    {"--profile|--profile-active|1|--profile-repeat|11", {"11 x 1 steps", "10 steps"}},
    {"--profile|--profile-wait|1000000000|--profile-active|1000000000|--profile-repeat|1000000000", {"2000000000"}},
    {"--profile|--profile-wait|1|--profile-repeat|2", {"--profile-repeat 2 needs --profile-active"}},
    /* invalid delays */
    {"--inject-delay|5", {"--inject-delay 5", "rank=R,ms=TIME,phase=NAME"}},
    {"--inject-delay|rank=1,ms=5", {"phase=NAME, such as"}},
    {"--inject-delay|rank=1,ms=5,phase=lunch", {"phase lunch", "expected zero_grad, data_loading"}},
    {"--inject-delay|rank=1,ms=5,phase=zero_grad,", {"rank=R,ms=TIME,phase=NAME"}},
    {"--inject-delay|rank=-1,ms=5,phase=zero_grad", {"'rank=-1' is not rank=R"}},
    {"--inject-delay|rank=1,ms=0,phase=zero_grad", {"'ms=0'", "above 0, at most 60000"}},
    {"--inject-delay|rank=1,ms=60001,phase=zero_grad", {"'ms=60001'"}},
    {"--inject-delay|rank=1,ms=5us,phase=zero_grad", {"'ms=5us'"}},
    {"--inject-delay|rank=1,ms=5,phase=zero_grad,host=a", {"'host=a'"}},
    {"--inject-delay|rank=1,rank=2,ms=5,phase=zero_grad", {"--inject-delay: 'rank' is listed twice"}},
    {"--inject-delay|rank=1,ms=5,phase=zero_grad|--inject-delay|rank=1,ms=6,phase=zero_grad",
     {"has a delay in zero_grad already"}},
    /* a delay in a phase that no step has */
    {"--inject-delay|rank=1,ms=5,phase=checkpoint", {"phase=checkpoint: no step", "it needs --checkpoint-every"}},
    {"--profile|--inject-delay|rank=0,ms=5,phase=zero_grad|--inject-delay|rank=1,ms=5,phase=checkpoint",
     {"phase=checkpoint: no step", "it needs --checkpoint-every"}},
    {"--inject-delay|rank=1,ms=5,phase=gradient_clipping_warmup", {"phase=gradient_clipping_warmup: no step"}},
    {"--profile|--warmup-epochs|0|--inject-delay|rank=1,ms=5,phase=gradient_clipping_warmup",
     {"phase=gradient_clipping_warmup: no step"}},
    {"--inject-delay|rank=00000000000000000000000000000000000001,ms=5,phase=zero_grad", {"rank=R,ms=TIME,phase=NAME"}},
    /* thresholds */
    {"--profile|--thresholds=", {"--thresholds ''", "busy=70,exposed=20"}},
    {"--profile|--thresholds|busy=5,", {"--thresholds 'busy=5,'"}},
    {"--profile|--thresholds|idle=5", {"--thresholds idle=5", "busy, data_loading, exposed or memory"}},
    {"--profile|--thresholds|busy=0", {"--thresholds busy=0", "above 0"}},
    {"--profile|--thresholds|busy=100.1", {"--thresholds busy=100.1", "at most 100"}},
    {"--profile|--thresholds|memory=90,exposed=inf", {"--thresholds exposed=inf"}},
};

TEST_EACH(value_is_refused, LENGTH(refused))
{
    check_refused(refused[_i].line, refused[_i].words, 3);
}

/* ---- ranks ---- */

static const struct {
    const char *text;
    int ranks;
    const char *in;    /* y or n: whether rank 0, 1, ... is listed; NULL: the list is refused */
    const char *words; /* words of the error, if refused */
} rank_lists[] = {
    {"all", 3, "yyy", NULL},
    {"0", 3, "ynn", NULL},
    {"0,2", 4, "ynyn", NULL},
    {"3,0", 4, "ynny", NULL},
    {"3", 3, NULL, "no rank 3 among 3; allowed: 0 to 2"},
    {"99999999999999999999", 3, NULL, "expected all"},
    {"", 3, NULL, "expected all, or a list such as 0,3"},
    {"0,", 3, NULL, "expected all"},
    {"0,,1", 3, NULL, "expected all"},
    {"-1", 3, NULL, "expected all"},
    {"all,0", 3, NULL, "expected all"},
};

TEST_EACH(ranks_are_listed, LENGTH(rank_lists))
{
    const char *in = rank_lists[_i].in, *words[] = {rank_lists[_i].words};
    char line[96];
    snprintf(line, sizeof line, "--profile|--profile-ranks|%s", rank_lists[_i].text);
    if (!in && !strstr(*words, "no rank")) {
        check_refused(line, words, 1);
        return;
    }
    const struct rank_list *list = &parsed(line)->profile.ranks;
    ck_assert_int_eq(rank_list_check(list, rank_lists[_i].ranks), in ? 0 : -1);
    for (int r = 0; in && r < rank_lists[_i].ranks; r++)
        ck_assert_msg(rank_list_has(list, r) == (in[r] == 'y'), "'%s', rank %d", rank_lists[_i].text, r);
    if (!in)
        check_has(error_text(), *words);
}

/* Options that name a rank are checked once the number of ranks is known. */
TEST(ranks_must_exist)
{
    static const struct {
        const char *line;
        int ranks, fits;
        const char *words;
    } rows[] = {
        {"--profile|--profile-ranks|0,1", 2, 1, ""},
        {"--profile|--profile-ranks|0,2", 2, 0, "--profile-ranks: there is no rank 2"},
        {"--inject-delay|rank=1,ms=1,phase=zero_grad", 2, 1, ""},
        {"--inject-delay|rank=2,ms=1,phase=zero_grad", 2, 0, "--inject-delay rank=2: there are ranks 0 to 1"},
        {"--inject-delay|rank=1,ms=1,phase=zero_grad", 1, 0, "there are ranks 0 to 0"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct command_line *line = parsed(rows[i].line);
        int fits = !training_options_fit(&line->run.training, rows[i].ranks) &&
                   !rank_list_check(&line->profile.ranks, rows[i].ranks);
        ck_assert_int_eq(fits, rows[i].fits);
        check_has(error_text(), rows[i].words);
    }
}

SUITE("profile options", NULL, NULL)
