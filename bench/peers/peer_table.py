"""peer_table.py - how much longer PyTorch's steps take than ddpbench's, from the runs that compare.sh left.

A repeat ran each program once, one after the other, so ratios are taken within a repeat: the median step of a strategy in
PyTorch over that of ddpbench, geometric mean over the repeats, with a 95 % interval from Student's t. torch_ddp has
ddp_bucketed of the same size beside it.
"""

import json
import pathlib
import sys

import peer_stats as stats

BASE, PEERS = "ddpbench", ["torch", "torch_compile"]


def read(directory, name):
    """A run.json or summary.json of each repeat."""
    runs = sorted(directory.parent.glob(f"{directory.name}-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    return [json.loads((run / name).read_text()) for run in runs]


def steps(directory):
    """For each label the median step in ms of every repeat."""
    found = {}
    for summary in read(directory, "summary.json"):
        for label, row in summary["implementations"].items():
            found.setdefault(label, []).append(row["step"]["median"])
    return found


def foreign(directory):
    summaries = read(directory, "summary.json")
    return sum(s["blocks_beside_foreign_work"] for s in summaries) / sum(s["blocks"] for s in summaries)


def main(place):
    place = pathlib.Path(place)
    ours = steps(place / BASE)
    run = read(place / BASE, "run.json")[0]
    peer = read(place / PEERS[0], "run.json")[0]
    host = next(iter(run["hosts"].values()))
    print(f"{BASE} {run['version']} against torch_ddp.py {peer['version']} ({peer['derived']['backend']})")
    print(
        f"{run['derived']['world_size']} ranks x {run['derived']['threads']} threads, {host['cpu']}, {host['kernel']}, {run['time']}"
    )
    print("ddpbench: " + " ".join(run["argv"][1:]))
    print(
        f"\nMedian step in ms, median over {len(read(place / BASE, 'run.json'))} repeats (least to most); ratio to ddpbench by repeat,"
    )
    print("geometric mean [95 % interval]; torch_ddp beside ddp_bucketed of the same size.\n")
    print(f"{'implementation':<20} {'program':<14} {'step':>9} {'least':>9} {'most':>9}   ratio")
    for label, mine in ours.items():
        print_row(label, BASE, mine, None)
        for name in PEERS:
            theirs = steps(place / name)
            print_row(label, name, theirs.get(label, []), mine)
            own = label.replace("ddp_bucketed", "torch_ddp")
            if own != label:
                print_row(own, name, theirs.get(own, []), mine)
    shares = ", ".join(f"{name} {100 * foreign(place / name):.0f} %" for name in [BASE, *PEERS])
    print(f"\nBlocks beside other work on the machine: {shares}.")


def print_row(label, name, sample, base):
    if not sample:
        return
    ratio = ""
    if base:
        found = stats.paired(sample, base)
        ratio = f"{found['ratio']:6.3f} [{found['low']:.3f}, {found['high']:.3f}]"
    print(f"{label:<20} {name:<14} {stats.median(sample):9.2f} {min(sample):9.2f} {max(sample):9.2f}  {ratio}")


if __name__ == "__main__":
    main(sys.argv[1])
