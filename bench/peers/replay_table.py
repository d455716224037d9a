#!/usr/bin/env python3
"""replay_table.py - the table of replay_check.sh: PyTorch's steps by bucket_cap_mb, replayed and predicted by ddpbench.

Usage: replay_table.py STEPS.json REPLAYED_DIRECTORY PREDICTED.json
Exit status: 0 if all replayed and predicted steps are within 10 % of PyTorch's and have its order wherever PyTorch's steps
differ by more than their joint 95 % interval; else 4.
"""

import itertools
import json
import math
import sys

T_95 = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


def mean(samples):
    """Returns the geometric mean, and the half width of its logarithm's 95 % interval."""
    logs = [math.log(s) for s in samples]
    middle = sum(logs) / len(logs)
    variance = sum((x - middle) ** 2 for x in logs) / (len(logs) - 1)
    t = T_95[min(len(logs) - 2, len(T_95) - 1)]
    return math.exp(middle), t * math.sqrt(variance / len(logs))


def figures(list_of, unit="s"):
    return {f["subject"]: f for f in list_of if f["name"] == "step" and f["unit"] == unit}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        theirs = json.load(file)
    with open(f"{sys.argv[2]}/summary.json", encoding="utf-8") as file:
        replayed = figures(json.load(file)["figures"])
    with open(sys.argv[3], encoding="utf-8") as file:
        predicted = figures(json.load(file)["figures"])
    samples, rows, good = theirs["seconds"], {}, True
    print(f"PyTorch {theirs['torch']}: steps in ms, geometric means over n = {len(next(iter(samples.values())))} blocks of a cap,")
    print(f"with 95 % intervals; replayed and predicted (90 %) from the trace of cap {theirs['trace_cap']}.\n")
    print(f"{'bucket_cap_mb':14} {'PyTorch':>26} {'replayed':>10} {'%':>7} {'predicted':>26} {'%':>7}")
    for cap, seconds in samples.items():
        name = f"ddp_bucketed:{'1+25' if cap == 'default' else cap}"
        step, half = mean(seconds)
        ours, guess = replayed[name], predicted[name]
        rows[cap] = (step, half, ours["value"], guess["value"])
        off = [100 * (ours["value"] / step - 1), 100 * (guess["value"] / step - 1)]
        good &= max(map(abs, off)) <= 10
        own = f"{1e3 * step:.2f} [{1e3 * step / math.exp(half):.2f}, {1e3 * step * math.exp(half):.2f}]"
        its = f"{1e3 * guess['value']:.2f} [{1e3 * guess['low']:.2f}, {1e3 * guess['high']:.2f}]"
        print(f"{cap:14} {own:>26} {1e3 * ours['value']:10.2f} {off[0]:+7.1f} {its:>26} {off[1]:+7.1f}")
    print()
    for a, b in itertools.combinations(rows, 2):
        gap, joint = math.log(rows[a][0] / rows[b][0]), math.hypot(rows[a][1], rows[b][1])
        if abs(gap) <= joint:
            print(f"{a} and {b}: PyTorch's steps do not differ by more than their joint interval")
            continue
        same = [(rows[a][i] > rows[b][i]) == (gap > 0) for i in (2, 3)]
        words = [f"{what} {'the same' if s else 'another'} order" for what, s in zip(("replayed", "predicted"), same)]
        print(f"{a} and {b}: PyTorch {100 * (math.exp(gap) - 1):+.1f} %; {', '.join(words)}")
        good &= all(same)
    print(f"\n{'All' if good else 'Not all'} steps are within 10 %, in PyTorch's order.")
    sys.exit(0 if good else 4)


if __name__ == "__main__":
    main()
