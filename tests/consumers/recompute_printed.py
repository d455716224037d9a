#!/usr/bin/env python3
"""recompute_printed.py - recomputes what runs have printed, from their lines and by the rules of the pages alone.

    tests/consumers/recompute_printed.py DIR...                                         # runs: benchmark, tune, profile
    tests/consumers/recompute_printed.py --report REPORT.json DIR...                    # what `report --json` says about them
    tests/consumers/recompute_printed.py --compare COMPARE.json STATUS BASELINE... --candidate CANDIDATE...

A cell, a number in a sentence, a mark or a word of a verdict is one claim. Prints "ok - KIND: N claims" or "not ok - KIND: words"
for each kind of claim, and "CLAIMS true of CLAIMS"; exits with status 1 if one is false. Needs nothing but Python."""

import collections
import functools
import itertools
import json
import math
import pathlib
import random
import re
import statistics
import sys

claims, place = collections.defaultdict(lambda: [0, []]), ""
NUMBER, LIST = r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)", r"(\S+) ([-+][\d.]+) %(?: \[([-+][\d.]+), ([-+][\d.]+)\])?"
MARGIN = 1e-9


def claim(kind, words, true):
    claims[kind][0] += 1
    if not true:
        claims[kind][1].append(f"{place}: {words}")


def shows(kind, words, printed, value, scale=1):
    """Claims that the printed number is value * scale, rounded to its last digit; n/a and nothing: that there is no value."""
    if value is None or printed in (None, "n/a", "-"):
        return claim(kind, f"{words}: printed {printed}, recomputed {value}", value is None and printed in (None, "n/a", "-"))
    mantissa, _, exponent = printed.lstrip("+").partition("e")
    digit = 10 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    claim(kind, f"{words}: printed {printed}, recomputed {value * scale:.6g}", abs(float(printed) - value * scale) <= digit * 0.50001 + 1e-12)


def found(kind, pattern, text, needed=True):
    """Returns the match of the pattern in the text; that there is none is false if it is needed."""
    match = re.search(pattern, text)
    if needed and not match:
        claim(kind, f"no words like /{pattern}/", False)
    return match


# ---- statistics ----


def beta(x, a, b):
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(1 - x, b, a)
    c, d = 1, 1 / (1 - (a + b) * x / (a + 1) or 1e-30)
    h = d
    for m in range(1, 300):
        for top in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + top * d or 1e-30), 1 + top / c or 1e-30
            h *= d * c
    return h * math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x)) / a


@functools.cache
def student(probability, freedom):
    """The quantile of Student's t, for a probability above 1/2, by bisection."""
    low, high = 0, 1e4
    for _ in range(100):
        t = (low + high) / 2
        low, high = (t, high) if 1 - beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2 < probability else (low, t)
    return low


def typical(x, medians):
    return statistics.median(x) if medians else 0 if min(x) <= 0 else math.exp(statistics.fmean(map(math.log, x)))


def sign_interval(x, fits):
    """From the k-th smallest to the k-th largest value, for the greatest k that fits; none without a k."""
    k = sum(1 for i in range(1, len(x) // 2 + 1) if fits(i))
    return (sorted(x)[k - 1], sorted(x)[-k]) if k else None


def interval(x, medians, alpha=0.05, critical=None):
    n = len(x)
    if medians:
        return sign_interval(x, lambda k: (n + 1) * math.comb(n, k - 1) <= alpha * 2**n)
    if n < 6 or min(x) <= 0:
        return None
    logs = [math.log(v) for v in x]
    half = (critical or student(1 - alpha / 2, n - 1)) * statistics.stdev(logs) / math.sqrt(n)
    return math.exp(statistics.fmean(logs) - half), math.exp(statistics.fmean(logs) + half)


@functools.cache
def critical(k, n):
    """95 % quantile of the largest t of k equal strategies in n rounds, each against the best of them."""
    chance, largest = random.Random(1), []
    for _ in range(max(2000, 400000 // (k * n))):
        samples = [[chance.gauss(0, 1) for _ in range(n)] for _ in range(k)]
        samples.sort(key=sum)
        apart = [[a - b for a, b in zip(s, samples[0])] for s in samples[1:]]
        largest.append(max(statistics.fmean(d) / statistics.stdev(d) * math.sqrt(n) for d in apart))
    return sorted(largest)[int(0.95 * len(largest))]


# ---- a run ----


class Run:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.run, self.summary = (json.loads((self.directory / f).read_text()) for f in ("run.json", "summary.json"))
        self.text = " ".join((self.directory / "summary.txt").read_text().split())
        self.printed = (self.directory / "summary.txt").read_text().splitlines()
        self.said = " ".join(self.summary["answers"] + self.summary["notes"])
        self.mode, self.ranks = self.run["mode"], self.run["derived"]["world_size"]
        self.tables = {t["key"]: t for t in self.summary["tables"]}
        self.implementations = {i["name"]: i for i in self.run["implementations"]}
        self.figures = {(f["subject"], f["name"]): f for f in self.summary["figures"] if f.get("bytes") is None}
        self.captured, self.extra, blocks = [], [], collections.defaultdict(list)
        for rank, file in enumerate(sorted(self.directory.glob("rank_*_metrics.jsonl"), key=lambda f: int(f.name.split("_")[1]))):
            for line in map(json.loads, file.read_text().splitlines()):
                line["rank"] = rank
                (self.captured if line.get("captured") else self.extra if "step" not in line else
                 blocks[line["implementation"], line["round"], rank]).append(line)
        self.blocks, self.rounds = blocks, collections.defaultdict(dict)
        for (name, number, _), lines in blocks.items():
            timed = [line for line in lines if line["timed"]]
            sample = self.rounds[name].setdefault(number, collections.defaultdict(float))
            for key in {k for line in timed for k in line if k.endswith("_ms")}:
                sample[key] += statistics.fmean(line.get(key) or 0 for line in timed) / self.ranks
            sample["step"] = max(sample["step"], timed[0]["block_ms"] / len(timed))
        self.notes()

    def notes(self):
        """Every sentence of summary.json is printed, word for word; and whether others used the machine."""
        for sentence in self.summary["heading"] + self.summary["answers"] + self.summary["notes"]:
            claim("sentences are those of summary.json", sentence[:60], " ".join(sentence.split()) in self.text)
        other = self.summary["other_processes"]
        busy = found("busy machine", r"Busy machine: other processes used " + NUMBER + r" of (\d+) cores", self.said, needed=False)
        claim("busy machine", f"share {other['share']}", bool(busy) == ((other["share"] or 0) > 0.1))
        if busy:
            claim("busy machine", "is said first", self.summary["answers"][0].startswith("Busy machine"))
            shows("busy machine", "cores", busy[1], other["cores"])
            claim("busy machine", "share", math.isclose(other["share"], other["cores"] / int(busy[2]), rel_tol=1e-9))
        lost = found("losses", r"Losses of all synchronising fp32 strategies are identical", self.said, needed=False)
        if lost:
            of = collections.defaultdict(set)
            for (name, _, rank), lines in self.blocks.items():
                given = self.implementations.get(name, {"strategy": "none" if name == "none" else "ddp"})
                if given["strategy"] != "none" and not given.get("approximates") and given.get("wire_dtype", "fp32") == "fp32":
                    for line in lines:
                        of[line["step"], rank].add(line["loss"])
            claim("losses", "they differ", of and all(len(v) == 1 for v in of.values()))

    def samples(self, name, key="step", rounds=None):
        return [s[key] / 1e3 for r, s in sorted(self.rounds[name].items()) if rounds is None or r in rounds]

    def ratios(self, a, b, rounds=None):
        """step of a / step of b, in the rounds that both ran."""
        both = sorted(set(self.rounds[a]) & set(self.rounds[b]) & set(self.rounds[a] if rounds is None else rounds))
        return [self.rounds[a][r]["step"] / self.rounds[b][r]["step"] for r in both]

    def cells(self, key):
        """Yields (row of summary.json, {column: printed words}) of a table; a row that is not printed is a false claim."""
        table, at = self.tables[key], 0
        first = table["title"] or table["columns"][0]["heading"]
        starts = [i for i, line in enumerate(self.printed) if line and (first.startswith(line) or line.startswith(first))]
        claim("titles", f"of {key}", bool(starts))
        at = starts[0] if starts else 0
        for row in table["rows"][: table.get("shown") or None]:
            name = str(row[table["columns"][0]["key"]])
            for number, line in enumerate(self.printed[at + 1:], at + 1):
                words, cells = re.findall(r"\[[^]]*\]|\S+", line), {}
                if not words or words[0] != name.split()[0] or not re.match(r" *" + re.escape(name) + r"( |$)", line):
                    continue
                for column in (c for c in table["columns"] if "heading" in c):
                    of, length = column["key"], 1
                    if column["kind"] == "text":
                        length = len(str(row[of]).split())
                    elif column["kind"] == "interval":
                        length = row[of + "_low"] is not None
                        of += "_95" * (of in cells)
                    cells[of], words = " ".join(words[:length]), words[length:]
                    if column["kind"] == "text":
                        claim("words in cells", f"{name}: {of}: {cells[of]}", cells[of] == " ".join(str(row[of]).split()))
                claim("words in cells", f"{name}: left over: {words}", not words)
                yield row, {k: v or None for k, v in cells.items()}
                at = number
                break
            else:
                claim("titles", f"no row of {name} in {key}", False)


def shows_interval(kind, words, printed, values, scale=1):
    printed = re.findall(NUMBER, printed or "") or [None, None]
    for end, number, value in zip(("low", "high"), printed, values or (None, None)):
        shows(kind, f"{words}, {end}", number, value, scale)


PHASES = {"data_loading": "data_loading_ms", "forward_pass": "forward_pass_ms", "parameter_gather": "parameter_gather_ms",
          "backward_pass": "backward_pass_ms", "gradient_sync": "gradient_sync_ms", "optimizer_step": "optimizer_step_ms",
          "checkpoint": "checkpoint_ms"}


def cost_of(run, name, medians, rounds=None):
    """Returns the sync cost, its interval (of this pair alone), and the cost / step of `none`."""
    if name == "none" or "none" not in run.rounds:
        return None, None, None
    ratios, none = run.ratios(name, "none", rounds), typical(run.samples("none", rounds=rounds), medians)
    ends = interval(ratios, medians)
    return (typical(ratios, medians) - 1) * none, ends and tuple((e - 1) * none for e in ends), typical(ratios, medians) - 1


def check_table(run, medians):
    kind, tokens = "cells of the table", run.run["derived"]["tokens_per_step"]
    for row, cell in run.cells("implementations"):
        name = row["implementation"]
        samples = {key: run.samples(name, line) for key, line in PHASES.items()} | {"step": run.samples(name)}
        value = {key: typical(x, medians) for key, x in samples.items()}
        rest = [s - sum(p) for s, *p in zip(samples["step"], *(samples[k] for k in PHASES))]
        value["other"] = typical(rest, True) if medians else value["step"] - sum(value[k] for k in PHASES)
        for column in PHASES.keys() | {"step", "other"}:
            if column in cell:
                shows(kind, f"{name}, {column}", cell[column], value[column], 1e3)
        for column in ("data_loading", "other"):
            if value[column] > 0.05 * value["step"]:
                claim("columns data and other", f"{name}: {column} is {value[column] / value['step']:.3f} of a step", column in cell)
        if "step_to_ddp" in cell:
            reference = next(n for n, i in run.implementations.items() if i["strategy"] == "ddp")
            shows(kind, f"{name}, vs ddp", cell["step_to_ddp"], typical(run.ratios(name, reference), medians))
        waits = [(s + g) / t for s, g, t in zip(samples["gradient_sync"], samples["parameter_gather"], samples["step"])]
        communicates = run.implementations[name]["strategy"] != "none"
        shows(kind, f"{name}, comm ratio", cell["communication_ratio"], typical(waits, medians) if communicates else None)
        shows(kind, f"{name}, tokens", cell["tokens_per_second"], tokens / value["step"])
        cost, ends, _ = cost_of(run, name, medians)
        shows(kind, f"{name}, cost", cell.get("sync_cost"), cost, 1e3)
        shows_interval(kind, f"{name}, cost", cell.get("sync_cost_95"), ends, 1e3)
        if "loss" in cell:
            last = [lines[-1]["loss"] for (of, number, _), lines in run.blocks.items() if of == name and number == 0]
            shows(kind, f"{name}, loss", cell["loss"], statistics.fmean(last))
        if cell.get("step_to_attainable", "n/a") != "n/a":
            best = attainable(run, name)
            shows("attainable", name, cell["attainable"], typical(best, medians), 1e3)
            shows("attainable", name, cell["step_to_attainable"], typical([s / b for s, b in zip(samples["step"], best)], medians))


def attainable(run, name):
    """The bound of every round on the slowest rank, by results/README.md, from the lines of --attainable."""
    rounds, given = collections.defaultdict(list), run.implementations[name]
    parameters = [c["parameters"] for c in given["collectives"]]
    none = {(x["round"], x["rank"]): x for x in run.extra if x["implementation"] == "none"}
    for line in (x for x in run.extra if x["implementation"] == name and "alone_ms" in x):
        of, remaining = none[line["round"], line["rank"]], 0
        end, update, gathers = of["backward_end_ms"], of["update_ms"], line.get("gather_alone_ms")
        for tensor, alone in reversed(list(zip(line["last_tensor"], line["alone_ms"]))):
            remaining += alone
            end = max(end, of["gradients_ready_ms"][tensor] + remaining)
        if gathers:
            update /= run.ranks
            end += max(0, max(gathers[-1], sum(gathers) - of["forward_end_ms"]) - (1 - parameters[-1] / sum(parameters)) * update)
        rounds[line["round"]].append((end + update + of["rest_ms"]) / 1e3)
    return [max(v) for _, v in sorted(rounds.items())]


# ---- the verdict ----


def duration(words):
    return sum(float(n) * {"d": 86400, "h": 3600, "min": 60, "s": 1, "ms": 1e-3}[unit]
               for n, unit in re.findall(NUMBER + r" (d|h|min|ms|s)\b", words.replace("days", "d").replace("day", "d")))


def check_verdict(run, ranked, medians, rounds=None, cost=True):
    """rounds: those that count (of tune: the final's); cost: the best one's is printed."""
    said, of = run.said, run.summary["verdict"]
    n, k = max((len(run.ratios(a, a, rounds)) for a in ranked), default=0), len(ranked)
    level = 0.05 / (k * (k - 1) / 2) if k > 1 else 0.05
    first = 1 if medians else 6
    while medians and k > 1 and interval([1.0] * first, True, level) is None:
        first += 1
    if k < 2 or n < first:
        claim("verdict: too few rounds", f"{n} of {first} rounds", k < 2 or re.search(r"No verdict: too few rounds", said))
        return None
    if medians:
        claim("critical value", f"level {of['interval_level']}", math.isclose(of["interval_level"], 1 - level, rel_tol=1e-9))
        best = max(ranked, key=lambda a: min(typical(run.ratios(b, a, rounds), True) for b in ranked if b != a))
    else:
        least = critical(k, n) if k > 2 else student(0.975, n - 1)
        claim("critical value", f"{of['critical_value']}, simulated {least}", math.isclose(of["critical_value"], least, rel_tol=0.04 if k > 2 else 1e-6))
        best = min(ranked, key=lambda a: typical(run.samples(a, rounds=rounds), False))
    claim("verdict: best", f"{of['best']}, not {best}", of["best"] == best)
    within, words, more, last = of["within"], {}, [], -math.inf
    c = of.get("critical_value")
    for name in ranked:
        if name != best:
            ratios = run.ratios(name, best, rounds)
            ratio, ends = typical(ratios, medians), interval(ratios, medians, level, c)
            word = "undecided" if not ends else "slower" if ends[0] > 1 else \
                "tie" if ends[0] >= 1 / (1 + within) - MARGIN and ends[1] <= 1 + within + MARGIN else "undecided"
            words[name] = (word, ratio, ends)
            if word == "undecided" and ends:
                r, half = math.log(ratio), max(math.log(ends[1] / ratio), math.log(ratio / ends[0]))
                apart = max(abs(r), math.log(1 + within) - abs(r))
                more.append(len(ratios) * ((half / apart) ** 2 - 1) if apart else math.inf)
    listed = re.search(r"(?:Tie|Undecided|Slower)\b.*?(?= In %)", said)
    listed, shown = listed[0] if listed else "", set()
    for word, items in re.findall(r"(Tie|Undecided|Slower)[^:]*: ((?:" + re.sub(r"\((?!\?)", "(?:", LIST) + "(?:, )?)+)", listed):
        last = -math.inf
        for name, percent, low, high in re.findall(LIST, items):
            expected, ratio, ends = words.get(name, (None, None, None))
            shown.add(name)
            claim("verdict: tie, undecided, slower", f"{name}: {word}, recomputed {expected} {ratio} {ends}", word.lower() == expected)
            shows("verdict: percentages", name, percent, ratio and ratio - 1, 100)
            shows("verdict: intervals", name, low or None, ends and ends[0] - 1, 100)
            shows("verdict: intervals", name, high or None, ends and ends[1] - 1, 100)
            claim("verdict: order", f"{name} after {last}", ratio is not None and ratio >= last - MARGIN)
            claim("verdict: estimate inside its interval", name, not ends or ends[0] <= ratio <= ends[1])
            last = ratio or last
    claim("verdict: all are listed", f"{set(words) - shown} left out", set(words) == shown)
    for other in of["others"]:
        expected, ratio, ends = words[other["implementation"]]
        claim("verdict in summary.json", other["implementation"], other["verdict"] == expected and math.isclose(other["ratio"], ratio, rel_tol=1e-6)
              and (not ends or all(math.isclose(other[e], v, rel_tol=1e-6) for e, v in zip(("low", "high"), ends))))
    known = found("verdict: margin", r"not known to " + NUMBER + " %", said, needed="Undecided" in listed)
    if known:
        shows("verdict: margin", "of a tie", known[1], within, 100)
    step = found("verdict: best", r"(Use|Shortest so far is) (\S+?)(?:, (\S+) MiB)?: a step takes " + NUMBER + r" ms", said)
    if step:
        undecided = any(w == "undecided" for w, _, _ in words.values())
        claim("verdict: Use or Shortest so far", step[1], (step[1] == "Use") == (not undecided))
        given = run.implementations[best]
        claim("verdict: best", f"words {step[2]}", step[2] in (best, given["strategy"]))
        shows("verdict: best", "its step", step[4], typical(run.samples(best, rounds=rounds), medians), 1e3)
        if step[3]:
            shows("verdict: best", "its bucket size", step[3], given["bucket_bytes"], 2**-20)
        options = found("verdict: options", r"Options: --implementations (\S+)(?: --bucket-size-mb (\S+))?", said)
        if options:
            claim("verdict: options", options[0], options[1].startswith(given["strategy"]) and
                  (options[2] or "") == ("" if "bucket_size" not in given else given["bucket_size"]))
        value, ends, share = cost_of(run, best, medians, rounds) if cost and "none" in run.rounds else (None, None, None)
        words_of_cost = r"which is " + NUMBER + r" ms( \[[^]]*\])? \(" + NUMBER + r" %\) (longer|shorter) than without communication( \(not significant\))?"
        costs = found("verdict: cost", words_of_cost, said, needed=value is not None)
        if costs and value is not None:
            sign = -1 if costs[4] == "shorter" else 1
            shows("verdict: cost", "ms", costs[1], sign * value, 1e3)
            shows("verdict: cost", "% of a step without", costs[3], sign * share, 100)
            shows_interval("verdict: cost", "interval", costs[2], ends, 1e3)
            claim("verdict: cost", "significance", bool(costs[5]) == (ends is not None and ends[0] <= 0 <= ends[1]))
    if more:
        check_more(run, max(more), rounds)
    return best


def check_more(run, rounds, counted):
    """The verdict's estimate of how much longer it would take: a time, and in rounds if it is short."""
    spans = collections.defaultdict(list)
    for (_, number, _), lines in run.blocks.items():
        spans[number] += [lines[0]["start"], lines[-1]["start"] + lines[-1]["step_ms"] / 1e3]
    spans = {n: v for n, v in spans.items() if counted is None or n in counted}
    each = (max(map(max, spans.values())) - min(map(min, spans.values()))) / len(spans)
    said = found("verdict: more time", r"About ([^()]*?) more \((\d+) rounds\) would decide|it would take about (.*?) more to decide", run.said)
    if said:
        wanted = math.ceil(rounds)
        digits = max(0, len(str(wanted)) - 2)
        wanted = round(wanted / 10**digits) * 10**digits
        if said[2]:
            claim("verdict: more rounds", f"{said[2]}, recomputed {rounds}", abs(int(said[2]) - wanted) <= max(1, 10**digits))
        seconds = duration(said[1] or said[3])
        claim("verdict: more time", f"{said[0]}: {seconds} s, recomputed {rounds:.0f} x {each:.4f} s = {rounds * each:.1f}",
              abs(seconds - rounds * each) <= max(0.06 * rounds * each, 1.5 * each, 1))


def check_benchmark(run):
    medians = "ended" in run.summary
    table = run.tables["implementations"]
    n = max(len(r) for r in run.rounds.values())
    legend = found("legend", r"(Medians|Geometric means) over (\d+) rounds?; a sample is the mean of (\d+) timed steps?", run.text)
    if legend:
        claim("legend", "medians or means", (legend[1] == "Medians") == medians)
        claim("legend", f"rounds {legend[2]}, {n} in the lines", int(legend[2]) == n == run.summary["done"])
        timed = sum(line["timed"] for line in next(iter(run.blocks.values())))
        claim("legend", f"steps {legend[3]}, {timed} in the lines", int(legend[3]) == timed)
    for column, words in (("step_to_ddp", "vs ddp:"), ("other", "other:"), ("parameter_gather", "gather:"), ("sync_cost_95", "sync cost:"),
                          ("gradient_error", "gradient error:"), ("attainable", "attainable:")):
        if any(c["key"] == column for c in table["columns"]) and column != "attainable":
            claim("legend", f"explains {column}", words in run.text or column == "sync_cost_95" and all(r["sync_cost"] is None for r in table["rows"]))
    check_table(run, medians)
    ranked = [name for name, i in run.implementations.items() if i["strategy"] != "none" and "twin_of" not in i and not i["approximates"]]
    best = check_verdict(run, ranked, medians)
    ties = {o["implementation"] for o in run.summary.get("verdict", {}).get("others", []) if o["verdict"] == "tie"}
    for row in table["rows"]:
        name = row["implementation"]
        mark = "*" if name == best else "=" if name in ties else ""
        claim("marks * and =", f"{name}: {row['best']!r}, not {mark!r}", row["best"] == mark or best is None)
    for name, of in run.implementations.items():
        if "twin_of" in of:
            claim("twins", name, f"{name} does the same as {of['twin_of']} here" in run.said and
                  not re.search(r" " + re.escape(name) + r" [-+]\d", run.said))
    if medians:
        ended = found("rounds end", r"(Resolved|Not resolved) to " + NUMBER + r" %.*?: (\d+) rounds", run.said)
        if ended:
            undecided = any(o["verdict"] == "undecided" for o in run.summary["verdict"]["others"])
            claim("rounds end", ended[0], (ended[1] == "Resolved") == (not undecided) and int(ended[3]) == n)


def check_tune(run):
    medians = "interval_level" in run.summary.get("verdict", {}) or "Medians over the rounds" in run.text
    rows = {r["implementation"]: r for r in run.tables["candidates"]["rows"]}
    start = max((max(v) for name, v in run.rounds.items() if rows.get(name, {}).get("verdict") == "dropped"), default=-1) + 1
    everything = set(range(start, 1 + max(max(v) for v in run.rounds.values())))
    final = everything if any(r["verdict"] == "best" and r["rounds"] == len(everything) for r in rows.values()) else None
    for row, cell in run.cells("candidates"):
        name, kind = row["implementation"], "cells of the table of tune"
        of = set(run.rounds[name]) if row["verdict"] == "dropped" or final is None else final & set(run.rounds[name])
        shows(kind, f"{name}, rounds", cell["rounds"], len(of))
        shows(kind, f"{name}, buckets", cell["buckets"], len(run.implementations[name]["collectives"]))
        shows(kind, f"{name}, step", cell["step"], typical(run.samples(name, rounds=of), medians), 1e3)
        cost, ends, _ = cost_of(run, name, medians, of)
        shows(kind, f"{name}, cost", cell["sync_cost"], cost, 1e3)
        shows_interval(kind, f"{name}, cost", cell.get("sync_cost_95"), ends, 1e3)
    limit = found("search", r"(?:Time limit reached, after|so far|after) (.*?), (\d+) rounds", run.said)
    if limit:
        claim("search", limit[0], int(limit[2]) == len(run.rounds["none"]))
    if final is None:
        return claim("verdict: too few rounds", "no final", "No verdict" in run.said)
    ranked = [name for name, r in rows.items() if r["verdict"] not in ("dropped", "control")]
    best = check_verdict(run, ranked, medians, final)
    for name in ranked:
        word = "best" if name == best else next(o["verdict"] for o in run.summary["verdict"]["others"] if o["implementation"] == name)
        claim("marks * and =", f"{name}: {rows[name]['verdict']}, not {word}", rows[name]["verdict"] == word)
    several = re.search(r"Buckets of several sizes .*? with (\S+) a step is " + NUMBER + r" %(?: \[\S+ \S+\])? \w+ than with (\S+?)\. ", run.said + " ")
    if several:
        def plan(name):
            return "+" in (run.implementations[name].get("bucket_size") or "")
        rival = min((name for name in ranked if plan(name) != plan(best) and run.implementations[name]["strategy"] == run.implementations[best]["strategy"]),
                    key=lambda name: typical(run.ratios(name, best, final), medians))
        claim("buckets of several sizes", f"{several[1]}, {several[3]}: the shortest other is {rival}", {several[1], several[3]} == {best, rival})
        shows("buckets of several sizes", "percentage", several[2], typical(run.ratios(several[1], several[3], final), medians) - 1, 100)


# ---- a profile ----


def quantile(x, q):
    x, at = sorted(x), q * (len(x) - 1)
    return x[math.floor(at)] + (at % 1) * (x[math.ceil(at)] - x[math.floor(at)])


def captured(run, key, rank=None):
    of = [line for line in run.captured if line["epoch_kind"] == "active"] or run.captured
    return [(line.get(key) or 0) / 1e3 for line in of if rank in (None, line["rank"])]


def check_phases(run):
    table, kind, steps = run.tables["phases"], "phases of a profile", captured(run, "step_ms")
    title = found(kind, r"in (\d+) captured steps? .*on (\d+) ranks?", table["title"])
    claim(kind, title[0], int(title[1]) * int(title[2]) == len(steps) and int(title[2]) == run.ranks)
    whole = 0
    for row, cell in run.cells("phases"):
        name = row["name"] + "_ms"
        medians = [statistics.median(captured(run, name, r)) for r in range(run.ranks)]
        tails = [quantile(captured(run, name, r), 0.95) for r in range(run.ranks)]
        for column, value in (("mean", statistics.fmean(captured(run, name))), ("median", statistics.median(captured(run, name))),
                              ("least", min(medians)), ("most", max(medians)), ("p95_steps", max(tails))):
            shows(kind, f"{name}, {column}", cell[column], value, 1e3)
        for column, values, value in (("least_rank", medians, min(medians)), ("most_rank", medians, max(medians)), ("p95_rank", tails, max(tails))):
            claim(kind, f"{name}, {column} {cell[column]}", math.isclose(values[int(cell[column])], value, rel_tol=1e-6))
        shows(kind, f"{name}, share", cell["share"], statistics.fmean(captured(run, name)) / statistics.fmean(steps), 100)
        whole += row["mean"] * (row["name"] != "step")
    claim(kind, f"phases add up to {whole}", math.isclose(whole, statistics.fmean(steps), rel_tol=0.01))
    mean, derived = statistics.fmean(steps), run.run["derived"]
    note = found(kind, NUMBER + r" tokens per second, " + NUMBER + r" ([GMT])FLOP/s of the model; .*? " + NUMBER + r"\.(?= |$)", " ".join(table["notes"]))
    shows(kind, "tokens per second", note[1], derived["tokens_per_step"] / mean)
    shows(kind, "FLOP/s", note[2], derived["model_flops_per_step"] / mean, {"M": 1e-6, "G": 1e-9, "T": 1e-12}[note[3]])
    waits = statistics.fmean(captured(run, "gradient_sync_ms")) + statistics.fmean(captured(run, "parameter_gather_ms"))
    shows(kind, "communication ratio", note[4], waits / mean)
    first = found("first sentence of a profile", r"A captured step takes " + NUMBER + r" ms on average: (.*?) \(table below\)", run.said)
    shows("first sentence of a profile", "step", first[1], mean, 1e3)
    rest, percents = mean, 0
    for percent, name in re.findall(r"(\d+) % ([a-z_ ]+?)(?:,|$)", first[2]):
        value = rest if name == "other phases" else statistics.fmean(captured(run, name + "_ms"))
        rest, percents = rest - value, percents + int(percent)
        shows("first sentence of a profile", name, percent, value / mean, 100)
    claim("first sentence of a profile", f"{percents} % in all", abs(percents - 100) <= 3)


def check_captured(run):
    """Tables of ranks, operations, collectives and buckets: their own sums, and what the lines have."""
    kind, n = "ranks of a profile", len(captured(run, "step_ms")) // run.ranks
    for row, cell in run.cells("ranks"):
        rank = row["rank"]
        def mean(key):
            return statistics.fmean(captured(run, key + "_ms", rank))
        for column, value in (("compute_busy", mean("compute")), ("comm_busy", mean("communication")), ("overlap", mean("overlap")),
                              ("exposed", mean("exposed")), ("exposed_tail", mean("exposed_tail"))):
            shows(kind, f"{rank}, {column}", cell[column], value, 1e3)
        for column, part, whole, scale in (("span_overlap", "overlap", "communication", 1), ("compute_coverage", "overlap", "compute", 1),
                                           ("utilisation", "compute", "step", 100)):
            shows(kind, f"{rank}, {column}", cell[column], mean(part) / mean(whole), scale)
        claim("a part is at most its whole", f"rank {rank}", row["overlap"] <= min(row["comm_busy"], row["compute_busy"]) + 1e-9 and
              row["compute_busy"] <= row["step"] + 1e-9 and row["exposed"] <= row["comm_busy"] + 1e-9)
    step, kind = statistics.fmean(captured(run, "step_ms")), "operations, collectives, buckets"
    for row, cell in run.cells("operations"):
        shows(kind, f"{row['name']}, self", cell["share"], row["self"] / (step * n * run.ranks), 100)
        shows(kind, f"{row['name']}, mean", cell["mean"], row["total"] / row["calls"], 1e6)
        claim("a part is at most its whole", f"{row['name']}", row["self"] <= row["total"] + 1e-9 and 0 <= row["share"] <= 1)
    factor = 2 * (run.ranks - 1) / run.ranks
    for row, cell in run.cells("collectives"):
        shows(kind, f"{row['bytes']} bytes, algbw", cell["algbw"], row["bytes"] / row["duration"], 1e-9)
        shows(kind, f"{row['bytes']} bytes, busbw", cell["busbw"], row["bytes"] / row["duration"] * factor / (1 if "kind" not in row or row["kind"] == "all_reduce" else 2), 1e-9)
        claim("a part is at most its whole", f"{row['bytes']} bytes", max(row["wait"] or 0, row["transfer"] or 0) <= row["duration"] + 1e-9)
    if "collectives" in run.tables:
        each = round(sum(captured(run, "collectives", 0)) * 1e3) * run.ranks
        claim(kind, "calls of all sizes", sum(r["calls"] for r in run.tables["collectives"]["rows"]) == each)
    for row, _ in run.cells("buckets") if "buckets" in run.tables else ():
        claim("a part is at most its whole", f"bucket {row['bucket']}", row["ready"] <= row["queued"] <= row["posted"] <= row["done"] <= 2 * step and 0 <= row["last"] <= 1)
    kind = "stragglers"
    work = [[s - sum(p) for s, *p in zip(*(captured(run, k + "_ms", r) for k in ("step", "gradient_sync", "parameter_gather", "checkpoint")))] for r in range(run.ranks)]
    medians = [statistics.median(w) for w in work]
    for row, cell in run.cells("stragglers") if "stragglers" in run.tables else ():
        rank, known = row["rank"], sum(r["last"] for r in run.tables["stragglers"]["rows"])
        shows(kind, f"{rank}, late", cell["late"], max(0, medians[rank] - min(medians)) if run.ranks <= 4 else row["late"], 1e3)
        shows(kind, f"{rank}, last", cell["share"], row["last"] / known if known else None, 100)
        others = max(statistics.fmean(captured(run, "communication_ms", r)) for r in range(run.ranks) if r != rank)
        claim("a part is at most its whole", f"rank {rank}: cost {row['cost']}, {others}", row["cost"] <= others + 1e-6 and row["core_wait"] <= step * 2 and row["saves"] <= row["late"] + 1e-9)


def check_controls(run):
    kind, name = "controls", run.summary["implementation"]
    rows = {r["name"]: (r, c) for key in ("controls", "control_ratios") if key in run.tables for r, c in run.cells(key)}
    if not rows:
        return
    alone, slowdown = collections.defaultdict(list), collections.defaultdict(list)
    for line in run.extra:
        if line["implementation"] == name and "alone_ms" in line:
            alone[line["round"]].append(sum(line["alone_ms"]) * line.get("reductions", 1) / 1e3)
            gathers = line.get("gather_alone_ms", [0] * len(line["alone_ms"]))
            slowdown[line["round"]].append(statistics.median(a / (b * line["reductions"] + c) for a, b, c in zip(line["in_step_ms"], line["alone_ms"], gathers)))
    untraced, after = (next((r for r in (c, f"{c}:{name}") if r in run.rounds), None) for c in ("untraced", "after_backward"))
    def apart(a, b):
        """(a / b - 1) x the geometric mean of b, with its interval."""
        ratios, base = run.ratios(a, b), typical(run.samples(b), False)
        return (typical(ratios, False) - 1) * base, tuple((e - 1) * base for e in interval(ratios, False) or ()) or None
    def of(x):
        return typical(x, False), interval(x, False)
    computed = {n: of(run.samples(k)) for n, k in ((name, name), ("untraced", untraced), ("after backward", after), ("none", "none")) if k in run.rounds}
    if "none" in run.rounds and run.ranks > 1:
        computed["sync cost"] = apart(name, "none")
        computed["compute slowdown"] = of([a / b for a, b in zip(run.samples(name, "compute_ms"), run.samples("none", "compute_ms"))])
    computed["profiling overhead"] = of(run.ratios(name, untraced))
    if alone:
        computed["comm alone"] = of([max(v) for _, v in sorted(alone.items())])
        computed["comm slowdown"] = of([statistics.fmean(v) for _, v in sorted(slowdown.items())])
        best = attainable(run, name)
        computed["attainable"], computed["step / attainable"] = of(best), of([s / b for s, b in zip(run.samples(name), best)])
    if after:
        computed["saved by overlap"] = apart(after, name)
        if alone:
            could = min(computed["comm alone"][0], typical(run.samples("none", "backward_pass_ms"), False))
            value, ends = computed["saved by overlap"]
            computed["overlap efficiency"] = value / could, ends and tuple(e / could for e in ends)
    for label, (row, cell) in rows.items():
        if label in computed:
            scale = 1e3 if row in run.tables["controls"]["rows"] else 1
            shows(kind, label, cell["value"], computed[label][0], scale)
            shows_interval(kind, label, cell["interval"], computed[label][1], scale)
            claim("a control lies inside its interval", label, not row["interval_low"] or row["interval_low"] <= row["value"] <= row["interval_high"])
        else:
            claim(kind, f"nothing computes {label}", False)
    saved = found("overlap sentence", r"\(saved: " + NUMBER + r" ms (\[[^]]*\]) a step, n = (\d+) rounds\)", run.said, needed=False)
    if saved:
        value, ends = computed["saved by overlap"]
        shows("overlap sentence", "saved", saved[1], value, 1e3)
        shows_interval("overlap sentence", "saved", saved[2], ends, 1e3)
        claim("overlap sentence", "word", ("not significantly different from none" in run.said) == (ends[0] <= 0 <= ends[1]) and
              ("Overlap did not happen" in run.said) == (ends[1] < 0) and int(saved[3]) == len(run.rounds[name]))


def check_findings(run):
    """Each number of a finding against the tables and lines; levels by the page's thresholds; the costliest first."""
    kind, said, findings = "findings", run.said, run.summary["findings"]
    rows = {r["rank"]: r for r in run.tables["ranks"]["rows"]}
    ranks, name, n = range(run.ranks), run.summary["implementation"], len(captured(run, "step_ms")) // run.ranks
    means = {k: [statistics.fmean(captured(run, k + "_ms", r)) for r in ranks] for k in ("step", "exposed", "compute", "data_loading", "backward_pass", "communication")}
    steps = [statistics.median(captured(run, "step_ms", r)) for r in ranks]
    late = {r["rank"]: r for r in run.tables["stragglers"]["rows"]} if "stragglers" in run.tables else {}
    busy = (run.summary["other_processes"]["share"] or 0) > 0.1
    losses = [-math.inf if f["loss"] is None else f["loss"] for f in findings]
    claim(kind, "the costliest first", losses == sorted(losses, reverse=True))
    for f in findings:
        text, lost = f["text"], f["loss"] and f["loss"]
        opening = found(kind, re.escape(f["name"]) + r" \((\w+)(?:, (?:up to )?" + NUMBER + r" ms( \[[^]]*\])? of a step)?\): " + re.escape(text), said)
        if opening:
            claim(kind, f"level of {f['name']}", opening[1] == f["level"] and (not busy or f["level"] == "note"))
            shows(kind, f"{f['name']}, lost", opening[2], lost, 1e3)
            if opening[3] or f["loss_low"] is not None:
                shows_interval(kind, f["name"], opening[3], (f["loss_low"], f["loss_high"]), 1e3)
        claim("shares", f"{f['name']}: {f['percent']}, {f['share']}", 0 <= f["percent"] <= 100 and 0 <= (f["share"] or 0) <= 1)
        claim("a part is at most its whole", f"{f['name']} {lost}", (lost or 0) <= 2 * max(steps + means["step"]))
        if f["name"] == "idle device":
            shows(kind, "least busy rank", found(kind, r"in only " + NUMBER + " %", text)[1], min(c / s for c, s in zip(means["compute"], means["step"])), 100)
        elif f["name"] == "data loading":
            shows(kind, "data loading", found(kind, NUMBER + " % of ", text)[1], f["percent"])
        elif f["name"] == "CPU contention":
            words = found(kind, r"rank (\d+) .*? for " + NUMBER + " ms, " + NUMBER + " %", text)
            shows(kind, "without a core", words[2], late[int(words[1])]["core_wait"], 1e3)
            shows(kind, "without a core, share", words[3], late[int(words[1])]["core_wait"] / steps[int(words[1])], 100)
        elif f["name"] == "straggler":
            words = found(kind, r"rank (\d+) came last in (\d+) of (\d+) .*?by up to " + NUMBER + " ms, and stalled the others for " + NUMBER + " %", text)
            row, others = late[int(words[1])], statistics.fmean(means["step"][r] for r in ranks if r != int(words[1]))
            claim(kind, words[0], (int(words[2]), int(words[3])) == (row["last"], sum(r["last"] for r in late.values())))
            shows(kind, "by up to", words[4], row["behind_most"], 1e3)
            shows(kind, "stalled", words[5], row["cost"] / others, 100)
            for pattern, value in ((r"it works " + NUMBER, row["late"]), (r"no core for " + NUMBER, row["core_wait"] - min(r["core_wait"] for r in late.values())),
                                   (r"a step would be " + NUMBER, row["saves"])):
                if number := found(kind, pattern, text, needed=False):
                    shows(kind, pattern, number[1], value, 1e3)
            claim(kind, f"loss of a straggler {lost}", any(math.isclose(lost, v, rel_tol=1e-9) for v in (row["cost"], row["saves"])))
        elif f["name"] == "exposed communication":
            shares = [e / s for e, s in zip(means["exposed"], means["step"])]
            if words := found(kind, r"takes " + NUMBER + r" % of the step on the rank with the most", text, needed=False):
                shows(kind, "exposed", words[1], max(shares), 100)
            if words := found(kind, r"above it: ranks? ([\d, ]+)\)", text, needed=False):
                claim(kind, words[0], [int(r) for r in words[1].split(", ")] == [r for r in ranks if shares[r] > 0.2])
            if words := found(kind, r"a step is " + NUMBER + r" ms (\[[^]]*\]) slower than without communication(, which is not)?", text, needed=False):
                cost, ends, _ = cost_of(run, name, False)
                shows(kind, "sync cost", words[1], cost, 1e3)
                shows_interval(kind, "sync cost", words[2], ends, 1e3)
                claim(kind, "significance", bool(words[3]) == (ends[0] <= 0 <= ends[1]))
            if words := found(kind, r"alone take " + NUMBER + r" ms on the slowest rank, and the backward pass of `none` " + NUMBER + " ms: a ratio of " + NUMBER, text, needed=False):
                alone = next(r["value"] for r in run.tables["controls"]["rows"] if r["name"] == "comm alone")
                backward = typical(run.samples("none", "backward_pass_ms"), False)
                for number, value, scale in zip(words.groups(), (alone, backward, alone / backward), (1e3, 1e3, 100)):
                    shows(kind, "alone, backward, ratio", number, value, scale)
            if (words := found(kind, r"without waits for late ranks at most " + NUMBER + r" ms, on rank (\d+)", text, needed=False)) and run.ranks == 2:
                shows(kind, words[0], words[1], max(means["exposed"][r] - late[1 - r]["cost"] for r in ranks), 1e3)
    names = {f["name"] for f in findings}
    claim(kind, "idle device", ("idle device" in names) == (min(c / s for c, s in zip(means["compute"], means["step"])) < 0.7))
    claim(kind, "CPU contention", ("CPU contention" in names) == any(late[r]["core_wait"] / steps[r] > 0.1 for r in late))


def check_comparison(run):
    """Several implementations side by side: the verdict over their rounds, and the tables."""
    names = [row["implementation"] for row in run.tables["implementations"]["rows"]]
    best = check_verdict(run, names, False, cost=False)
    def signs(x):
        return sign_interval(x, lambda k: sum(math.comb(len(x), i) for i in range(k)) * 2 / 2 ** len(x) <= 0.05)
    for key in ("implementations", "phases", "communication"):
        for row, cell in run.cells(key):
            name = row["implementation"]
            columns = {"step": "step", "forward_pass": "forward_pass_ms", "backward_pass": "backward_pass_ms", "exposed": "exposed_ms", "overlap": "overlap_ms"}
            for column in columns.keys() & cell.keys():
                x, medians = run.samples(name, columns[column]), column in ("exposed", "overlap")
                shows("table of several", f"{name}, {column}", cell[column], typical(x, medians), 1e3)
                shows_interval("table of several", f"{name}, {column}", cell[column + "_95"], signs(x) if medians else interval(x, False), 1e3)
            if "step_to_shortest" in cell:
                shows("table of several", f"{name}, ratio", cell["step_to_shortest"], typical(run.ratios(name, best), False))


def check_profile(run):
    if "implementation" not in run.summary:
        return check_comparison(run)
    check_phases(run)
    check_captured(run)
    check_controls(run)
    check_findings(run)


# ---- report, compare ----


def check_report(file, runs):
    document, kind = json.loads(pathlib.Path(file).read_text()), "report"
    blocks, of = document["blocks"], {}
    for listed in document["runs"]:
        run = next(r for r in runs if r.directory.samefile(listed["directory"]))
        of[listed["label"], run.mode] = run
    text = " ".join(b["text"] for b in blocks if "text" in b)
    busiest = max(runs, key=lambda r: r.summary["other_processes"]["share"] or 0).summary["other_processes"]
    busy = found(kind, r"Busy machine: other processes used " + NUMBER + r" of", text, needed=False)
    claim(kind, "busy", bool(busy) == ((busiest["share"] or 0) > 0.1))
    if busy:
        shows(kind, "busy", busy[1], busiest["cores"])
    tables = collections.defaultdict(list)
    for block in (b for b in blocks if b["kind"] == "table"):
        tables[block["table"]["key"]] += block["table"]["rows"]
    for row in tables["where_the_time_goes"]:
        parts = [row[k] for k in ("compute", "data_loading", "exposed", "other")]
        claim("report: shares", f"{row}", all(math.isclose(row[k + "_share"], p / sum(parts), rel_tol=1e-6) for k, p in
              zip(("compute", "data_loading", "exposed", "other"), parts)) and all(-0.05 <= p / sum(parts) <= 1 for p in parts))
        run = of[row["run"], row["mode"]] if (row["run"], row["mode"]) in of else None
        if run and row["mode"] == "benchmark":
            medians = "ended" in run.summary
            claim("report: parts of a step", "step", math.isclose(row["step"], typical(run.samples(row["implementation"]), medians), rel_tol=1e-6))
            for key in ("data_loading",):
                claim("report: parts of a step", key, math.isclose(row[key], typical(run.samples(row["implementation"], key + "_ms"), medians), rel_tol=1e-6))
            exposed = [typical(run.samples(row["implementation"], k), medians) for k in ("gradient_sync_ms", "parameter_gather_ms")]
            claim("report: parts of a step", "exposed", math.isclose(row["exposed"], sum(exposed), rel_tol=1e-6, abs_tol=1e-12))
    for row in tables["bucket_sizes_of_runs"]:
        run = next(r for (label, mode), r in of.items() if label == row["run"] and mode in ("benchmark", "tune"))
        verdict = run.summary.get("verdict", {"best": None, "others": []})
        order = [verdict["best"]] + [o["implementation"] for o in verdict["others"]]
        listed = [r["implementation"] for r in tables["bucket_sizes_of_runs"] if r["run"] == row["run"]]
        first = next((name for name in order if name in listed), None)
        claim("report: * of bucket sizes", f"{row['run']}: {row['implementation']}, not {first}", first is None or (row["mark"] == "*") == (row["implementation"] == first))
        claim("report: sync cost", row["implementation"], row["sync_cost"] == (run.figures.get((row["implementation"], "sync_cost")) or {}).get("value"))
    for row in tables["bottlenecks"]:
        claim("report: bottlenecks", f"share of {row['bottleneck']}", row["share"] is None or 0 <= row["share"] <= 1)
        run = of.get((row["run"], row["mode"]))
        if row["bottleneck"] == "communication" and run and row["mode"] == "benchmark":
            words = found("report: bottlenecks", r"^(\S+) is " + NUMBER + r" ms (\[[^]]*\]) a step slower", row["text"])
            cost, ends, _ = cost_of(run, words[1], "ended" in run.summary)
            shows("report: bottlenecks", "cost", words[2], cost, 1e3)
            shows_interval("report: bottlenecks", "cost", words[3], ends, 1e3)
            claim("report: bottlenecks", "share", math.isclose(row["share"], cost / (cost + typical(run.samples("none"), "ended" in run.summary)), rel_tol=1e-6))
    for words in re.findall(r"In (\S+), `--implementations (\S+?)(?: --bucket-size-mb (\S+))?` has the shortest step of those compared\.(?: Tie [^:]*: ([^.]*(?:\.\d[^.]*)*)\.(?= |$))?(?: Undecided [^:]*: (.*?)\.(?= |$))?", text):
        run = next(r for (label, mode), r in of.items() if label == words[0] and "verdict" in r.summary)
        verdict = run.summary["verdict"]
        claim("report: what to use", words[0], verdict["strategy"] == words[1].split(":")[0] or verdict["options"].split()[1] == words[1])
        undecided = [o["implementation"] for o in verdict["others"] if o["verdict"] == "undecided"]
        more = re.search(r" and (\d+) more$", words[4])
        named = re.sub(r" and \d+ more$", "", words[4]).split(", ") if words[4] else []
        claim("report: what to use", f"{words[0]}: {len(named)} of {len(undecided)} undecided", len(named) + int(more[1] if more else 0) == len(undecided) and set(named) <= set(undecided))
    check_scaling(tables, text)


def check_scaling(tables, text):
    rows = tables["scaling"]
    for row in rows:
        first = rows[0]
        speedup = row["tokens_per_second"] / first["tokens_per_second"]
        efficiency = speedup * first["ranks"] / row["ranks"]
        claim("report: scaling", f"{row['ranks']} ranks", math.isclose(row["speedup"], speedup, rel_tol=1e-6) and math.isclose(row["efficiency"], efficiency, rel_tol=1e-6))
        if row is not first:  # Zou and Donner: each end by the ends of both steps
            for end, a, b in (("low", "high", "low"), ("high", "low", "high")):
                apart = math.hypot(math.log(row["step_95_" + a] / row["step"]), math.log(first["step_95_" + b] / first["step"]))
                claim("report: scaling", f"{row['ranks']} ranks, {end}", math.isclose(row["efficiency_95_" + end], efficiency * math.exp(apart if end == "high" else -apart), rel_tol=1e-6))
    lost = tables["where_efficiency_is_lost"]
    for row in lost:
        parts = sum(row["lost_" + p] for p in ("compute", "data_loading", "exposed", "other"))
        claim("report: scaling", f"lost on {row['ranks']} ranks", math.isclose(row["lost"], parts, rel_tol=1e-6))
    if rows and (words := found("report: scaling", r"From (\d+) to (\d+) ranks.*? the throughput (falls|grows) by a factor of " + NUMBER + r": an efficiency of " + NUMBER + r" % \[" + NUMBER + ", " + NUMBER + r"\]\. A step takes " + NUMBER + r" ms longer .*?: compute " + NUMBER + " ms, data loading " + NUMBER + " ms, exposed communication " + NUMBER + " ms, other " + NUMBER + " ms", text)):
        row, last = rows[-1], lost[-1]
        factor = 1 / row["speedup"] if words[3] == "falls" else row["speedup"]
        for number, value, scale in zip(words.groups()[3:], (factor, row["efficiency"], row["efficiency_95_low"], row["efficiency_95_high"], last["lost"], last["lost_compute"], last["lost_data_loading"], last["lost_exposed"], last["lost_other"]), (1, 100, 100, 100, 1e3, 1e3, 1e3, 1e3, 1e3)):
            shows("report: scaling sentence", number, number, value, scale)


def check_compare(file, status, baseline, candidate):
    """The rows of `compare --json` for runs of one setting whose judged figures have no sizes."""
    of, sides = json.loads(pathlib.Path(file).read_text()), [[Run(d) for d in side] for side in (baseline, candidate)]
    n, m = len(baseline), len(candidate)
    claims.clear()
    tolerance, floor = 1 + of["tolerance_percent"] / 100, (1 + of["tolerance_percent"] / 100) * (1 + of["floor_percent"] / 100)
    level = 0.05 / len(of["judged"])
    shares = [statistics.fmean(r.summary["other_processes"]["share"] or 0 for r in side) for side in sides]
    for side, share in zip(("baseline", "candidate"), shares):
        claim("compare: busy", side, math.isclose(of[side]["other_processes_share"], share, rel_tol=1e-9))
    paired = n == m >= 8 and of["in_turn"]
    excused = of["in_turn"] and abs(shares[0] - shares[1]) < 0.1
    for row in of["judged"]:
        kind, name = "compare: rows", row["subject"]
        b, c = ([math.log(r.figures[name, row["name"]]["value"]) for r in side] for side in sides)
        d = statistics.fmean(c) - statistics.fmean(b)
        claim(kind, f"{name}: ratio", math.isclose(row["ratio"], math.exp(d), rel_tol=1e-6))
        for side, x in (("baseline", b), ("candidate", c)):
            claim(kind, f"{name}: {side}", math.isclose(row[side], math.exp(statistics.fmean(x)), rel_tol=1e-6))
        claim("compare: level", name, math.isclose(row["level"], level, rel_tol=1e-9))
        median = statistics.median(map(math.exp, c)) / statistics.median(map(math.exp, b))
        worse = (math.exp(d) > tolerance and median > tolerance) or math.exp(d) > floor
        if n >= 5:
            if paired:
                sd = max(statistics.stdev([y - x for x, y in zip(b, c)]), 1e-3)
                e, freedom = sd / math.sqrt(n), n - 1
            else:
                sd = max(math.sqrt(sum((v - statistics.fmean(x)) ** 2 for x in (b, c) for v in x) / (n + m - 2)), 1e-3)
                e, freedom = sd * math.sqrt(1 / n + 1 / m), n + m - 2
            low, high = (math.exp(d + sign * student(1 - level, freedom) * e) for sign in (-1, 1))
            for end, value in (("ci_low", low), ("ci_high", high), ("seen_from", high)):
                claim("compare: intervals", f"{name}, {end}: {row[end]} {value}", math.isclose(row[end], value, rel_tol=1e-6))
            verdict = "regressed" if low > tolerance else "improved" if high < 1 / tolerance else "ok" if high <= tolerance else "ambiguous" if worse else "unseen"
            if not excused:
                verdict = "ambiguous" if shares[1] > 0.1 and verdict == "regressed" else "unseen" if shares[0] > 0.1 and verdict in ("ok", "improved") else verdict
            def more(k):
                width = student(1 - level, n + k - 1) * sd / math.sqrt(n + k) if paired else student(1 - level, n + m + 2 * k - 2) * sd * math.sqrt(1 / (n + k) + 1 / (m + k))
                return math.exp(d + width) <= tolerance
            needed = row["more_runs"]
            if needed is not None:
                claim("compare: more runs", f"{name}: {needed}", more(needed) and not more(needed - 1))
            else:
                claim("compare: more runs", f"{name}: {needed}", row["verdict"] != "unseen" or not more(10000))
        else:
            all_worse = math.exp(min(c) - max(b)) > floor
            enough = n >= 3 and m >= 3 or n >= 2 and m >= 5
            verdict = "regressed" if enough and all_worse else "ambiguous" if math.exp(d) > (tolerance if enough else floor) else "unseen"
            if enough:
                seen = floor * math.exp(max(b) - statistics.fmean(b) + statistics.fmean(c) - min(c))
                claim("compare: intervals", f"{name}, seen_from: {row['seen_from']} {seen}", math.isclose(row["seen_from"], seen, rel_tol=1e-6))
            claim("compare: more runs", f"{name}: {row['more_runs']}", row["verdict"] != "unseen" or row["more_runs"] is None or row["more_runs"] >= 5 - n)
        claim("compare: verdicts", f"{name}: {row['verdict']}, not {verdict}", row["verdict"] == verdict)
    verdicts = {row["verdict"] for row in of["judged"]}
    expected = 3 if "regressed" in verdicts else 5 if "missing" in verdicts else 4 if verdicts & {"ambiguous", "unseen"} else 0
    claim("compare: exit status", f"{status}, not {expected}", int(status) == of["exit_status"] == expected)


def main():
    global place
    arguments = sys.argv[1:]
    if arguments[:1] == ["--compare"]:
        cut = arguments.index("--candidate")
        place = arguments[1]
        check_compare(*arguments[1:3], arguments[3:cut], arguments[cut + 1:])
    elif arguments[:1] == ["--report"]:
        runs = [Run(d) for d in arguments[2:]]
        claims.clear()
        place = arguments[1]
        check_report(arguments[1], runs)
    else:
        for place in arguments:
            run = Run(place)
            {"benchmark": check_benchmark, "tune": check_tune, "profile": check_profile}[run.mode](run)
    for kind, (n, wrong) in sorted(claims.items()):
        print(f"not ok - {kind}: {len(wrong)} of {n} claims false: " + "; ".join(wrong) if wrong else f"ok - {kind}: {n} claims")
    n, wrong = sum(c[0] for c in claims.values()), sum(len(c[1]) for c in claims.values())
    print(f"{n - wrong} true of {n}")
    sys.exit(wrong > 0)


main()
