"""peer_strategies.py - the strategies of ddp/strategy_*.c on torch.distributed, and PyTorch's own: DistributedDataParallel,
ZeroRedundancyOptimizer and fully_shard.

A reducer applies a strategy to one model. All strategies but PyTorch's own only sum gradients; the sum is the mean because
backward starts from the factor `scale`. Gradients are None before backward, so that autograd allocates them. A strategy
that needs gradients side by side copies each final gradient into its bucket, and replaces the gradient by a view of the
bucket, as DistributedDataParallel does with gradient_as_bucket_view; so nothing is copied back.
"""

import contextlib
import copy
import functools
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

ALIGNMENT = 16  # floats; every tensor starts at a multiple of it
PER_TENSOR, WHOLE = 0, 2**63


class Bucket(NamedTuple):
    offset: int  # offset and count are in floats
    count: int
    tensors: list  # indices of the tensors in it, in the order in which backward finishes them
    parameters: int


def make_plan(counts, cap_bytes):
    """Cuts tensors of counts[i] floats, last to first, into buckets. A bucket ends with the tensor that brings it to
    cap_bytes of fp32 or more, as in ddp/plan.c. Returns buckets, start of each tensor, and total number of floats."""
    start, end = [0] * len(counts), 0
    buckets = []
    for i in reversed(range(len(counts))):
        start[i] = end
        last = start[i] + counts[i]
        if not buckets or 4 * buckets[-1].parameters >= cap_bytes:
            buckets.append(Bucket(start[i], 0, [], 0))
        s = buckets[-1]
        buckets[-1] = Bucket(s.offset, last - s.offset, [*s.tensors, i], s.parameters + counts[i])
        end += (counts[i] + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return buckets, start, end


def collective(kind, size, tensors, parameters):
    """Returns a collective of `size` bytes in the form of run.json."""
    return {"kind": kind, "bytes": size, "tensors": tensors, "parameters": parameters}


class Reducer:
    """The strategy `none`, a control that reduces nothing; and the base class of the other strategies."""

    name, summary = "none", "control: no reduction; a strategy's cost is its step time minus that of none"
    reduces, buckets, own_model = False, False, False
    cap_bytes = WHOLE
    wire = torch.float32
    optimizer = torch.optim.AdamW

    def __init__(self, model, ranks, micro_batches, bucket_mb, wire_dtype):
        self.model = self.run = model
        self.parameters = list(model.parameters())
        self.scale = torch.tensor(1 / (ranks * micro_batches), device=self.parameters[0].device)  # factor of the loss
        cap_bytes = int(bucket_mb * 1048576) if self.buckets else self.cap_bytes
        self.plan, self.start, self.floats = make_plan([p.numel() for p in self.parameters], cap_bytes)
        self.works, self.handles = [], []
        self.allocate(wire_dtype)

    def allocate(self, wire_dtype):
        """Allocates the arrays that the strategy needs in addition to the gradients."""

    def attach(self):
        """Makes autograd call gradient_ready for each gradient when it is final, until detach."""
        if type(self).gradient_ready is not Reducer.gradient_ready:
            for i, p in enumerate(self.parameters):
                self.handles.append(p.register_post_accumulate_grad_hook(functools.partial(self.hook, i)))

    def detach(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def begin(self, last):
        """Begins a micro-batch (last: a step's last, where gradients become final). Returns the context for it."""
        self.active = last
        return contextlib.nullcontext()

    def hook(self, i, parameter):
        if self.active:
            self.gradient_ready(i)

    def gradient_ready(self, i):
        """Called when the gradient of tensor i is final."""

    def finish(self):
        """Must be called after backward; device work issued after this call finds the reduced gradients."""

    def views(self, arena):
        """Returns a view of each parameter's place in an array that is laid out like the plan."""
        return [arena[s : s + p.numel()].view(p.shape) for s, p in zip(self.start, self.parameters)]

    def start_reduction(self, x):
        self.works.append(dist.all_reduce(x, async_op=True))

    def wait(self):
        for work in self.works:
            work.wait()
        self.works = []

    def collectives(self):
        """Returns kind, bytes, tensors and parameters of each collective of a step."""
        if not self.reduces:
            return []
        return [collective("all_reduce", b.count * self.wire.itemsize, len(b.tensors), b.parameters) for b in self.plan]


class Ddp(Reducer):
    name, summary = "ddp", "after backward, one blocking all-reduce per parameter tensor"
    reduces, cap_bytes = True, PER_TENSOR

    def finish(self):
        for p in self.parameters:
            dist.all_reduce(p.grad)


class Flat(Reducer):
    name, summary = "ddp_flat", "control: after backward, one all-reduce of the whole gradient"
    reduces = True

    def allocate(self, wire_dtype):
        self.arena = torch.zeros(self.floats, device=self.parameters[0].device)
        self.view = self.views(self.arena)

    def finish(self):
        torch._foreach_copy_(self.view, [p.grad for p in self.parameters])
        for p, view in zip(self.parameters, self.view):
            p.grad = view
        dist.all_reduce(self.arena)


class Individual(Reducer):
    name = "ddp_individual"
    summary = "an asynchronous all-reduce per parameter tensor, as soon as its gradient is final"
    reduces, cap_bytes = True, PER_TENSOR

    def gradient_ready(self, i):
        self.start_reduction(self.parameters[i].grad)

    def finish(self):
        self.wait()


class Staged(Reducer):
    name = "ddp_individual_v2"
    summary = "like ddp_individual, through a communication buffer per tensor (--wire-dtype bf16 halves the bytes)"
    reduces, cap_bytes = True, PER_TENSOR

    def allocate(self, wire_dtype):
        self.wire = torch.bfloat16 if wire_dtype == "bf16" else torch.float32
        self.staged = self.views(torch.zeros(self.floats, dtype=self.wire, device=self.parameters[0].device))

    def gradient_ready(self, i):
        self.staged[i].copy_(self.parameters[i].grad)
        self.start_reduction(self.staged[i])

    def finish(self):
        self.wait()
        torch._foreach_copy_([p.grad for p in self.parameters], self.staged)


class Bucketed(Flat):
    name, summary = "ddp_bucketed", "an asynchronous all-reduce per bucket of gradients, as soon as the bucket is full"
    buckets = True

    def allocate(self, wire_dtype):
        super().allocate(wire_dtype)
        self.bucket = [self.arena[s.offset : s.offset + s.count] for s in self.plan]
        self.bucket_of = {i: b for b, s in enumerate(self.plan) for i in s.tensors}

    def begin(self, last):
        self.missing, self.next = [len(s.tensors) for s in self.plan], 0
        return super().begin(last)

    def gradient_ready(self, i):
        self.view[i].copy_(self.parameters[i].grad)
        self.parameters[i].grad = self.view[i]
        self.missing[self.bucket_of[i]] -= 1
        while self.next < len(self.plan) and not self.missing[self.next]:  # all ranks start buckets in this order
            self.start_reduction(self.bucket[self.next])
            self.next += 1

    def finish(self):
        self.wait()


class TorchDdp(Reducer):
    """PyTorch's DistributedDataParallel, with gradient_as_bucket_view, which is faster than its default. It waits for
    reductions at the end of backward, not in gradient_sync."""

    name = "torch_ddp"
    summary = "PyTorch's DistributedDataParallel with bucket_cap_mb = --bucket-size-mb, gradient_as_bucket_view"
    reduces, buckets, own_model = True, True, True

    def __init__(self, model, ranks, micro_batches, bucket_mb, wire_dtype):
        # ranks = 1, since DistributedDataParallel divides by the number of ranks itself
        super().__init__(copy.deepcopy(model), 1, micro_batches, bucket_mb, wire_dtype)
        self.run = DistributedDataParallel(self.model, bucket_cap_mb=bucket_mb, gradient_as_bucket_view=True)

    def begin(self, last):
        return contextlib.nullcontext() if last else self.run.no_sync()

    def collectives(self):
        """Returns the bytes of the buckets that DistributedDataParallel made after one step; it reports no parameters."""
        sizes = self.run._get_ddp_logging_data().get("rebuilt_bucket_sizes", "")
        return [{"kind": "all_reduce", "bytes": int(size)} for size in sizes.replace(",", " ").split()]


class TorchZero(TorchDdp):
    """PyTorch's ZeRO-1: torch_ddp reduces gradients; then each rank updates some of the tensors and broadcasts them, in
    optimizer_step. overlap_with_ddp is off: it refuses gloo, and updates before gradients could be clipped."""

    name = "torch_zero"
    summary = "torch_ddp with PyTorch's ZeroRedundancyOptimizer (ZeRO-1), parameters_as_bucket_view"
    optimizer = staticmethod(
        functools.partial(ZeroRedundancyOptimizer, optimizer_class=torch.optim.AdamW, parameters_as_bucket_view=True)
    )


class TorchFsdp(Reducer):
    """PyTorch's FSDP2, with a group of parameters for each layer and one for the rest. Between backward and the next
    forward a rank keeps only its part of the weights. They are gathered inside forward, in the type of the residual
    stream, as in ddpbench. Gradients are reduced in fp32 during backward, which waits for the reductions at its end."""

    name = "torch_fsdp"
    summary = "PyTorch's fully_shard (FSDP2) of each layer and the root, reshard_after_forward=False (SHARD_GRAD_OP)"
    reduces, own_model = True, True

    def __init__(self, model, ranks, micro_batches, bucket_mb, wire_dtype):
        # ranks = 1, since fully_shard divides by the number of ranks itself
        super().__init__(copy.deepcopy(model), 1, micro_batches, bucket_mb, wire_dtype)
        mesh = init_device_mesh(self.parameters[0].device.type, (ranks,))
        policy = MixedPrecisionPolicy(model.residual, torch.float32, cast_forward_inputs=False)
        for part in (*self.model.layers, self.model):
            fully_shard(part, mesh=mesh, reshard_after_forward=False, mp_policy=policy)

    def begin(self, last):
        self.model.set_requires_gradient_sync(last)
        self.model.set_reshard_after_backward(last)
        return contextlib.nullcontext()

    def collectives(self):
        """Returns the reduce-scatters of a step: of the layers, last to first, and of the rest."""
        layers = [list(layer.parameters()) for layer in reversed(self.model.layers)]
        inside = {id(p) for layer in layers for p in layer}
        groups = [*layers, [p for p in self.model.parameters() if id(p) not in inside]]
        counts = [sum(p.numel() for p in group) for group in groups]
        return [collective("reduce_scatter", 4 * n, len(group), n) for n, group in zip(counts, groups)]


STRATEGIES = {s.name: s for s in (Ddp, Individual, Staged, Bucketed, Flat, Reducer, TorchDdp, TorchZero, TorchFsdp)}
