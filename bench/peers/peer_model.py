"""peer_model.py - the model of ddp/model.h in PyTorch: a pre-norm decoder-only transformer, from modules of PyTorch.

Token embedding; layers of [RMSNorm, causal attention with RoPE, residual; RMSNorm, SwiGLU, residual]; RMSNorm; output
projection; mean cross-entropy. No biases. Parameters are registered in the order of ddp/model.c.
"""

import torch
import torch.nn.functional as F
from torch import nn

RMSNORM_EPSILON = 1e-5
ROPE_THETA = 10000.0


def rope_complex(x, turn):
    """Rotates each pair (x[2i], x[2i + 1]) of x[B, T, H, D] by the angle t * theta^(-2i/D). turn[T, 1, D/2] is complex.
    A single complex product, in fp32 whatever the type of x, is fastest if operations are not compiled."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)


def rope_real(x, turn):
    """rope_complex in real numbers, which a compiler can fuse; turn[T, 1, D/2, 2] holds cosine and sine."""
    cosine, sine = turn.unbind(-1)
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2).type_as(x)


class Norm(nn.RMSNorm):
    """RMSNorm; an input in bfloat16 gives an output in bfloat16, also under autocast."""

    def __init__(self, width):
        super().__init__(width, eps=RMSNORM_EPSILON)

    def forward(self, x):
        if x.dtype is torch.float32:
            return super().forward(x)
        with torch.autocast(x.device.type, enabled=False):
            return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)


class Layer(nn.Module):
    def __init__(self, C, H, hidden, rope):
        super().__init__()
        self.H, self.rope = H, rope
        self.norm1 = Norm(C)
        self.q, self.k, self.v, self.o = (nn.Linear(C, C, bias=False) for _ in range(4))
        self.norm2 = Norm(C)
        self.w1, self.w3 = nn.Linear(C, hidden, bias=False), nn.Linear(C, hidden, bias=False)
        self.w2 = nn.Linear(hidden, C, bias=False)

    def forward(self, x, turn):
        n = self.norm1(x)
        q, k, v = (w(n).unflatten(-1, (self.H, -1)) for w in (self.q, self.k, self.v))
        q, k = self.rope(q, turn), self.rope(k, turn)
        a = F.scaled_dot_product_attention(*(y.transpose(1, 2) for y in (q, k, v)), is_causal=True)
        x = x + self.o(a.transpose(1, 2).flatten(-2))
        n = self.norm2(x)
        return x + self.w2(F.silu(self.w1(n)) * self.w3(n))


class Head(nn.Module):
    def __init__(self, C, V):
        super().__init__()
        self.norm, self.output = Norm(C), nn.Linear(C, V, bias=False)

    def forward(self, x, target):
        return F.cross_entropy(self.output(self.norm(x)).flatten(0, -2), target.flatten())


class Model(nn.Module):
    """A decoder-only transformer; forward(input[B, T], target[B, T]) returns the mean cross-entropy."""

    def __init__(self, V, T, C, L, H, hidden, compiled=False, residual=torch.float32):
        super().__init__()
        self.residual = residual
        self.token_embedding = nn.Embedding(V, C)
        self.layers = nn.ModuleList(Layer(C, H, hidden, rope_real if compiled else rope_complex) for _ in range(L))
        self.head = Head(C, V)
        D = C // H
        position, pair = torch.arange(T, dtype=torch.float64), torch.arange(D // 2, dtype=torch.float64)
        angle = (position[:, None] * ROPE_THETA ** (-2 * pair / D))[:, None, :]
        turn = torch.stack((angle.cos(), angle.sin()), -1).float()
        self.turn = turn if compiled else torch.view_as_complex(turn)  # not a buffer, which DDP would broadcast

    def place(self, device):
        self.to(device)
        self.turn = self.turn.to(device)

    def forward(self, token, target):
        x = self.token_embedding(token).to(self.residual)
        for layer in self.layers:
            x = layer(x, self.turn)
        return self.head(x, target)

    def compile_parts(self, mode):
        """Compiles each layer and the head by themselves, so that gradients still become final layer by layer and
        communication can overlap backward; equal layers share their code."""
        for part in (*self.layers, self.head):
            part.compile(mode=None if mode == "default" else mode)


def shapes(model):
    """Returns [rows, columns] of every parameter, in order of registration; a norm's weight is one row."""
    return [(1, *p.shape) if p.dim() == 1 else tuple(p.shape) for p in model.parameters()]


def matmul_parameters(model):
    """Returns the number of parameters in matrix products: all except the embedding and the norms."""
    return sum(p.numel() for p in model.parameters() if p.dim() == 2) - model.token_embedding.weight.numel()


def flops(model, T, tokens):
    """Returns the FLOP of a training step on `tokens` tokens: 6 per token and matmul parameter, and 6 L C T per token
    for the causal half of attention."""
    L, C = len(model.layers), model.token_embedding.weight.shape[1]
    return (6 * matmul_parameters(model) + 6 * L * C * T) * tokens


def set_weights(model, weights):
    """Copies `weights`, arrays of shapes(model), into the model."""
    with torch.no_grad():
        for p, w in zip(model.parameters(), weights, strict=True):
            p.copy_(torch.from_numpy(w).view(p.shape))
