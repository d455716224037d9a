/* test_model_files.c - lists of parameters, config.json and safetensors; and files that are none of them. */
#include "import/import.h"

#include "kernels/error.h"
#include "tests/support/saved.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define STORED "tests/support/torch_traces/"

static struct imported got;
static const char *scratch;
static char path[300];

static void setup(void)
{
    scratch = scratch_make();
    snprintf(path, sizeof path, "%s/file", scratch);
}

static void teardown(void)
{
    import_destroy(&got);
    scratch_remove_all();
    error_clear();
}

static void read_file(const char *files)
{
    ck_assert_msg(!import_read(&got, "model-from", files), "%s: %s", files, error_text());
}

static void read_text(const char *text)
{
    saved_file(scratch, "file", text);
    read_file(path);
}

static void refused(const char *text, const char *words)
{
    saved_file(scratch, "file", text);
    ck_assert_msg(import_read(&got, "model-from", path), "'%.100s' was accepted", text);
    check_has(error_text(), words);
    check_has(error_text(), "--model-from ");
    ck_assert_ptr_null(strchr(error_text(), '\n'));
    error_clear();
    import_destroy(&got);
}

static size_t elements(void)
{
    size_t sum = 0;
    for (int i = 0; i < got.profile.tensors; i++)
        sum += got.profile.tensor[i].count;
    return sum;
}

/* ---- lists ---- */

TEST(a_list_gives_tensors_in_order)
{
    read_file(STORED "parameters.json");
    ck_assert_int_eq(got.profile.tensors, 51);
    ck_assert_uint_eq(elements(), 4185040);
    ck_assert_uint_eq(got.profile.steps, 0);
    ck_assert_str_eq(got.profile.tensor[0].name, "embedding.weight");
    ck_assert_uint_eq(got.profile.tensor[0].rows, 2000);
    ck_assert_uint_eq(got.profile.tensor[0].columns, 256);
    ck_assert_int_eq(got.profile.tensor[50].layer, 5);
}

TEST(a_convolution_is_a_matrix_of_its_outputs)
{
    read_text("[[\"conv\", [64, 3, 7, 7], true], [\"scale\", []], [\"bias\", [64]]]");
    ck_assert_uint_eq(got.profile.tensor[0].rows, 64);
    ck_assert_uint_eq(got.profile.tensor[0].columns, 147);
    ck_assert_uint_eq(got.profile.tensor[1].count, 1);
    ck_assert_uint_eq(got.profile.tensor[2].rows, 1);
    ck_assert_int_eq(got.has_layers, 0);
}

TEST(a_list_may_be_compressed)
{
    gzFile file = gzopen(path, "wb");
    gzputs(file, "[[\"a\", [5]], [\"b\", [7]]]");
    gzclose(file);
    read_file(path);
    ck_assert_int_eq(got.profile.tensors, 2);
}

/* Each is possible; all together have more bytes than an address can count. */
TEST(a_model_has_a_largest_size)
{
    FILE *out = printing();
    for (int i = 0; i < 500; i++)
        fprintf(out, "%s[\"p%d\", [10000000000000]]", i ? ", " : "[", i);
    fprintf(out, "]");
    refused(printed(), "at most 1e+13");
    refused("{\"model_type\": \"llama\", \"hidden_size\": 16000000, \"intermediate_size\": 16000000, "
            "\"num_hidden_layers\": 9999, \"num_attention_heads\": 16000000, \"head_dim\": 16000000, "
            "\"vocab_size\": 16000000, \"max_position_embeddings\": 1}",
            "at most 1e+13");
}

/* ---- config.json ---- */

#define LLAMA                                                                                                          \
    "\"hidden_size\": 64, \"intermediate_size\": 172, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, "          \
    "\"vocab_size\": 100, \"max_position_embeddings\": 2048"

TEST(a_llama_of_our_kind_is_trained)
{
    read_text("{\"model_type\": \"llama\", \"num_key_value_heads\": 4, " LLAMA "}");
    ck_assert_uint_eq(got.own.layers, 2);
    ck_assert_uint_eq(got.own.width, 64);
    ck_assert_uint_eq(got.own.heads, 4);
    ck_assert_uint_eq(got.own.ff, 172);
    ck_assert_uint_eq(got.own.vocabulary, 100);
    ck_assert_uint_eq(got.own.context, 2048);
    ck_assert_uint_eq(elements(), 2 * 100 * 64 + 64 + 2 * (4 * 64 * 64 + 3 * 64 * 172 + 2 * 64));
}

/* Each differs from ddpbench's transformer in one thing, which is said; its tensors are those of the family. */
static const struct {
    const char *text, *words;
    int tensors;
    size_t elements;
} relatives[] = {{"{\"model_type\": \"llama\", \"num_key_value_heads\": 2, " LLAMA "}", "fewer key-value heads", 21,
                  2 * 100 * 64 + 64 + 2 * (2 * 64 * 64 + 2 * 32 * 64 + 3 * 64 * 172 + 2 * 64)},
                 {"{\"model_type\": \"llama\", \"tie_word_embeddings\": true, " LLAMA "}", "tied to the embedding", 20,
                  100 * 64 + 64 + 2 * (4 * 64 * 64 + 3 * 64 * 172 + 2 * 64)},
                 {"{\"model_type\": \"llama\", \"attention_bias\": true, " LLAMA "}", "biases", 29,
                  2 * 100 * 64 + 64 + 2 * (4 * 64 * 64 + 4 * 64 + 3 * 64 * 172 + 2 * 64)},
                 {"{\"model_type\": \"qwen2\", " LLAMA "}", "biases", 27,
                  2 * 100 * 64 + 64 + 2 * (4 * 64 * 64 + 3 * 64 + 3 * 64 * 172 + 2 * 64)},
                 {"{\"model_type\": \"qwen3\", \"head_dim\": 32, " LLAMA "}", "norms of heads", 25,
                  2 * 100 * 64 + 64 + 2 * (4 * 128 * 64 + 2 * 32 + 3 * 64 * 172 + 2 * 64)},
                 {"{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_head\": 4, \"n_layer\": 2, \"n_positions\": 32, "
                  "\"vocab_size\": 100, "
                  "\"n_inner\": null}",
                  "tied to the embedding", 28,
                  132 * 64 + 2 * 64 + 2 * (4 * 64 + 3 * 64 * 65 + 64 * 65 + 256 * 65 + 64 * 257)}};

TEST_EACH(relatives_are_replayed, sizeof relatives / sizeof *relatives)
{
    read_text(relatives[_i].text);
    ck_assert_uint_eq(got.own.layers, 0);
    ck_assert_int_eq(got.profile.tensors, relatives[_i].tensors);
    ck_assert_uint_eq(elements(), relatives[_i].elements);
    ck_assert_int_eq(got.has_layers, 1);
    check_has(got.assumed, relatives[_i].words);
    ck_assert_int_eq(got.profile.tensor[got.profile.tensors - 1].layer, 3);
}

TEST(configs_that_cannot_be_replayed_are_refused)
{
    refused("{\"model_type\": \"llama\", \"num_local_experts\": 8, " LLAMA "}", "mixture of experts");
    refused("{\"model_type\": \"mamba\", " LLAMA "}", "model_type 'mamba' is not known; known are llama");
    refused("{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2}", "heads 0 of 0");
    refused("{\"model_type\": \"llama\", \"num_key_value_heads\": 3, " LLAMA "}", "one is not possible");
}

/* ---- safetensors ---- */

/* The header's own order, and that of its names, put the embedding elsewhere than the model does. */
TEST(safetensors_have_another_order)
{
    read_file(STORED "model.safetensors");
    ck_assert_int_eq(got.profile.tensors, 51);
    ck_assert_uint_eq(elements(), 4185040);
    check_has(got.assumed, "which is not the model's");
    ck_assert_str_eq(got.profile.tensor[0].name, "embedding.weight");
    import_destroy(&got);
    read_file(STORED "model.safetensors," STORED "parameters.json");
    ck_assert_str_eq(got.assumed, "");
    ck_assert_str_eq(got.profile.tensor[1].name, "blocks.0.norm1.weight");
}

/* Writes a safetensors file whose header is `header`. */
static void save_safetensors(const char *name, const char *header)
{
    char whole[300];
    snprintf(whole, sizeof whole, "%s/%s", scratch, name);
    FILE *file = fopen(whole, "wb");
    uint64_t n = strlen(header);
    for (int i = 0; i < 8; i++)
        fputc((int)(n >> 8 * i & 255), file);
    fputs(header, file);
    fclose(file);
}

TEST(an_index_names_its_shards)
{
    save_safetensors("a.safetensors",
                     "{\"layers.10.w\": {\"dtype\": \"BF16\", \"shape\": [3, 4], \"data_offsets\": [0, 24]}, "
                     "\"bn.running_mean\": {\"dtype\": \"F32\", \"shape\": [9], \"data_offsets\": [0, 1]}}");
    save_safetensors("b.safetensors",
                     "{\"__metadata__\": {\"format\": \"pt\"}, \"layers.9.w\": {\"dtype\": \"BF16\", \"shape\": "
                     "[5], \"data_offsets\": [0, 10]}}");
    read_text("{\"metadata\": {}, \"weight_map\": {\"layers.10.w\": \"a.safetensors\", \"bn.running_mean\": "
              "\"a.safetensors\", \"layers.9.w\": \"b.safetensors\"}}");
    ck_assert_int_eq(got.profile.tensors, 2);
    ck_assert_str_eq(got.profile.tensor[0].name, "layers.9.w");
    ck_assert_str_eq(got.profile.tensor[1].name, "layers.10.w");
    import_destroy(&got);
    refused("{\"weight_map\": {\"w\": \"absent\"}}", "absent: No such file");
    save_safetensors("cut", "{\"w\": {\"dtype\": \"F32\", \"shape\": [3, 4]");
    refused("{\"weight_map\": {\"w\": \"cut\"}}", "cut: ends in the middle");
    save_safetensors("shape", "{\"w\": {\"dtype\": \"F32\", \"shape\": [0, 4]}}");
    refused("{\"weight_map\": {\"w\": \"shape\"}}", "shape: its header has an item that is no tensor");
    save_safetensors("list", "[[]]");
    refused("{\"weight_map\": {\"w\": \"list\"}}", "list: its header has an item that is no tensor");
    refused("{\"weight_map\": {\"w\": \"../a.safetensors\"}}", "not the name of a file beside it");
}

/* ---- anything else ---- */

static const char *const garbage[] = {
    "",
    " ",
    "{",
    "[",
    "}",
    "]",
    "null",
    "hello",
    "\"text\"",
    "3.5",
    "{\"a\": 1}",
    "[1]",
    "[[]]",
    "[[1, 2]]",
    "[[\"a\"]]",
    "[[\"a\", [0]]]",
    "[[\"a\", [-1]]]",
    "[[\"a\", [1e30]]]",
    "[[\"a\", [2, \"3\"]]]",
    "[[\"a\", [2], 1]]",
    "[[\"a\", [2], false]]",
    "[[\"a\", [2]]",
    "[[\"a\", [2]]] x",
    "[[\"a\", [2]]}",
    "[[\"a\", [2]],]",
    "{\"traceEvents\": 5}",
    "{\"traceEvents\": [5]}",
    "{\"traceEvents\": [{\"name\": \"x\"}",
    "{\"traceEvents\": [}]}",
    "{\"traceEvents\": [{\"name\": \"ProfilerStep#1\", \"ts\": \"now\"}]}",
    "{\"traceEvents\": [{\"name\": \"ProfilerStep#1\", \"ts\": 1, \"dur\": -5}]}",
    "{\"traceEvents\": [{\"name\": \"torch::autograd::AccumulateGrad\", \"ts\": 1, \"dur\": 5}]}",
    "{\"model_type\": \"llama\", \"hidden_size\": 1e300}",
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff",
    "{\"a\\\": 1}",
    "{\"weight_map\": {\"a\": 5}}"};

TEST_EACH(garbage_is_one_sentence, sizeof garbage / sizeof *garbage)
{
    refused(garbage[_i], path);
}

TEST(a_file_that_is_cut_is_refused_wherever_it_is_cut)
{
    char *whole = text_of_file(STORED "parameters.json"), *text = kept(strdup(whole));
    for (size_t n = strlen(whole) - 3; n > 0; n -= n < 40 ? 1 : 37) {
        text[n] = 0;
        refused(text, path);
    }
}

TEST(what_is_no_file_is_refused)
{
    ck_assert_int_eq(import_read(&got, "model-from", scratch), -1);
    error_clear();
    ck_assert_int_eq(import_read(&got, "model-from", "absent.json"), -1);
    check_has(error_text(), "absent.json: No such file");
    error_clear();
    ck_assert_int_eq(import_read(&got, "model-from", STORED "parameters.json," STORED "parameters.json"), -1);
    check_has(error_text(), "goes after a trace or a safetensors file");
}

SUITE("model_files", setup, teardown)
