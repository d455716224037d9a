/* implementations.c - the rows of a comparison, and the options that they are made from. */
#include "training/options.h"

#include "base/text.h"
#include "kernels/error.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- strategies ---- */

/* Writes a strategy's name as --implementations takes it, such as ddp or ddp_local:H. */
static const char *strategy_form(const struct strategy *s, char text[40])
{
    snprintf(text, 40, s->number.letter ? "%s:%s" : "%s", s->name, s->number.letter);
    return text;
}

/* Writes the names of all strategies, or of those without a number, separated by `between`. */
static const char *strategy_names(const char *between, int with_numbers, char text[256])
{
    char form[40];
    *text = 0;
    for (int i = 0; strategies[i]; i++)
        if (with_numbers || !strategies[i]->number.letter)
            text_append(text, 256, "%s%s", i ? between : "", strategy_form(strategies[i], form));
    return text;
}

/* Parses the N of NAME:N; text is ":N", or NULL. Returns 0, or -1, reported. */
static int number_parse(size_t *n, const char *option, const struct strategy *s, const char *text)
{
    double number;
    char form[40];
    if (!text || option_number(text + 1, &number) || number != floor(number) || number < 1 ||
        number > (double)s->number.most)
        return error_report("--%s %s%.60s: expected %s, where %s is the %s, a whole number from 1 to %zu", option,
                            s->name, text ? text : "", strategy_form(s, form), s->number.letter, s->number.words,
                            s->number.most);
    *n = (size_t)number;
    return 0;
}

int bucket_size_parse(struct bucket_size *size, const char *option, const char *before, const char *words)
{
    if (strlen(words) >= sizeof size->words || bucket_caps_parse(&size->caps, words))
        return error_report(
            "--%s %.60s: expected %ssizes in MiB from 1e-05 to 1e+06, such as 25 or 0.5; or the sizes of up to "
            "%d buckets in order, such as 1+4+25, and of the last, such as 25+last0.25, in %d characters; or block",
            option, words, before, BUCKET_CAPS, BUCKET_WORDS - 1);
    strcpy(size->words, words);
    return 0;
}

/* For each variant: how the label of its row ends if the plain row exists, too; the option that adds the row; and, as
 * form_options and form_words of struct verdict, what distinguishes it from the plain one. */
static const struct {
    const char *suffix, *option, *options, *words;
} variants[VARIANTS] = {
    [VARIANT_PLAIN] = {"", "", "", ""},
    [VARIANT_UPDATE] = {":update", "--update-in-backward (benchmark and profile only)", " --update-in-backward",
                        ", updated in backward"},
    [VARIANT_BF16] = {":bf16", "--wire-dtype fp32,bf16", " --wire-dtype bf16", ", bf16"},
    [VARIANT_GRADIENTS] = {":gradients", "--shard optimizer,gradients", " --shard gradients", ", gradients sharded"}};

/* Returns the option that adds the rows whose labels end with these words; NULL: none does. */
static const char *variant_option(const char *words)
{
    for (int v = VARIANT_PLAIN + 1; v < VARIANTS; v++)
        if (!strcmp(strrchr(words, ':'), variants[v].suffix))
            return variants[v].option;
    return NULL;
}

static int strategies_parse(const struct option *option, const char *text, void *field)
{
    struct strategy_list list = {0};
    char word[160], name[160], names[256];
    int more;
    if (!strcmp(text, "all"))
        text = strategy_names(",", 0, names);
    for (struct option_list l = {option->name, text, 0}; (more = option_next_word(&l, word, sizeof word)) > 0;) {
        if (list.n == MAX_IMPLEMENTATIONS)
            return error_report("--%s: more than %d rows", option->name, MAX_IMPLEMENTATIONS);
        struct named_strategy *item = &list.item[list.n++];
        const char *equal = strchr(word, '='), *named = equal ? equal + 1 : word, *size = strchr(named, ':');
        size_t length = equal ? (size_t)(equal - word) : strlen(word);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(named, ":"), named);
        item->strategy = strategy_find(name);
        if (!item->strategy)
            return error_report("--%s: unknown implementation '%s'; known: %s", option->name, name,
                                strategy_names(", ", 1, names));
        if (size && variant_option(size))
            return error_report("--%s: '%s' is a row's label, not a name; name '%.*s', and give %s", option->name, word,
                                (int)(strrchr(word, ':') - word), word, variant_option(size));
        if (item->strategy->number.letter) {
            if (number_parse(&item->number, option->name, item->strategy, size))
                return -1;
        } else if (size && !item->strategy->traits[VARIANT_PLAIN]->buckets)
            return error_report("--%s: '%s' has no buckets, so it takes no size", option->name, name);
        else if (size && bucket_size_parse(&item->size, option->name, "NAME:SIZE with ", size + 1))
            return -1;
        if (!length || length >= sizeof item->label)
            return error_report("--%s: the label in '%s' must have 1 to %zu characters", option->name, word,
                                sizeof item->label - 1);
        memcpy(item->label, word, length);
        for (const char *c = item->label; *c; c++)
            if (!isalnum((unsigned char)*c) && !strchr(equal ? "_-+" : "_-+:.", *c))
                return error_report("--%s: label '%s' may hold letters, digits, _, - and + only", option->name,
                                    item->label);
        for (const struct named_strategy *other = list.item; other < item && size && !equal; other++)
            if (strchr(other->label, ':') && other->strategy == item->strategy && other->number == item->number &&
                !memcmp(&other->size.caps, &item->size.caps, sizeof item->size.caps)) /* such as NAME:2 and NAME:02 */
                return error_report("--%s: %s and %s are one implementation; name it once", option->name, other->label,
                                    item->label);
    }
    if (more < 0 || !list.n)
        return error_report("--%s '%.200s': expected all, or names separated by commas, such as "
                            "none,ddp,b=ddp_bucketed",
                            option->name, text);
    *(struct strategy_list *)field = list;
    return 0;
}

/* ---- bucket sizes ---- */

static int buckets_parse(const struct option *option, const char *text, void *field)
{
    struct bucket_sizes sizes = {0};
    char word[BUCKET_WORDS], first[sizeof word] = "", last[sizeof word] = "", whole[4 * sizeof word];
    int more;
    sizes.automatic = sizes.n = !strcmp(text, "auto");
    struct option_list list = {option->name, sizes.automatic ? "" : text, 0};
    for (; (more = option_next_word(&list, word, sizeof word)) > 0;) {
        if (!strncmp(word, "first=", 6))
            strcat(strcpy(first, word + 6), "+");
        else if (!strncmp(word, "last=", 5))
            strcat(strcpy(last, "+last"), word + 5);
        else if (sizes.n == MAX_IMPLEMENTATIONS)
            return error_report("--%s: more than %d sizes", option->name, MAX_IMPLEMENTATIONS);
        else
            strcpy(sizes.item[sizes.n++].words, word);
    }
    if (more < 0 || !sizes.n)
        return error_report(
            "--%s '%.200s': expected sizes in MiB such as 25, 0.5,1,25 or first=1,last=0.25,25, each of "
            "at most %d characters",
            option->name, text, BUCKET_WORDS - 1);
    for (int n = 0; n < sizes.n && !sizes.automatic; n++) {
        snprintf(whole, sizeof whole, "%s%s%s", first, sizes.item[n].words, last);
        if (bucket_size_parse(&sizes.item[n], option->name, "auto, or ", whole))
            return -1;
        for (int i = 0; i < n; i++)
            if (!memcmp(&sizes.item[i].caps, &sizes.item[n].caps, sizeof sizes.item[i].caps))
                return error_report("--%s: %s and %s are one size; name it once", option->name, sizes.item[i].words,
                                    whole);
    }
    *(struct bucket_sizes *)field = sizes;
    return 0;
}

/* ---- delays ---- */

static int delay_parse(const struct option *option, const char *text, void *field)
{
    static const struct option of_delay = {.name = "inject-delay phase"};
    char name[32], value[32];
    struct delays *delays = field;
    struct delay d = {-1, 0, PHASE_BACKWARD};
    int more, phase = -1, most = sizeof delays->item / sizeof *delays->item;
    for (struct option_list list = {option->name, text, 0}; (more = option_next_pair(&list, name, value)) > 0;) {
        double number = 0;
        int bad = strcmp(name, "phase") && option_number(value, &number);
        if (!strcmp(name, "rank") && !bad && number >= 0 && number < 1e6 && number == floor(number))
            d.rank = (int)number;
        else if (!strcmp(name, "ms") && !bad && number > 0 && number <= 60000)
            d.ms = number;
        else if (!strcmp(name, "phase")) {
            phase = option_choose(&of_delay, value, phase_name);
            if (phase < 0)
                return -1;
        } else
            return error_report("--%s %s: '%s=%s' is not rank=R, ms=TIME (above 0, at most 60000) or phase=NAME",
                                option->name, text, name, value);
    }
    if (more < 0 || d.rank < 0 || d.ms <= 0 || phase < 0)
        return error_report("--%s %s: expected rank=R,ms=TIME,phase=NAME, such as rank=1,ms=5,phase=backward_pass",
                            option->name, text);
    if (delays->n == most)
        return error_report("--%s %s: at most %d delays can be given", option->name, text, most);
    d.phase = (enum step_phase)phase;
    for (int i = 0; i < delays->n; i++)
        if (delays->item[i].rank == d.rank && delays->item[i].phase == d.phase)
            return error_report("--%s %s: rank %d has a delay in %s already", option->name, text, d.rank,
                                phase_name[phase]);
    delays->item[delays->n++] = d;
    return 0;
}

static void delay_print(const struct option *option, const void *field, char *text, size_t size)
{
    const struct delays *delays = field;
    (void)option;
    snprintf(text, size, "%s", delays->n ? "" : "(none)");
    for (const struct delay *d = delays->item; d < delays->item + delays->n; d++)
        text_append(text, size, "%srank=%d,ms=%g,phase=%s", *text ? " " : "", d->rank, d->ms, phase_name[d->phase]);
}

const struct option_kind option_delay = {VALUE_TEXT, "VALUE", delay_parse, delay_print};
const struct option_kind option_strategies = {VALUE_TEXT, "VALUE", strategies_parse, NULL};
const struct option_kind option_buckets = {VALUE_TEXT, "VALUE", buckets_parse, NULL};

/* ---- the rows ---- */

const char *const sharding_name[SHARDINGS + 1] = {"optimizer", "gradients", NULL};

int implementations_make(struct implementation row[MAX_IMPLEMENTATIONS], const struct workload *w, int update)
{
    const struct strategy_list *list = &w->strategies;
    const struct bucket_sizes *sizes = &w->bucket_sizes;
    int n = 0, buckets = 0, found[VARIANTS] = {0};
    unsigned narrow = w->wire_dtypes & 1u << COMM_BF16, gradients = w->shard & 1u << SHARD_GRADIENTS;
    for (int i = 0; i < list->n; i++) {
        const struct named_strategy *item = &list->item[i];
        const struct traits *const *has = item->strategy->traits;
        int plain = (!has[VARIANT_BF16] || w->wire_dtypes & 1u << COMM_FLOAT32) &&
                    (!has[VARIANT_GRADIENTS] || w->shard & 1u << SHARD_OPTIMIZER);
        const int wanted[VARIANTS] = {plain, update && plain, narrow != 0, gradients != 0};
        const struct bucket_size *own = *item->size.words ? &item->size : NULL;
        int has_buckets = has[VARIANT_PLAIN]->buckets, n_sizes = has_buckets && !own ? sizes->n : 1;
        buckets |= has_buckets && !own;
        if (narrow && gradients && has[VARIANT_BF16] && has[VARIANT_GRADIENTS])
            return error_report("--shard gradients: %s with sharded gradients sends fp32 only; leave gradients out of "
                                "--shard, or bf16 out of --wire-dtype",
                                item->strategy->name);
        for (int r = 0; r < n_sizes * VARIANTS; r++) {
            const struct bucket_size *size = own ? own : &sizes->item[r / VARIANTS];
            enum variant variant = (enum variant)(r % VARIANTS);
            if (!wanted[variant] || !has[variant])
                continue;
            if (n == MAX_IMPLEMENTATIONS)
                return error_report("more than %d rows: name fewer implementations, bucket sizes or variants",
                                    MAX_IMPLEMENTATIONS);
            struct implementation *made = &row[n++];
            *made = (struct implementation){.strategy = item->strategy, .variant = variant, .number = item->number};
            snprintf(made->label, sizeof made->label, "%s%s%s%s", item->label, n_sizes > 1 ? ":" : "",
                     n_sizes > 1 ? size->words : "", plain ? variants[variant].suffix : "");
            for (const struct implementation *other = row; other < made; other++)
                if (!strcmp(other->label, made->label))
                    return error_report("--implementations: two rows are called '%s'; give one of them a label, as "
                                        "LABEL=NAME",
                                        made->label);
            if (has_buckets)
                made->size = *size;
            found[variant] = 1;
        }
    }
    if (!buckets && !sizes->automatic)
        return error_report("--bucket-size-mb: none of the implementations has buckets to size; %s, %s, %s and %s do",
                            strategy_ddp_bucketed.name, strategy_ddp_hierarchical.name, strategy_ddp_sharded.name,
                            strategy_ddp_powersgd.name);
    if (!found[VARIANT_BF16] && narrow)
        return error_report("--wire-dtype bf16: none of the implementations sends it; %s, %s, %s and %s do",
                            strategy_ddp_bucketed.name, strategy_ddp_sharded.name, strategy_ddp_flat.name,
                            strategy_ddp_individual_v2.name);
    if (!found[VARIANT_GRADIENTS] && gradients)
        return error_report("--shard %s: none of the implementations shards; %s does", sharding_name[SHARD_GRADIENTS],
                            strategy_ddp_sharded.name);
    if (!found[VARIANT_UPDATE] && update)
        return error_report("--update-in-backward: none of the implementations can update in backward; %s can, with "
                            "--wire-dtype fp32",
                            strategy_ddp_bucketed.name);
    return n;
}

int implementation_is_compared(const struct implementation *row)
{
    return implementation_traits(row)->exact && !row->twin_of;
}

void implementations_mark_twins(struct implementation *row, int n, int ranks, int local_size)
{
    for (struct implementation *a = row; a < row + n; a++) {
        const struct strategy *used = strategy_used(a->strategy, ranks, local_size);
        for (const struct implementation *b = row; b < row + n && used != a->strategy && !a->twin_of; b++)
            if (b->strategy == used && b->variant == a->variant && !strcmp(b->size.words, a->size.words) &&
                b->traced == a->traced && b->captured == a->captured && b->after_backward == a->after_backward)
                a->twin_of = b->label;
    }
}

struct verdict implementations_verdict(const struct implementation *best, double round_seconds)
{
    struct verdict verdict = {.best_size = "", .sample = "round", .sample_seconds = round_seconds, .explain = 1};
    if (!best)
        return verdict;
    verdict.label = best->label;
    verdict.strategy = best->strategy->name;
    verdict.size = best->size.words;
    verdict.form_options = variants[best->variant].options;
    verdict.form_words = variants[best->variant].words;
    return verdict;
}

int implementations_sharding(const struct implementation *row, int n)
{
    int sharding = 0;
    for (int i = 0; i < n; i++)
        sharding += implementation_traits(&row[i])->shards;
    return sharding;
}

void implementations_help(FILE *out)
{
    char form[40];
    fprintf(out, "\nImplementations:\n");
    for (int i = 0; strategies[i]; i++)
        option_help_row(out, strategy_form(strategies[i], form), strategies[i]->summary);
}
