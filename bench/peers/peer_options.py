"""peer_options.py - the command line: options of ddpbench spelled as there, with the same defaults, and PyTorch's own."""

import math
import re
from types import SimpleNamespace

from peer_data import Refused
from peer_strategies import STRATEGIES


def count(low, high):
    def parse(name, text):
        if not re.fullmatch("[0-9]+", text) or not low <= int(text) <= high:
            raise Refused(f"--{name} {text}: expected a whole number from {low:.0f} to {high:.0f}")
        return int(text)

    return parse


def real(low, high):
    def parse(name, text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise Refused(f"--{name} {text}: expected a number from {low:g} to {high:g}")
        return int(value) if value == int(value) else value

    return parse


def choice(*words):
    def parse(name, text):
        if text not in words:
            raise Refused(f"--{name} {text}: expected {', '.join(words[:-1])} or {words[-1]}")
        return text

    return parse


def text(name, value):
    return value


def label(name, value):
    if not re.fullmatch("[A-Za-z0-9_.+-]{0,100}", value):
        raise Refused(f"--{name} '{value:.100}': may hold letters, digits, _, -, + and . only, at most 100")
    return value


def flag(name, value):
    raise AssertionError


SECTIONS = {
    "Model": [
        (
            "vocab-size",
            count(0, 65536),
            0,
            "tokens known to the model; 0: 256 for a file of bytes, 10000 for synthetic data, 65536 for a .bin shard",
        ),
        ("context-length", count(1, 1e6), 512, "tokens of a sequence"),
        ("d-model", count(2, 1e6), 768, "width of the model"),
        ("num-layers", count(1, 10000), 12, "transformer blocks"),
        ("num-heads", count(1, 1e6), 12, "attention heads; must divide --d-model into even parts"),
        ("d-ff", count(1, 1e7), 3072, "width of the feed-forward"),
        ("rope-theta", real(1, 1e15), 10000, "base of the rotary position angles"),
    ],
    "Batch and data": [
        ("batch-size", count(1, 1e9), 32, "sequences in a step, divided over the ranks"),
        ("batch-size-per-rank", count(0, 1e9), 0, "sequences of each rank instead (weak scaling); 0: use --batch-size"),
        ("grad-accumulation", count(1, 1e6), 1, "micro-batches a step; gradients are reduced in the last one only"),
        ("data", text, "synthetic", "synthetic, or a file: *.bin holds 16-bit tokens, any other file is read as bytes"),
        ("seed", count(0, 1e15), 0, "fixes initial weights and the order of the data"),
    ],
    "Training": [
        ("num-epochs", count(1, 1e9), 10, "epochs, the warm-up epochs included"),
        ("warmup-epochs", count(0, 1e9), 3, "epochs in which the learning rate rises from 0 and gradients are clipped"),
        ("steps-per-epoch", count(1, 1e9), 1, "steps of an epoch"),
        ("lr", real(0, 1e6), 0.001, "learning rate after the warm-up"),
        ("max-norm", real(1e-30, 1e30), 1, "largest gradient norm in warm-up epochs"),
        ("weight-decay", real(0, 1e6), 0.01, "AdamW's weight decay"),
        ("log-grad-norm", flag, False, "compute the gradient norm in every step"),
    ],
    "Strategies": [
        (
            "implementations",
            text,
            "none,ddp_flat,ddp,ddp_individual,ddp_individual_v2,ddp_bucketed",
            "what to compare: names from the list below, each NAME or LABEL=NAME",
        ),
        (
            "bucket-size-mb",
            text,
            "100",
            "bucket size in MiB, fractions allowed; a comma list makes one ddp_bucketed (and torch_ddp) of each",
        ),
        ("grad-dtype", choice("fp32", "bf16"), "fp32", "type on the wire of ddp_individual_v2: fp32 or bf16"),
        ("threads", count(0, 4096), 0, "threads of a rank; 0: OMP_NUM_THREADS, or the rank's share of the cores"),
    ],
    "Benchmark": [
        (
            "regime",
            choice("active", "warmup"),
            "active",
            "which epochs are timed: active, or warmup (learning rate ramps, gradients are clipped)",
        ),
        ("rounds", count(1, 1e6), 10, "rounds; each runs one block of every implementation"),
        (
            "steps-per-block",
            count(0, 1e6),
            0,
            "timed steps of a block, after 2 that are not; 0: those of the regime's epochs",
        ),
        ("output", text, "", "result directory; default results/<time>[-<label>]"),
        ("label", label, "", "a name for this run, kept in its results"),
    ],
    "Device": [
        (
            "device",
            choice("auto", "cpu", "cuda"),
            "auto",
            "what each rank computes on: cpu, cuda (an NVIDIA GPU of its own), or auto (cuda where there is one)",
        ),
        (
            "dtype",
            choice("fp32", "tf32", "bf16"),
            "fp32",
            "fp32; on GPUs also tf32 (products round to TF32); bf16: autocast, as people do it",
        ),
    ],
    "PyTorch": [
        (
            "residual-dtype",
            choice("fp32", "bf16"),
            "fp32",
            "with --dtype bf16, the type of the residual stream and the norms; bf16: all activations are bfloat16",
        ),
        (
            "attention",
            choice("auto", "flash", "cudnn", "efficient", "math"),
            "auto",
            "backend of scaled_dot_product_attention; auto: PyTorch's choice",
        ),
        ("compile", flag, False, "torch.compile each layer and the head"),
        ("compile-mode", choice("default", "max-autotune-no-cudagraphs"), "default", "how"),
        ("backend", choice("auto", "nccl", "gloo"), "auto", "of torch.distributed; auto: nccl for cuda, gloo for cpu"),
    ],
}
ROWS = {name: (parse, default, words) for rows in SECTIONS.values() for name, parse, default, words in rows}


def help_text():
    lines = [
        "Usage: torchrun --standalone --nproc-per-node RANKS bench/peers/torch_ddp.py [OPTION VALUE]...",
        "       mpirun -n RANKS python3 bench/peers/torch_ddp.py [OPTION VALUE]...   also srun; MASTER_ADDR, MASTER_PORT",
        "",
        "Does what ddpbench does in PyTorch: the same model from the same weights, the same batches, strategies, blocks and",
        "result files, to set both side by side with ddpbench compare. AdamW is PyTorch's fused one. On a GPU phases are",
        "timed by events.",
    ]
    for title, rows in SECTIONS.items():
        lines += ["", f"{title}:"]
        for name, parse, default, words in rows:
            shown = "" if parse is flag or default == "" else f" [{default}]"
            lines.append(f"  {'--' + name:<22} {words}{shown}")
    lines += ["", "Implementations:", *(f"  {s.name:<20}   {s.summary}" for s in STRATEGIES.values())]
    return "\n".join(lines)


def parse_words(argv):
    """`--name value` or `--name=value`, strictly. Returns the configuration: a value for every option."""
    values = {name: default for name, (_, default, _) in ROWS.items()}
    words = iter(argv)
    for word in words:
        if not word.startswith("--"):
            raise Refused(f"'{word}': options begin with --; see --help")
        name, equal, value = word[2:].partition("=")
        name = name.replace("_", "-")
        if name not in ROWS:
            raise Refused(f"unknown option '{word}'; known: " + " ".join("--" + known for known in ROWS))
        parse = ROWS[name][0]
        if parse is flag:
            if equal:
                raise Refused(f"--{name} takes no value")
            values[name] = True
            continue
        if not equal:
            value = next(words, None)
        if value is None:
            raise Refused(f"--{name} needs a value: {ROWS[name][2]}")
        values[name] = parse(name, value)
    return values


def make_rows(implementations, bucket_sizes):
    """[(label, strategy, bucket_mb)]; one for each size of a strategy with buckets, and only a list adds the size to the
    label."""
    sizes, rows = bucket_sizes.split(","), []
    for size in sizes:
        real(1e-9, 1e9)("bucket-size-mb", size)
    for word in implementations.split(","):
        name = word.partition("=")[2] or word
        row = word.partition("=")[0]
        if name not in STRATEGIES:
            raise Refused(f"--implementations: unknown implementation '{name}'; known: {', '.join(STRATEGIES)}")
        if not re.fullmatch("[A-Za-z0-9_+-]{1,40}", row):
            raise Refused(f"--implementations: label '{row}' may hold 1 to 40 letters, digits, _, - and +")
        if STRATEGIES[name].buckets:
            rows += [(f"{row}:{size}" if len(sizes) > 1 else row, STRATEGIES[name], float(size)) for size in sizes]
        else:
            rows.append((row, STRATEGIES[name], 0.0))
    labels = [row[0] for row in rows]
    for name in labels:
        if labels.count(name) > 1:
            raise Refused(f"--implementations: '{name}' is listed twice; give each its own label, as in a=ddp,b=ddp")
    return rows


def parse_options(argv, ranks):
    """Options as fields, with _ for -, fitted to the ranks; `configuration` has them as given."""
    values = parse_words(argv)
    o = SimpleNamespace(**{name.replace("-", "_"): value for name, value in values.items()})
    o.rows = make_rows(o.implementations, o.bucket_size_mb)
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
    if o.batch_size % (ranks * o.grad_accumulation):
        raise Refused(
            f"a batch of {o.batch_size} does not divide over {ranks} ranks x {o.grad_accumulation} micro-batches: use a "
            f"multiple of {ranks * o.grad_accumulation}"
        )
    if not o.vocab_size:
        o.vocab_size = 10000 if o.data == "synthetic" else 65536 if o.data.endswith(".bin") else 256
    o.configuration = values | {"vocab-size": o.vocab_size, "batch-size": o.batch_size}
    return o
