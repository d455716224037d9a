#!/usr/bin/env python3
"""hta_differs.py - checks that TraceDiff of Holistic Trace Analysis compares all rows of two directories of traces.

For each rank and name, TraceDiff must find the number of rows and the total duration over all steps of the traces.
Two kinds of rows are not compared: the empty step after the last step; and phases on a GPU, which end after the host's
step, and which TraceDiff adds to the host's phases of the same name.
"""
import collections
import glob
import gzip
import json
import os
import re
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

from hta.trace_diff import LabeledTrace, TraceDiff  # noqa: E402 (the variable must be set before)


def read(directory):
    """Returns {rank: {name: [number of rows, microseconds]}}, the steps' numbers, and the names of phases on a GPU."""
    ranks, steps, phases = {}, set(), set()
    for path in glob.glob(os.path.join(glob.escape(directory), "*_trace.json*")):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as file:
            trace = json.load(file)
        names = ranks.setdefault(trace["distributedInfo"]["rank"], collections.defaultdict(lambda: [0, 0.0]))
        for row in trace["traceEvents"]:
            if row["ph"] == "X":
                names[row["name"]][0] += 1
                names[row["name"]][1] += row["dur"]
                phases |= {row["name"]} if row["cat"] == "gpu_user_annotation" and "stream" not in row["args"] else set()
        steps |= {int(name.split("#")[1]) for name in names if re.fullmatch(r"ProfilerStep#\d+", name)}
    for names in ranks.values():
        del names[f"ProfilerStep#{max(steps)}"]
    return ranks, sorted(steps)[:-1], phases


def compare(directories):
    """Yields, for each rank, the name of the check and the names of rows that differ."""
    known = [read(directory) for directory in directories]
    traces = [LabeledTrace(label, trace_dir=directory) for label, directory in zip("ab", directories)]
    for rank in sorted(known[0][0]):
        table = TraceDiff.compare_traces(traces[0], traces[1], rank, rank, known[0][1], known[1][1])
        wrong, rows = set(), 0
        for label, (ranks, _, phases) in zip("ab", known):
            found = {name: row for name, row in table.iterrows() if row[f"{label}_counts"]}
            for name in (found.keys() | ranks[rank].keys()) - phases:
                n, us = ranks[rank].get(name, (0, 0))
                rows += n
                if name not in found or found[name][f"{label}_counts"] != n or \
                        abs(found[name][f"{label}_total_duration"] - us) > 1e-6 * us + 0.001:
                    wrong.add(name)
        yield f"{' and '.join(map(os.path.basename, directories))}, rank {rank}: TraceDiff compares all {rows} rows", wrong


def main(directories):
    failed = 0
    for words, wrong in compare(directories):
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} - {words}" + (f", but for {', '.join(sorted(wrong))}" if wrong else ""))
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] == "--help":
        print("Usage: tests/consumers/hta_differs.py TRACE_DIRECTORY TRACE_DIRECTORY", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    sys.exit(main(sys.argv[1:]) != 0)
