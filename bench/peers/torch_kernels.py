#!/usr/bin/env python3
"""torch_kernels.py - rates of PyTorch's kernels, as a table of tab-separated values, for comparison with make bench-kernels.

    python3 bench/peers/torch_kernels.py > kernels.tsv          # on a GPU: attention, matrix products, copies
    python3 bench/peers/torch_kernels.py --device cpu --quick   # small sizes, to see that it runs

One row a measurement: what ran (operation under its name in kernels/device.h, backend, dtype), its sizes, the median
and the least time in microseconds over the repeats, and the rate of the median, counted as in kernels/operations.h: GFLOP/s for attention
(only the causal half: 2 B H T^2 D forward, 5 B H T^2 D backward) and for linear layers (2 N I O), GB/s for the rest
(every array read or written once). If a backend cannot run an operation, its row has "N/A"; the reason is on stderr.

On a GPU a repeat is timed by events around several calls, behind a kernel that clears the second-level cache.
"""

import argparse
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}
WIDTHS = [(768, 768), (3072, 768), (768, 3072), (10000, 768), (2304, 768), (6144, 768), (10048, 768), (50257, 768), (50304, 768),
          (1600, 1600), (6400, 1600), (1600, 6400), (4096, 4096), (16384, 4096), (4096, 16384)]  # fmt: skip
COLUMNS = ["operation", "backend", "dtype", "sizes", "us_median", "us_least", "repeats", "rate", "unit"]


class Clock:
    """Times calls, in seconds. A repeat is several calls in a row, long compared with the clock's resolution."""

    def __init__(self, device, repeats):
        self.cuda, self.repeats = device.type == "cuda", repeats
        self.trash = torch.empty(256 << 20, dtype=torch.uint8, device=device) if self.cuda else None

    def once(self, call, calls):
        if not self.cuda:
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            return (time.perf_counter() - begin) / calls
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.trash.zero_()  # clears the cache, and keeps the device busy while the host issues the calls
        start.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        return 1e-3 * start.elapsed_time(end) / calls

    def seconds(self, call):
        """Returns the seconds of a call, for each repeat. A repeat has as many calls as fill 2 ms, but at most 20."""
        for _ in range(3):
            call()
        if self.cuda:
            torch.cuda.synchronize()
        calls = max(1, min(20, int(2e-3 / max(1e-6, self.once(call, 1)))))
        return [self.once(call, calls) for _ in range(self.repeats)]


def row(clock, names, sizes, amount, unit, call):
    """Measures a call and prints its row; amount is what the call does, in GFLOP or GB."""
    try:
        seconds = clock.seconds(call)
        median, least = statistics.median(seconds), min(seconds)
        figures = [f"{1e6 * median:.2f}", f"{1e6 * least:.2f}", str(len(seconds)), f"{amount / median:.4g}"]
    except RuntimeError as error:  # a backend reports what it lacks only when it is called
        print(f"torch_kernels.py: {' '.join(names)} {sizes}: {str(error).splitlines()[0]}", file=sys.stderr)
        figures = ["N/A", "N/A", "0", "N/A"]
    print("\t".join([*names, sizes, *figures, unit]), flush=True)


def attention(clock, device, dtype, backend, B, H, T, D):
    """Measures forward, which keeps what backward needs, and backward alone."""
    q, k, v = (torch.randn(B, H, T, D, device=device, dtype=dtype, requires_grad=True) for _ in range(3))
    upstream = torch.randn_like(q)
    product = B * H * T * T * D / 1e9  # the causal half of one matrix product, in GFLOP
    sizes, word = f"B={B} H={H} T={T} D={D}", str(dtype).removeprefix("torch.")

    def forward():
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    with sdpa_kernel(BACKENDS[backend]):
        row(clock, ("attention_forward", backend, word), sizes, 2 * product, "GFLOP/s", forward)
        try:
            out = forward()
        except RuntimeError:
            return  # row() has reported it
        row(clock, ("attention_backward", backend, word), sizes, 5 * product, "GFLOP/s",
            lambda: torch.autograd.grad(out, (q, k, v), upstream, retain_graph=True))  # fmt: skip


def linear(clock, device, dtype, N, I, O):  # noqa: E741
    """Measures the products of a linear layer: y = x w^T, y = residual + x w^T, dx = dy w, dw = dy^T x."""
    x, w, dy, residual = (torch.randn(s, device=device, dtype=dtype) for s in ((N, I), (O, I), (N, O), (N, O)))
    tf32 = dtype is torch.float32 and torch.get_float32_matmul_precision() == "high"
    word = "tf32" if tf32 else str(dtype).removeprefix("torch.")
    for name, call in (
        ("forward", lambda: F.linear(x, w)),
        ("residual_forward", lambda: torch.addmm(residual, x, w.t())),
        ("backward_input", lambda: dy @ w),
        ("backward_weight", lambda: dy.t() @ x),
    ):
        row(clock, (f"linear_{name}", "default", word), f"N={N} I={I} O={O}", 2 * N * I * O / 1e9, "GFLOP/s", call)


def memory_bound(clock, device, n):
    """Measures memory-bound operations on arrays of n floats: plain ones, for the bandwidth, and RMSNorm."""
    x, y, z = torch.randn(n, device=device), torch.empty(n, device=device), torch.randn(n, device=device)
    half = torch.empty(n, device=device, dtype=torch.bfloat16)
    rows, gain = x.view(-1, 1024), torch.ones(1024, device=device)
    for name, bytes_each, call in (
        ("copy", 8, lambda: y.copy_(x)),
        ("zero", 4, y.zero_),
        ("pack_bf16", 6, lambda: half.copy_(x)),
        ("add", 12, lambda: torch.add(x, z, out=y)),
        ("rmsnorm_forward", 8, lambda: F.rms_norm(rows, (1024,), gain, 1e-5)),
    ):
        row(clock, (name, "default", "float32"), f"n={n}", bytes_each * n / 1e9, "GB/s", call)


def adamw(clock, device, count):
    """Measures fused AdamW, which reads gradient, weight and both moments, and writes all but the gradient."""
    w = torch.randn(count, device=device, requires_grad=True)
    w.grad = torch.randn(count, device=device)
    optimizer = torch.optim.AdamW([w], fused=True)
    row(clock, ("adamw", "fused", "float32"), f"n={count}", 7 * 4 * count / 1e9, "GB/s", optimizer.step)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    words = argparse.ArgumentParser(description=__doc__, formatter_class=raw, allow_abbrev=False)
    words.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    words.add_argument("--repeats", type=int, default=20, help="repeats of every measurement, after a warm-up (default 20)")
    words.add_argument("--tokens", type=int, default=16384, help="B x T of attention, rows of products (default 16384)")
    words.add_argument("--quick", action="store_true", help="small sizes and 3 repeats")
    o = words.parse_args()
    if o.repeats < 1 or o.tokens < 8192 and not o.quick:
        words.error("--repeats must be at least 1, --tokens at least 8192")
    kind = o.device if o.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    if kind == "cuda" and not torch.cuda.is_available():
        words.error("--device cuda: PyTorch finds no GPU here")
    device = torch.device(kind)
    clock = Clock(device, 3 if o.quick else o.repeats)
    torch.manual_seed(0)
    name = torch.cuda.get_device_name() if kind == "cuda" else "CPU"
    print(f"# torch {torch.__version__}, {name}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}, "
          f"{torch.get_num_threads()} CPU threads")  # fmt: skip
    print("\t".join(COLUMNS))
    tokens = 512 if o.quick else o.tokens
    shapes = [(T, (256 if o.quick else 2048) // D, D) for T in ((128, 256) if o.quick else (512, 2048, 8192)) for D in (64, 128)]
    for T, heads, D in shapes if o.quick else [(512, 12, 64), *shapes]:
        for backend in ("flash",) if kind == "cpu" else BACKENDS:
            attention(clock, device, torch.bfloat16, backend, max(1, tokens // T), heads, T, D)
    widths = [(256, 256), (1024, 256)] if o.quick else WIDTHS
    for precision, dtype in (("highest", torch.bfloat16), ("highest", torch.float32), ("high", torch.float32)):
        if precision == "high" and kind == "cpu":
            continue
        torch.set_float32_matmul_precision(precision)
        for N, K in widths:
            linear(clock, device, dtype, tokens, K, N)
    memory_bound(clock, device, (1 << 20) if o.quick else (1 << 28))
    adamw(clock, device, (1 << 20) if o.quick else (1 << 28))


if __name__ == "__main__":
    main()
