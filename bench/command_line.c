/* command_line.c - the joint command line of the benchmark and the profile. */
#include "command_line.h"

#include "benchmark/benchmark.h"
#include "machine/machine.h"

int command_line_parse(struct command_line *line, int argc, char *const argv[])
{
    training_options_add(&line->table, &line->run.training);
    option_table_add(&line->table, open_device_options(&line->run.device));
    option_table_add(&line->table, comm_options_section(&line->run.comm));
    option_table_add(&line->table, results_options_section(&line->run.results));
    option_table_add(&line->table, monitor_options_section(&line->run.monitor));
    profile_options_add(&line->table, &line->profile);
    if (option_table_parse(&line->table, argc, argv))
        return -1;
    if (line->table.help || line->table.version)
        return 0;
    if (line->profile.profile)
        return profile_options_check(&line->profile, &line->table, &line->run.training);
    return benchmark_options_check(&line->run.training);
}

void command_line_help(FILE *out, const struct command_line *line)
{
    fputs("Usage: mpirun -n RANKS ddpbench [OPTION VALUE]...\n"
          "       mpirun -n RANKS ddpbench allreduce [OPTION VALUE]...   the interconnect alone; has a --help\n"
          "       ddpbench compare BASELINE... --candidate DIR...        whether runs got slower; has a --help\n"
          "       ddpbench report DIR...                                 a run or a sweep in words; has a --help\n\n"
          "Trains a transformer on every rank, synchronises its gradients with each strategy in turn, and compares\n"
          "what the strategies cost; or, with --profile, shows where the time of one of them goes. The defaults are\n"
          "a GPU's; `make bench` has sizes for a laptop.\n",
          out);
    option_table_help(out, &line->table, line->table.help);
    training_options_help_implementations(out);
}
