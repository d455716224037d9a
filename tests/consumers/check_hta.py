"""check_hta.py - checks that Holistic Trace Analysis (HTA) finds in the traces of ddpbench what these contain.

    python3 tests/consumers/check_hta.py agrees PROFILE_DIRECTORY IMPLEMENTATION   # the figures that ddpbench has computed
    python3 tests/consumers/check_hta.py knows TRACE_DIRECTORY                     # the known answers of made-up traces of two GPUs
    python3 tests/consumers/check_hta.py differs TRACE_DIRECTORY TRACE_DIRECTORY   # TraceDiff compares all rows of two directories
"""
import collections
import json
import os
import re
import sys

from checks import end, find_traces, read_trace, result

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

import hta.common.types as types  # noqa: E402 (the variable must be set before)

pattern = types.CommunicateKernelGroupingPattern
pattern.pattern = re.compile(pattern.pattern.pattern + r"|(^mpi:)|(^MPI_)")

from hta.trace_analysis import TraceAnalysis  # noqa: E402
from hta.trace_diff import LabeledTrace, TraceDiff  # noqa: E402


def figures(analysis):
    """Returns {rank: (compute time and exposed communication, both in us; overlap in %)} as HTA computes them."""
    breakdown = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    return {rank: (float(breakdown.loc[rank, "compute_time(us)"]), float(breakdown.loc[rank, "non_compute_time(us)"]),
                   float(overlap.loc[rank, "comp_comm_overlap_pctg"])) for rank in sorted(breakdown.index)}


def compare(subject, of_ranks, expected, near):
    """Checks the figures of each rank, {rank: figures}, by the function near(HTA's, expected)."""
    result(sorted(of_ranks) == sorted(expected), f"{subject}: HTA finds {len(of_ranks)} ranks")
    for rank, known in expected.items():
        for name, a, b in zip(("compute time, us", "exposed communication, us", "overlap, %"), of_ranks[rank], known):
            result(near(a, b), f"{subject}, rank {rank}: {name}: HTA's {a:.2f}, expected {b:.2f}")


def agrees(directory, implementation):
    expected = {}
    for rank in range(2):
        sums = collections.Counter()
        with open(os.path.join(directory, implementation, f"rank_{rank}_metrics.jsonl"), encoding="ascii") as lines:
            for line in map(json.loads, lines):
                if line.get("captured"):
                    sums.update({key: line[key] for key in ("compute_ms", "exposed_ms", "overlap_ms", "communication_ms")})
        expected[rank] = (1000 * sums["compute_ms"], 1000 * sums["exposed_ms"], 100 * sums["overlap_ms"] / sums["communication_ms"])
    compare(implementation, figures(TraceAnalysis(trace_dir=directory)), expected, lambda a, b: abs(a - b) <= 0.01 * b)


def knows(directory):
    analysis = TraceAnalysis(trace_dir=directory)
    _, whole = analysis.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=0)
    result(whole, "a GPU: HTA follows the critical path")
    # the second of two collectives is 50 us shorter on rank 1; copies count as exposed communication
    compare("a GPU", figures(analysis), {0: (1250, 350, 50), 1: (1250, 300, 54.55)}, lambda a, b: abs(a - b) < 0.01)


def rows_of(directory):
    """Returns {rank: {name: [number of rows, microseconds]}}, the steps' numbers, and the names of phases on a GPU."""
    ranks, steps, phases = {}, set(), set()
    for trace in map(read_trace, find_traces(directory)):
        names = ranks.setdefault(trace["distributedInfo"]["rank"], collections.defaultdict(lambda: [0, 0.0]))
        for row in (event for event in trace["traceEvents"] if event["ph"] == "X"):
            names[row["name"]][0] += 1
            names[row["name"]][1] += row["dur"]
            phases |= {row["name"]} if row["cat"] == "gpu_user_annotation" and "stream" not in row["args"] else set()
        steps |= {int(name.split("#")[1]) for name in names if re.fullmatch(r"ProfilerStep#\d+", name)}
    for names in ranks.values():
        del names[f"ProfilerStep#{max(steps)}"]
    return ranks, sorted(steps)[:-1], phases


def differs(*directories):
    """For each rank and name, TraceDiff must find the number of rows and the total duration over all steps of the traces.
    Two kinds of rows are not compared: the empty step after the last step; and phases on a GPU, which end after the host's
    step, and which TraceDiff adds to the host's phases of the same name."""
    known = [rows_of(directory) for directory in directories]
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
        result(not wrong, f"{' and '.join(map(os.path.basename, directories))}, rank {rank}: TraceDiff compares all {rows} rows",
               [f"not {name}" for name in sorted(wrong)])


if __name__ == "__main__":
    {"agrees": agrees, "knows": knows, "differs": differs}[sys.argv[1]](*sys.argv[2:])
    end()
