"""peer_results.py - the result directory of ddpbench (results/README.md), written by another program."""

import json
import math
import os
import sys
import time

import peer_stats as stats
from peer_data import Refused
from peer_job import cpu_list, host_facts, time_stamp
from peer_step import GRADIENT_SYNC, PHASES

SCHEMA = 1  # of bench/results.h
PROGRAM = "torch_ddp.py"
ENVIRONMENT = ("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GLOO_", "NCCL_", "CUDA_", "TORCH_", "PYTORCH_",
               "GLIBC_TUNABLES", "SLURM_JOB_ID", "SLURM_JOB_N", "SLURM_JOB_CPUS", "SLURM_N", "SLURM_CPUS", "SLURM_STEP")  # fmt: skip


def finite(value):
    """JSON knows no NaN and no infinity."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Results:
    """All ranks make it; rank 0 writes all but the metrics. Files appear when they are whole."""

    def __init__(self, job, options):
        name = options.output
        if not name and job.rank == 0:
            stamp = time.strftime("results/%Y%m%d-%H%M%S") + (f"-{options.label}" if options.label else "")
            number = 2
            name = stamp
            while os.path.exists(name):
                name, number = f"{stamp}-{number}", number + 1
        self.directory = job.gather(name)[0]
        self.metrics = job.agree(lambda: self.open_metrics(job.rank))

    def open_metrics(self, rank):
        try:
            os.makedirs(self.directory, exist_ok=True)
            if os.path.exists(self.path("run.json")):
                raise Refused(f"--output {self.directory} already holds the results of a run; choose another directory")
            return open(self.path(f"rank_{rank}_metrics.jsonl"), "w", encoding="utf-8")
        except OSError as error:
            raise Refused(f"--output {self.directory}: cannot write in it: {error.strerror}") from None

    def path(self, name):
        return os.path.join(self.directory, name)

    def replace(self, name, text):
        with open(self.path(name + ".tmp"), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(self.path(name + ".tmp"), self.path(name))

    def write_json(self, name, tree):
        self.replace(name, json.dumps(finite(tree), indent="\t", allow_nan=False) + "\n")

    def write_lines(self, lines):
        self.metrics.write("".join(json.dumps(finite(line), allow_nan=False) + "\n" for line in lines))
        self.metrics.flush()


def run_tree(job, options, derived, rows, version):
    """What was run, where and with what. All ranks call. What this program has and ddpbench has not, and the other way
    round, stands under keys of its own, so that ddpbench compare tells it and compares the rest."""
    mine = host_facts()
    ranks = job.gather(
        {"rank": job.rank, "host": job.places[job.rank][0], "binding": cpu_list(job.places[job.rank][2])}
    )
    facts = job.gather(mine)
    return {
        "schema_version": SCHEMA,
        "program": PROGRAM,
        "version": version,
        "mode": "benchmark",
        "time": time_stamp(),
        "label": options.label,
        "argv": sys.argv,
        "configuration": options.configuration,
        "derived": derived,
        "implementations": rows,
        "ranks": ranks,
        "hosts": {r["host"]: f for r, f in zip(ranks, facts)},
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(ENVIRONMENT)},
    }


# ---- summary ----


def metric(figures, unit):
    return figures | {"unit": unit}


def no_figure(unit, n=0):
    return {
        "median": math.nan,
        "ci_low": math.nan,
        "ci_high": math.nan,
        "p5": math.nan,
        "p95": math.nan,
        "n": n,
        "unit": unit,
    }


def summarize(samples, strategies, labels, ranks, tokens):
    """samples[label] = a list of blocks, each (step, [phases]) in seconds. Returns the figures of summary.json:
    implementations, comparisons, fastest, not_told_apart_from_fastest."""
    step = {name: [block[0] for block in samples[name]] for name in labels}
    none = next((name for name in labels if strategies[name].name == "none"), None)
    figures = {}
    for name in labels:
        row = figures[name] = {"step": metric(stats.summary(step[name], 1e3), "ms")}
        for p, phase in enumerate(PHASES):
            row[phase] = metric(stats.summary([block[1][p] for block in samples[name]], 1e3), "ms")
        row["tokens_per_second"] = metric(stats.summary([tokens / s for s in step[name]]), "1/s")
        # DistributedDataParallel waits inside backward, where the wait cannot be told from the rest
        known = strategies[name].reduces and not strategies[name].own_model and ranks > 1
        share = [block[1][GRADIENT_SYNC] / block[0] for block in samples[name]] if known else []
        row["communication_ratio"] = metric(stats.summary(share), "1")
        row["sync_cost"] = no_figure("ms")
        if none and name != none:
            found, base = stats.paired(step[name], step[none]), 1e3 * stats.median(step[none])
            cost = {
                key: (found[of] - 1) * base for key, of in (("median", "ratio"), ("ci_low", "low"), ("ci_high", "high"))
            }
            row["sync_cost"] = no_figure("ms", len(step[name])) | cost
    return {"implementations": figures} | compare(step, [name for name in labels if strategies[name].reduces])


def compare(step, reducing):
    """Every two strategies that reduce, paired by round."""
    pairs = [(a, b, stats.paired(step[a], step[b])) for i, a in enumerate(reducing) for b in reducing[i + 1 :]]
    adjusted = stats.holm([found["p"] for _, _, found in pairs])
    tree = {
        "comparisons": [
            {
                "a": a,
                "b": b,
                "step_ratio": found["ratio"],
                "ci_low": found["low"],
                "ci_high": found["high"],
                "p_holm": p,
            }
            for (a, b, found), p in zip(pairs, adjusted)
        ]
    }
    if reducing:
        fastest = min(reducing, key=lambda name: sum(math.log(s) for s in step[name]))
        slower = {a if b == fastest else b for (a, b, _), p in zip(pairs, adjusted) if p < 0.05 and fastest in (a, b)}
        tree |= {
            "fastest": fastest,
            "not_told_apart_from_fastest": [n for n in reducing if n != fastest and n not in slower],
        }
    return tree


def csv_text(options, figures, strategies, buckets, ranks, hosts, threads):
    """summary.csv: the same figures, a row for each implementation and metric, empty where a figure does not exist."""
    columns = ["n", "median", "ci_low", "ci_high", "p5", "p95"]
    lines = [f"label,implementation,strategy,bucket_size_mb,ranks,hosts,threads,metric,unit,{','.join(columns)}"]
    for name, row in figures.items():
        bucket = f"{buckets[name]:.17g}" if strategies[name].buckets else ""
        for of, figure in row.items():
            numbers = ["" if math.isnan(figure[c]) else f"{figure[c]:.17g}" for c in columns]
            start = [options.label, name, strategies[name].name, bucket, ranks, hosts, threads, of, figure["unit"]]
            lines.append(",".join(str(x) for x in start + numbers))
    return "\n".join(lines) + "\n"


# ---- the table ----


def cell(figure, width, digits=2):
    value = figure["median"]
    shown = "n/a" if math.isnan(value) else f"{value:.{0 if abs(value) >= 10000 else digits}f}"
    return f"{shown:>{width}}"


def table_text(tree, options):
    figures = tree["implementations"]
    width = max(14, *map(len, figures))
    head = f"%-{width}s %9s %9s %9s %9s %9s %8s %9s %9s %s"
    lines = [
        head
        % (
            "implementation",
            "forward",
            "backward",
            "sync",
            "optimizer",
            "step",
            "comm",
            "tokens",
            "sync cost",
            "[95 %",
        ),
        head % ("", "ms", "ms", "ms", "ms", "ms", "ratio", "per s", "ms", "interval]"),
    ]
    for name, row in figures.items():
        times = [
            cell(row[of], 9) for of in ("forward_pass", "backward_pass", "gradient_sync", "optimizer_step", "step")
        ]
        ratio, cost = row["communication_ratio"]["median"], row["sync_cost"]
        ratio = "     n/a" if math.isnan(ratio) else f"{100 * ratio:6.1f} %"
        interval = "" if math.isnan(cost["ci_low"]) else f" [{cost['ci_low']:.2f}, {cost['ci_high']:.2f}]"
        lines.append(
            " ".join([f"{name:<{width}}", *times, ratio, cell(row["tokens_per_second"], 9, 0), cell(cost, 9)])
            + interval
        )
    plural = "" if options.block_steps == 1 else "s"
    lines.append(
        f"Medians over {tree['rounds']} rounds; a sample is the mean of {options.block_steps} timed step{plural}."
    )
    if any(strategy.own_model for _, strategy, _ in options.rows):
        lines.append("torch_ddp waits for its reductions within backward, so nothing of them is in sync.")
    if "fastest" in tree:
        equal = tree["not_told_apart_from_fastest"]
        words = f", but cannot be told apart from: {', '.join(equal)}" if equal else ""
        lines += ["", f"Verdict: {tree['fastest']} is the fastest on average (n = {tree['rounds']} rounds){words}."]
    return "\n".join(lines)
