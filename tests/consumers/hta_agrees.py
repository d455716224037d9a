#!/usr/bin/env python3
"""hta_agrees.py - checks that Holistic Trace Analysis computes the same figures from a profile's traces as ddpbench."""
import json
import os
import re
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

import hta.common.types as types  # noqa: E402 (the variable must be set before)

pattern = types.CommunicateKernelGroupingPattern
pattern.pattern = re.compile(pattern.pattern.pattern + r"|(^mpi:)|(^MPI_)")

from hta.trace_analysis import TraceAnalysis  # noqa: E402

TOLERANCE = 0.01


def ours(directory, implementation, rank):
    """Returns ddpbench's figures of a rank, summed over all captured steps, in microseconds."""
    sums = {"compute_ms": 0, "exposed_ms": 0, "overlap_ms": 0, "communication_ms": 0}
    path = os.path.join(directory, implementation, f"rank_{rank}_metrics.jsonl")
    with open(path, encoding="ascii") as lines:
        for line in map(json.loads, lines):
            if line.get("captured"):
                for name in sums:
                    sums[name] += 1000 * line[name]
    return sums


def main(directory, implementation):
    analysis = TraceAnalysis(trace_dir=directory)
    breakdown = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    ranks = sorted(breakdown.index)
    wrong = 0
    if len(ranks) < 2:
        print(f"not ok - HTA found {len(ranks)} ranks")
        return 1
    for rank in ranks:
        mine = ours(directory, implementation, rank)
        pairs = [("compute time, us", mine["compute_ms"], float(breakdown.loc[rank, "compute_time(us)"])),
                 ("exposed communication, us", mine["exposed_ms"], float(breakdown.loc[rank, "non_compute_time(us)"])),
                 ("overlap, %", 100 * mine["overlap_ms"] / mine["communication_ms"],
                  float(overlap.loc[rank, "comp_comm_overlap_pctg"]))]
        for name, a, b in pairs:
            good = abs(a - b) <= TOLERANCE * a
            wrong += not good
            print(f"{'ok' if good else 'not ok'} - {implementation} rank {rank}: {name}: ours {a:.2f}, HTA's {b:.2f}")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] == "--help":
        print("Usage: tests/consumers/hta_agrees.py PROFILE_DIRECTORY IMPLEMENTATION", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    sys.exit(main(sys.argv[1], sys.argv[2]) != 0)
