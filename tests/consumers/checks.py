"""checks.py - shared by the checks in this directory: lines of results, the exit status, and the reading of traces."""
import glob
import gzip
import json
import os
import sys

failed = 0


def result(good, words, faults=()):
    """Prints the line of a check, with its first faults; a check without a true `good` is a failure."""
    global failed
    failed += not good
    print(f"{'ok' if good else 'not ok'} - {words}" + "".join(f"; {fault}" for fault in faults[:5]), flush=True)


def end():
    """Ends the program, with status 1 if a check failed."""
    sys.exit(failed > 0)


def read_trace(path):
    """Returns a trace, which may be compressed."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as file:
        return json.load(file)


def find_traces(directory):
    """Returns the paths of the traces in a directory, whose name may contain any characters."""
    return glob.glob(os.path.join(glob.escape(directory), "*_trace.json*"))


def name_of(path):
    """Returns the last two parts of a path."""
    return "/".join(path.split("/")[-2:])
