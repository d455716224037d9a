#!/usr/bin/env python3
"""gpu_trace.py - checks the rules of a GPU's trace, from the trace alone; prints the number of rows of each kind.

Rows of a lane nest or are disjoint; all work of a GPU was launched by an earlier call in a captured step, with a flow
from that call and the same external id; each NCCL kernel is a collective with its number and bandwidth; correlations of
calls and ids of flows are unique; the trace's head lists every GPU with rows. In a merged trace of all ranks, checks only
lanes and GPUs. For a directory, checks that the summary has the times of the NCCL kernels of all ranks as collectives.
"""
import collections
import glob
import json
import os
import sys

sys.dont_write_bytecode = True # writes no files into the source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "consumers"))

import recompute_trace  # noqa: E402 (needs the path above)

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")
CALLS = ("cuda_runtime", "cuda_driver")


class Wrong(Exception):
    """A rule of traces is violated."""


def need(truth, words):
    if not truth:
        raise Wrong(words)


def ns(us):
    return round(us * 1000)


def check_lanes(spans):
    lanes = collections.defaultdict(list)
    for row in spans:
        start = ns(row["ts"])
        lanes[row["pid"], row["tid"]].append((start, -(start + ns(row["dur"])), row["name"]))
    for lane, rows in lanes.items():
        around = []
        for start, end, name in sorted(rows):
            while around and -around[-1][0] <= start:
                around.pop()
            need(not around or -end <= -around[-1][0], f"lane {lane}: {name} and {around[-1:]} partly overlap")
            around.append((end, name))


def check_gpus(trace, spans):
    """Checks that the GPUs in the head have unique ids, and that rows of GPUs have such an id. Returns the number."""
    gpus = [gpu["id"] for gpu in trace["deviceProperties"]]
    need(len(set(gpus)) == len(gpus), "two GPUs have the same id")
    for row in spans:
        if row["cat"] in (*DEVICE, "gpu_user_annotation"):
            need(row["pid"] in gpus and row["args"].get("device", row["pid"]) == row["pid"], f"{row} is on no GPU of the head")
    return len(gpus)


def check_device(rows, spans):
    calls = {}
    for row in spans:
        if row["cat"] in CALLS:
            need(row["args"]["correlation"] not in calls, f"two calls have the correlation of {row}")
            calls[row["args"]["correlation"]] = row
    flows = {ph: {row["id"]: row for row in rows if row["ph"] == ph} for ph in "sf"}
    need(all(len(flows[ph]) == sum(row["ph"] == ph for row in rows) for ph in "sf"), "two flows have the same id")
    steps = [row for row in spans if row["name"].startswith("ProfilerStep#") and row["cat"] == "user_annotation"]
    for row in spans:
        if row["cat"] not in DEVICE:
            continue
        call = calls.get(row["args"]["correlation"])
        need(call is not None, f"no call led to {row}")
        need(call["ts"] <= row["ts"], f"{row} began before its call")
        need(call["args"]["External id"] == row["args"]["External id"], f"{row} belongs to something else than its call")
        need(any(s["ts"] <= call["ts"] < s["ts"] + s["dur"] for s in steps[:-1]), f"{call} is in no captured step")
        if row["cat"] == "cuda_sync":
            continue
        need(row["args"]["stream"] > 0, f"{row} is on no stream")
        from_call = [f for f in flows["s"].values() if f["id"] % 2**32 == row["args"]["correlation"]]
        need(len(from_call) == 1 and from_call[0]["ts"] == call["ts"] and from_call[0]["tid"] == call["tid"],
             f"no flow leaves the call of {row}")
        to = flows["f"].get(from_call[0]["id"])
        need(to and (to["pid"], to["tid"], to["ts"]) == (row["pid"], row["tid"], row["ts"]), f"no flow reaches {row}")


def check_collectives(spans):
    kernels = sorted((row for row in spans if row["cat"] == "kernel" and row["name"].startswith("nccl")),
                     key=lambda row: row["args"]["correlation"])
    hosts = {row["args"]["External id"]: row for row in spans
             if row["name"] == "nccl:all_reduce" and row["cat"] == "user_annotation"}
    last = 0
    for row in kernels:
        arguments = row["args"]
        need(arguments.get("Collective name") == "allreduce", f"{row} is no collective")
        need(arguments["bytes"] in (2 * arguments["In msg nelems"], 4 * arguments["In msg nelems"]), f"bytes of {row}")
        algbw = arguments["bytes"] / max(row["dur"], 1e-9) / 1000
        need(abs(arguments["algbw"] - algbw) <= 1e-5 * algbw, f"{row} has the bandwidth of another time")
        need(arguments["Seq"] > last, f"{row} is out of order")
        last = arguments["Seq"]
        host = hosts[arguments["External id"]]
        need(host["ts"] <= row["ts"], f"{row} began before it was asked for")
    return len(kernels)


def compute_us(spans):
    """Returns how many microseconds the GPU worked on operations: the length of the union of the rows of this work."""
    operations = {row["args"]["External id"] for row in spans if row["cat"] == "cpu_op"}
    work = sorted((ns(row["ts"]), ns(row["ts"]) + ns(row["dur"])) for row in spans
                  if row["cat"] in DEVICE[:3] and row["args"]["External id"] in operations)
    length = end = 0
    for begin, stop in work:
        length += max(0, stop - max(begin, end))
        end = max(end, stop)
    return length / 1000


def steps_of(path):
    """Returns a rank's trace in recompute_trace.py's format: each step's NCCL kernels, and gradient_sync on the GPU."""
    trace = recompute_trace.load(path)
    rows = recompute_trace.rows_of(trace)
    host = {row["args"]["External id"]: row for row in rows if row["cat"] == "user_annotation"}
    steps = [{"number": int(row["name"][13:]), "start": row["start"], "end": row["end"], "comm": [], "phases": []}
             for row in host.values() if row["name"].startswith("ProfilerStep#")]
    for row in rows:
        of_nccl = row["cat"] == "kernel" and "Collective name" in row["args"]
        if of_nccl or (row["cat"] == "gpu_user_annotation" and row["name"] == "gradient_sync"):
            asked = host[row["args"]["External id"]]["start"]
            step = next(s for s in steps if s["start"] <= asked < s["end"])
            step["comm" if of_nccl else "phases"].append(row)
    return {"rank": trace["distributedInfo"]["rank"], "steps": [s for s in steps if s["comm"]]}


def compare(directory):
    with open(glob.glob(os.path.join(glob.escape(directory), "*", "summary.json"))[0], encoding="utf-8") as file:
        summary = json.load(file)
    ranks = sorted(map(steps_of, glob.glob(os.path.join(glob.escape(directory), "*_trace.json"))), key=lambda rank: rank["rank"])
    counted = [s for rank in ranks for s in rank["steps"] if s["number"] >= summary["capture"]["first_counted_step"]]
    check = recompute_trace.Comparison()
    recompute_trace.compare_collectives(check, counted, summary)
    recompute_trace.compare_waits(check, ranks, summary, round(1e9 * summary["capture"]["clock_residual"]))
    print("compared", check.compared)


def main(path):
    if os.path.isdir(path):
        compare(path)
        return
    with open(path, encoding="ascii") as file:
        trace = json.load(file)
    rows = trace["traceEvents"]
    spans = [row for row in rows if row["ph"] == "X"]
    check_lanes(spans)
    need(not any("core_wait_us" in row["args"] for row in spans), "a phase has a wait for a core, which is not measured on GPUs")
    counts = collections.Counter(row["cat"] for row in spans)
    counts["gpus"] = check_gpus(trace, spans)
    if trace["traceName"].endswith("_all_ranks_trace.json"):
        print("gpus", counts["gpus"])
        return
    check_device(rows, spans)
    counts["nccl"] = check_collectives(spans)
    counts["compute_us"] = compute_us(spans)
    counts["steps"] = sum(row["name"].startswith("ProfilerStep#") for row in spans) - 1
    for name in sorted(counts):
        print(name, counts[name])


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("Usage: tests/gpu/gpu_trace.py TRACE | PROFILE_DIRECTORY", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    try:
        main(sys.argv[1])
    except (Wrong, recompute_trace.Wrong) as wrong:
        print(f"{sys.argv[1]}: {wrong}", file=sys.stderr)
        sys.exit(1)
