#!/usr/bin/env python3
"""hta_knows.py - checks that Holistic Trace Analysis finds the known answers in the made-up traces of two GPUs."""
import os
import sys

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

from hta.trace_analysis import TraceAnalysis  # noqa: E402 (the variable must be set before)

# the answers for rank 0 and rank 1; the second of two collectives is 50 us shorter on rank 1
KNOWN = {"compute time, us": [1250, 1250], "exposed communication and copies, us": [350, 300], "overlap, %": [50, 54.55]}


def main(directory):
    analysis = TraceAnalysis(trace_dir=directory)
    breakdown = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    _, whole = analysis.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=0)
    wrong = not whole
    print(f"{'ok' if whole else 'not ok'} - a GPU: HTA follows the critical path")
    for rank in range(2):
        found = [breakdown.loc[rank, "compute_time(us)"], breakdown.loc[rank, "non_compute_time(us)"],
                 overlap.loc[rank, "comp_comm_overlap_pctg"]]
        for (name, known), value in zip(KNOWN.items(), found):
            good = abs(known[rank] - float(value)) < 0.01
            wrong += not good
            print(f"{'ok' if good else 'not ok'} - a GPU, rank {rank}: {name}: known {known[rank]}, HTA's {value}")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] == "--help":
        print("Usage: tests/consumers/hta_knows.py TRACE_DIRECTORY", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    sys.exit(main(sys.argv[1]) != 0)
