/* test_results.c - the files of a run: runs the program with tiny sizes, and reads back what it wrote: the lines of
 * each step in rank_<r>_metrics.jsonl, the summary, and run.json.
 *
 * The launcher is $MPIRUN, and the program is the ddpbench in the build directory of this test. */
#include "base/version.h"
#include "results/results.h"
#include "results/saved_run.h"
#include "training/training.h"

#include "ddp/transformer.h"
#include "kernels/error.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <cJSON.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANKS = 2, ROUNDS = 6, TIMED = 3, STEPS = 2 + TIMED, VOCABULARY = 1000 };

#define SIZES                                                                                                          \
    "--d-model 32 --num-layers 1 --num-heads 2 --d-ff 48 --context-length 16 --batch-size 8 --vocab-size 1000 "        \
    "--rounds 6 --steps-per-block 3 "

static const char *folder;

/* ---- files ---- */

/* Returns the content of a file of the run as text, which has no zeros. */
static char *read_text(const char *run, const char *name)
{
    char path[256];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s/%s", folder, run, name);
    char *text = text_of_file(path);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(strlen(text), (size_t)status.st_size);
    return text;
}

/* Parses a file of the run, which must be one JSON value followed by nothing. */
static cJSON *read_json(const char *run, const char *name)
{
    char *text = read_text(run, name);
    cJSON *json = kept_json(cJSON_ParseWithOpts(text, NULL, 1));
    ck_assert_msg(json != NULL, "%s is not JSON: %s", name, cJSON_GetErrorPtr());
    return json;
}

static const cJSON *item(const cJSON *json, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    ck_assert_msg(found != NULL, "no \"%s\"", name);
    return found;
}

static double number(const cJSON *json, const char *name)
{
    const cJSON *found = item(json, name);
    ck_assert_msg(cJSON_IsNumber(found), "\"%s\" is not a number", name);
    return found->valuedouble;
}

static const char *text(const cJSON *json, const char *name)
{
    const cJSON *found = item(json, name);
    ck_assert_msg(cJSON_IsString(found), "\"%s\" is not a string", name);
    return found->valuestring;
}

/* ---- the runs ---- */

static int run_program(const char *name, int ranks, const char *arguments)
{
    char self[512] = "", command[2048];
    const char *launcher = getenv("MPIRUN");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return -1;
    const char *build = dirname(dirname(dirname(dirname(self))));
    setenv("BUILD", build, 1); /* in a variable, since the path may have any characters */
    snprintf(command, sizeof command,
             "OMP_NUM_THREADS=1 NVIDIA_TF32_OVERRIDE=1 CUBLAS_LOGINFO_DBG=0 SLURM_JWT=password SECRET_TOKEN=password "
             "%s -n %d \"$BUILD/ddpbench\" " SIZES "%s --output %s/%s >%s/%s.out 2>%s/%s.err </dev/null",
             launcher && *launcher ? launcher : "mpirun", ranks, arguments, folder, name, folder, name, folder, name);
    return system(command);
}

static void read_saved(struct saved_run *saved, const char *run)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, run);
    ck_assert_msg(!saved_run_read(saved, path, 0), "%s", error_text());
}

/* Makes the two runs that all tests read, before Check forks a process per test. */
static void run_all(void)
{
    folder = scratch_make();
    int status = run_program("active", RANKS,
                             "--implementations none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,b=ddp_bucketed "
                             "--bucket-size-mb 0.02,0.1 --attainable --label tiny --checkpoint-every 2");
    status |= run_program("warmup", 1, "--implementations ddp,none --regime warmup --lr 0.01 --max-norm 0.5");
    if (status)
        FATAL("ddpbench failed; its output is in %s", folder);
}

/* ---- the lines of a rank ---- */

static const char *const rows[] = {"none", "ddp_flat", "ddp", "ddp_individual", "ddp_individual_v2", "b:0.02", "b:0.1"};
enum { ROWS = sizeof rows / sizeof *rows };

struct step {
    double start, step_ms, phase_ms[PHASES], loss, learning_rate, grad_norm, clipped;
};

static struct step steps[RANKS][ROWS][ROUNDS][STEPS];
static char order[RANKS][ROUNDS][ROWS]; /* order[rank][round][j]: index in rows of block j of the round */

static int row_of(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(rows[i], name))
            return i;
    ck_abort_msg("unknown implementation '%s'", name);
    return -1;
}

static struct step read_step(const cJSON *json)
{
    struct step step = {.start = number(json, "start"),
                        .step_ms = number(json, "step_ms"),
                        .loss = number(json, "loss"),
                        .learning_rate = number(json, "learning_rate"),
                        .grad_norm = NAN};
    for (int p = 0; p < PHASES; p++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ms", phase_name[p]);
        if (p >= PHASE_CHECKPOINT && !cJSON_HasObjectItem(json, name))
            continue;
        step.phase_ms[p] = number(json, name);
        ck_assert_double_ge(step.phase_ms[p], 0);
    }
    if (cJSON_GetObjectItemCaseSensitive(json, "grad_norm")) {
        step.grad_norm = number(json, "grad_norm");
        step.clipped = number(json, "grad_norm_clipped");
    }
    return step;
}

/* Reads the lines of a rank into steps and order. Checks that there is a line per step, that steps of a block are
 * together, and that each of n implementations runs once per round: rows[] or, if named is 0, ddp and none. */
static void read_metrics(const char *run, int rank, int n, int named)
{
    char name[64];
    snprintf(name, sizeof name, "rank_%d_metrics.jsonl", rank);
    char *all = read_text(run, name), *line = all;
    size_t lines = 0;
    double end = -1;
    while (*line) {
        char *newline = strchr(line, '\n');
        ck_assert_ptr_nonnull(newline); /* the last line is complete too */
        *newline = 0;
        cJSON *json = kept_json(cJSON_ParseWithOpts(line, NULL, 1));
        ck_assert_msg(json != NULL, "not JSON: %s", line);
        line = newline + 1;
        if (!cJSON_HasObjectItem(json, "step")) { /* a line that --attainable adds comes after a block */
            ck_assert_uint_eq(lines % STEPS, 0);
            continue;
        }
        size_t block = lines / STEPS, in_block = lines % STEPS, round = block / (size_t)n;
        ck_assert_uint_lt(round, ROUNDS);
        ck_assert_double_eq(number(json, "round"), (double)round);
        ck_assert_double_eq(number(json, "block"), (double)block);
        ck_assert_double_eq(number(json, "step"), (double)in_block);
        ck_assert_int_eq(cJSON_IsTrue(item(json, "timed")), in_block >= 2);
        const char *implementation = text(json, "implementation");
        int row = named ? row_of(implementation) : strcmp(implementation, "ddp") != 0;
        order[rank][round][block % (size_t)n] = (char)row;
        struct step *step = &steps[rank][row][round][in_block];
        *step = read_step(json);
        ck_assert_double_ge(step->start, end - 1e-6); /* steps do not overlap */
        end = step->start + 1e-3 * step->step_ms;
        lines++;
    }
    ck_assert_uint_eq(lines, (size_t)n * ROUNDS * STEPS);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0, seen = 0; i < n; i++) {
            ck_assert_int_eq(seen & 1 << order[rank][round][i], 0);
            seen |= 1 << order[rank][round][i];
        }
}

static void read_active(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        read_metrics("active", rank, ROWS, 1);
}

/* ---- tests of the lines ---- */

TEST(rounds_are_rotated)
{
    read_active();
    ck_assert_mem_eq(order[0], order[1], sizeof order[0]);
    for (int round = 1; round < ROUNDS; round++)
        ck_assert_int_ne(order[0][round][0], order[0][round - 1][0]);
}

/* Phases follow each other without gaps; the tolerance allows for numbers printed with 9 digits. */
TEST(phases_fill_the_step)
{
    read_active();
    for (int rank = 0; rank < RANKS; rank++)
        for (int row = 0; row < ROWS; row++)
            for (int round = 0; round < ROUNDS; round++)
                for (int i = 0; i < STEPS; i++) {
                    const struct step *step = &steps[rank][row][round][i];
                    double sum = 0;
                    for (int p = 0; p < PHASES; p++)
                        sum += step->phase_ms[p];
                    ck_assert_double_eq_tol(sum, step->step_ms, 1e-5 + 1e-6 * step->step_ms);
                    ck_assert_double_gt(step->phase_ms[PHASE_FORWARD], 0);
                    ck_assert_double_gt(step->phase_ms[PHASE_BACKWARD], 0);
                    ck_assert_double_gt(step->phase_ms[PHASE_OPTIMIZER], 0);
                    ck_assert_double_eq(step->phase_ms[PHASE_CLIPPING], 0);
                    ck_assert_int_eq(step->phase_ms[PHASE_CHECKPOINT] > 0, i % 2 == 0); /* saved after steps 4, 6, 8 */
                    ck_assert_double_eq_tol(step->learning_rate, 0.001, 1e-9);
                    ck_assert_double_nan(step->grad_norm);
                }
}

TEST(losses_agree)
{
    read_active();
    double apart = 0;
    for (int rank = 0; rank < RANKS; rank++)
        for (int row = 0; row < ROWS; row++)
            for (int round = 0; round < ROUNDS; round++)
                for (int i = 0; i < STEPS; i++) {
                    double loss = steps[rank][row][round][i].loss, same = steps[rank][1][0][i].loss;
                    if (row == 0)
                        apart = fmax(apart, fabs(loss - same));
                    else /* a sum over two ranks does not depend on the order */
                        ck_assert_double_eq(loss, same);
                    if (row == 0) /* `none` also starts each block from the same weights */
                        ck_assert_double_eq(loss, steps[rank][0][0][i].loss);
                    if (i == 0)
                        ck_assert_double_eq_tol(loss, log(VOCABULARY), 0.2);
                }
    ck_assert_double_gt(apart, 1e-6); /* losses differ if gradients are not reduced */
    ck_assert_double_ne(steps[0][1][0][0].loss, steps[1][1][0][0].loss); /* each rank has its own data */
}

/* With warmup, the learning rate ramps up from the first timed step on, and gradients are clipped. */
TEST(warmup_ramps_and_clips)
{
    read_metrics("warmup", 0, 2, 0);
    for (int row = 0; row < 2; row++)
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < STEPS; i++) {
                const struct step *step = &steps[0][row][round][i];
                ck_assert_double_eq_tol(step->learning_rate, i < 2 ? 0 : 0.01 * (i - 2) / 3, 1e-8);
                ck_assert_double_gt(step->grad_norm, 0.5);
                ck_assert_double_eq_tol(step->clipped, 0.5, 1e-5);
                ck_assert_double_gt(step->phase_ms[PHASE_CLIPPING], 0);
                ck_assert_double_eq(step->phase_ms[PHASE_CHECKPOINT], 0);
                ck_assert_double_eq(step->loss, steps[0][0][0][i].loss);
            }
    struct saved_run saved;
    read_saved(&saved, "warmup");
    for (int row = 0; row < 2; row++) { /* one rank communicates nothing, so it has no communication_ratio */
        ck_assert_ptr_nonnull(figures_find(&saved.figures, row ? "none" : "ddp", "step", 0));
        ck_assert_ptr_null(figures_find(&saved.figures, row ? "none" : "ddp", "communication_ratio", 0));
    }
    saved_run_destroy(&saved);
}

/* ---- the summary ---- */

/* What ran has figures; tests/consumers/recompute_printed.py recomputes them from the lines. */
TEST(figures_are_of_what_ran)
{
    struct saved_run saved;
    read_saved(&saved, "active");
    ck_assert_double_eq(number(saved.summary, "largest_loss_difference"), 0);
    cJSON *run = read_json("active", "run.json");
    double weights = number(item(run, "derived"), "parameters") * sizeof(float);
    ck_assert_double_gt(number(saved.summary, "checkpoint_bytes"), 3 * weights);
    ck_assert_double_lt(number(saved.summary, "checkpoint_bytes"), 3 * weights + 1000);
    ck_assert_double_gt(number(saved.summary, "checkpoint_bytes_per_second"), 0);
    for (int i = 0; i < ROWS; i++) {
        int sends = strcmp(rows[i], "none") != 0;
        for (int p = 0; p < PHASES; p++) /* clipping and gathers of parameters never ran */
            ck_assert_int_eq(figures_find(&saved.figures, rows[i], phase_name[p], 0) != NULL,
                             p != PHASE_CLIPPING && p != PHASE_PARAMETER_GATHER && p != PHASE_SAVE_RESULTS);
        ck_assert_int_eq(figures_find(&saved.figures, rows[i], "sync_cost", 0) != NULL, sends);
        ck_assert_int_eq(figures_find(&saved.figures, rows[i], "attainable", 0) != NULL, sends);
    }
    saved_run_destroy(&saved);
}

/* summary.csv has a line for each figure of summary.json, in the same order. */
TEST(csv_is_the_summary)
{
    struct saved_run saved;
    read_saved(&saved, "active");
    FILE *out = printing();
    fprintf(out, "label," FIGURES_CSV_COLUMNS "\n");
    figures_print_csv(out, &saved.figures, (const char *const[]){"tiny"}, 1);
    ck_assert_str_eq(read_text("active", "summary.csv"), printed());
    saved_run_destroy(&saved);
}

/* ---- run.json ---- */

TEST(run_describes_the_run)
{
    cJSON *json = read_json("active", "run.json");
    ck_assert_double_eq(number(json, "schema_version"), RESULTS_SCHEMA);
    ck_assert_str_eq(text(json, "program"), "ddpbench");
    ck_assert_str_eq(text(json, "version"), version_text());
    ck_assert_str_eq(text(json, "mode"), "benchmark");
    ck_assert_str_eq(text(json, "label"), "tiny");
    ck_assert_uint_gt(strlen(text(json, "time")), 19);
    const cJSON *argv = item(json, "argv"), *configuration = item(json, "configuration");
    ck_assert_int_gt(cJSON_GetArraySize(argv), 20);
    ck_assert_str_eq(cJSON_GetArrayItem(argv, 1)->valuestring, "--d-model");
    ck_assert_int_eq(cJSON_GetArraySize(configuration), 69);
    ck_assert_double_eq(number(configuration, "d-model"), 32);
    ck_assert_double_eq(number(configuration, "lr"), 0.001);
    ck_assert_str_eq(text(configuration, "bucket-size-mb"), "0.02,0.1");
    ck_assert(cJSON_IsTrue(item(configuration, "attainable")));
    ck_assert(cJSON_IsFalse(item(configuration, "update-in-backward")));

    const cJSON *derived = item(json, "derived"), *ranks = item(json, "ranks");
    ck_assert_double_eq(number(derived, "world_size"), RANKS);
    ck_assert_double_eq(number(derived, "host_count"), 1);
    ck_assert_double_eq(number(derived, "threads"), 1);
    ck_assert_double_eq(number(derived, "tokens_per_step"), 8 * 16);
    double parameters = number(derived, "parameters");
    ck_assert_double_eq(parameters, 2 * 1000 * 32 + 3 * 32 + 4 * 32 * 32 + 3 * 32 * 48);
    ck_assert_double_eq(number(derived, "model_flops_per_step"),
                        128 * (6 * (parameters - 1000 * 32 - 3 * 32) + 6 * 32 * 16));
    check_has(text(derived, "mpi_library"), "MPI");
    ck_assert_str_eq(text(derived, "comm"), "mpi");
    for (int i = 0; i < MEMORY_PARTS; i++) /* the CPU needs no memory for staging */
        ck_assert_int_eq(number(item(derived, "memory_bytes_per_rank"), memory_part_name[i]) > 0, i != MEMORY_STAGING);
    ck_assert_int_eq(cJSON_GetArraySize(ranks), RANKS);
    for (int r = 0; r < RANKS; r++) {
        const cJSON *rank = cJSON_GetArrayItem(ranks, r), *host = item(item(json, "hosts"), text(rank, "host"));
        ck_assert_uint_gt(strlen(text(rank, "binding")), 0);
        ck_assert_double_eq(number(rank, "machine"), 0);
        ck_assert_double_gt(number(host, "memory_bytes"), 1e6);
        check_has(text(host, "kernel"), "Linux");
    }
}

TEST(the_environment_has_no_secrets)
{
    char *all = read_text("active", "run.json");
    static const char *const present[] = {"OMP_NUM_THREADS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_LOGINFO_DBG"};
    for (size_t i = 0; i < sizeof present / sizeof *present; i++)
        check_has(all, present[i]);
    check_lacks(all, "password");
    check_lacks(all, "SECRET_TOKEN");
}

/* A replayed model has no sizes of its own; one with recorded times has no batch or context either. */
static const char *const tuned[][2] = {
    {"\"configuration\": {\"batch-size\": 8, \"d-model\": 64, \"rounds\": 3, \"data\": \"a b.txt\", \"dtype\": "
     "\"fp32\"}",
     "--d-model 64 --batch-size 8 --data 'a b.txt'"},
    {"\"derived\": {\"tokens_per_step\": null}, \"configuration\": {\"model-from\": \"t.json\", \"compute\": "
     "\"sleep\", "
     "\"time-scale\": 0.5, \"batch-size\": 2, \"context-length\": 1, \"vocab-size\": 2, \"d-model\": 0}",
     "--model-from t.json --compute sleep --time-scale 0.5"},
    {"\"derived\": {\"tokens_per_step\": 1024}, \"configuration\": {\"model-from\": \"list.json\", \"batch-size\": 2, "
     "\"context-length\": 512, \"vocab-size\": 2, \"d-model\": 0}",
     "--model-from list.json --context-length 512 --batch-size 2"}};

TEST_EACH(the_command_to_tune_a_run, 3)
{
    char text[TUNE_COMMAND], run[600], expected[300];
    snprintf(run, sizeof run, "{\"argv\": [\"my bench\", \"--rounds\", \"3\"], %s}", tuned[_i][0]);
    snprintf(expected, sizeof expected, "mpirun -n 4 'my bench' tune %s", tuned[_i][1]);
    ck_assert_str_eq(saved_run_tune(text, kept_json(cJSON_Parse(run)), 4), expected);
}

/* The buckets of every plan add up to the gradient, at most with its gaps and the padding of the vocabulary; `none`
 * sends nothing. */
TEST(run_lists_the_collectives)
{
    cJSON *json = read_json("active", "run.json");
    const cJSON *list = item(json, "implementations");
    ck_assert_int_eq(cJSON_GetArraySize(list), ROWS);
    for (int i = 0; i < ROWS; i++) {
        const cJSON *row = cJSON_GetArrayItem(list, i), *collectives = item(row, "collectives"), *c;
        ck_assert_str_eq(text(row, "name"), rows[i]);
        double bytes = 0, tensors = 0, sent = 0, parameters = number(item(json, "derived"), "parameters");
        double d_model = number(item(json, "configuration"), "d-model");
        cJSON_ArrayForEach(c, collectives)
        {
            bytes += number(c, "bytes");
            tensors += number(c, "tensors");
            sent += number(c, "parameters");
        }
        ck_assert_double_eq(tensors, i ? 12 : 0);
        ck_assert_double_eq(sent, i ? parameters : 0);
        ck_assert_double_ge(bytes, i ? 4 * parameters : 0);
        ck_assert_double_le(bytes,
                            i ? 4 * (parameters + 12 * TENSOR_ALIGNMENT + (VOCABULARY_ALIGNMENT - 1) * d_model) : 0);
        if (i == 1)
            ck_assert_int_eq(cJSON_GetArraySize(collectives), 1);
        if (i >= 2 && i <= 4)
            ck_assert_int_eq(cJSON_GetArraySize(collectives), 12);
        if (i >= 5) {
            ck_assert_str_eq(text(row, "strategy"), "ddp_bucketed");
            ck_assert_double_eq(number(row, "bucket_bytes"), floor((i == 5 ? 0.02 : 0.1) * 0x1p20));
            ck_assert_int_gt(cJSON_GetArraySize(collectives), 1);
        }
    }
}

TEST(the_clipped_norm)
{
    char words[256] = "";
    FILE *out = fmemopen(words, sizeof words, "w");
    telemetry_print_grad_norm(out, 4, 0.25);
    telemetry_print_grad_norm(out, 0.125, 0.25);
    fclose(out);
    ck_assert_str_eq(words, ", \"grad_norm\": 4, \"grad_norm_clipped\": 0.249999938, \"grad_norm\": 0.125, "
                            "\"grad_norm_clipped\": 0.125");
}

TEST(numbers_that_are_not_finite_are_null)
{
    enum { N = DISCARDED_STEPS };
    static const char *const unknown[] = {"other_processes_cores", "loss", "grad_norm", "grad_norm_clipped"};
    struct step_times times[N] = {{.start_ns = 5, .end_ns = 123456789}};
    struct overlap overlap[N] = {{0}};
    float record[N * RECORDS];
    struct results results = {.rank = 3};
    char path[128];
    snprintf(path, sizeof path, "%s/rank_3_metrics.jsonl", folder);
    ck_assert_int_eq(lines_open(&results.telemetry, path), 0);
    for (int i = 0; i < N * RECORDS; i++)
        record[i] = i % 2 ? INFINITY : NAN;
    const struct training_options options = {.implementation = {{.label = "x"}}};
    struct comm comm = {0};
    static struct training training;
    training.engine.comm = &comm;
    training.run.options = &options;
    training.engine.trainer.schedule = (struct lr_schedule){.warmup_steps = N}; /* these steps clip gradients */
    const struct block block = {.other_cores = NAN, .times = times, .overlap = overlap, .record = record};
    ck_assert_int_eq(telemetry_write_block(&results, &training, &block), 0);
    results_close(&results);
    char *all = read_text("", "rank_3_metrics.jsonl");
    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *json = kept_json(cJSON_ParseWithOpts(line, NULL, 1));
        for (int i = 0; i < 4; i++)
            ck_assert(cJSON_IsNull(item(json, unknown[i])));
    }
}

int main(void)
{
    run_all();
    int status = suite_run(suite_of_tests("results", NULL, NULL));
    scratch_remove_all();
    return status;
}
