#!/usr/bin/env python3
"""recompute_trace.py - recomputes each step's figures from a profile's traces alone, and compares them with the metrics lines;
and the tables of operations, collectives, buckets and stragglers. recompute_printed.py recomputes the rest from the lines.

Shares no code with ddpbench: computes unions of intervals in whole nanoseconds, as any analyser could. Also checks the
rules of every trace: strict JSON, rows of a lane nest or are disjoint, phases cover the step.
"""
import argparse
import glob
import gzip
import json
import os
import re
import statistics
import sys
from decimal import Decimal

PHASES = ["zero_grad", "data_loading", "parameter_gather", "forward_pass", "backward_pass", "gradient_sync", "gradient_clipping_warmup",
          "optimizer_step", "lr_scheduling", "checkpoint", "save_results"]
TOP_LEVEL = ["schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds",
             "traceEvents", "traceName"]


class Wrong(Exception):
    """A trace or a summary is wrong."""


def refuse(word):
    raise Wrong(f"{word} is not strict JSON")


def find(directory, *pattern):
    """Returns the files below a directory whose names match the pattern; the directory's name may contain any characters."""
    return glob.glob(os.path.join(glob.escape(directory), *pattern))


def find_traces(directory, name):
    """Returns the traces of all ranks."""
    return find(directory, f"{name}_rank_*_trace.json*")


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        return json.load(file, parse_float=Decimal, parse_constant=refuse)


def ns(us):
    value = Decimal(us) * 1000
    if value != int(value):
        raise Wrong(f"{us} us is not a whole number of nanoseconds")
    return int(value)


# ---- intervals ----

def union(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    """Returns the length of the intersection of two unions: |a| + |b| - |a or b|."""
    return length(a) + length(b) - length(union([*a, *b]))


# ---- one trace ----

def rows_of(trace):
    """Returns the rows of a trace that have a duration."""
    rows = []
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            start = ns(event["ts"])
            end = start + ns(event["dur"])
            rows.append({**event, "start": start, "end": end, "args": event.get("args", {})})
            if start < 0 or end < start:
                raise Wrong(f"{event['name']} has a negative time")
    return rows


def check_nesting(rows):
    lanes = {}
    for row in rows:
        lanes.setdefault((row["pid"], row["tid"]), []).append(row)
    for lane in lanes.values():
        stack = []
        for row in sorted(lane, key=lambda r: (r["start"], -r["end"])):
            while stack and stack[-1]["end"] <= row["start"]:
                stack.pop()
            if stack and row["end"] > stack[-1]["end"]:
                raise Wrong(f"{row['name']} at {row['ts']} overlaps {stack[-1]['name']} in part")
            stack.append(row)


def check_arrows(trace, rows):
    """Checks that each arrow begins at a row and ends at a row, and does not end before it begins."""
    lanes = {}
    for row in rows:
        lanes.setdefault((row["pid"], row["tid"]), []).append((row["start"], row["end"]))
    begun = {(e["cat"], e["id"]): e for e in trace["traceEvents"] if e["ph"] == "s"}
    ended = {(e["cat"], e["id"]): e for e in trace["traceEvents"] if e["ph"] == "f"}
    if set(begun) != set(ended) or len({key[1] for key in begun}) != len(begun):
        raise Wrong("an arrow lacks an end, or two have the same id")
    for key, start in begun.items():
        end = ended[key]
        if ns(end["ts"]) < ns(start["ts"]):
            raise Wrong(f"the arrow {key} ends before it begins")
        for event in (start, end):
            if not any(a <= ns(event["ts"]) <= b for a, b in lanes.get((event["pid"], event["tid"]), [])):
                raise Wrong(f"the arrow {key} is at no row")


def steps_of(rows):
    """Returns the steps that have phases, each with its rows by kind; leaves out the last step, which is empty."""
    steps = []
    for row in rows:
        match = re.fullmatch(r"ProfilerStep#(\d+)", row["name"])
        if match:
            steps.append({"number": int(match[1]), "start": row["start"], "end": row["end"], "phases": [],
                          "compute": [], "comm": [], "parts": []})
    steps.sort(key=lambda s: s["start"])
    at = 0

    def begin(row):
        """A collective belongs to the step that queued it: weights may be gathered during the next one."""
        return row["start"] - ns(row["args"].get("queued_us", 0)) if "Collective name" in row["args"] else row["start"]

    for row in sorted(rows, key=begin):
        while at + 1 < len(steps) and begin(row) >= steps[at + 1]["start"]:
            at += 1
        if not steps or not steps[at]["start"] <= begin(row) <= steps[at]["end"]:
            continue
        if row["name"] in PHASES and row["cat"] == "user_annotation":
            steps[at]["phases"].append(row)
        elif "Collective name" in row["args"]:
            steps[at]["comm"].append(row)
        elif "stream" in row["args"]:
            steps[at]["compute"].append(row)
        elif row["cat"] == "cpu_op":
            steps[at]["parts"].append(row)
    return [s for s in steps if s["phases"]]


def in_group(row):
    """Returns whether only some ranks take part in a collective: the ranks of a host, or one rank on each host."""
    return row["args"]["Process Group Name"] != "0"


def reduces(row):
    """Returns whether a collective reduces gradients; in groups, an all-gather is a stage of a reduction."""
    return "reduce" in row["args"]["Collective name"] or in_group(row)


def measure(step, before):
    """Returns a step's figures; before: the collectives that the step before queued, some of which may run during this one."""
    at = step["start"]
    for row in step["phases"]:
        if row["start"] != at:
            raise Wrong(f"ProfilerStep#{step['number']}: {row['name']} does not begin where the phase before it ends")
        at = row["end"]
        if ns(row["args"].get("core_wait_us", 0)) > row["end"] - row["start"]:
            raise Wrong(f"ProfilerStep#{step['number']}: {row['name']} waits for a core longer than it lasts")
    if at != step["end"]:
        raise Wrong(f"ProfilerStep#{step['number']} does not end with its last phase")
    in_step = [(r["name"].split(":")[1], max(r["start"], step["start"]), min(r["end"], step["end"])) for r in before + step["comm"]]
    comm = union((start, end) for _, start, end in in_step if start < end)
    compute = union((r["start"], r["end"]) for r in step["compute"])
    backward = max((r["end"] for r in step["phases"] if r["name"] == "backward_pass"), default=step["end"])
    figures = {f"{p}_ms": sum(r["end"] - r["start"] for r in step["phases"] if r["name"] == p) for p in PHASES}
    figures.update(step_ms=step["end"] - step["start"], comm_busy_ms=length(comm), compute_busy_ms=length(compute),
                   overlap_ms=common(comm, compute),
                   exposed_tail_ms=max(0, max((r["end"] for r in step["comm"] if reduces(r)), default=0) - backward))
    figures["exposed_ms"] = figures["comm_busy_ms"] - figures["overlap_ms"]
    figures["compute_alone_ms"] = figures["compute_busy_ms"] - figures["overlap_ms"]
    figures["idle_ms"] = figures["step_ms"] - length(union(comm + compute))
    for kind in {name for name, start, end in in_step if start < end}:
        of_kind = union((start, end) for name, start, end in in_step if name == kind and start < end)
        figures.update({f"{kind}_ms": length(of_kind), f"{kind}_overlap_ms": common(of_kind, compute)})
    return figures


def read_trace(path):
    text_rank = None
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="ascii") as file:
        text_rank = re.search(r'"rank":\s+(\d+)', file.read(4096))
    trace = load(path)
    if list(trace) != TOP_LEVEL:
        raise Wrong(f"{path}: top level is {list(trace)}")
    rank = trace["distributedInfo"]["rank"]
    if not text_rank or int(text_rank[1]) != rank:
        raise Wrong(f"{path}: the rank cannot be found as analysers look for it")
    rows = rows_of(trace)
    check_nesting(rows)
    check_arrows(trace, rows)
    steps = steps_of(rows)
    for step, before in zip(steps, [{"comm": []}, *steps]):
        step["figures"] = measure(step, before["comm"])
    return {"rank": rank, "size": trace["distributedInfo"]["world_size"], "base": trace["baseTimeNanoseconds"],
            "steps": steps}


# ---- all ranks ----

def find_waits(ranks, residual_ns, first=0):
    """Returns each rank's wait and transfer in each collective; and from step `first` on, how late each rank was when it came
    last, and how long each rank waited for each other rank in gradient_sync."""
    size = len(ranks)
    by_seq = {}
    counted = set()
    for rank in ranks:
        for step in rank["steps"]:
            for row in step["comm"]:
                if step["number"] >= first:
                    counted.add(row["args"]["Seq"])
                by_seq.setdefault(row["args"]["Seq"], {})[rank["rank"]] = row
    late = {r: [] for r in range(size)}
    waiting = {(q, r): [] for q in range(size) for r in range(size)}
    waits = {}
    for seq, rows in by_seq.items():
        if len(rows) != size:
            raise Wrong(f"collective {seq} is on {len(rows)} of {size} ranks")
        if any(map(in_group, rows.values())): # which rank waits for which is then unknown
            waits.update({(seq, r): None for r in rows})
            continue
        order = sorted(rows, key=lambda r: rows[r]["start"])
        last = rows[order[-1]]["start"]
        possible = min(row["end"] for row in rows.values()) >= last
        told = possible and size > 1 and last - rows[order[-2]]["start"] >= max(2 * residual_ns, 1) # exactly one rank came last
        if told and seq in counted:
            late[order[-1]].append(last - rows[order[-2]]["start"])
        for r, row in rows.items():
            wait = last - row["start"]
            known = (told and r == order[-1]) or (possible and wait >= 2 * residual_ns and wait > 0)
            waits[seq, r] = (wait, row["end"] - last) if known else None
            if told and r != order[-1] and seq in counted:
                waiting[r, order[-1]].append((row["start"], last))
    stall = {}
    for rank in ranks:
        sync = union((p["start"], p["end"]) for s in rank["steps"] for p in s["phases"] if p["name"] in ("gradient_sync", "parameter_gather"))
        for r in range(size):
            stall[rank["rank"], r] = common(union(waiting[rank["rank"], r]), sync) if r != rank["rank"] else 0
    return waits, late, stall


class Comparison:
    def __init__(self):
        self.compared = 0

    def same(self, what, ours, theirs, tolerance):
        self.compared += 1
        if (ours is None) != (theirs is None) or (ours is not None and abs(float(ours) - float(theirs)) > tolerance):
            raise Wrong(f"{what}: {ours} in the trace, {theirs} in the summary")


def rows_of_table(summary, key):
    """Returns the rows of a table of the summary; an empty table may be missing."""
    return next((table["rows"] for table in summary["tables"] if table["key"] == key), [])


def figure(summary, name, size=None):
    """Returns a figure of the profiled implementation from the list of figures."""
    for f in summary["figures"]:
        if (f["subject"], f["name"], f.get("bytes")) == (summary["implementation"], name, size):
            return f["value"]
    raise Wrong(f"no figure {name}")


def compare(ranks, directory, summary):
    check = Comparison()
    first = summary["capture"]["first_counted_step"]
    clock = round(1e9 * summary["capture"]["clock_residual"])
    # allows 1 ns per end of a span, and clock drift: traces use rank 0's clock, the summary's durations each rank's own clock
    drift = max(abs(r["clock_drift"]) for r in rows_of_table(summary, "ranks"))
    rounding = max((2e-6 * (len(s["compute"]) + len(s["comm"]) + 8) + drift / (1 - drift) * s["figures"]["step_ms"] * 1e-6
                    for r in ranks for s in r["steps"]), default=1)
    for rank in ranks:
        if [s["number"] for s in rank["steps"]] != summary["capture"]["steps"]:
            raise Wrong(f"rank {rank['rank']}: the trace has other steps than the summary")
        theirs = {}
        with open(os.path.join(directory, f"rank_{rank['rank']}_metrics.jsonl"), encoding="ascii") as lines:
            for line in map(json.loads, lines):
                if line.get("captured"):
                    theirs[line["profiler_step"]] = line
        for step in rank["steps"]:
            compare_segments(check, step, theirs[step["number"]], rounding)
            for name, value in step["figures"].items():
                key = {"comm_busy_ms": "communication_ms", "compute_busy_ms": "compute_ms"}.get(name, name)
                if value or name not in ("checkpoint_ms", "save_results_ms"): # not every step has these
                    check.same(f"rank {rank['rank']} step {step['number']} {name}", value * 1e-6,
                               theirs[step["number"]][key], rounding)
    everyone = len(ranks) == ranks[0]["size"] # false if some ranks wrote no trace
    counted = [s for r in ranks for s in r["steps"] if s["number"] >= first]
    if everyone:
        compare_operations(check, counted, summary, rounding)
        with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
            compare_memory(check, summary, json.load(file))
        if len(ranks) > 1:
            compare_collectives(check, counted, summary)
            compare_late(check, ranks, summary, first, rounding)
            compare_buckets(check, counted, summary, rounding)
        compare_waits(check, ranks, summary, clock)
    return check.compared


def percentile(percent, values):
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]


def core_wait(step, phase):
    return sum(ns(r["args"].get("core_wait_us", 0)) for r in step["phases"] if r["name"] == phase)


def compare_late(check, ranks, summary, first, rounding):
    """Checks how much longer each rank works than a fast rank (the lower quartile of ranks): in its median step, without
    gradient_sync and checkpoint; and in each phase, by the lower quartile, over steps, of the phase's time less waits for a core."""
    names = [p for p in PHASES if p not in ("gradient_sync", "parameter_gather", "checkpoint")]
    steps = [[s for s in rank["steps"] if s["number"] >= first] for rank in ranks]
    work = [1e-6 * statistics.median(sum(s["figures"][f"{p}_ms"] for p in names) for s in mine) for mine in steps]
    pace = sorted(work)[(len(ranks) - 1) // 4]
    quick = {p: [1e-6 * percentile(25, [s["figures"][f"{p}_ms"] - core_wait(s, p) for s in mine]) for mine in steps] for p in names}
    beyond = {p: [v - sorted(of_ranks)[(len(ranks) - 1) // 4] for v in of_ranks] for p, of_ranks in quick.items()}
    rows = rows_of_table(summary, "stragglers")
    for row, below in zip(rows, [*rows[1:], None]):
        r = row["rank"]
        check.same(f"rank {r} late", max(0, work[r] - pace), 1e3 * row["late"], rounding)
        check.same(f"rank {r} late by", max(0, *(beyond[p][r] for p in names)), 1e3 * row["late_by"], rounding)
        if row["late_phase"]:
            check.same(f"rank {r} late phase", beyond[row["late_phase"]][r], 1e3 * row["late_by"], rounding)
        saves = max(work) - max(pace, work[below["rank"]]) if below and work[r] > pace else 0
        waits = 1e-6 * statistics.median(sum(core_wait(s, p) for p in names) for s in steps[r])
        check.same(f"rank {r} core wait", waits, 1e3 * row["core_wait"], rounding)
        check.same(f"rank {r} saves", saves, 1e3 * row["saves"], rounding)


def compare_buckets(check, steps, summary, rounding):
    """Checks the table of buckets, for collectives of the host, whose times are relative to the host's steps."""
    table = rows_of_table(summary, "buckets")
    if not table or any(row["cat"] != "cpu_op" for step in steps for row in step["comm"]):
        return
    times = {}
    for step in steps:
        reductions = [row for row in step["comm"] if reduces(row)]
        last = max(reductions, key=lambda row: row["end"])
        compute = union((r["start"], r["end"]) for r in step["compute"])
        stages = {}
        for row in reductions:
            stages.setdefault(row["args"]["bucket"], []).append(row)
        for bucket, rows in stages.items():
            rows.sort(key=lambda row: row["args"]["Seq"])
            first = [row for row in rows if row["name"] == rows[0]["name"]][-1] # the first stage, in the last micro-batch
            exposed = sum(length(whole) - common(whole, compute) for whole in ([[row["start"], row["end"]]] for row in rows))
            times.setdefault(bucket, []).append(
                (first["start"] - step["start"], max(row["end"] for row in rows) - step["start"], exposed,
                 first["start"] - step["start"] - ns(first["args"]["queued_us"]), last in rows))
    check.same("buckets", len(times), len(table), 0)
    for row in table:
        posted, done, exposed, queued, last = zip(*times[row["bucket"]])
        for name, values in [("posted", posted), ("done", done), ("exposed", exposed), ("queued", queued)]:
            check.same(f"bucket {row['bucket']} {name}", 1e-6 * statistics.median(values), 1e3 * row[name], rounding)
        check.same(f"bucket {row['bucket']} last", statistics.fmean(last), row["last"], 1e-9)


def compare_segments(check, step, line, rounding):
    """Checks the summary's intervals of a step in which collectives were in flight: their order, and their total length."""
    at = 0
    for segment in line["in_flight"]:
        if segment["start_ms"] < at - 1e-9 or segment["end_ms"] <= segment["start_ms"]:
            raise Wrong(f"step {step['number']}: in_flight is not in order")
        at = segment["end_ms"]
    if at > line["step_ms"] + 1e-6:
        raise Wrong(f"step {step['number']}: in_flight goes beyond it")
    check.same(f"step {step['number']}: in_flight", step["figures"]["comm_busy_ms"] * 1e-6,
               sum(s["end_ms"] - s["start_ms"] for s in line["in_flight"]), rounding + 1e-6 * len(line["in_flight"]))


def compare_operations(check, steps, summary, rounding):
    """Checks calls, total and self time by name; a row's self time leaves out the rows that are nested directly in the row."""
    sums = {}
    for step in steps:
        stack = []
        rows = [(r, "phase") for r in step["phases"]] + [(r, "part") for r in step["parts"]]
        rows += [(r, "operation") for r in step["compute"]]
        for row, kind in sorted(rows, key=lambda r: (r[0]["start"], -r[0]["end"])): # stable sort: outer rows first
            key = kind, re.sub(r"^layers\.\d+\.", "", row["name"])
            while stack and stack[-1][0] <= row["start"]:
                stack.pop()
            if stack:
                sums[stack[-1][1]][2] -= row["end"] - row["start"]
            entry = sums.setdefault(key, [0, 0, 0])
            entry[0] += 1
            entry[1] += row["end"] - row["start"]
            entry[2] += row["end"] - row["start"]
            stack.append((row["end"], key))
        for row in step["comm"]:
            entry = sums.setdefault(("collective", row["name"].split(":")[1]), [0, 0, 0])
            entry[0] += 1
            entry[1] += row["end"] - row["start"]
            entry[2] += row["end"] - row["start"]
    theirs = {(row["kind"], row["name"]): row for row in rows_of_table(summary, "operations")}
    if set(theirs) != set(sums):
        raise Wrong(f"operations: only in one of trace and summary: {set(theirs) ^ set(sums)}")
    for key, (calls, total, self_time) in sums.items():
        check.same(f"{key} calls", calls, theirs[key]["calls"], 0)
        check.same(f"{key} total", total * 1e-6, 1e3 * theirs[key]["total"], rounding * calls)
        self_ms = None if theirs[key]["self"] is None else 1e3 * theirs[key]["self"]
        check.same(f"{key} self", None if key[0] == "collective" else self_time * 1e-6, self_ms, rounding * calls)


def compare_memory(check, summary, run):
    """What operations keep is all activations but scratch memory (exactly if no array is padded), and all gradients."""
    sizes, memory = run["configuration"], run["derived"]["memory_bytes_per_rank"]
    kept = {row["name"]: row["memory"] for row in rows_of_table(summary, "operations") if row["memory"]}
    if run["derived"]["device"] != "cpu" or not kept:
        return
    tokens = sizes["context-length"] * sizes["batch-size"] // run["derived"]["world_size"] // sizes["grad-accumulation"]
    width, heads = sizes["d-model"], sizes["num-heads"]
    scratch = 4 * (tokens * (6 * width + sizes["d-ff"]) + sizes["context-length"] * width // heads)
    if tokens % 64 == 0 and sizes["context-length"] % 64 == 0:
        forward = sum(n for name, n in kept.items() if name.endswith("_forward"))
        check.same("kept by forward", forward, memory["activations"] - scratch, 0)
    vocabulary = -(-sizes["vocab-size"] // 64) * 64 - sizes["vocab-size"]
    gradients = sum(n for name, n in kept.items() if not name.endswith("_forward"))
    if not sizes["forward-only"]:
        check.same("kept by backward", gradients, 4 * (run["derived"]["parameters"] + vocabulary * width), 0)
    for name, n in kept.items():
        check.same(f"{name}_memory", n, figure(summary, f"{name}_memory"), 0)


KINDS = {"allreduce": "all_reduce", "_reduce_scatter_base": "reduce_scatter", "_allgather_base": "all_gather", "broadcast": "broadcast"}


def compare_collectives(check, steps, summary):
    """The table has a row for each kind and size; a single kind is not named."""
    groups = {}
    for step in steps:
        for row in step["comm"]:
            groups.setdefault((KINDS[row["args"]["Collective name"]], row["args"]["bytes"]), []).append(row)
    several = len({kind for kind, _ in groups}) > 1
    table = rows_of_table(summary, "collectives")
    check.same("sizes of collectives", len(groups), len(table), 0)
    for row in table:
        kind = row["kind"] if several else next(iter(groups))[0]
        rows = groups[kind, row["bytes"]]
        check.same(f"{row['bytes']} bytes: calls", len(rows), row["calls"], 0)
        all_ranks = rows[0]["args"]["Group size"] == len(rows_of_table(summary, "ranks"))
        duration = statistics.median((r["end"] - r["start"]) * 1e-3 for r in rows)
        check.same(f"{row['bytes']} bytes: duration", duration, 1e6 * row["duration"], 0.01)
        check.same(f"{row['bytes']} bytes: figure", row["duration"], figure(summary, kind if several else "collective", row["bytes"]), 1e-12)
        for name in ["queued", "wait", "transfer"]:
            known = [float(r["args"][f"{name}_us"]) for r in rows if f"{name}_us" in r["args"]]
            if name != "queued" and all_ranks and not summary["capture"]["impossible_collectives"]:
                # a wait within the clocks' residual counts as 0
                known += [0 if name == "wait" else (r["end"] - r["start"]) * 1e-3 for r in rows if f"{name}_us" not in r["args"]]
            theirs = None if row[name] is None else 1e6 * row[name]
            check.same(f"{row['bytes']} bytes: {name}", statistics.median(known) if known else None, theirs, 0.01)
        size = rows[0]["args"]["Group size"]
        if duration:
            busbw = row["bytes"] / duration * 1e6 * (2 if kind == "all_reduce" else 1) * (size - 1) / size
            check.same(f"{row['bytes']} bytes: busbw", busbw, row["busbw"], 1e-3 * row["busbw"])


def compare_waits(check, ranks, summary, residual_ns):
    first = summary["capture"]["first_counted_step"]
    waits, late, stall = find_waits(ranks, residual_ns, first)
    rounding = 0.01 # us
    for rank in ranks:
        for step in rank["steps"]:
            for row in step["comm"]:
                known = waits[row["args"]["Seq"], rank["rank"]]
                for name, value in zip(["wait_us", "transfer_us"], known or (None, None)):
                    said = row["args"].get(name)
                    check.same(f"rank {rank['rank']} collective {row['args']['Seq']} {name}",
                               None if value is None else value * 1e-3, said, rounding)
    steps = summary["capture"]["counted_steps"]
    for row in rows_of_table(summary, "stragglers"):
        r = row["rank"]
        check.same(f"straggler {r} last", len(late[r]), row["last"], 0)
        check.same(f"straggler {r} behind", statistics.median(late[r]) * 1e-3 if late[r] else 0, 1e6 * row["behind"],
                   rounding)
        cost = sum(stall[q, r] for q in range(len(ranks))) / (len(ranks) - 1)
        check.same(f"straggler {r} cost", cost * 1e-6 / steps, 1e3 * row["cost"], 1e-4)


def check_directory(directory, implementation):
    paths = find_traces(directory, implementation)
    if not paths:
        raise Wrong(f"{directory}: no traces of {implementation}")
    ranks = sorted(map(read_trace, paths), key=lambda r: r["rank"])
    if len({r["base"] for r in ranks}) != 1:
        raise Wrong("baseTimeNanoseconds differs between ranks")
    inner = os.path.join(directory, implementation)
    with open(os.path.join(inner, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file, parse_constant=refuse)
    merged = find(inner, "all_ranks", "*.json*")
    if len(merged) != 1:
        raise Wrong(f"{len(merged)} traces of all ranks")
    rows = rows_of(load(merged[0]))
    check_nesting(rows)
    if len({r["args"]["External id"] for r in rows}) != len(rows):
        raise Wrong("External ids of the trace of all ranks are not unique")
    return compare(ranks, inner, summary)


# ---- several profiles of one run ----

def check_merged(check, directory, names):
    """Checks that the merged trace has all rows of each rank's trace of each profile, shifted so that each profile begins at 0."""
    trace = load(find(directory, "comparison", "all_ranks", "*.json*")[0])
    rows = rows_of(trace)
    check_nesting(rows)
    if len({r["args"]["External id"] for r in rows}) != len(rows):
        raise Wrong("External ids of the trace of all profiles are not unique")
    arrows = [(e["ph"], e["id"]) for e in trace["traceEvents"] if e["ph"] in "sf"]
    if len(set(arrows)) != len(arrows):
        raise Wrong("ids of arrows of the trace of all profiles are not unique")
    process = {e["args"]["name"]: e["pid"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    of_pid = {pid: sorted((e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == pid), key=lambda e: e["ts"])
              for pid in process.values()}
    for name in names:
        begins = []
        file = name.replace(":", ".")
        for path in find_traces(os.path.join(directory, file), file):
            alone = load(path)
            own = sorted((e for e in alone["traceEvents"] if e["ph"] == "X"), key=lambda e: e["ts"])
            merged = of_pid[process[f"{name} rank {alone['distributedInfo']['rank']}"]]
            check.same(f"{name}: rows", len(own), len(merged), 0)
            check.same(f"{name}: shifts", 1, len({a["ts"] - b["ts"] for a, b in zip(own, merged)}), 0)
            if name == names[0]: # rows of the other profiles are shifted in time
                moment, joint = (t["baseTimeNanoseconds"] + ns(e["ts"]) for t, e in [(alone, own[0]), (trace, merged[0])])
                check.same(f"{name}: Unix time of its first row, ns", moment, joint, 0)
            begins.append(next(e["ts"] for e in merged if e["name"].startswith("ProfilerStep")))
        if begins:
            check.same(f"{name}: begin, us", 0, float(min(begins)), 1)


def check_comparison(directory):
    with open(os.path.join(directory, "comparison", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file, parse_constant=refuse)
    names = [row["implementation"] for row in rows_of_table(summary, "implementations")]
    check = Comparison()
    for name in names:
        file = name.replace(":", ".")
        check.compared += check_directory(os.path.join(directory, file), file)
    check_merged(check, directory, names)
    return check.compared


# ---- made-up traces with known answers, and broken traces, which show that this script can fail ----

def made_up(rank, rows):
    events = [{"ph": "X", "pid": 1, "tid": tid, "name": name, "cat": cat, "ts": Decimal(ts), "dur": Decimal(dur),
               "args": args} for tid, name, cat, ts, dur, args in rows]
    return {"rank": rank, "steps": steps_of(rows_of({"traceEvents": events})),
            "rows": rows_of({"traceEvents": events})}


def example(rank):
    """Returns rows with 600 us of communication, 300 us of it exposed (rank 1: 550 and 250 us, since rank 1 posts its
    second all-reduce 50 us after rank 0)."""
    second = 2230 + 50 * rank
    reduction = {"Collective name": "allreduce", "stream": 20, "Process Group Name": "0"}
    return [(1, "ProfilerStep#1", "user_annotation", 1000, 1900, {}), (1, "forward_pass", "user_annotation", 1000, 405, {}),
            (1, "backward_pass", "user_annotation", 1405, 825, {}), (1, "gradient_sync", "user_annotation", 2230, 305, {}),
            (1, "optimizer_step", "user_annotation", 2535, 365, {}), (1, "gemm", "cpu_op", 1100, 300, {"stream": 7}),
            (1, "gemm", "cpu_op", 1410, 400, {"stream": 7}), (1, "gemm", "cpu_op", 1820, 410, {"stream": 7}),
            (2, "mpi:all_reduce", "cpu_op", 1830, 300, {**reduction, "Seq": 1}),
            (2, "mpi:all_reduce", "cpu_op", second, 2530 - second, {**reduction, "Seq": 2}),
            (1, "adamw", "cpu_op", 2540, 150, {"stream": 7})]


def expect_wrong(what, action, *arguments):
    try:
        action(*arguments)
    except Wrong:
        return
    raise Wrong(f"{what} was not noticed")


def self_test():
    for rank, comm, exposed, overlap in [(0, 600, 300, 300), (1, 550, 250, 300)]:
        trace = made_up(rank, example(rank))
        check_nesting(trace["rows"])
        figures = measure(trace["steps"][0], [])
        got = figures["comm_busy_ms"], figures["exposed_ms"], figures["overlap_ms"]
        if got != (comm * 1000, exposed * 1000, overlap * 1000):
            raise Wrong(f"made-up rank {rank}: {got}")
    ranks = [made_up(r, example(r)) for r in range(2)]
    waits, late, stall = find_waits(ranks, 100)
    if waits[2, 0] != (50000, 250000) or late != {0: [], 1: [50000]} or stall != {(0, 0): 0, (0, 1): 50000, (1, 0): 0, (1, 1): 0}:
        raise Wrong(f"made-up waits: {waits} {late} {stall}")
    if find_waits(ranks, 30000)[0][2, 0] is not None:
        raise Wrong("a wait within the clocks' residual was reported")
    half_in = [(1, "a", "cpu_op", 0, 10, {}), (1, "b", "cpu_op", 5, 10, {})]
    expect_wrong("a row that overlaps another in part", check_nesting, made_up(0, half_in)["rows"])
    gap = [row for row in example(0) if row[1] != "gradient_sync"]
    expect_wrong("a gap between phases", measure, made_up(0, gap)["steps"][0], [])
    waits = [(*row[:5], {**row[5], "core_wait_us": row[4] + 1}) if row[1] == "gradient_sync" else row for row in example(0)]
    expect_wrong("a wait for a core that is longer than its phase", measure, made_up(0, waits)["steps"][0], [])
    expect_wrong("NaN", lambda: json.loads("[NaN]", parse_constant=refuse))
    expect_wrong("a figure that differs", Comparison().same, "x", 1, 1.1, 0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="made-up traces with known answers, and broken ones")
    parser.add_argument("directory", nargs="?", help="the directory given to --profile-output-dir")
    parser.add_argument("implementation", nargs="?", help="the implementation given to --profile-implementation; leave it out for a profile of several")
    arguments = parser.parse_args()
    try:
        if arguments.self_test:
            self_test()
            print("the made-up traces give the known answers")
        else:
            n = (check_directory(arguments.directory, arguments.implementation) if arguments.implementation else
                 check_comparison(arguments.directory))
            print(f"{n} figures agree with the traces")
    except Wrong as wrong:
        print(f"recompute_trace.py: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
