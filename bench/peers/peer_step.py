"""peer_step.py - one training step (Trainer.step), and the clock that times its phases (PhaseClock).

The phases are those of ddp/step.c. On the CPU the host's clock times them. On a GPU events time them, which the device
records between its operations: neither the host nor the device waits in order to be timed.
"""

import contextlib
import time

import numpy as np
import torch
from torch.distributed.tensor import DTensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

PHASES = [
    "zero_grad", "data_loading", "forward_pass", "backward_pass",
    "gradient_sync", "gradient_clipping_warmup", "optimizer_step", "lr_scheduling",
]  # fmt: skip
ZERO_GRAD, DATA_LOADING, FORWARD, BACKWARD, GRADIENT_SYNC, CLIPPING, OPTIMIZER, LR_SCHEDULING = range(len(PHASES))


class PhaseClock:
    """Times phases, which follow one another without gaps: entering one ends the one before it."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"
        self.events, self.used, self.marks = [], 0, []

    def begin_block(self):
        """Forgets the phases of the block before. The device must be idle."""
        self.used, self.marks = 0, []
        self.host_ns = time.perf_counter_ns()
        self.base = self.now()

    def now(self):
        """Returns a time in ns; on a GPU an event, reused from the block before if there is one."""
        if not self.cuda:
            return time.perf_counter_ns()
        if self.used == len(self.events):
            self.events.append(torch.cuda.Event(enable_timing=True))
        event = self.events[self.used]
        event.record()
        self.used += 1
        return event

    def enter(self, slot, phase):
        """Begins a phase of step `slot`; phase None ends the step."""
        self.marks.append((slot, phase, self.now()))

    def ns(self, mark):
        return self.host_ns + int(1e6 * self.base.elapsed_time(mark)) if self.cuda else mark

    def steps(self, n):
        """Returns each step's start and end in ns of the host's clock, and each phase's ns. The device must be idle."""
        found = [{"start": None, "end": None, "phase": [0] * len(PHASES)} for _ in range(n)]
        marks = [(slot, phase, self.ns(mark)) for slot, phase, mark in self.marks]
        for (slot, phase, start), (_, _, end) in zip(marks, marks[1:]):
            if phase is None:
                continue
            step = found[slot]
            step["start"] = start if step["start"] is None else step["start"]
            step["end"] = end
            step["phase"][phase] += end - start
        return found


class Schedule:
    """The learning rate rises from 0 in step 0 to `peak` in step `warmup` and stays, computed in fp32 as in ddpbench.
    Gradients are clipped in the steps before step `warmup`."""

    def __init__(self, peak, warmup):
        self.peak, self.warmup = np.float32(peak), warmup

    def is_warmup(self, step):
        return step < self.warmup

    def rate(self, step):
        if step >= self.warmup:
            return float(self.peak)
        return float(self.peak * np.float32(max(0, step)) / np.float32(self.warmup))


class Batches:
    """The micro-batches of this rank, made once and then kept; for a GPU, in pinned memory."""

    def __init__(self, data, device):
        self.data, self.device, self.kept = data, device, {}

    def prepare(self, first, steps):
        for step in range(first, first + steps):
            for m in range(self.data.micro_batches):
                if (step, m) not in self.kept:
                    pair = [torch.from_numpy(x) for x in self.data.micro_batch(step, m)]
                    self.kept[step, m] = [x.pin_memory() if self.device.type == "cuda" else x for x in pair]

    def load(self, step, m):
        return [x.to(self.device, non_blocking=True) for x in self.kept[step, m]]


class Learner:
    """A model with its optimizer and the weights that every block begins with."""

    def __init__(self, model, optimizer=torch.optim.AdamW):
        self.parameters = list(model.parameters())
        self.start = [p.detach().clone() for p in self.parameters]
        self.optimizer = optimizer(self.parameters, lr=0.0, fused=True)  # and weight_decay=0.01, its default
        self.moments = getattr(self.optimizer, "optim", self.optimizer).state  # ZeroRedundancyOptimizer wraps one

    def reset(self):
        """Restores the starting weights, and zeroes the moments and the step count of AdamW."""
        with torch.no_grad():
            for p, start in zip(self.parameters, self.start):
                p.copy_(start)
            for state in self.moments.values():
                for x in state.values():
                    x.zero_()
        self.optimizer.zero_grad()

    def gradient_norm(self):
        """Returns the norm of the whole gradient, even if this rank has only a part of it (a DTensor)."""
        norm = get_total_norm([p.grad for p in self.parameters], foreach=True)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm


class Trainer:
    def __init__(self, options, device, batches, slots):
        self.options, self.device, self.batches = options, device, batches
        self.clock, self.schedule = PhaseClock(device), Schedule(options.lr, options.warmup_steps)
        self.record = torch.zeros(slots, 2, device=device)  # loss and gradient norm of each slot
        self.slots = [row.unbind() for row in self.record]
        self.autocast = options.dtype == "bf16"
        self.reducer, self.learner, self.at = None, None, 0

    def use(self, reducer, learner, at):
        """Switches to a strategy and its model, with the schedule at step `at` and the data at step max(0, at)."""
        if self.reducer:
            self.reducer.detach()
        self.reducer, self.learner, self.at, self.data_at = reducer, learner, at, max(0, at)
        reducer.attach()
        learner.reset()
        self.set_rate()
        self.record.zero_()
        self.batches.prepare(self.data_at, len(self.record))
        self.synchronize()
        self.clock.begin_block()

    def set_rate(self):
        for group in self.learner.optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.at)

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def precision(self):
        return torch.autocast(self.device.type, torch.bfloat16) if self.autocast else contextlib.nullcontext()

    def step(self, slot):
        """Trains one step, whose times, loss and norm go to `slot`. Does not wait for the device."""
        o, reducer, optimizer, clock = self.options, self.reducer, self.learner.optimizer, self.clock
        loss_of_step, norm_of_step = self.slots[slot]

        clock.enter(slot, ZERO_GRAD)
        optimizer.zero_grad()

        for m in range(o.grad_accumulation):
            clock.enter(slot, DATA_LOADING)
            token, target = self.batches.load(self.data_at, m)

            clock.enter(slot, FORWARD)
            with reducer.begin(m + 1 == o.grad_accumulation):
                with self.precision():
                    loss = reducer.run(token, target)
                loss_of_step.add_(loss.detach(), alpha=1 / o.grad_accumulation)

                clock.enter(slot, BACKWARD)
                loss.backward(reducer.scale)

        clock.enter(slot, GRADIENT_SYNC)
        reducer.finish()

        if self.schedule.is_warmup(self.at):
            clock.enter(slot, CLIPPING)
            norm_of_step.copy_(self.learner.gradient_norm())
            clip_grads_with_norm_(self.learner.parameters, o.max_norm, norm_of_step, foreach=True)
        clock.enter(slot, OPTIMIZER)
        optimizer.step()

        clock.enter(slot, LR_SCHEDULING)
        self.at += 1
        self.data_at += 1
        self.set_rate()
        clock.enter(slot, None)
