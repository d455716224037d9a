#!/usr/bin/env python3
"""torch_validates.py - checks that PyTorch's validator of profiler traces finds no violation in the traces of ddpbench.

Then breaks the last trace on purpose, and checks that the validator finds a violation.
"""
import gzip
import json
import os
import sys
import tempfile

from torch.profiler._trace_validator import validate_trace


def broken(path):
    """Returns the trace, changed so that a stream waits for an event that was never recorded."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as file:
        trace = json.load(file)
    next(row for row in trace["traceEvents"] if row["name"] == "Stream Wait Event")["args"][
        "wait_on_cuda_event_record_corr_id"] = 999999
    return json.dumps(trace)


def main(paths):
    failed = 0
    for path in paths:
        good, violations = validate_trace(path)
        failed += not good
        print(f"{'ok' if good else 'not ok'} - PyTorch's validator: {'/'.join(path.split('/')[-2:])}" +
              "".join(f"; {violation}" for violation in violations[:3]))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(broken(paths[-1]))
        file.flush()
        found = not validate_trace(file.name)[0]
    print(f"{'ok' if found else 'not ok'} - PyTorch's validator: a broken trace is detected")
    return failed + (not found)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] == "--help":
        print("Usage: tests/consumers/torch_validates.py TRACE... [with a wait for an event in the last]", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    sys.exit(main(sys.argv[1:]) != 0)
