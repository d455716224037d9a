/* test_options.c - the command line: defaults, strict parsing, lists, conflicting options, and the help. */
#include "kernels/error.h"
#include "tests/support/command_line.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

TEST(defaults)
{
    const struct training_options *o = &parsed("")->run.training;
    ck_assert_uint_eq(o->warmup_steps, 3);
    ck_assert_uint_eq(o->block_steps, 7);
    ck_assert_int_eq(o->n, 6);
    ck_assert_uint_eq(o->workload.d_model, 768);
    ck_assert_double_eq(o->lr, 0.001);
}

/* ---- accepted options ---- */

static const struct {
    const char *line, *name, *value;
} taken[] = {
    {"--data=a=b", "data", "a=b"},
    {"--update-in-backward|--batch-size|6", "batch-size", "6"},
    {"--mpi-progress|poll", "mpi-progress", "poll"},
    {"--mpi-progress=sleep:250", "mpi-progress", "sleep:250"},
    {"--mpi-progress|auto", "mpi-progress", "auto"},
    {"--output=--strange name", "output", "--strange name"},
    {"--label|night_3-a+b.c", "label", "night_3-a+b.c"},
    {"--bucket-size-mb|0.5,1,25", "bucket-size-mb", "0.5,1,25"},
    {"", "resolve", "0"},
    {"--resolve|1%", "resolve", "1"},
    {"--resolve=0.5", "resolve", "0.5"},
    {"--resolve|2%|--max-minutes|0.25", "max-minutes", "0.25"},
};
enum { TAKEN = sizeof taken / sizeof *taken };

TEST_EACH(value_is_accepted, TAKEN)
{
    ck_assert_str_eq(value_of(parsed(taken[_i].line), taken[_i].name).text, taken[_i].value);
}

TEST(help_and_version_are_flags)
{
    ck_assert_int_eq(parsed("--help")->table.help, HELP_COMMON);
    ck_assert_int_eq(parsed("--help|all")->table.help, HELP_ALL);
    ck_assert_int_eq(parsed("--help=all|--bogus")->table.help, HELP_ALL);
    ck_assert_int_eq(parsed("-h")->table.help, HELP_COMMON);
    ck_assert(parsed("--version")->table.version);
}

/* ---- refused options and their errors ---- */

static const struct {
    const char *line, *words[3]; /* words that the error must contain */
} refused[] = {
    /* bounds */
    {"--vocab-size|1048577", {"--vocab-size 1048577", "from 0 to 1048576"}},
    {"--d-model|1", {"--d-model 1", "from 2"}},
    {"--max-norm|0", {"--max-norm 0"}},
    {"--data-workers|257", {"--data-workers 257", "from 0 to 256"}},
    {"--checkpoint-every|-1", {"--checkpoint-every -1", "from 0"}},
    {"--resolve|1%|--max-minutes|0", {"--max-minutes 0", "from 0.001"}},
    {"--resolve|0%", {"--resolve 0%: expected a percentage from 0.01 to 50"}},
    {"--resolve|51", {"--resolve 51: expected a percentage"}},
    /* invalid words and units */
    {"--resolve|%", {"expected a percentage from 0.01"}},
    {"--resolve|1%%", {"--resolve 1%%: expected a percentage"}},
    {"--resolve|1.00000000000000000000000000000000%x", {"expected a percentage"}},
    {"--resolve|1.0000000000000000000000000000000x%", {"expected a percentage"}},
    {"--wire-dtype|fp16", {"--wire-dtype fp16", "fp32", "bf16"}},
    {"--comm|gloo", {"--comm gloo", "auto, mpi or nccl"}},
    {"--mpi-progress|spin", {"--mpi-progress spin", "auto, poll or sleep:US"}},
    {"--mpi-progress|sleep:", {"from 1 to 100000"}},
    {"--mpi-progress|sleep:0", {"from 1 to 100000"}},
    {"--mpi-progress|sleep:5ms", {"sleep:US 5ms", "from 1 to 100000"}},
    {"--label|a/b", {"--label 'a/b'", "letters, digits"}},
    {"--label|\xff", {"--label", "letters, digits"}},
    /* lists */
    {"--implementations|ddp_magic", {"unknown implementation 'ddp_magic'", "ddp_individual_v2", "ddp_bucketed"}},
    {"--implementations|ddp,ddp", {"--implementations: 'ddp' is listed twice"}},
    {"--implementations|ddp,ddp=none", {"--implementations: 'ddp' is listed twice"}},
    {"--implementations|a=ddp,a=none", {"'a' is listed twice"}},
    {"--implementations=", {"--implementations ''", "none,ddp,"}},
    {"--implementations|ddp,", {"expected all, or names separated by commas"}},
    {"--implementations|=ddp", {"label in '=ddp'", "1 to 40"}},
    {"--implementations|a=", {"unknown implementation ''"}},
    {"--implementations|ddp_bucketed:25:update",
     {"'ddp_bucketed:25:update' is a row's label",
      "name 'ddp_bucketed:25', and give --update-in-backward (benchmark and profile only)"}},
    {"--implementations|b=ddp_bucketed:bf16", {"name 'b=ddp_bucketed', and give --wire-dtype fp32,bf16"}},
    {"--implementations|a\"b=ddp", {"label 'a\"b'", "letters, digits"}},
    {"--implementations|a2345678901234567890123456789012345678901=ddp", {"1 to 40 characters"}},
    {"--implementations|ddp_local", {"--implementations ddp_local: expected ddp_local:H", "from 1 to 1000"}},
    {"--implementations|ddp_local:0", {"ddp_local:0: expected ddp_local:H"}},
    {"--implementations|ddp_powersgd:1.5", {"ddp_powersgd:1.5: expected", "rank", "whole number from 1 to 64"}},
    {"--implementations|ddp_powersgd:2,ddp_powersgd:02", {"ddp_powersgd:2 and ddp_powersgd:02 are one implementation"}},
    {"--implementations|ddp_bucketed:1,ddp,ddp_bucketed:1.0", {"ddp_bucketed:1 and ddp_bucketed:1.0 are one"}},
    {"--implementations|a=ddp_powersgd:65", {"ddp_powersgd:65: expected ddp_powersgd:R"}},
    {"--implementations|ddp_local:4", {"ddp_local:4: 7 timed steps", "not a multiple of 4", "--steps-per-block"}},
    {"--implementations|ddp_local:7|--checkpoint-every|2", {"--checkpoint-every does not go with ddp_local"}},
    {"--profile|--profile-implementation|ddp_local:3", {"ddp_local:3 cannot be profiled"}},
    {"--resolve|1%|--implementations|ddp,ddp_powersgd:2", {"--resolve compares strategies that", "two or more"}},
    {"--bucket-size-mb=", {"--bucket-size-mb ''", "MiB"}},
    {"--implementations|ddp_bucketed:1++2", {"--implementations 1++2: expected NAME:SIZE with sizes in MiB"}},
    {"--bucket-size-mb|first=1", {"--bucket-size-mb 'first=1'", "first=1,last=0.25,25"}},
    {"--bucket-size-mb|first=0,25", {"--bucket-size-mb 0+25: expected auto, or sizes in MiB from 1e-05 to 1e+06"}},
    {"--bucket-size-mb|last=1,last=2,25", {"'last' is listed twice"}},
    {"--bucket-size-mb|last=1,25+last2", {"--bucket-size-mb 25+last2+last1: expected"}},
    {"--bucket-size-mb|middle=1,25", {"--bucket-size-mb middle=1: expected"}},
    {"--bucket-size-mb|first=1,auto", {"--bucket-size-mb 1+auto: expected auto, or sizes"}},
    {"--bucket-size-mb|1+2+3+4+5+6+7+8+9", {"1+2+3+4+5+6+7+8+9: expected", "up to 8 buckets"}},
    {"--bucket-size-mb|1.00000000001+2.00000000001+3.00000000123+4.000000001", {"'1.0", "at most 49 characters"}},
    {"--bucket-size-mb|first=1.0000000000001,last=3.00000000001,2.00000000000001",
     {"--bucket-size-mb 1.0", "49 characters"}},
    {"--bucket-size-mb|1+25,1+25.0+25", {"--bucket-size-mb: 1+25 and 1+25.0+25 are one size"}},
    {"--bucket-size-mb|0", {"--bucket-size-mb 0", "from 1e-05 to 1e+06"}},
    {"--bucket-size-mb|25MB", {"--bucket-size-mb 25MB", "MiB"}},
    {"--bucket-size-mb|1,", {"0.5,1,25"}},
    {"--bucket-size-mb|1,x", {"--bucket-size-mb x"}},
    {"--bucket-size-mb|1,1", {"--bucket-size-mb: '1' is listed twice"}},
    {"--bucket-size-mb|0.5,1,1.0", {"--bucket-size-mb: 1 and 1.0 are one size"}},
    {"--wire-dtype|bf16|--implementations|none,ddp", {"--wire-dtype bf16: none of", "ddp_individual_v2 do"}},
    {"--shard|parameters", {"--shard parameters", "optimizer", "gradients"}},
    {"--shard|gradients|--implementations|none,ddp", {"--shard gradients: none of", "ddp_sharded does"}},
    {"--shard|gradients|--implementations|ddp_sharded|--wire-dtype|bf16",
     {"--shard gradients: ddp_sharded with sharded gradients sends fp32 only", "bf16 out of --wire-dtype"}},
    {"--wire-dtype|bf16,fp32|--implementations|ddp", {"--wire-dtype bf16: none of"}},
    {"--wire-dtype|fp32,fp32", {"--wire-dtype: 'fp32' is listed twice"}},
    {"--wire-dtype|fp32,fp8", {"--wire-dtype fp8: expected fp32 or bf16"}},
    {"--wire-dtype|fp32,", {"--wire-dtype", "expected fp32 or bf16"}},
    {"--wire-dtype=", {"--wire-dtype ''", "expected fp32"}},
    {"--update-in-backward|--implementations|none,ddp,ddp_individual,ddp_hierarchical,ddp_sharded",
     {"--update-in-backward: none of the implementations can", "ddp_bucketed can, with --wire-dtype fp32"}},
    {"--update-in-backward|--wire-dtype|bf16", {"--update-in-backward: none of the implementations can"}},
    {"--bucket-size-mb|auto,1", {"--bucket-size-mb auto: expected auto, or sizes in MiB"}},
    {"--bucket-size-mb|1|--implementations|none,ddp",
     {"--bucket-size-mb: none of", "ddp_bucketed, ddp_hierarchical, ddp_sharded and ddp_powersgd do"}},
    {"--preset|gpt2", {"--preset gpt2: expected auto, laptop, default", "gpt2-xl; did you mean gpt2-small?"}},
    {"--bucket-cap-mb|3", {"did you mean --bucket-size-mb? see"}},
    {"--seq_len|3", {"did you mean --context-length? see"}},
    {"--n-layer|3", {"did you mean --num-layers? see"}},
    {"--with_flops", {"unknown option '--with_flops': traces always have shapes, FLOP"}},
    {"--batch-size|8|--batch-size-per-rank|2", {"--batch-size 8 and --batch-size-per-rank 2", "one of the two"}},
    {"--output=", {"--output ''", "not empty"}},
    {"--help|foo", {"--help foo: expected all"}},
    /* conflicting options */
    {"--comm|mpi|--nccl-max-ctas|4", {"--nccl-max-ctas does not go with --comm mpi; leave one of them out"}},
    {"--comm|nccl|--mpi-progress|poll", {"--mpi-progress does not go with --comm nccl"}},
    {"--device|cpu|--share-gpu", {"--share-gpu does not go with --device cpu"}},
    {"--update-in-backward|--regime|warmup", {"--update-in-backward does not go with --regime warmup"}},
    {"--update-in-backward|--forward-only", {"--update-in-backward does not go with --forward-only"}},
    {"--checkpoint-every|13|--rounds|1", {"--checkpoint-every 13: no checkpoint is due", "6 to 12; use at most 7"}},
    {"--checkpoint-every|5|--steps-per-block|4", {"6 to 9; use at most 4"}},
    {"--checkpoint-every|4|--regime|warmup", {"1 to 3; use at most 3"}},
    {"--checkpoint-every|11|--profile", {"1 to 10; use at most 10"}},
    {"--max-minutes|3", {"--max-minutes needs --resolve"}},
    {"--resolve|1%|--implementations|none,ddp", {"--resolve compares strategies that", "that reduce", "two or more"}},
    {"--d-model|30|--num-heads|4", {"--num-heads 4", "--d-model 30", "even width"}},
    {"--d-model|32|--num-heads|32", {"even width"}},
    {"--d-model|33|--num-heads|3", {"--d-model 33", "even width"}},
    {"--num-epochs|2", {"--warmup-epochs 3", "--num-epochs 2"}},
    {"--num-epochs|3", {"--regime active has no epochs", "--num-epochs 3", "--warmup-epochs 3"}},
    {"--regime|warmup|--warmup-epochs|0", {"--regime warmup has no epochs"}},
    {"--regime|warmup|--steps-per-block|4", {"--steps-per-block 4", "3 steps"}},
    {"--steps-per-epoch|1000000", {"7000000 timed steps", "at most 1000000"}},
    {"--steps-per-block|1000001", {"--steps-per-block 1000001", "1000000"}},
};
enum { REFUSED = sizeof refused / sizeof *refused };

TEST_EACH(value_is_refused, REFUSED)
{
    check_refused(refused[_i].line, refused[_i].words, 3);
}

TEST(lists_have_an_end)
{
    char line[MAX_LINE] = "--implementations|a0=ddp", word[24];
    for (int i = 1; i < MAX_IMPLEMENTATIONS; i++) {
        snprintf(word, sizeof word, ",a%d=ddp", i);
        strcat(line, word);
    }
    ck_assert_int_eq(parsed(line)->run.training.n, MAX_IMPLEMENTATIONS);
    strcat(line, ",ddp");
    ck_assert_ptr_null(parse(line));
    check_has(error_text(), "more than 64");

    strcpy(line, "--label|");
    while (strlen(line) < 109)
        strcat(line, "x");
    ck_assert_ptr_null(parse(line));
    check_has(error_text(), "at most 100");
}

/* ---- lists ---- */

static const char *const lists[][2] = {
    {"--implementations|ddp", "ddp ddp"},
    {"--implementations|ddp,none", "ddp ddp; none none"},
    {"--implementations|ddp_bucketed", "ddp_bucketed ddp_bucketed 25"},
    {"--implementations|ddp_bucketed|--bucket-size-mb|auto", "ddp_bucketed ddp_bucketed 25"},
    {"--implementations|b=ddp_bucketed|--preset|laptop", "b ddp_bucketed 4.12719727"}, /* a quarter of the gradient */
    {"--implementations|b=ddp_bucketed|--preset|laptop|--bucket-size-mb|100", "b ddp_bucketed 100"},
    {"--implementations|ddp_bucketed|--bucket-size-mb|25", "ddp_bucketed ddp_bucketed 25"},
    {"--implementations|ddp_bucketed|--bucket-size-mb|last=0.25,4,first=1,8+25",
     "ddp_bucketed:1+4+last0.25 ddp_bucketed 1 4 last 0.25; "
     "ddp_bucketed:1+8+25+last0.25 ddp_bucketed 1 8 25 last 0.25"},
    {"--implementations|ddp_bucketed:1+25+last0.25,ddp_bucketed:1+25+25,s=ddp_sharded:4+last2",
     "ddp_bucketed:1+25+last0.25 ddp_bucketed 1 25 last 0.25; ddp_bucketed:1+25+25 ddp_bucketed 1 25; "
     "s ddp_sharded 4 last 2"},
    {"--implementations|ddp_bucketed|--bucket-size-mb|1+2+3+4+5+6+7+8+last9",
     "ddp_bucketed ddp_bucketed 1 2 3 4 5 6 7 8 last 9"},
    {"--implementations|ddp_bucketed|--bucket-size-mb|0.5,1e1,25",
     "ddp_bucketed:0.5 ddp_bucketed 0.5; ddp_bucketed:1e1 ddp_bucketed 10; "
     "ddp_bucketed:25 ddp_bucketed 25"},
    {"--implementations|x=ddp_bucketed,ddp,y=ddp_bucketed|--bucket-size-mb|3",
     "x ddp_bucketed 3; ddp ddp; y ddp_bucketed 3"},
    {"--implementations|x=ddp_bucketed,y=none|--bucket-size-mb|1,2", "x:1 ddp_bucketed 1; x:2 ddp_bucketed 2; y none"},
    {"--implementations|ddp,s=ddp_sharded|--shard|gradients", "ddp ddp; s ddp_sharded 25 releases"},
    {"--implementations|ddp,s=ddp_sharded|--shard|optimizer,gradients|--bucket-size-mb|1,2",
     "ddp ddp; s:1 ddp_sharded 1; s:1:gradients ddp_sharded 1 releases; s:2 ddp_sharded 2; "
     "s:2:gradients ddp_sharded 2 releases"},
    {"--implementations|ddp,b=ddp,c_-+9=ddp", "ddp ddp; b ddp; c_-+9 ddp"},
    {"--implementations|ddp_powersgd:2,b=ddp_powersgd:64,ddp_local:7|--bucket-size-mb|1,2",
     "ddp_powersgd:2:1 ddp_powersgd 1; ddp_powersgd:2:2 ddp_powersgd 2; b:1 ddp_powersgd 1; b:2 ddp_powersgd 2; "
     "ddp_local:7 ddp_local"},
    {"--implementations|ddp_individual_v2|--wire-dtype|bf16", "ddp_individual_v2 ddp_individual_v2 bf16"},
    {"--implementations|none,ddp_flat|--wire-dtype|bf16,fp32",
     "none none; ddp_flat ddp_flat; ddp_flat:bf16 ddp_flat bf16"},
    {"--implementations|b=ddp_bucketed,ddp_hierarchical|--wire-dtype|fp32,bf16|--bucket-size-mb|1,2|--update-in-"
     "backward",
     "b:1 ddp_bucketed 1; b:1:update ddp_bucketed 1 early; b:1:bf16 ddp_bucketed 1 bf16; "
     "b:2 ddp_bucketed 2; b:2:update ddp_bucketed 2 early; b:2:bf16 ddp_bucketed 2 bf16; "
     "ddp_hierarchical:1 ddp_hierarchical 1; ddp_hierarchical:2 ddp_hierarchical 2"},
    {"--implementations|ddp_bucketed:3|--wire-dtype|fp32,bf16",
     "ddp_bucketed:3 ddp_bucketed 3; ddp_bucketed:3:bf16 ddp_bucketed 3 bf16"},
};

TEST_EACH(list_makes_rows, sizeof lists / sizeof *lists)
{
    ck_assert_str_eq(rows_of(parsed(lists[_i][0])), lists[_i][1]);
}

/* Rows have the numbers in their names. `all` includes no strategy with a number. */
TEST(numbers_are_those_of_the_names)
{
    const struct training_options *o = &parsed("--implementations|ddp_local:7,p=ddp_powersgd:3,none")->run.training;
    ck_assert_uint_eq(o->implementation[0].number, 7);
    ck_assert_uint_eq(o->implementation[1].number, 3);
    ck_assert_uint_eq(o->implementation[2].number, 0);
    ck_assert_int_eq(o->keep_block_steps, 1);
    o = &parsed("--implementations|all")->run.training;
    ck_assert_int_gt(o->n, 5);
    for (int i = 0; i < o->n; i++)
        ck_assert(!o->implementation[i].strategy->number.letter && !o->implementation[i].number);
    ck_assert_int_eq(o->keep_block_steps, 0);
}

/* ---- steps ---- */

static const struct {
    const char *line;
    size_t warmup_steps, block_steps;
} steps[] = {
    {"", 3, 7},
    {"--steps-per-epoch|5", 15, 35},
    {"--regime|warmup", 3, 3},
    {"--regime|warmup|--steps-per-epoch|5", 15, 15},
    {"--regime|warmup|--num-epochs|3", 3, 3},
    {"--regime|warmup|--steps-per-block|2", 3, 2},
    {"--regime|warmup|--steps-per-block|3", 3, 3},
    {"--warmup-epochs|0", 0, 10},
    {"--num-epochs|1|--warmup-epochs|0", 0, 1},
    {"--steps-per-block|4", 3, 4},
    {"--steps-per-block|400", 3, 400},
    {"--num-epochs|3|--steps-per-block|4", 3, 4},
    {"--num-epochs|1000003", 3, 1000000},
};
enum { STEPS = sizeof steps / sizeof *steps };

TEST_EACH(epochs_make_steps, STEPS)
{
    const struct training_options *o = &parsed(steps[_i].line)->run.training;
    ck_assert_uint_eq(o->warmup_steps, steps[_i].warmup_steps);
    ck_assert_uint_eq(o->block_steps, steps[_i].block_steps);
}

/* ---- which batches fit the number of ranks ---- */

static const struct {
    const char *line;
    int ranks;
    size_t batch;        /* 0: the line is refused */
    const char *said[2]; /* words of the error, if refused */
} fits[] = {
    {"", 1, 32, {NULL}},
    {"", 4, 32, {NULL}},
    {"", 32, 32, {NULL}},
    {"--batch-size|12|--grad-accumulation|2", 3, 12, {NULL}},
    {"--batch-size-per-rank|5", 3, 15, {NULL}},
    {"--batch-size-per-rank|6|--grad-accumulation|3", 4, 24, {NULL}},
    {"", 3, 0, {"batch of 32", "multiple of 3"}},
    {"", 5, 0, {"5 ranks", "multiple of 5"}},
    {"", 64, 0, {"batch of 32", "multiple of 64"}},
    {"--batch-size|1", 2, 0, {"multiple of 2"}},
    {"--batch-size|10|--grad-accumulation|2", 3, 0, {"3 ranks x 2 micro-batches", "multiple of 6"}},
    {"--batch-size-per-rank|5|--grad-accumulation|2", 2, 0, {"--batch-size-per-rank 5", "multiple of 2"}},
};
enum { FITS = sizeof fits / sizeof *fits };

TEST_EACH(batch_fits_ranks, FITS)
{
    struct training_options *o = &parsed(fits[_i].line)->run.training;
    int status = training_options_fit(o, fits[_i].ranks);
    ck_assert_int_eq(status, fits[_i].batch ? 0 : -1);
    if (!status)
        ck_assert_uint_eq(o->batch_size, fits[_i].batch);
    for (int i = 0; status && i < 2 && fits[_i].said[i]; i++)
        check_has(error_text(), fits[_i].said[i]);
}

TEST(vocabulary_follows_data)
{
    static const struct {
        const char *line;
        size_t vocabulary;
    } rows[] = {{"", 10000},
                {"--data|text", 256},
                {"--data|a.bin", 65536},
                {"--data|a.bin|--vocab-size|50257", 50257},
                {"--vocab-size|61", 61}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_uint_eq(parsed(rows[i].line)->run.training.workload.vocab_size, rows[i].vocabulary);
}

/* ---- presets ---- */

static const struct {
    const char *line;
    int on_gpus;
    size_t layers, width, heads, ff, context, vocabulary, batch, per_rank;
    const char *recorded;
} presets[] = {
    {"", 1, 12, 768, 12, 3072, 512, 10000, 32, 0, "default"},
    {"", 0, 4, 256, 4, 1024, 128, 256, 2, 1, "laptop"},
    {"--preset|auto|--data|text", 0, 4, 256, 4, 1024, 128, 256, 2, 1, "laptop"},
    {"--preset|laptop", 1, 4, 256, 4, 1024, 128, 256, 2, 1, "laptop"},
    {"--preset|default", 0, 12, 768, 12, 3072, 512, 10000, 32, 0, "default"},
    {"--preset|gpt2-small", 0, 12, 768, 12, 3072, 1024, 50257, 8, 4, "gpt2-small"},
    {"--preset|gpt2-medium|--grad-accumulation|2", 0, 24, 1024, 16, 4096, 1024, 50257, 16, 8, "gpt2-medium"},
    {"--preset|gpt2-large|--data|a.bin", 0, 36, 1280, 20, 5120, 1024, 50257, 8, 4, "gpt2-large"},
    {"--preset|gpt2-xl", 1, 48, 1600, 25, 6400, 1024, 50257, 8, 4, "gpt2-xl"},
    {"--data|a.bin", 0, 4, 256, 4, 1024, 128, 65536, 2, 1, "laptop"},
    {"--batch-size|6", 0, 4, 256, 4, 1024, 128, 256, 6, 0, "laptop"},
    {"--num-layers|2|--d-ff|64|--vocab-size|300|--batch-size-per-rank|3", 0, 2, 256, 4, 64, 128, 300, 6, 3, "laptop"},
    {"--num-layers|2|--d-model|8|--num-heads|2|--d-ff|4|--context-length|3", 0, 2, 8, 2, 4, 3, 256, 2, 1, "laptop"},
    {"--num-layers|2|--d-model|8|--num-heads|2|--d-ff|4|--context-length|3|--vocab-size|9", 0, 2, 8, 2, 4, 3, 9, 2, 1,
     "laptop"},
};
enum { PRESET_LINES = sizeof presets / sizeof *presets };

TEST_EACH(preset_gives_what_is_not_given, PRESET_LINES)
{
    struct command_line *line = parsed_on(presets[_i].line, presets[_i].on_gpus);
    struct training_options *o = &line->run.training;
    const struct workload *w = &o->workload;
    ck_assert_int_eq(training_options_fit(o, 2), 0);
    ck_assert_uint_eq(w->num_layers, presets[_i].layers);
    ck_assert_uint_eq(w->d_model, presets[_i].width);
    ck_assert_uint_eq(w->num_heads, presets[_i].heads);
    ck_assert_uint_eq(w->d_ff, presets[_i].ff);
    ck_assert_uint_eq(w->context_length, presets[_i].context);
    ck_assert_uint_eq(w->vocab_size, presets[_i].vocabulary);
    ck_assert_uint_eq(o->batch_size, presets[_i].batch);
    ck_assert_uint_eq(o->batch_size_per_rank, presets[_i].per_rank);
    ck_assert_str_eq(value_of(line, "preset").text, presets[_i].recorded);
}

SUITE("options", NULL, NULL)
