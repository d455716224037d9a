"""peer_options.py - the command line: options of ddpbench, with its names and defaults, and options of PyTorch."""

import argparse
import math
import re

from peer_data import Refused
from peer_strategies import STRATEGIES


def at_least(least, kind):
    def number(text):  # argparse puts this function's name into its message about a wrong number
        if not least <= (value := kind(text)) < math.inf:
            raise argparse.ArgumentTypeError(f"{text}: expected a number from {least:g}")
        return value

    return number


COUNT, COUNT_OR_0, REAL, POSITIVE = at_least(1, int), at_least(0, int), at_least(0, float), at_least(1e-30, float)

# fmt: off
OURS = {  # option: (its type, or the words to choose from; its default)
    "vocab-size": (COUNT_OR_0, 0), "context-length": (COUNT, 512), "d-model": (COUNT, 768), "num-layers": (COUNT, 12),
    "num-heads": (COUNT, 12), "d-ff": (COUNT, 3072),
    "batch-size": (COUNT, 32), "batch-size-per-rank": (COUNT_OR_0, 0), "grad-accumulation": (COUNT, 1),
    "data": (str, "synthetic"), "seed": (COUNT_OR_0, 0),
    "num-epochs": (COUNT, 10), "warmup-epochs": (COUNT_OR_0, 3), "steps-per-epoch": (COUNT, 1), "lr": (REAL, 0.001),
    "max-norm": (POSITIVE, 1.0),
    "implementations": (str, "none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed"),
    "bucket-size-mb": (str, "auto"), "wire-dtype": (("fp32", "bf16"), "fp32"), "threads": (COUNT_OR_0, 0),
    "regime": (("active", "warmup"), "active"), "rounds": (COUNT, 10), "steps-per-block": (COUNT_OR_0, 0),
    "output": (str, ""), "label": (str, ""),
    "device": (("auto", "cpu", "cuda"), "auto"), "dtype": (("fp32", "tf32", "bf16"), "fp32"),
}
PYTORCH = {
    "residual-dtype": (("fp32", "bf16"), "fp32",
                       "with --dtype bf16 (autocast), type of residual stream and norms; bf16: all activations"),
    "attention": (("auto", "flash", "cudnn", "efficient", "math"), "auto",
                  "backend of scaled_dot_product_attention: flash, cudnn, efficient, math, or auto (PyTorch's choice)"),
    "compile": (bool, False, "torch.compile each layer and the head; needs a C++ compiler"),
    "compile-mode": (("default", "max-autotune-no-cudagraphs"), "default", "default or max-autotune-no-cudagraphs"),
    "backend": (("auto", "nccl", "gloo"), "auto", "backend of torch.distributed; auto: nccl on GPUs, gloo on CPUs"),
}
# fmt: on


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(f"{message}; see --help")


def make_parser():
    strategies = "\n".join(f"  {s.name:<20} {s.summary}" for s in STRATEGIES.values())
    parser = Parser(
        usage="torchrun --standalone --nproc-per-node RANKS bench/peers/torch_ddp.py [OPTION VALUE]...\n"
        "       mpirun -n RANKS python3 bench/peers/torch_ddp.py ...   or with srun; both read MASTER_ADDR and MASTER_PORT",
        description="Does in PyTorch what ddpbench does, and leaves results that `ddpbench compare` and `report` read.",
        epilog=f"implementations:\n{strategies}",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=26, width=200),
        allow_abbrev=False,
    )
    for title, options in (("options of ddpbench; its --help describes them", OURS), ("PyTorch", PYTORCH)):
        group = parser.add_argument_group(title)
        for name, (kind, default, *words) in options.items():
            words = " ".join([*words, "" if kind is bool or default == "" else f"[{default}]"])
            takes = {"choices": kind} if isinstance(kind, tuple) else {"type": kind}
            how = {"action": "store_true"} if kind is bool else takes | {"default": default, "metavar": ""}
            group.add_argument(f"--{name}", help=words, **how)
    return parser


def make_rows(implementations, bucket_sizes):
    """Returns [(label, strategy, bucket_mb)]. A strategy with buckets has a row for each size; if there are several
    sizes, labels include the size. bucket_mb is None for auto, until the model is known; 0 without buckets."""
    sizes, rows = bucket_sizes.split(","), []
    if bucket_sizes != "auto" and not all(re.fullmatch(r"[0-9]*\.?[0-9]+", size) and float(size) > 0 for size in sizes):
        raise Refused(f"--bucket-size-mb {bucket_sizes}: expected auto, or numbers above 0, with commas between them")
    for word in implementations.split(","):
        label, name = word.partition("=")[0], word.partition("=")[2] or word
        if name not in STRATEGIES:
            raise Refused(f"--implementations: unknown implementation '{name}'; known: {', '.join(STRATEGIES)}")
        if STRATEGIES[name].buckets:
            mb = [(size, None if size == "auto" else float(size)) for size in sizes]
            rows += [(f"{label}:{size}" if len(sizes) > 1 else label, STRATEGIES[name], value) for size, value in mb]
        else:
            rows.append((label, STRATEGIES[name], 0.0))
        if not re.fullmatch("[A-Za-z0-9_+-]{1,40}", label):
            raise Refused(f"--implementations: label '{label}' may hold 1 to 40 letters, digits, _, - and +")
    if len({label for label, _, _ in rows}) < len(rows):
        raise Refused("--implementations: one is listed twice; give each its own label, as in a=ddp,b=ddp")
    return rows


def parse_options(argv, ranks):
    """Returns the options as fields, with _ for -, adapted to `ranks`; `configuration` has them for run.json."""
    words = [re.sub("^--[^=]*", lambda name: name[0].replace("_", "-"), word) for word in argv]
    o = make_parser().parse_args(words)
    values = vars(o).copy()
    o.rows = make_rows(o.implementations, o.bucket_size_mb)
    narrow = {"ddp_bucketed", "ddp_flat"} & {strategy.name for _, strategy, _ in o.rows}
    if o.wire_dtype == "bf16" and narrow:
        raise Refused(f"--wire-dtype bf16: {narrow.pop()} sends fp32 here; ddp_individual_v2 sends bf16")
    if not re.fullmatch("[A-Za-z0-9_.+-]{0,100}", o.label):
        raise Refused(f"--label '{o.label}': may hold letters, digits, _, -, + and . only, at most 100")
    if o.d_model % o.num_heads or o.d_model // o.num_heads % 2:
        raise Refused(f"--num-heads {o.num_heads} does not divide --d-model {o.d_model} into heads of even width")
    if o.residual_dtype == "bf16" and o.dtype != "bf16":
        raise Refused("--residual-dtype bf16 needs --dtype bf16")
    if o.warmup_epochs > o.num_epochs:
        raise Refused(f"--warmup-epochs {o.warmup_epochs} is more than --num-epochs {o.num_epochs}")
    o.warmup_steps = o.warmup_epochs * o.steps_per_epoch
    of_regime = o.warmup_steps if o.regime == "warmup" else o.num_epochs * o.steps_per_epoch - o.warmup_steps
    o.block_steps = o.steps_per_block or of_regime
    if not o.block_steps:
        raise Refused(f"--regime {o.regime} has no epochs; change --warmup-epochs, or set --steps-per-block")
    o.batch_size = ranks * o.batch_size_per_rank or o.batch_size
    multiple = ranks * o.grad_accumulation
    if o.batch_size % multiple:
        parts = f"{ranks} ranks x {o.grad_accumulation} micro-batches"
        raise Refused(f"a batch of {o.batch_size} cannot be divided evenly among {parts}: use a multiple of {multiple}")
    if not o.vocab_size:
        o.vocab_size = 10000 if o.data == "synthetic" else 65536 if o.data.endswith(".bin") else 256
    values |= {"vocab_size": o.vocab_size, "batch_size": o.batch_size}
    o.configuration = {name.replace("_", "-"): value for name, value in values.items()}
    return o
