/* model_files.c - reads what has sizes and no times: lists of parameters, config.json, safetensors. */
#include "base/json.h"
#include "import/parts.h"
#include "kernels/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a list of parameters ---- */

/* Takes [name, shape] or [name, shape, requires_grad]; or a name alone, whose shape another file has. */
static int take_parameter(void *context, char *text, size_t length)
{
    struct parameters *list = context;
    cJSON *json = length < 1 << 16 ? cJSON_Parse(text) : NULL;
    const cJSON *shape = cJSON_GetArrayItem(json, 1), *trained = cJSON_GetArrayItem(json, 2);
    const char *alone = cJSON_GetStringValue(json), *first = cJSON_GetStringValue(cJSON_GetArrayItem(json, 0));
    const char *name = alone ? alone : first;
    cJSON *nothing = cJSON_CreateArray();
    int status = 0;
    if (!name || !*name || (trained && !cJSON_IsBool(trained)))
        status = 1;
    else if (!trained || cJSON_IsTrue(trained))
        status = parameters_add(list, name, alone ? nothing : shape) != 0;
    cJSON_Delete(nothing);
    cJSON_Delete(json);
    return status;
}

int parameters_read(struct parameters *list, const char *path)
{
    int status = import_scan(path, &(struct json_stream){.array = "", .element = take_parameter, .context = list});
    if (status < 0)
        return -1;
    if (status)
        return error_report("%s: item %d is not [name, shape, requires_grad], as in [\"head.weight\", [256, 64], true]",
                            path, list->n);
    for (int i = 1; i < list->n; i++) /* in a list made by hand; a model's names are unique */
        if (!strcmp(list->item[i].name, list->item[i - 1].name))
            return error_report("%s: %s is listed twice", path, list->item[i].name);
    return list->n ? 0 : error_report("%s: lists no parameter that is trained", path);
}

/* ---- config.json ---- */

/* Adds a parameter of one or two sizes (columns 0: one), named by a printf format. */
static __attribute__((format(printf, 4, 5))) void add(struct parameters *list, size_t rows, size_t columns,
                                                      const char *format, ...)
{
    struct parameter p = {.rows = columns ? rows : 1, .columns = columns ? columns : rows};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p.name, sizeof p.name, format, arguments);
    va_end(arguments);
    parameters_append(list, &p);
}

/* The sizes of a config.json, by the names of the families. */
struct config {
    size_t layers, width, heads, kv_heads, head, ff, vocabulary, positions;
    int is_tied, qkv_bias, out_bias, mlp_bias, has_head_norms;
};

/* Returns a count under the first of two names that has one, or `other`. */
static size_t count_of(const cJSON *config, const char *name, const char *also, size_t other)
{
    size_t n = json_count(config, name);
    n = n ? n : json_count(config, also);
    return n ? n : other;
}

/* Returns a flag; `other` if the config lacks it. */
static int flag_of(const cJSON *config, const char *name, int other)
{
    const cJSON *flag = cJSON_GetObjectItemCaseSensitive(config, name);
    return cJSON_IsBool(flag) ? cJSON_IsTrue(flag) : other;
}

/* Adds the weight of a part of a layer, and its bias of so many numbers; 0: it has none. */
static void add_part(struct parameters *list, const char *layers, int layer, const char *part, size_t rows,
                     size_t columns, size_t bias)
{
    add(list, rows, columns, "%s.%d.%s.weight", layers, layer, part);
    if (bias)
        add(list, bias, 0, "%s.%d.%s.bias", layers, layer, part);
}

/* The parameters of a Llama and of its relatives, in the order in which forward uses them. */
static void list_llama(struct parameters *list, const struct config *c)
{
    static const char layers[] = "model.layers";
    size_t q = c->heads * c->head, kv = c->kv_heads * c->head, width = c->width;
    add(list, c->vocabulary, width, "model.embed_tokens.weight");
    for (int l = 0; l < (int)c->layers; l++) {
        add_part(list, layers, l, "input_layernorm", width, 0, 0);
        add_part(list, layers, l, "self_attn.q_proj", q, width, c->qkv_bias ? q : 0);
        add_part(list, layers, l, "self_attn.k_proj", kv, width, c->qkv_bias ? kv : 0);
        add_part(list, layers, l, "self_attn.v_proj", kv, width, c->qkv_bias ? kv : 0);
        if (c->has_head_norms) {
            add_part(list, layers, l, "self_attn.q_norm", c->head, 0, 0);
            add_part(list, layers, l, "self_attn.k_norm", c->head, 0, 0);
        }
        add_part(list, layers, l, "self_attn.o_proj", width, q, c->out_bias ? width : 0);
        add_part(list, layers, l, "post_attention_layernorm", width, 0, 0);
        add_part(list, layers, l, "mlp.gate_proj", c->ff, width, c->mlp_bias ? c->ff : 0);
        add_part(list, layers, l, "mlp.up_proj", c->ff, width, c->mlp_bias ? c->ff : 0);
        add_part(list, layers, l, "mlp.down_proj", width, c->ff, c->mlp_bias ? width : 0);
    }
    add(list, width, 0, "model.norm.weight");
    if (!c->is_tied)
        add(list, c->vocabulary, width, "lm_head.weight");
}

/* Weights of GPT-2 are [inputs, outputs]. */
static void list_gpt2(struct parameters *list, const struct config *c)
{
    static const char layers[] = "transformer.h";
    size_t width = c->width;
    add(list, c->vocabulary, width, "transformer.wte.weight");
    add(list, c->positions, width, "transformer.wpe.weight");
    for (int l = 0; l < (int)c->layers; l++) {
        add_part(list, layers, l, "ln_1", width, 0, width);
        add_part(list, layers, l, "attn.c_attn", width, 3 * width, 3 * width);
        add_part(list, layers, l, "attn.c_proj", width, width, width);
        add_part(list, layers, l, "ln_2", width, 0, width);
        add_part(list, layers, l, "mlp.c_fc", width, c->ff, c->ff);
        add_part(list, layers, l, "mlp.c_proj", c->ff, width, width);
    }
    add(list, width, 0, "transformer.ln_f.weight");
    add(list, width, 0, "transformer.ln_f.bias");
    if (!c->is_tied)
        add(list, c->vocabulary, width, "lm_head.weight");
}

/* The families: what a member means if config.json lacks it. */
static const struct family {
    const char *type;
    int is_tied, qkv_bias, has_head_norms, may_be_own;
    void (*list)(struct parameters *list, const struct config *config);
} families[] = {{"llama", 0, 0, 0, 1, list_llama},
                {"mistral", 0, 0, 0, 1, list_llama},
                {"qwen2", 0, 1, 0, 0, list_llama},
                {"qwen3", 0, 0, 1, 0, list_llama},
                {"gpt2", 1, 1, 0, 0, list_gpt2}};
enum { FAMILIES = sizeof families / sizeof *families };

int config_read(struct imported *imported, const char *path, const cJSON *json)
{
    static const char *const experts[] = {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"};
    const char *type = json_string(json, "model_type");
    const struct family *f = NULL;
    struct parameters list = {0};
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++)
        if (json_count(json, experts[i]) > 1)
            return error_report("%s: %s is %zu: a mixture of experts, whose gradients depend on data, is not replayed",
                                path, experts[i], json_count(json, experts[i]));
    for (int i = 0; i < FAMILIES; i++)
        f = strcmp(families[i].type, type) ? f : &families[i];
    if (!f)
        return error_report(
            "%s: model_type '%.60s' is not known; known are llama, mistral, qwen2, qwen3 and gpt2. Give a "
            "list of its named_parameters",
            path, type);
    struct config c = {.layers = count_of(json, "num_hidden_layers", "n_layer", 0),
                       .width = count_of(json, "hidden_size", "n_embd", 0),
                       .heads = count_of(json, "num_attention_heads", "n_head", 0),
                       .vocabulary = json_count(json, "vocab_size"),
                       .positions = count_of(json, "max_position_embeddings", "n_positions", 0),
                       .is_tied = flag_of(json, "tie_word_embeddings", f->is_tied),
                       .qkv_bias = flag_of(json, "attention_bias", f->qkv_bias),
                       .out_bias = flag_of(json, "attention_bias", 0),
                       .mlp_bias = flag_of(json, "mlp_bias", 0),
                       .has_head_norms = f->has_head_norms};
    c.kv_heads = count_of(json, "num_key_value_heads", "", c.heads);
    c.head = count_of(json, "head_dim", "", c.heads ? c.width / c.heads : 0);
    c.ff = count_of(json, "intermediate_size", "n_inner", f->list == list_gpt2 ? 4 * c.width : 0);
    const size_t size[] = {c.layers, c.width, c.heads, c.kv_heads, c.head, c.ff, c.vocabulary, c.positions};
    int is_possible = c.layers <= 10000;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        is_possible &= size[i] && size[i] <= 1 << 24;
    if (!is_possible || c.heads % c.kv_heads || (!json_count(json, "head_dim") && c.width % c.heads))
        return error_report("%s: lacks a size, or one is not possible: layers %zu, width %zu, heads %zu of %zu, "
                            "key-value heads %zu, feed-forward %zu, vocabulary %zu, positions %zu",
                            path, c.layers, c.width, c.heads, c.head, c.kv_heads, c.ff, c.vocabulary, c.positions);
    f->list(&list, &c);
    int status = import_tensors(imported, &list);
    free(list.item);
    if (status)
        return -1;
    if (f->may_be_own && c.kv_heads == c.heads && !c.is_tied && !c.qkv_bias && !c.mlp_bias &&
        c.head * c.heads == c.width)
        imported->own = (struct imported_sizes){c.layers, c.width, c.heads, c.ff, c.vocabulary, c.positions};
    else
        import_assume(imported, "%s has %s, which the transformer of ddpbench lacks: its tensors are replayed.", type,
                      c.kv_heads != c.heads      ? "fewer key-value heads than heads"
                      : c.is_tied                ? "a head that is tied to the embedding"
                      : c.qkv_bias || c.mlp_bias ? "biases"
                      : c.has_head_norms         ? "norms of heads"
                                                 : "heads of another width");
    return 0;
}

/* ---- safetensors ---- */

/* Returns 0 for an embedding, 1 for what has a number, as blocks do, and 2 for the rest, such as a head. */
static int place_of(const char *name)
{
    return strpbrk(name, "0123456789") ? 1 : strstr(name, "emb") || strstr(name, "wte") || strstr(name, "wpe") ? 0 : 2;
}

/* Compares the places of names, and then the names as people do: numbers in them by value. */
static int compare_names(const void *a, const void *b)
{
    const char *x = ((const struct parameter *)a)->name, *y = ((const struct parameter *)b)->name;
    if (place_of(x) != place_of(y))
        return place_of(x) - place_of(y);
    while (*x && *y) {
        if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
            char *x_end, *y_end;
            long m = strtol(x, &x_end, 10), n = strtol(y, &y_end, 10);
            if (m != n)
                return m < n ? -1 : 1;
            x = x_end;
            y = y_end;
        } else if (*x != *y)
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        else
            x++, y++;
    }
    return *x ? 1 : *y ? -1 : 0;
}

/* Whether a tensor is a buffer, which has no gradient: by its type, or the end of its name. */
static int is_buffer(const cJSON *tensor, const char *name)
{
    static const char *const ends[] = {"running_mean", "running_var", "num_batches_tracked",
                                       "inv_freq",     "masked_bias", "position_ids"};
    const char *type = json_string(tensor, "dtype"), *last = strrchr(name, '.');
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strcmp(last ? last + 1 : name, ends[i]))
            return 1;
    return !(*type == 'F' || *type == 'B') || !strcmp(type, "BOOL");
}

/* Takes a tensor of a header. Returns 1 if it has no shape, or one that is not possible. */
static int take_tensor(void *context, const char *name, char *text, size_t length)
{
    cJSON *tensor = length < 1 << 16 ? cJSON_Parse(text) : NULL;
    int is_counted = strcmp(name, "__metadata__") != 0 && !(tensor && is_buffer(tensor, name));
    int status = is_counted && parameters_add(context, name, cJSON_GetObjectItemCaseSensitive(tensor, "shape"));
    cJSON_Delete(tensor);
    return status;
}

static int no_elements(void *context, char *text, size_t length)
{
    (void)context, (void)text, (void)length;
    return 1;
}

/* Reads the JSON of a safetensors file: it is after its length, of 8 bytes, and before the tensors. */
static int read_header(struct parameters *list, const char *path)
{
    int status = import_scan(path, &(struct json_stream){"", no_elements, take_tensor, list, 8});
    return status > 0
               ? error_report("%s: its header has an item that is no tensor, or whose shape is not possible", path)
               : status;
}

/* Puts the list into the order of the names in `order`. */
static int reorder(struct imported *imported, struct parameters *list, const struct parameters *order, const char *path)
{
    struct parameters sorted = {0};
    for (int i = 0; i < order->n; i++)
        for (int k = 0; k < list->n; k++)
            if (!strcmp(order->item[i].name, list->item[k].name)) {
                parameters_append(&sorted, &list->item[k]);
                break;
            }
    int left_out = list->n - sorted.n, lacking = order->n - sorted.n;
    free(list->item);
    *list = sorted;
    if (left_out)
        import_assume(imported, "%d tensors of the file are not in the order, and are taken as buffers.", left_out);
    if (lacking)
        import_assume(imported, "%d names of the order are not in the file, and are taken as tied.", lacking);
    return sorted.n ? 0 : error_report("%s: has no tensor that the order names", path);
}

/* Reads the headers of all files that an index names, which lie beside it. */
static int read_shards(struct parameters *list, const char *path, const cJSON *weight_map)
{
    const char *slash = strrchr(path, '/');
    for (const cJSON *item = weight_map->child; item; item = item->next) {
        const char *file = cJSON_IsString(item) ? item->valuestring : "";
        char whole[4096];
        int seen = 0;
        if (!*file || strchr(file, '/'))
            return error_report("%s: '%.100s' is not the name of a file beside it", path, file);
        for (const cJSON *other = weight_map->child; other != item && !seen; other = other->next)
            seen = !strcmp(other->valuestring, file);
        snprintf(whole, sizeof whole, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, file);
        if (!seen && read_header(list, whole))
            return -1;
    }
    return 0;
}

int safetensors_read(struct imported *imported, const char *path, const cJSON *weight_map,
                     const struct parameters *order)
{
    struct parameters list = {0};
    int status = weight_map ? read_shards(&list, path, weight_map) : read_header(&list, path);
    if (!status && order)
        status = reorder(imported, &list, order, path);
    else if (!status && list.n) {
        qsort(list.item, (size_t)list.n, sizeof *list.item, compare_names);
        import_assume(imported,
                      "The order is that of the names, which is not the model's: its buckets may differ. Give "
                      "the order as a second file: FILE,ORDER, a JSON list of names as in named_parameters.");
    }
    status = status || import_tensors(imported, &list);
    free(list.item);
    return status ? -1 : 0;
}
