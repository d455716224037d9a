#!/usr/bin/env python3
"""recompute_report.py - checks the files of `ddpbench report --output REPORT` against the summaries of the runs.

    tests/consumers/recompute_report.py REPORT [LABEL=]DIR...

DIR holds a run.json. Every figure of report.json and report.csv must equal the figure in the run's summary.json; so must
numbers in the tables of report.json that list figures of runs (tests/unit/report tests computed numbers). Every cell
of report.html and BOTTLENECK_ANALYSIS.md must be the number in report.json, formatted as its column demands. Prints
the differences; exits with status 1 if there are any."""

import csv
import html.parser
import json
import math
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

failures = 0
checked = 0


def same(words, found, wanted):
    global failures, checked
    checked += 1
    equal = found == wanted
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)):
        equal = math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-15)
    if not equal:
        failures += 1
        print(f"{words}: {found!r} but the summaries have {wanted!r}")


# ---- the runs ----

COMPUTE = {"zero_grad", "forward_pass", "backward_pass", "gradient_clipping_warmup", "optimizer_step"}
PARTS = ["compute", "data_loading", "exposed", "other"]


def part_of(phase):
    return "compute" if phase in COMPUTE else {"data_loading": "data_loading", "gradient_sync": "exposed", "parameter_gather": "exposed"}.get(phase, "other")


class Run:
    def __init__(self, label, directory):
        self.label, self.directory = label, directory
        self.run = json.loads((pathlib.Path(directory) / "run.json").read_text())
        self.summary = json.loads((pathlib.Path(directory) / "summary.json").read_text())
        self.mode = self.run["mode"]
        self.figures = {(f["subject"], f["name"], f.get("bytes", 0)): f for f in self.summary["figures"]}
        self.tokens = self.run["derived"].get("tokens_per_step")
        self.ranks = self.run["derived"]["world_size"]
        done, planned = self.summary["done"], self.summary["planned"]
        self.state = "complete" if done >= planned else f"interrupted, {done} of {planned} {self.summary['of']}"

    def value(self, subject, name, field="value", size=0):
        return self.figures.get((subject, name, size), {}).get(field)

    def breakdown(self, subject):
        """Returns {step, compute, data_loading, exposed, other} in seconds."""
        parts = dict.fromkeys(PARTS, 0.0)
        if self.mode == "profile" and subject == self.summary["implementation"]:
            table = next(t for t in self.summary["tables"] if t["key"] == "phases")
            for row in table["rows"]:
                if row["name"] != "step":
                    parts[part_of(row["name"])] += row["mean"]
                else:
                    parts["step"] = row["mean"]
            return parts
        for (of, name, _), figure in self.figures.items():
            if of == subject and part_of(name) != "other" and figure["unit"] == "s":
                parts[part_of(name)] += figure["value"]
        parts["step"] = self.value(subject, "step")
        parts["other"] = parts["step"] - parts["compute"] - parts["data_loading"] - parts["exposed"]
        return parts


def run_of(runs, row, mode=None):
    """Returns the run to which a row of a table belongs."""
    return next(r for r in runs if r.label == row["run"] and (mode is None or r.mode == mode))


# ---- the numbers of the tables ----


def check_times(runs, rows):
    for row in rows:
        parts = run_of(runs, row, row["mode"]).breakdown(row["implementation"])
        same("step", row["step"], parts["step"])
        for part in PARTS:
            same(part, row[part], parts[part])
            same(f"{part}, share", row[f"{part}_share"], parts[part] / parts["step"])


def check_shares(runs, blocks):
    """Checks the criteria of each comparison; its name is in the paragraph above the table."""
    for above, block in zip(blocks, blocks[1:]):
        run = next((r for r in runs if above.get("text", "").startswith(f"{r.label}, ") and r.mode == "benchmark"), None)
        if not run or block.get("table", {}).get("key") != "criteria" or "(profile)" in above["text"]:
            continue
        best = run.summary["verdict"]["best"]
        percent, parts = {row["criterion"]: row["percent"] for row in block["table"]["rows"]}, run.breakdown(best)
        for name, value in (("data loading", parts["data_loading"]), ("exposed communication", parts["exposed"]),
                            ("forward", run.value(best, "forward_pass")), ("optimizer", run.value(best, "optimizer_step"))):
            same(f"share, {name}", percent[f"{name} / step"], 100 * value / parts["step"])


def check_buckets(runs, rows):
    for row in rows:
        same("ranks of buckets", row["ranks"] > 1, True)
        run = next(r for r in runs if r.label == row["run"] and r.mode in ("benchmark", "tune"))
        for key, name, field in (("step", "step", "value"), ("step_95_low", "step", "low"), ("step_95_high", "step", "high"),
                                 ("n", "step", "n"), ("sync_cost", "sync_cost", "value"), ("sync_cost_95_low", "sync_cost", "low")):
            same(f"bucket size, {key}", row[key], run.value(row["implementation"], name, field))


def check_collectives(runs, rows):
    for row in rows:
        run = run_of(runs, row, "allreduce")
        same("ranks of a collective", run.ranks > 1, True)
        for key, name, field in (("time", "time", "value"), ("time_95_low", "time", "low"), ("algbw", "algbw", "value"),
                                 ("busbw", "busbw", "value")):
            same(f"collective, {key}", row[key], run.value(row["collective"], name, field, row["bytes"]))


def check_roofline(run, rows):
    flops, bandwidth = (run.value(run.summary["implementation"], name) for name in ("product_peak", "memory_bandwidth"))
    operations = {r["name"]: r for t in run.summary["tables"] if t["key"] == "operations" for r in t["rows"] if r["kind"] == "operation"}
    same("operations of a roofline", len(rows), sum(r["flops"] is not None for r in operations.values()))
    for row in rows:
        operation = operations[row["operation"]]
        of_memory = operation["bandwidth"] / bandwidth
        same("share of the limit", row["of_limit"], max(operation["flops"] / flops, of_memory))
        same("intensity", row["intensity"], operation["flops"] / operation["bandwidth"])


# ---- the cells of text, Markdown and HTML ----


def printable(text):
    return re.sub(r"[\x00-\x08\x0e-\x1f\x7f]", "?", text)


def number_words(column, value):
    if value is None:
        return "N/A"
    shown, decimals = value * column["scale"], column["decimals"]
    if decimals < 0:
        before = 1 if shown == 0 else math.floor(math.log10(abs(shown))) + 1
        decimals = 0 if before >= -decimals else min(-decimals - before, 5)
    return f"{0.0 if abs(shown) < 0.5 * 10**-decimals else shown:.{decimals}f}"


def cell_words(column, row):
    key = column["key"]
    if column["kind"] == "text":
        return printable(row[key])
    if column["kind"] == "interval":
        low, high = row[f"{key}_low"], row[f"{key}_high"]
        return "" if low is None and high is None else f"[{number_words(column, low)}, {number_words(column, high)}]"
    if column["kind"] == "error" and row[key]:
        return f"{row[key]:.{column['decimals']}e}"
    return number_words(column, row[key])


def words_of(table):
    columns = [c for c in table["columns"] if "heading" in c]
    rows = table["rows"][: table.get("shown") or len(table["rows"])]
    return [[" ".join(cell_words(c, row).split()) for c in columns] for row in rows]


class Tables(html.parser.HTMLParser):
    """Collects the cells of the bodies of all tables of a page."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.row, self.cell, self.body = [], None, None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tbody":
            self.body = True
            self.tables.append([])
        elif tag == "tr" and self.body:
            self.tables[-1].append([])
        elif tag == "td" and self.body:
            self.cell = ""

    def handle_endtag(self, tag):
        if tag == "tbody":
            self.body = False
        elif tag == "td" and self.body:
            self.tables[-1][-1].append(" ".join(self.cell.split()))
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def tables_of_markdown(text):
    tables, rows = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            rows = None
        elif re.fullmatch(r"\|[-:|]+\|", line):
            rows = []
            tables.append(rows)
        elif rows is not None:
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            rows.append([" ".join(html.unescape(re.sub(r"\\([^\w\s])", r"\1", cell.replace("@<!-- -->", "@"))).split()) for cell in cells])
    return tables


def check_cells(form, tables, blocks, runs):
    wanted = [b["table"] for b in blocks if b["kind"] == "table"]
    repeated = [table for run in runs for table in run.summary["tables"]]  # as the run printed it, with empty columns, too
    same(f"{form}: tables", len(tables), len(wanted))
    for table, saved in zip(tables, wanted):
        words = words_of(saved)
        empty = [c for c in zip(*words, strict=True) if not set(c) - {"", "N/A"}]
        same(f"{form}: columns without anything", [] if saved in repeated else empty, [])
        for found, row in zip(table, words):  # a last row may count omitted rows
            same(form, found, row)
        same(f"{form}: rows", len(table) >= len(words), True)


def main():
    if len(sys.argv) < 3 or sys.argv[1] == "--help":
        sys.exit(__doc__)
    report = pathlib.Path(sys.argv[1])
    document = json.loads((report / "report.json").read_text())
    named = [w.partition("=")[::2] if "=" in w else ("", w) for w in sys.argv[2:]]
    runs = [Run(label, directory) for label, directory in named]
    same("runs", len(document["runs"]), len(runs))
    for found in document["runs"]:
        run = next(r for r in runs if r.directory == found["directory"])
        run.label = run.label or found["label"]
        same(f"figures of {run.directory}", found["figures"], run.summary["figures"])
        same(f"state of {run.directory}", found["state"], run.state)
    with open(report / "report.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    same("lines of report.csv", len(rows), sum(len(r.figures) for r in runs))
    for row in rows:
        run = next(r for r in runs if r.directory == row["directory"])
        figure = run.figures[row["subject"], row["name"], float(row["bytes"] or 0)]
        same("report.csv, state", row["state"], run.state)
        for field in ("value", "low", "high"):
            same(f"report.csv, {field}", float(row[field]) if row[field] else None, figure[field])
    tables = {b["table"]["key"]: b["table"]["rows"] for b in document["blocks"] if b["kind"] == "table"}
    for row in tables["runs"]:
        run = next(r for r in runs if r.directory == row["directory"])
        same("row of a run", [row["state"], row["ranks"], row["hosts"]], [run.state, run.ranks, run.run["derived"]["host_count"]])
    check_shares(runs, document["blocks"])
    check_times(runs, tables.get("where_the_time_goes", []))
    check_buckets(runs, tables.get("bucket_sizes_of_runs", []))
    check_collectives(runs, tables.get("collectives_of_runs", []))
    profiles = [r for r in runs if r.mode == "profile"]
    if len(profiles) == 1:
        check_roofline(profiles[0], tables["roofline"])
    check_cells("report.html", Tables((report / "report.html").read_text()).tables, document["blocks"], runs)
    check_cells("BOTTLENECK_ANALYSIS.md", tables_of_markdown((report / "BOTTLENECK_ANALYSIS.md").read_text()), document["blocks"], runs)
    tree.fromstring((report / "report.html").read_text())  # raises an error if a name has broken the page
    for picture in report.glob("pictures/*.svg"):
        tree.parse(picture)
    print(f"{checked} comparisons, {failures} differ")
    sys.exit(failures > 0)


main()
