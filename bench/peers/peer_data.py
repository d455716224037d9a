"""peer_data.py - the tokens and initial weights of ddpbench, made again in numpy: the same numbers from the same seed.

ddp/data.c and ddp/model.c define these numbers, with random bits from kernels/random.h. Every block of a run trains on
the same batches, so each batch is made once and kept (peer_step.py), and loading is only the copy to the device.
"""

import math
import os

import numpy as np

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15  # added to a counter between two draws
SHARDS = {20240520: "<u2", 20240801: "<u4"}  # llm.c's token shards: the type of a token by the header's first number
LLM_C_YEAR, SHARD_VERSION, SHARD_HEADER_BYTES = 2024, 1, 1024


class Refused(Exception):
    """An error that the user can correct; the message explains how."""


def random_bits(z):
    """Returns 64 random bits for each number of a uint64 array: the finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_bits_of(z):
    """random_bits for one Python integer."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


# ---- initial weights ----


def normal_quantiles():
    """Returns the quantiles in the middle of 65536 equal shares of a normal distribution that is cut off at -3 and 3.
    Newton's method finds each quantile from the one before."""
    half, within, x = 1 << 15, math.erf(3 / math.sqrt(2)), -3.0
    quantile = np.empty(2 * half, np.float32)
    for i in range(half):
        below = (1 - within) / 2 + within * (i + 0.5) / (2 * half)
        for _ in range(4):
            x -= (math.erfc(-x / math.sqrt(2)) / 2 - below) * math.exp(x * x / 2) * math.sqrt(2 * math.pi)
        quantile[i], quantile[-1 - i] = x, -x
    return quantile


def initial_weights(shapes, seed):
    """Returns float32 arrays of the given [rows, columns], in order of registration. The first is the embedding, of
    variance 1; norms, of one row, are 1; linear layers have the variance 2 / (rows + columns)."""
    weights, quantile = [], normal_quantiles()
    for i, (rows, columns) in enumerate(shapes):
        state = (seed << 20) + i * 0x2545F4914F6CDD1D & MASK
        deviation = 1.0 if i == 0 else (2 / (rows + columns)) ** 0.5
        count = rows * columns
        bits = random_bits(np.full(1, state, np.uint64) + np.arange(1, count // 4 + 2, dtype=np.uint64) * np.uint64(STEP))
        drawn = bits.astype("<u8").view("<u2")[:count]  # 16 bits for each number
        w = np.ones(count, np.float32) if rows == 1 else np.float32(deviation) * quantile[drawn]
        weights.append(w.reshape(rows, columns))
    return weights


# ---- tokens ----


def permute(i, n, seed):
    """Returns the place of i < n after a shuffle of 0..n-1 that depends on the seed: a Feistel network, repeated until
    the place is below n."""
    half = 1
    while half < 32 and n > 1 << 2 * half:
        half += 1
    mask = (1 << half) - 1
    start = random_bits_of(seed + STEP & MASK)
    x = i
    while True:
        left, right = x >> half, x & mask
        for turn in range(6):
            bits = random_bits_of(random_bits_of(start + turn * STEP & MASK) + (right + 1) * STEP & MASK)
            left, right = right, left ^ bits & mask
        x = left << half | right
        if x < n:
            return x


def synthetic_row(sequence, length, vocabulary, seed):
    """Returns tokens 0 to length - 1 of a sequence, uniform below the vocabulary."""
    start = random_bits_of(random_bits_of(seed + STEP & MASK) + sequence * STEP & MASK)
    place = np.arange(1, length + 1, dtype=np.uint64) * np.uint64(STEP)
    bits = random_bits(np.full(1, start, np.uint64) + place)
    return ((bits >> np.uint64(32)) * np.uint64(vocabulary) >> np.uint64(32)).astype(np.int64)


def open_tokens(path):
    """Maps a file as an array of tokens: of 16 bits in a .bin file, or the size in its llm.c header; else of bytes."""
    try:
        size = os.path.getsize(path)
        if not os.path.isfile(path):
            raise Refused(f"--data {path}: is not a regular file; allowed: a file, or the word synthetic")
        if size == 0:
            raise Refused(f"--data {path}: is empty")
        if not path.endswith(".bin"):
            return np.memmap(path, np.uint8, "r")
        header = np.fromfile(path, "<i4", 3) if size >= 12 else np.zeros(3, "<i4")
        if header[0] // 10000 != LLM_C_YEAR:
            if size % 2:
                raise Refused(f"--data {path}: {size} bytes is an odd size; a .bin file without llm.c's header holds 16-bit tokens")
            return np.memmap(path, "<u2", "r")
        if header[0] not in SHARDS:
            raise Refused(f"--data {path}: is a file of llm.c of an unknown kind: magic {header[0]}; allowed: {list(SHARDS)}")
        tokens = (size - SHARD_HEADER_BYTES) / int(SHARDS[header[0]][2])
        if size < SHARD_HEADER_BYTES or header[1] != SHARD_VERSION or header[2] != tokens:
            raise Refused(
                f"--data {path}: its header promises version {header[1]} and {header[2]} tokens; expected version "
                f"{SHARD_VERSION} and the {tokens:g} that follow; was it copied completely?"
            )
        if tokens == 0:
            raise Refused(f"--data {path}: holds no tokens")
        return np.memmap(path, SHARDS[header[0]], "r", SHARD_HEADER_BYTES)
    except OSError as error:
        raise Refused(
            f"--data {path}: cannot open it: {error.strerror} (allowed: a file, or the word synthetic)"
        ) from None


class Data:
    """The sequences to train on: step s of all ranks together trains on the sequences [s * batch, (s + 1) * batch)."""

    def __init__(self, path, vocabulary, context, batch, micro_batches, seed, rank, ranks):
        self.vocabulary, self.context, self.batch, self.seed = vocabulary, context, batch, seed
        self.micro_batches, self.rows = micro_batches, batch // ranks // micro_batches
        self.first = batch // ranks * rank
        self.token = None if path == "synthetic" else open_tokens(path)
        self.tokens = 0 if self.token is None else len(self.token)
        self.sequences = max(0, self.tokens - 1) // context
        if self.token is not None:
            self.check(path, rank, ranks)

    def check(self, path, rank, ranks):
        """Raises Refused if tokens are too few for a step, or if one in this rank's part is outside the vocabulary."""
        if self.sequences < self.batch:
            raise Refused(
                f"--data {path}: has {self.tokens} tokens, but one batch needs {self.batch * self.context + 1} "
                f"(--batch-size {self.batch} times --context-length {self.context}, plus 1)"
            )
        start, end = self.tokens * rank // ranks, self.tokens * (rank + 1) // ranks
        part = self.token[start:end]
        if len(part) and int(part.max()) >= self.vocabulary:
            place = int(np.argmax(part >= self.vocabulary))
            raise Refused(
                f"--data {path}: token {part[place]} at position {start + place} is not below the vocabulary of "
                f"{self.vocabulary} (--vocab-size)"
            )

    def row(self, place):
        """Returns the context + 1 tokens of sequence `place`."""
        if self.token is None:
            return synthetic_row(place, self.context + 1, self.vocabulary, self.seed)
        start = permute(place % self.sequences, self.sequences, self.seed) * self.context
        return self.token[start : start + self.context + 1].astype(np.int64)

    def micro_batch(self, step, number):
        """Returns input[rows, context] and target[rows, context] of a micro-batch of this rank."""
        place = step * self.batch + self.first + number * self.rows
        rows = np.stack([self.row(place + i) for i in range(self.rows)])
        return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])
