"""fastest.py - compares pairs of runs of ddpbench and PyTorch: the fastest implementation of each, and the losses.

    python3 bench/peers/fastest.py DIR torch

reads DIR/ddpbench-1, DIR/torch-1, DIR/ddpbench-2 ... The fastest implementation has the shortest step (median of the
steps of the runs). `none` counts only if there is no other implementation. With several bucket sizes, each program is
therefore judged by its best size.
"""

import json
import math
import pathlib
import statistics
import sys


def steps_of(run):
    """Returns {implementation: seconds of a step}."""
    figures = json.loads((run / "summary.json").read_text())["figures"]
    return {f["subject"]: f["value"] for f in figures if f["name"] == "step"}


def losses_of(run):
    """Returns {implementation: [loss of each step in the first round]}, of rank 0."""
    found = {}
    for line in (run / "rank_0_metrics.jsonl").read_text().splitlines():
        step = json.loads(line)
        if step["round"] == 0:
            found.setdefault(step["implementation"], []).append(step["loss"])
    return found


def fastest(runs):
    steps = [steps_of(run) for run in runs]
    names = [name for name in steps[0] if name != "none"] or list(steps[0])
    best = min(names, key=lambda name: statistics.median(step[name] for step in steps))
    return best, [step[best] for step in steps]


def main(directory, name):
    ours = sorted(directory.glob("ddpbench-*"))
    theirs = [directory / run.name.replace("ddpbench", name) for run in ours]
    (our_best, our_s), (their_best, their_s) = fastest(ours), fastest(theirs)
    ratio = sorted(a / b for a, b in zip(our_s, their_s, strict=True))
    print(
        f"Fastest of each: ddpbench {our_best} {1e3 * statistics.median(our_s):.1f} ms, {name} {their_best} "
        f"{1e3 * statistics.median(their_s):.1f} ms; ddpbench / {name}: median {statistics.median(ratio):.3f}, "
        f"min {ratio[0]:.3f}, max {ratio[-1]:.3f}, n {len(ratio)} pairs of runs"
    )
    differences, steps = [], set()
    for our_run, their_run in zip(ours, theirs, strict=True):
        our_losses, their_losses = losses_of(our_run), losses_of(their_run)
        for label in our_losses.keys() & their_losses.keys():
            pairs = list(zip(our_losses[label], their_losses[label], strict=True))
            steps.add(len(pairs))
            differences += [abs(a - b) / abs(a) for a, b in pairs]
    if not all(map(math.isfinite, differences)) or len(steps) != 1:
        sys.exit(f"fastest.py: {directory}: the runs have no implementation in common, or losses that are not finite")
    print(
        f"Losses of both in the first {steps.pop()} steps of each implementation differ by at most "
        f"{max(differences):.1e} (relative)."
    )


main(pathlib.Path(sys.argv[1]), sys.argv[2])
