/* options.c - the options that start the monitors. */
#include "monitor/monitor.h"

#define FIELD(field) offsetof(struct monitor_options, field)

/* clang-format off */
static const struct option rows[] = {
    {.name = "monitor-cpu", .kind = &option_flag, .offset = FIELD(cpu),
     .help = "write what the CPUs do, for whom and how fast, every second"},
    {.name = "monitor-gpu", .kind = &option_flag, .offset = FIELD(gpu),
     .help = "write what NVIDIA GPUs do and what holds them back, every second"},
};
/* clang-format on */

struct option_section monitor_options_section(struct monitor_options *options)
{
    return (struct option_section){.title = "Monitors", OPTION_ROWS(rows), .base = options};
}
