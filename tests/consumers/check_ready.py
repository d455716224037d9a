#!/usr/bin/env python3
"""check_ready.py - a profile's traces have the gradients of each step in the order in which backward finishes them, at the
times that its table of buckets shows.

Usage: check_ready.py PROFILE_DIRECTORY IMPLEMENTATION
"""

import itertools
import json
import statistics
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def steps(events, first):
    """Returns [(start, end)] of the steps from number `first` on, in us, but for the empty one at the end."""
    of = [(int(e["name"].split("#")[1]), e["ts"], e["ts"] + e["dur"]) for e in events if e["name"].startswith("ProfilerStep#")]
    return [(start, end) for number, start, end in sorted(of)[:-1] if number >= first]


def main():
    directory, label = sys.argv[1:]
    run = read(f"{directory}/{label}/run.json")
    summary = read(f"{directory}/{label}/summary.json")
    names = [t["name"] for t in run["tensors"]]
    buckets = next(t for t in summary["tables"] if t["key"] == "buckets")["rows"]
    warmup = run["configuration"]["warmup-epochs"]
    collectives = next(i for i in run["implementations"] if i["name"] == label)["collectives"]
    last = list(itertools.accumulate(c["tensors"] for c in collectives))
    samples = [[] for _ in buckets]
    for rank in range(run["derived"]["world_size"]):
        trace = read(f"{directory}/{label}_rank_{rank}_trace.json")["traceEvents"]
        ready = [e for e in trace if e["name"] == "gradient ready"]
        for start, end in steps(trace, 1 + warmup):
            mine = [e for e in ready if start <= e["ts"] < end]
            if [e["args"]["tensor"] for e in mine] != names[::-1]:
                sys.exit("the gradients of a step are not in backward's order")
            for bucket, sample in zip(buckets, samples):
                sample.append(mine[last[bucket["bucket"]] - 1]["ts"] - start)
    for bucket, sample in zip(buckets, samples):
        if abs(statistics.median(sample) - 1e6 * bucket["ready"]) > 1:
            sys.exit(f"bucket {bucket['bucket']}: {statistics.median(sample):.3f} us in the traces, {1e6 * bucket['ready']:.3f} in the table")


if __name__ == "__main__":
    main()
