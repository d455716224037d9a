"""check_tensorboard.py - checks that TensorBoard's PyTorch plugin finds and shows the traces below a directory.

    python3 tests/consumers/check_tensorboard.py profile DIRECTORY   # a profile with MPI, of which there is no distributed view
    python3 tests/consumers/check_tensorboard.py gpus DIRECTORY      # made-up traces of two GPUs with NCCL: rank 0 waits 50 us
"""
import os
import sys

from checks import end, result
from torch_tb_profiler import consts, io, utils
from torch_tb_profiler.profiler.loader import RunLoader


def main():
    kind, top = sys.argv[1:]
    found = {directory for directory, _, names in io.walk(top) if any(map(utils.is_chrome_trace_file, names))}
    result(len(found) == 1, f"TensorBoard, {kind}: one run below the directory", sorted(found))
    directory = found.pop()
    run = RunLoader("run", directory, io.Cache()).load()
    names = {consts.WORKER_PATTERN.match(name)[1] for name in os.listdir(directory)}
    workers = {worker: profile for (worker, _), profile in run.profiles.items() if worker != "All"}
    result(len(names) == 2 and set(workers) == names, f"TensorBoard, {kind}: every rank is a worker", sorted(workers))
    for worker, profile in sorted(workers.items()):
        steps = [int(row[0]) for row in profile.overview["steps"]["rows"]]
        result(len(steps) > 1 and steps == list(range(steps[0], steps[0] + len(steps))), f"TensorBoard, {kind}, {worker}: steps", [steps])
        operators = {row["name"] for row in profile.operation_table_by_name["data"]}
        wanted = {"linear_forward", "attention_backward"} if kind == "profile" else {"adamw", "linear_forward"}
        result(wanted <= operators, f"TensorBoard, {kind}, {worker}: operators", sorted(wanted - operators))
    together = run.profiles.get(("All", "1"))
    waits = together and sorted(wait for _, wait in together.steps_to_wait["data"]["all"].values())
    result(waits == (None if kind == "profile" else [0, 50]), f"TensorBoard, {kind}: waits in the distributed view", [waits])
    end()


if __name__ == "__main__":
    main()
