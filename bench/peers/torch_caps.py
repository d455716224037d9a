#!/usr/bin/env python3
"""torch_caps.py - steps of PyTorch's DDP with several bucket_cap_mb, in interleaved rounds, and a trace of one of them.

    torchrun --standalone --nproc-per-node 2 bench/peers/torch_caps.py --output theirs

All caps run in one process group, on one model (51 tensors, 4.2 M parameters). A sample is the mean of the timed steps of a
block, on the slowest rank. Writes OUTPUT/steps.json, and the trace of rank R to OUTPUT/rank_R.json.gz.
"""

import argparse
import json
import os
import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

from peer_job import Job

UNTIMED = 2  # steps of a block that are not timed


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n = self.norm1(x)
        x = x + self.attention(n, n, n, need_weights=False)[0]
        return x + self.feed(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocabulary=2000, width=256, layers=4, heads=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Learner:
    """A copy of the model under DDP with a cap in MiB; None: the default."""

    def __init__(self, model, cap):
        copy = Model()
        copy.load_state_dict(model.state_dict())
        self.model = DistributedDataParallel(copy, **({} if cap is None else {"bucket_cap_mb": cap}))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)

    def step(self, tokens, targets):
        self.optimizer.zero_grad()
        logits = self.model(tokens)
        nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        self.optimizer.step()


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--caps", default="1,4,8,default", help="values of bucket_cap_mb; default: not given")
    parser.add_argument("--trace-cap", default="4", help="the cap that is traced")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3, help="timed steps of a block")
    parser.add_argument("--trace-steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=4, help="sequences of a rank, each of 128 tokens")
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def main():
    o = options()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    job = Job()
    job.begin("gloo")
    model = Model()
    caps = o.caps.split(",")
    learners = {cap: Learner(model, None if cap == "default" else float(cap)) for cap in caps}
    tokens = torch.randint(0, 2000, (o.batch, 128))
    targets = torch.randint(0, 2000, (o.batch, 128))
    samples = {cap: [] for cap in caps}
    for number in range(o.rounds + 1):  # the first round warms up
        for cap in caps[number % len(caps) :] + caps[: number % len(caps)]:
            for _ in range(UNTIMED):
                learners[cap].step(tokens, targets)
            job.barrier()
            start = time.perf_counter()
            for _ in range(o.steps):
                learners[cap].step(tokens, targets)
            seconds = max(job.gather(time.perf_counter() - start)) / o.steps
            if number:
                samples[cap].append(seconds)
    os.makedirs(o.output, exist_ok=True)
    traced = learners[o.trace_cap]
    plan = schedule(wait=2, warmup=2, active=o.trace_steps)
    path = os.path.join(o.output, f"rank_{job.rank}.json.gz")
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=plan,
        record_shapes=True,
        on_trace_ready=lambda p: p.export_chrome_trace(path),
    ) as profiler:
        for _ in range(4 + o.trace_steps):
            traced.step(tokens, targets)
            profiler.step()
    if job.rank == 0:
        with open(os.path.join(o.output, "steps.json"), "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "trace_cap": o.trace_cap, "seconds": samples}, file, indent=1)
    job.barrier()
    job.end()


if __name__ == "__main__":
    main()
