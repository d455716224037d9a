#!/usr/bin/env python3
"""big_trace.py - predict reads a made-up trace of a GPU of 2.1 GB, whose events are in no order, in at
most 64 MiB and 60 s, and finds the times with which it was made.

Usage: tests/long/big_trace.py [PROGRAM [STEPS]]      (default: build/ddpbench, and 2100 steps of 1 MB); takes two minutes
"""

import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

MIB, SECONDS = 64, 60
LAUNCHES, FIRST, EVERY = 1500, 500, 10  # of a step: kernels; the first gradient's, and from one gradient to the next
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"


def event(category, name, thread, ts, dur, **arguments):
    return json.dumps({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": ts, "dur": dur, "args": arguments})


def step(number):
    """A step of 100 ms on the host. Its kernels start 60 ms later, 60 us apart, and take 40 us each."""
    at = 1e9 + 1e5 * number
    yield event("user_annotation", f"ProfilerStep#{number}", 1, at, 1e5)
    for k in range(LAUNCHES):
        launched, correlation = at + 10 + 50 * k, LAUNCHES * number + k
        yield event("cuda_runtime", "cudaLaunchKernel", 1 if k < FIRST else 2, launched, 5, cbid=211, correlation=correlation)
        yield event("kernel", KERNEL, 7, at + 60000 + 60 * k, 40, stream=7, correlation=correlation, grid=[1, 2, 3], block=[128, 1, 1])
        yield event("cpu_op", "aten::add_", 2, launched, 5, **{"Input Dims": [[64, 64], [64, 64], []], "External id": k})
        if k >= FIRST and k % EVERY == 0:
            outer = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
            yield event("cpu_op", outer, 2, launched + 2, 30)
            yield event("cpu_op", "torch::autograd::AccumulateGrad", 2, launched + 6, 10, **{"Input Dims": [[100, k]], "Input type": ["float"]})


def write(path, steps):
    rng = random.Random(1)
    order = list(range(steps))
    rng.shuffle(order)
    size = 0
    with gzip.open(path, "wt", compresslevel=1) as file:
        size += file.write('{"distributedInfo": {"rank": 3, "world_size": 8}, "traceEvents": [')
        for i, number in enumerate(order):
            events = list(step(number))
            rng.shuffle(events)
            size += file.write((",\n" if i else "") + ",\n".join(events))
        size += file.write("]}")
    return size


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return
    program = sys.argv[1] if len(sys.argv) > 1 else "build/ddpbench"
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "trace.json.gz")
        size = write(path, int(sys.argv[2]) if len(sys.argv) > 2 else 2100)
        start = time.monotonic()
        command = [program, "predict", path, "--link-model", "latency=5us,bandwidth=12.5GB/s", "--bucket-size-mb", "1+25", "--csv", "-"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600).stdout
        seconds = time.monotonic() - start
    mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    # without communication a step is 100 ms from first kernel to first kernel
    compute = float(next(line for line in printed.splitlines() if line.startswith("ddp_bucketed")).split(",")[7])
    print(f"{size / 1e9:.2f} GB: {mib:.0f} MiB, {seconds:.0f} s (at most {MIB} and {SECONDS}); computation of a step {1e3 * compute:.2f} ms")
    sys.exit(0 if mib <= MIB and seconds <= SECONDS and abs(compute - 0.1) < 0.002 else 4)


if __name__ == "__main__":
    main()
