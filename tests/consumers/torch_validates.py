"""torch_validates.py - checks that PyTorch's validator of profiler traces finds no violation in the traces of ddpbench.

Then breaks the last trace on purpose, which must have a wait for an event, and checks that the validator finds a violation.

    python3 tests/consumers/torch_validates.py TRACE...
"""
import json
import sys
import tempfile

from torch.profiler._trace_validator import validate_trace

from checks import end, name_of, read_trace, result


def broken(path):
    """Returns the trace, changed so that a stream waits for an event that was never recorded."""
    trace = read_trace(path)
    next(row for row in trace["traceEvents"] if row["name"] == "Stream Wait Event")["args"][
        "wait_on_cuda_event_record_corr_id"] = 999999
    return json.dumps(trace)


for trace_path in sys.argv[1:]:
    good, violations = validate_trace(trace_path)
    result(good, f"PyTorch's validator: {name_of(trace_path)}", violations)
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    file.write(broken(sys.argv[-1]))
    file.flush()
    result(not validate_trace(file.name)[0], "PyTorch's validator: a broken trace is detected")
end()
