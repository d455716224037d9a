#!/usr/bin/env python3
"""torch_ddp.py - what ddpbench measures, in PyTorch: the same model, data, strategies, blocks and figures.

    torchrun --standalone --nproc-per-node 2 bench/peers/torch_ddp.py --d-model 256 ... --output theirs
    build/ddpbench compare ours --candidate theirs --label ddpbench,torch

One difference is to PyTorch's advantage: batches are made before a block and only copied within it (peer_step.py).
"""

import contextlib
import math
import os
import subprocess
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

import peer_results
from peer_data import Data, Refused, initial_weights
from peer_job import Job, cores_of_others, machine_cpu_seconds
from peer_model import Model, flops, set_weights, shapes
from peer_options import parse_options
from peer_step import PHASES, Batches, Learner, Trainer

DISCARDED_STEPS, DISTURBING_CORES = 2, 0.25
ATTENTION = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}
origin_ns = time.perf_counter_ns()


def say(words):
    print(f"torch_ddp.py: {words}", file=sys.stderr, flush=True)


def version():
    """Returns the versions of ddpbench (with git's description of the sources if they are in git) and of PyTorch."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "bench", "VERSION"), encoding="utf-8") as file:
        ours = file.read().strip()
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-C", root, "describe", "--always", "--dirty", "--tags"]
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            ours += f" ({subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()})"
    return f"{ours}, torch {torch.__version__}"


# ---- set-up ----


def choose_device(options, job):
    """Returns the device of this rank, and the backend of torch.distributed for it."""
    kind = options.device
    if kind == "auto":
        kind = "cuda" if torch.cuda.is_available() else "cpu"
    if kind == "cuda" and not torch.cuda.is_available():
        raise Refused("--device cuda: PyTorch finds no GPU here; use cpu")
    if kind == "cpu" and options.dtype == "tf32":
        raise Refused("--dtype tf32 is for GPUs; this run is on the CPU")
    backend = options.backend if options.backend != "auto" else "nccl" if kind == "cuda" else "gloo"
    if kind == "cpu" and (backend == "nccl" or options.attention in ("cudnn", "efficient")):
        raise Refused("--backend nccl and --attention cudnn and efficient are for GPUs; this run is on the CPU")
    if kind == "cuda" and options.attention in ("flash", "cudnn") and options.dtype != "bf16":
        raise Refused(f"--attention {options.attention} needs --dtype bf16 on a GPU")
    if kind == "cuda":
        if job.local_rank >= torch.cuda.device_count():
            here = f"rank {job.rank} is number {job.local_rank} of its host"
            raise Refused(f"{here}, which has {torch.cuda.device_count()} GPUs")
        torch.cuda.set_device(job.local_rank)
        torch.set_float32_matmul_precision("high" if options.dtype == "tf32" else "highest")
        return torch.device("cuda", job.local_rank), backend
    return torch.device("cpu"), backend


def set_threads(options, job):
    """Sets and returns the threads of this rank: --threads, or else OMP_NUM_THREADS, or else its share of the cores."""
    asked = options.threads or int(os.environ.get("OMP_NUM_THREADS", "").split(",")[0] or 0) or int(job.cores_per_rank())
    torch.set_num_threads(max(1, asked))
    return torch.get_num_threads()


class Run:
    """What the blocks of a run need, and what they have measured so far."""

    def __init__(self, job, options, device, backend, data):
        o = self.options = options
        self.job, self.device, self.backend, self.data = job, device, backend, data
        self.threads = set_threads(o, job)
        micro = o.grad_accumulation
        residual = torch.bfloat16 if o.residual_dtype == "bf16" else torch.float32
        sizes = (o.vocab_size, o.context_length, o.d_model, o.num_layers, o.num_heads, o.d_ff)
        self.model = Model(*sizes, o.compile, residual)
        set_weights(self.model, initial_weights(shapes(self.model), o.seed))
        self.model.place(device)
        automatic = min(25.0, sum(p.numel() for p in self.model.parameters()) / 2**20)  # MiB: a quarter of the gradient
        o.rows = [(label, of, automatic if mb is None else mb) for label, of, mb in o.rows]
        self.reducers = {label: of(self.model, job.size, micro, mb, o.wire_dtype) for label, of, mb in o.rows}
        models = {id(reducer.model): reducer for reducer in self.reducers.values()}
        self.learners = {key: Learner(r.model, r.optimizer) for key, r in models.items()}
        if o.compile:
            for reducer in models.values():
                reducer.model.compile_parts(o.compile_mode)
        self.steps = DISCARDED_STEPS + o.block_steps
        self.trainer = Trainer(o, device, Batches(data, device), self.steps)
        self.samples = {label: [] for label in self.reducers}
        self.losses, self.difference, self.steps_run = None, math.nan, 0
        self.blocks, self.other_cores = 0, []

    def start(self, label):
        """Prepares a block and returns the step of the schedule at which it begins: in the active regime the first step
        after the warm-up; in the warm-up regime so early that the first timed step is the first of the schedule."""
        reducer = self.reducers[label]
        at = -DISCARDED_STEPS if self.options.regime == "warmup" else self.options.warmup_steps
        self.trainer.use(reducer, self.learners[id(reducer.model)], at)
        return at

    def derived(self):
        o = self.options
        tokens = o.batch_size * o.context_length
        found = {
            "world_size": self.job.size,
            "host_count": self.job.hosts,
            "threads": self.threads,
            "cores_per_rank": self.job.cores_per_rank(),
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "tokens_per_step": tokens,
            "model_flops_per_step": flops(self.model, o.context_length, tokens),
            "data_tokens": self.data.tokens,
            "device": self.device.type,
            "torch": {"backend": self.backend},  # ddpbench does not write this key
        }
        if self.device.type == "cuda":
            found["torch"] |= {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
            found["torch"]["nccl"] = ".".join(map(str, torch.cuda.nccl.version())) if self.backend == "nccl" else ""
        return found

    def rows(self):
        return [
            {"name": label, "strategy": of.name}
            | ({"bucket_bytes": int(mb * 1048576), "bucket_rule": "at_least"} if of.buckets else {})
            | {"collectives": self.reducers[label].collectives()}
            for label, of, mb in self.options.rows
        ]  # fmt: skip


# ---- blocks ----


def warm_up(run):
    """Runs some steps of each implementation before the first round, so that code is compiled, and PyTorch has set
    the order of its buckets. Returns the seconds of the last step, summed over all implementations."""
    seconds = 0.0
    for label in run.reducers:
        run.start(label)
        run.job.barrier()
        for slot in range(min(3, run.steps)):
            begin = time.perf_counter()
            run.trainer.step(slot)
            run.trainer.synchronize()
            run.steps_run += 1
        seconds += time.perf_counter() - begin
    return seconds


def run_block(run, label):
    """Runs a block. Returns this rank's report for the other ranks, the steps' times, and the schedule's first step."""
    trainer, job = run.trainer, run.job
    at = run.start(label)
    job.barrier()
    for slot in range(DISCARDED_STEPS):
        trainer.step(slot)
    trainer.synchronize()

    before, process, machine = time.perf_counter(), time.process_time(), machine_cpu_seconds()
    job.barrier()
    start = time.perf_counter()
    for slot in range(DISCARDED_STEPS, run.steps):
        trainer.step(slot)
    trainer.synchronize()
    end = time.perf_counter()
    job.barrier()

    report = {
        "seconds": end - start,
        "process_cpu": time.process_time() - process,
        "machine_cpu": machine_cpu_seconds() - machine,
        "around": time.perf_counter() - before,
    }
    times, timed = trainer.clock.steps(run.steps), run.options.block_steps
    report["phase"] = [1e-9 * sum(t["phase"][p] for t in times[DISCARDED_STEPS:]) / timed for p in range(len(PHASES))]
    report["record"] = trainer.record.tolist()
    return report, times, at


def check_losses(run, reducer, reports):
    """Notes how far the losses differ between strategies that reduce in fp32; they should be equal."""
    mean = [sum(r["record"][i][0] for r in reports) / len(reports) for i in range(run.steps)]
    if not reducer.reduces or reducer.wire is not torch.float32:
        return
    if run.losses is None:
        run.losses = mean
    else:
        worst = max(abs(a - b) / abs(b) for a, b in zip(mean, run.losses))
        run.difference = worst if math.isnan(run.difference) else max(run.difference, worst)


def keep_block(run, results, label, number, report, times, at):
    """Gathers a block: step time of the slowest rank, phases as means over ranks. Writes a line for each step."""
    o, job = run.options, run.job
    reports = job.gather(report)
    phases = [sum(r["phase"][p] for r in reports) / job.size for p in range(len(PHASES))]
    run.samples[label].append((max(r["seconds"] for r in reports) / o.block_steps, phases))
    check_losses(run, run.reducers[label], reports)
    others = cores_of_others(job, reports)
    run.other_cores += [others] if math.isfinite(others) else []
    lines = []
    for i, (t, (loss, norm)) in enumerate(zip(times, report["record"])):
        warmup = run.trainer.schedule.is_warmup(at + i)
        line = {"implementation": label, "round": number, "block": run.blocks, "step": i, "timed": i >= DISCARDED_STEPS}
        line |= {"global_step": run.steps_run + i, "epoch_kind": "warmup" if warmup else "active"}
        line |= {"start": 1e-9 * (t["start"] - origin_ns), "step_ms": 1e-6 * (t["end"] - t["start"])}
        line |= {f"{phase}_ms": 1e-6 * t["phase"][p] for p, phase in enumerate(PHASES)}
        line |= {"loss": loss, "learning_rate": run.trainer.schedule.rate(at + i)}
        if warmup:
            line |= {"grad_norm": norm, "grad_norm_clipped": norm * min(1, o.max_norm / (norm + 1e-6))}
        lines.append(line | {"other_processes_cores": others})
    results.write_lines(lines)
    run.blocks += 1
    run.steps_run += run.steps


def rotated(number, labels):
    """Returns the order of a round: rotated by one each round, and reversed in odd rounds, so that neighbours vary."""
    n, shift = len(labels), number % len(labels)
    return [labels[(n + shift - j) % n if number % 2 else (shift + j) % n] for j in range(n)]


def heading(run):
    o, job = run.options, run.job
    compiled = f"compiled ({o.compile_mode})" if o.compile else "eager"
    rest = f", residual stream in {o.residual_dtype}" if o.dtype == "bf16" else ""
    return [
        f"torch_ddp.py {version()} on {job.size} ranks x {run.threads} threads, hosts: {job.hosts}; {run.device.type}, "
        f"{o.dtype}{rest}, {compiled}, attention {o.attention}, backend {run.backend}",
        f"Model: {o.num_layers} layers, d_model {o.d_model}, {o.num_heads} heads, d_ff {o.d_ff}, "
        f"vocabulary {o.vocab_size}, context {o.context_length}",
        f"Batch: {o.batch_size} sequences a step = {job.size} ranks x {o.grad_accumulation} micro-batches x "
        f"{o.batch_size // job.size // o.grad_accumulation}; data {o.data}; regime {o.regime}",
    ]


def write_summary(run, results, rounds):
    """Writes summary.json; only rank 0 calls. Returns the figures."""
    o, reducers = run.options, run.reducers
    # PyTorch's own strategies are left out: their waits are inside other phases, not separable from computation
    communicates = [label for label, r in reducers.items() if r.reduces and not r.own_model and run.job.size > 1]
    found = peer_results.figures(run.samples, o.batch_size * o.context_length, communicates)
    note = f"Geometric means over {rounds} rounds; a sample is the mean over the timed steps of a block ({o.block_steps})."
    notes = []
    own = dict.fromkeys(reducer.name for reducer in reducers.values() if reducer.own_model)
    if own:
        notes.append(f"Waits of {', '.join(own)} are inside other phases, so their sync time does not include them.")
    others = {"cores": None, "most_cores": max(run.other_cores, default=None)}
    if run.other_cores:
        others["cores"] = sum(run.other_cores) / len(run.other_cores)
        if others["most_cores"] >= DISTURBING_CORES:
            notes.append(f"Note: other processes used {others['cores']:.1f} cores, {others['most_cores']:.1f} at most.")
    if not math.isnan(run.difference):
        notes.append(f"Losses of the strategies that reduce in fp32 differ by at most {run.difference:.1e} (relative).")
    tree = {"schema_version": peer_results.SCHEMA, "mode": peer_results.MODE, "label": o.label}
    tree |= {"done": rounds, "planned": o.rounds, "of": "rounds", "heading": heading(run), "figures": found}
    tree |= {"tables": [peer_results.table(found, note)], "notes": notes, "largest_loss_difference": run.difference}
    tree |= {"timed_steps_per_block": o.block_steps, "blocks": run.blocks, "other_processes": others}
    if run.device.type == "cuda":
        tree["memory_peak_bytes"] = torch.cuda.max_memory_allocated()
    results.write_json("summary.json", tree)
    return found


def measure(run, results):
    o, job = run.options, run.job
    each = warm_up(run)
    tree = peer_results.run_tree(job, o, run.derived(), run.rows(), version())
    if job.rank == 0:
        results.write_json("run.json", tree)
        print("\n".join(heading(run)), end="\n\n", flush=True)
        say(f"about {each * run.steps * o.rounds:.0f} s to go; results go to {results.directory} as they come")
    found, written = [], time.perf_counter()
    for number in range(o.rounds):
        for label in rotated(number, list(run.reducers)):
            keep_block(run, results, label, number, *run_block(run, label))
        if job.rank == 0 and (number + 1 == o.rounds or time.perf_counter() - written > 2):
            found, written = write_summary(run, results, number + 1), time.perf_counter()
    if job.rank == 0:
        for figure in found:
            if figure["name"] == "step":
                print(f"{figure['subject']:<20} {1e3 * figure['value']:10.2f} ms a step", flush=True)
        say(f"`build/ddpbench report {results.directory}` prints the rest")


def main(argv):
    job = Job()
    try:
        o = parse_options(argv, job.size)
        device, backend = choose_device(o, job)
        job.begin(backend)
        batch = (o.vocab_size, o.context_length, o.batch_size, o.grad_accumulation, o.seed)
        data = job.agree(lambda: Data(o.data, *batch, job.rank, job.size))
        results = peer_results.Results(job, o)
        with contextlib.nullcontext() if o.attention == "auto" else sdpa_kernel(ATTENTION[o.attention]):
            measure(Run(job, o, device, backend, data), results)
    except Refused as words:
        if job.rank == 0:
            say(words)
        return 1
    finally:
        job.end()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
