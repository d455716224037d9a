"""peer_results.py - writes a result directory like ddpbench's (results/README.md), for its `compare` and `report`."""

import json
import math
import os
import sys
import time
from statistics import geometric_mean

from peer_data import Refused
from peer_job import cpu_list, host_facts
from peer_step import GRADIENT_SYNC, PHASES

SCHEMA, PROGRAM, MODE = 4, "torch_ddp.py", "benchmark"  # MODE: results have the form of the benchmark
ENVIRONMENT = ("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GLOO_", "NCCL_", "CUDA_", "TORCH_", "PYTORCH_",
               "GLIBC_TUNABLES", "SLURM_JOB_ID", "SLURM_JOB_N", "SLURM_JOB_CPUS", "SLURM_N", "SLURM_CPUS",
               "SLURM_STEP")  # fmt: skip


def finite(tree):
    """Returns a copy of a dictionary in which values that are NaN or infinite are None, since JSON has neither."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in tree.items()}


class Results:
    """A result directory. Every rank writes its own metrics; rank 0 writes the other files, each as a whole."""

    def __init__(self, job, options):
        name = options.output
        if not name:
            stamp = time.strftime("results/%Y%m%d-%H%M%S") + (f"-{options.label}" if options.label else "")
            number, name = 2, stamp
            while os.path.exists(name):
                number, name = number + 1, f"{stamp}-{number}"
        self.directory = job.gather(name)[0]
        self.metrics = job.agree(lambda: self.open_metrics(job.rank))

    def open_metrics(self, rank):
        try:
            os.makedirs(self.directory, exist_ok=True)
            metrics = f"rank_{rank}_metrics.jsonl"
            for name in ("run.json", "summary.json", metrics):
                path = self.path(name)
                if os.path.lexists(path) and (os.path.islink(path) or os.path.getsize(path)):
                    raise Refused(f"--output {self.directory} already holds {name}; choose another directory")
            return open(self.path(metrics), "w", encoding="utf-8")
        except OSError as error:
            raise Refused(f"--output {self.directory}: cannot write in it: {error.strerror}") from None

    def path(self, name):
        return os.path.join(self.directory, name)

    def write_json(self, name, tree):
        part = self.path(f".ddpbench-{name}.part")
        if os.path.lexists(part):
            os.unlink(part)
        with open(part, "x", encoding="utf-8") as file:
            file.write(json.dumps(finite(tree), indent="\t", allow_nan=False) + "\n")
        os.replace(part, self.path(name))

    def write_lines(self, lines):
        self.metrics.write("".join(json.dumps(finite(line), allow_nan=False) + "\n" for line in lines))
        self.metrics.flush()


def run_tree(job, options, derived, rows, version):
    """Returns the content of run.json: what was run, where and with what. All ranks call this. `ddpbench compare`
    compares the keys that both programs write, and lists the keys that only one of them writes."""
    everyone = job.gather(host_facts())
    ranks = [{"rank": r, "host": host, "binding": cpu_list(cpus)} for r, (host, _, cpus) in enumerate(job.places)]
    return {
        "schema_version": SCHEMA,
        "program": PROGRAM,
        "version": version,
        "mode": MODE,
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "label": options.label,
        "argv": sys.argv,
        "configuration": options.configuration,
        "derived": derived,
        "implementations": rows,
        "ranks": ranks,
        "hosts": {r["host"]: facts for r, facts in zip(ranks, everyone)},
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(ENVIRONMENT)},
    }


# ---- summary ----


def mean(sample):
    """Returns the geometric mean, as ddpbench does: 0 if a value is 0."""
    return geometric_mean(sample) if min(sample) > 0 else 0.0


def figures(samples, tokens, communicates):
    """Returns the list of figures: geometric means over the blocks of samples[label], each block a (step, [phases]) in seconds.
    Only labels in `communicates` get a communication_ratio, the share of gradient_sync in a step."""
    found = []

    def add(label, name, unit, sample, better="lower"):
        figure = {"subject": label, "name": name, "unit": unit, "value": mean(sample), "low": None, "high": None}
        found.append(figure | {"n": len(sample), "better": better, "judged": name == "step"})

    for label, blocks in samples.items():
        add(label, "step", "s", [step for step, _ in blocks])
        for p, phase in enumerate(PHASES):
            if mean([phases[p] for _, phases in blocks]) > 0:  # the phase ran
                add(label, phase, "s", [phases[p] for _, phases in blocks])
        add(label, "tokens_per_second", "1/s", [tokens / step for step, _ in blocks], "higher")
        if label in communicates:
            add(label, "communication_ratio", "1", [phases[GRADIENT_SYNC] / step for step, phases in blocks])
    return found


def table(found, note):
    """Returns a table with a row for each implementation, in the form of bench/base/table.h."""
    times = ("forward_pass", "backward_pass", "gradient_sync", "optimizer_step", "step")
    heading = ("forward", "backward", "sync", "optimizer", "step")
    real = [(key, f"{word}\nms", "s", 1000, 2) for key, word in zip(times, heading)]
    real += [("communication_ratio", "comm\nratio", "1", 1, 3), ("tokens_per_second", "tokens\nper s", "1/s", 1, 0)]
    columns = [{"key": "implementation", "kind": "text", "heading": "implementation", "width": -14}]
    columns += [dict(key=k, kind="real", heading=h, unit=u, scale=s, width=9, decimals=d) for k, h, u, s, d in real]
    keys, rows = [column["key"] for column in columns], {}
    for figure in found:
        row = rows.setdefault(figure["subject"], {"implementation": figure["subject"]})
        if figure["name"] in keys:
            row[figure["name"]] = figure["value"]
    return {"key": "implementations", "title": "", "columns": columns, "rows": list(rows.values()), "notes": [note]}
