"""peer_agrees.py - checks that model and losses of bench/peers equal ddpbench's, and that optimizers are sharded where
they should be; prints a line per check.

Compares the model with tests/support/fixture/fixture.json, as tests/unit/ddp/test_model.c does for ddpbench: initial
weights, losses of three steps of AdamW, gradients and their norm in the first step, and final weights.

    python3 tests/consumers/peer_agrees.py model | sharding RANKS | losses RANKS OURS THEIRS [MOST]
"""

import json
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "bench" / "peers"))

import numpy as np
import torch

import peer_model
import peer_strategies
from peer_job import Job
from peer_step import Learner
from checks import end, result


def apart(a, b):
    """Returns the largest difference between a and b, relative to the largest number of b."""
    a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))


def check_model(compiled):
    """Compares the model with the fixture. compiled: uses the formulae of a compiled model, without compiling it."""
    fixture = json.loads((here.parent / "support" / "fixture" / "fixture.json").read_text())
    c, parameters = fixture["config"], fixture["parameters"]
    model = peer_model.Model(c["V"], c["T"], c["C"], c["L"], c["H"], c["F"], compiled)
    peer_model.set_weights(model, [np.array(p["initial"], np.float32).reshape(p["shape"]) for p in parameters])
    learner = Learner(model)
    for group in learner.optimizer.param_groups:
        group["lr"] = c["lr"]
    worst = gradients = norm = 0.0
    for number, step in enumerate(fixture["steps"]):
        token, target = (torch.tensor(step[name]).view(c["B"], c["T"]) for name in ("input", "target"))
        learner.optimizer.zero_grad()
        loss = model(token, target)
        loss.backward()
        worst = max(worst, abs(loss.item() / step["loss"] - 1))
        if number == 0:
            gradients = max(apart(p.grad, q["gradient"]) for p, q in zip(learner.parameters, parameters))
            norm = abs(
                torch.nn.utils.get_total_norm([p.grad for p in learner.parameters]).item() / fixture["gradient_norm"]
                - 1
            )
        learner.optimizer.step()
    final = max(apart(p.detach(), q["final"]) for p, q in zip(learner.parameters, parameters))
    kind = "as compiled" if compiled else "eager"
    result(worst < 1e-5, f"model, {kind}: losses of three steps agree to {worst:.1e}")
    result(gradients < 1e-5 and norm < 1e-5, f"model, {kind}: gradients agree to {gradients:.1e}, their norm to {norm:.1e}")
    result(final < 1e-4, f"model, {kind}: weights after three steps agree to {final:.1e}")
    learner.reset()
    start = max(apart(p.detach(), q["initial"]) for p, q in zip(learner.parameters, parameters))
    moments = max(float(x.abs().max()) for s in learner.optimizer.state.values() for x in s.values())
    result(start < 1e-7 and moments == 0, f"model, {kind}: reset restores the initial weights and sets the moments to 0")


def check_sharding(ranks):
    """Trains a step with each optimizer of PyTorch, and compares a rank's moments with the moments of the whole model."""
    job = Job()
    job.begin("gloo")
    model = peer_model.Model(64, 8, 16, 2, 2, 24)
    whole = 2 * sum(p.numel() for p in model.parameters())
    for name, parts in (("torch_ddp", 1), ("torch_zero", ranks), ("torch_fsdp", ranks)):
        reducer = peer_strategies.STRATEGIES[name](model, ranks, 1, 0.001, "fp32")
        learner = Learner(reducer.model, reducer.optimizer)
        with reducer.begin(True):
            reducer.run(torch.zeros(1, 8, dtype=torch.long), torch.ones(1, 8, dtype=torch.long)).backward()
        learner.optimizer.step()
        moments = [x for state in learner.moments.values() for x in state.values() if x.dim()]
        share = job.gather(sum(getattr(x, "_local_tensor", x).numel() for x in moments) / whole)
        if job.rank == 0:
            good = abs(sum(share) - ranks / parts) < 1e-6 and max(share) < 1.1 / parts
            result(good, f"{name}, {ranks} ranks: a rank has {max(share):.3f} of the moments at most")
    job.end()


def losses_of(directory, rank):
    """Returns {implementation: [[loss, learning rate, gradient norm] of each step of the first round]}."""
    found = {}
    for line in (pathlib.Path(directory) / f"rank_{rank}_metrics.jsonl").read_text().splitlines():
        step = json.loads(line)
        if step["round"] == 0:
            found.setdefault(step["implementation"], []).append(
                [step["loss"], step["learning_rate"], step.get("grad_norm", 0)]
            )
    return found


def check_losses(ranks, ours, theirs, most=1e-4):
    """Compares the losses of each step of each implementation on every rank. most: the largest relative difference allowed.
    An implementation that only bench/peers has, such as torch_ddp, is compared with another that reduces gradients."""
    for label in losses_of(theirs, 0):
        worst, steps = 0.0, 0
        for rank in range(ranks):
            mine, their = losses_of(ours, rank), losses_of(theirs, rank)[label]
            mine = mine[label] if label in mine else next(mine[other] for other in mine if other != "none")
            steps = len(their) if len(their) == len(mine) else 0
            worst = max(worst, *(abs(a - b) / max(abs(a), 1e-9) for x, y in zip(mine, their) for a, b in zip(x, y)))
        learned = max(x[0] for x in mine) - min(x[0] for x in mine)  # constant losses would prove nothing
        result(
            steps >= 20 and worst < most and learned > 0.01,
            f"{theirs}, {ranks} ranks: losses of {label} in {steps} steps agree to {worst:.1e}",
        )


if sys.argv[1] == "model":
    check_model(False)
    check_model(True)
elif sys.argv[1] == "sharding":
    check_sharding(int(sys.argv[2]))
else:
    check_losses(int(sys.argv[2]), *sys.argv[3:5], *map(float, sys.argv[5:]))
end()
