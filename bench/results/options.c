/* options.c - the options that say where results go and what they are called. */
#include "results/results.h"

#define FIELD(field) offsetof(struct results_options, field)

/* clang-format off */
static const struct option rows[] = {
    {.name = "output", .common = 1, .kind = &option_text, .offset = FIELD(output), .initial = "",
     .help = "result directory; default results/<time>[-<label>]"},
    {.name = "label", .kind = &option_label, .offset = FIELD(label), .initial = "",
     .help = "a name for this run, kept in its results"},
};
/* clang-format on */

struct option_section results_options_section(struct results_options *options)
{
    return (struct option_section){.title = "Results", OPTION_ROWS(rows), .base = options};
}
