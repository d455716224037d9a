"""Runs the lines of Python in results/lines.md on a run of the benchmark, and compares their results with the
run's table.

Usage: recompute_table.py PAGE DIRECTORY; prints a line "ok - " or "not ok - " for each column."""

import json
import math
import re
import sys
import warnings


def main(readme, directory):
    with open(readme, encoding="utf-8") as file:
        code = re.search(r"^```python\n(.*?)^```$", file.read(), re.S | re.M).group(1)
    with open(directory + "/summary.json", encoding="utf-8") as file:
        summary = json.load(file)
    with open(directory + "/run.json", encoding="utf-8") as file:
        run = json.load(file)
    ranked = [of["name"] for of in run["implementations"] if of["strategy"] != "none" and "twin_of" not in of]
    given = (directory, "ended" in summary, ranked)
    code, replaced = re.subn(r"^directory, resolve, ranked = .*$", lambda _: f"directory, resolve, ranked = {given!r}", code, flags=re.M)
    assert replaced == 1
    computed = {}
    warnings.simplefilter("ignore")  # the logarithm of a phase that never ran
    exec(compile(code, readme, "exec"), computed)
    table, rows = computed["table"], next(t for t in summary["tables"] if t["key"] == "implementations")["rows"]
    tokens = run["derived"]["tokens_per_step"]
    columns = {phase: lambda name, phase=phase: 1e-3 * table[phase + "_ms"][name]
               for phase in ("forward_pass", "parameter_gather", "backward_pass", "gradient_sync", "optimizer_step", "step")}
    columns |= {
        "step_to_ddp": lambda name: computed["vs_ddp"][name],
        "communication_ratio": lambda name: table.wait[name],
        "data_loading": lambda name: 1e-3 * table.data_loading_ms[name],
        "other": lambda name: 1e-3 * computed["other"][name],
        "tokens_per_second": lambda name: 1e3 * tokens / table.step_ms[name],
        "sync_cost": lambda name: 1e-3 * computed["sync_cost"][name],
        "sync_cost_95_low": lambda name: 1e-3 * computed["sync_cost_interval"][name].iloc[0],
        "sync_cost_95_high": lambda name: 1e-3 * computed["sync_cost_interval"][name].iloc[1],
        "best": lambda name: name == computed["best"],
    }
    for column, compute in columns.items():
        wrong, compared = [], 0
        for row in rows:
            shown, name = row.get(column), row["implementation"]
            if shown is None:
                continue
            expected = compute(name)
            shown = shown == "*" if column == "best" else shown
            compared += 1
            if not math.isclose(shown, expected, rel_tol=1e-6, abs_tol=1e-9):
                wrong.append(f"{name}: {shown} in the table, {expected} from the lines")
        if not compared and column not in ("parameter_gather", "data_loading", "other") \
                and any(math.isfinite(compute(row["implementation"])) for row in rows):  # too few rounds: no interval
            wrong.append("no row has it")
        print(f"{'not ok' if wrong else 'ok'} - {column}, {'medians' if given[1] else 'means'}{': ' if wrong else ''}{'; '.join(wrong)}")


main(*sys.argv[1:])
