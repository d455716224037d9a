#!/usr/bin/env python3
"""recompute_printed.py - recomputes what runs have printed from their metrics lines, by the rules of the pages alone.

    tests/consumers/recompute_printed.py DIR...       # with run.json, of benchmark, tune or profile

A cell, a number in a sentence, a mark or a word of a verdict is one claim. Prints "ok - KIND: N claims" or "not ok - KIND: words"
for each kind, and "TRUE true of CLAIMS"; exits with status 1 if a claim is false. Needs nothing but Python."""

import collections
import functools
import json
import math
import pathlib
import re
import statistics
import sys
from statistics import fmean, median

claims, place = collections.defaultdict(lambda: [0, []]), ""
NUMBER, ENDS = r"([-+]?\d[\d.]*)", r"( \[[^]]*\])?"
ITEM = r"(\S+) ([-+][\d.]+) %(?: \[([-+][\d.]+), ([-+][\d.]+)\])?"


def claim(kind, words, true):
    claims[kind][0] += 1
    if not true:
        claims[kind][1].append(f"{place}: {words}")


def same(kind, words, found, wanted, relative=1e-6, absolute=1e-12):
    claim(kind, f"{words}: {found}, recomputed {wanted}", (found is None) == (wanted is None) and
          (found is None or math.isclose(found, wanted, rel_tol=relative, abs_tol=absolute)))


def shows(kind, words, printed, value, scale=1, ends=(), printed_ends="", relative=1e-9):
    """Claims that the printed number, and its interval, equal value * scale, known to `relative`, rounded to the last digit (no value:
    N/A or nothing)."""
    pairs = [(printed, value)] + list(zip(re.findall(NUMBER, printed_ends or "") or (None, None), ends or (None, None))) * (ends != ())
    for number, of in pairs:
        absent = number in (None, "N/A")
        near = not absent and of is not None and abs(float(number) - of * scale) <= 0.50001 * 10 ** -len(number.partition(".")[2]) + abs(of) * scale * relative
        claim(kind, f"{words}: printed {number}, recomputed {of and of * scale}", near or absent and of is None)


def found(kind, pattern, text, needed=True):
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
    return median(x) if medians else 0 if min(x) <= 0 else math.exp(fmean(map(math.log, x)))


def sign_interval(x, fits):
    k = sum(1 for i in range(1, len(x) // 2 + 1) if fits(i))
    return (sorted(x)[k - 1], sorted(x)[-k]) if k else None


def interval(x, medians, alpha=0.05):
    n = len(x)
    if medians:
        return sign_interval(x, lambda k: (n + 1) * math.comb(n, k - 1) <= alpha * 2**n)
    if n < 6 or min(x) <= 0:
        return None
    logs = [math.log(v) for v in x]
    half = student(1 - alpha / 2, n - 1) * statistics.stdev(logs) / math.sqrt(n)
    return math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)


# ---- a run ----

class Run:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.run, self.summary = (json.loads((self.directory / f).read_text()) for f in ("run.json", "summary.json"))
        self.printed = (self.directory / "summary.txt").read_text().splitlines()
        self.text, self.said = " ".join(" ".join(self.printed).split()), " ".join(self.summary["answers"] + self.summary["notes"])
        self.mode, self.ranks, self.medians = self.run["mode"], self.run["derived"]["world_size"], "ended" in self.summary
        self.busy = (self.summary["other_processes"]["share"] or 0) > 0.1
        self.tables = {t["key"]: t for t in self.summary["tables"]}
        self.implementations = {i["name"]: i for i in self.run["implementations"]}
        self.captured, self.extra, self.blocks = [], [], collections.defaultdict(list)
        for rank in range(self.ranks):
            for line in map(json.loads, (self.directory / f"rank_{rank}_metrics.jsonl").read_text().splitlines()):
                line["rank"] = rank
                (self.captured if line.get("captured") else self.extra if "step" not in line else
                 self.blocks[line["implementation"], line["round"], rank]).append(line)
        self.captured = [x for x in self.captured if x["epoch_kind"] == "active"] or self.captured
        self.rounds, self.outside = collections.defaultdict(dict), []  # outside: time of a block outside its steps, relative to theirs
        for (name, number, _), lines in self.blocks.items():
            timed = [line for line in lines if line["timed"]]
            sample = self.rounds[name].setdefault(number, collections.defaultdict(float))
            for key in {k for line in timed for k in line if k.endswith("_ms")}:
                sample[key] += fmean(line.get(key) or 0 for line in timed) / self.ranks
            sample["step"] = max(sample["step"], timed[0]["block_ms"] / len(timed))
            inside = (timed[-1]["start"] - timed[0]["start"]) * 1e3 + timed[-1]["step_ms"]
            self.outside.append((timed[0]["block_ms"] - inside) / inside)

    def samples(self, name, key="step", rounds=None):
        return [s[key] / 1e3 for r, s in sorted(self.rounds[name].items()) if rounds is None or r in rounds]

    def ratios(self, a, b, rounds=None):
        both = sorted(r for r in self.rounds[a] if r in self.rounds[b] and (rounds is None or r in rounds))
        return [self.rounds[a][r]["step"] / self.rounds[b][r]["step"] for r in both]

    def excess(self, a, b, medians, rounds=None):
        """(step of a / step of b - 1) x the typical step of b, its interval, and (step of a / step of b - 1)."""
        if a == b or b not in self.rounds or self.ranks == 1:
            return None, None, None
        ratios, base = self.ratios(a, b, rounds), typical(self.samples(b, rounds=rounds), medians)
        ends = interval(ratios, medians)
        return (typical(ratios, medians) - 1) * base, ends and tuple((e - 1) * base for e in ends), typical(ratios, medians) - 1

    def of_captured(self, key, rank=None):
        return [(line.get(key) or 0) / 1e3 for line in self.captured if rank in (None, line["rank"])]

    def cells(self, key):
        """Yields (row of summary.json, {column: printed words}) of a table; a row that is not printed is a false claim."""
        table = self.tables.get(key, {"rows": [], "columns": [], "title": ""})
        first = table["title"] or "implementation"
        at = next((i for i, line in enumerate(self.printed) if line and (first.startswith(line) or line.startswith(first))), 0)
        for row in table["rows"][: table.get("shown") or None]:
            name = str(row[table["columns"][0]["key"]])
            at = next((i for i in range(at + 1, len(self.printed)) if re.match(" *" + re.escape(name) + "( |$)", self.printed[i])), 0)
            words, cells = re.findall(r"\[[^]]*\]|\S+", self.printed[at]), {}
            for column in (c for c in table["columns"] if "heading" in c):
                of, length = column["key"], 1
                if column["kind"] == "text":
                    length = len(str(row[of]).split())
                    claim("words in cells", f"{name}, {of}", " ".join(words[:length]) == " ".join(str(row[of]).split()))
                elif column["kind"] == "interval":
                    length, of = row[of + "_low"] is not None, of + "_95" * (of in cells)
                cells[of], words = " ".join(words[:length]) or None, words[length:]
            claim("words in cells", f"{name}: no such row, or too much in it", at and not words)
            yield row, cells

    def sentences(self):
        for sentence in self.summary["heading"] + self.summary["answers"] + self.summary["notes"]:
            claim("sentences are those of summary.json", sentence[:60], " ".join(sentence.split()) in self.text)
        other = self.summary["other_processes"]
        busy = found("busy machine", r"Busy machine: other processes used " + NUMBER + r" of (\d+) cores", self.said, needed=False)
        claim("busy machine", f"share {other['share']}", bool(busy) == self.busy)
        if busy:
            claim("busy machine", "is said first", self.summary["answers"][0].startswith("Busy machine"))
            shows("busy machine", "cores", busy[1], other["cores"])
            same("busy machine", "share", other["share"], other["cores"] / int(busy[2]))
        if "fp32 strategies are identical" in self.said:
            of = collections.defaultdict(set)
            for (name, _, rank), lines in self.blocks.items():
                given = self.implementations.get(name, {"strategy": name})
                if given["strategy"] != "none" and not given.get("approximates") and given.get("wire_dtype", "fp32") == "fp32":
                    for line in lines:
                        of[line["step"], rank].add(line["loss"])
            claim("losses", "they differ", (of or self.summary.get("implementation") == "none") and all(len(v) == 1 for v in of.values()))


def within_host(line):
    """Returns the times of the buckets' stages within hosts; zeros if there are none."""
    return line.get("within_host_alone_ms") or [0] * len(line["alone_ms"])


def attainable(run, name):
    """Returns each round's bound on the slowest rank, by results/lines.md, from the lines of --attainable."""
    rounds, parameters = collections.defaultdict(list), [c["parameters"] for c in run.implementations[name]["collectives"]]
    none = {(x["round"], x["rank"]): x for x in run.extra if x["implementation"] == "none"}
    for line in (x for x in run.extra if x["implementation"] == name and "alone_ms" in x):
        of, remaining, remaining_within = none[line["round"], line["rank"]], 0, 0
        update, gathers, last = of["update_ms"], line.get("gather_alone_ms"), parameters[-1] / sum(parameters)
        early = (1 - last) * update * run.implementations[name]["update_in_backward"]
        end, update = of["backward_end_ms"] + early, update - early
        for tensor, alone, within in reversed(list(zip(line["last_tensor"], line["alone_ms"], within_host(line)))):
            remaining, remaining_within = remaining + alone, remaining_within + within
            end = max(end, of["gradients_ready_ms"][tensor] + max(remaining, remaining_within, alone + within))
        if gathers:
            update /= run.ranks
            end += max(0, max(gathers[-1], sum(gathers) - of["forward_end_ms"]) - (1 - last) * update)
        rounds[line["round"]].append((end + update + of["rest_ms"]) / 1e3)
    return [max(v) for _, v in sorted(rounds.items())]


# ---- the verdict ----

def check_verdict(run, ranked, medians, rounds=None, cost=True):
    """rounds: those that count (tune: of the final); cost: whether the best row's cost is printed. Returns the best."""
    said, of, k, n = run.said, run.summary.get("verdict", {}), len(ranked), max(len(run.ratios(a, a, rounds)) for a in ranked)
    level = 0.05 / (k * (k - 1) / 2) if k > 1 else 0.05
    least = next(i for i in range(6, 99) if interval([1.0] * i, medians, level))
    if k < 2 or run.ranks == 1:
        return claim("verdict: nothing to choose", "no such sentence", "Nothing to choose" in said)
    if n < least:
        return claim("verdict: too few rounds", f"{n} of {least} rounds", "No verdict: too few rounds" in said)
    same("interval level", "level", of["interval_level"], 1 - level)
    if medians:
        best = max(ranked, key=lambda a: min(typical(run.ratios(b, a, rounds), True) for b in ranked if b != a))
    else:
        best = min(ranked, key=lambda a: typical(run.samples(a, rounds=rounds), False))
    claim("verdict: best", f"{of['best']}, not {best}", of["best"] == best)
    within, words, more, dependent, shown = of["within"], {}, [], 0, set()
    for name in (a for a in ranked if a != best):
        ratios = run.ratios(name, best, rounds)
        ratio, ends = typical(ratios, medians), interval(ratios, medians, level)
        word = "slower" if ends[0] > 1 else "tie" if 1 / (1 + within) <= ends[0] and ends[1] <= 1 + within else "undecided"
        words[name] = (word, ratio, ends)
        if word == "undecided":
            half = max(math.log(ends[1] / ratio), math.log(ratio / ends[0]))
            more.append(len(ratios) * ((half / max(abs(math.log(ratio)), math.log(1 + within) - abs(math.log(ratio)))) ** 2 - 1))
        rank = [(sum(v < r for v in ratios) - sum(v > r for v in ratios)) / 2 for r in ratios]
        correlation = sum(a * b for a, b in zip(rank, rank[1:])) / sum(a * a for a in rank)
        if n >= 10 and correlation > statistics.NormalDist().inv_cdf(1 - 0.01 / (k - 1)) / math.sqrt(len(ratios)) - 1 / len(ratios):
            dependent = max(dependent, correlation)
    for word, items in re.findall(r"(Tie|Undecided|Slower)(?: \([a-z ]+ [\d.]+ %\))?: ((?:" + re.sub(r"\((?!\?)", "(?:", ITEM) + "(?:, )?)+)", said):
        last = 0
        for name, percent, low, high in re.findall(ITEM, items):
            expected, ratio, ends = words.get(name, (None, None, None))
            claim("verdict: tie, undecided, slower", f"{name}: {word}, recomputed {words.get(name)}", word.lower() == expected)
            shows("verdict: percentages", name, percent, ratio and ratio - 1, 100)
            shows("verdict: intervals", name, low, ends and ends[0] - 1, 100)
            shows("verdict: intervals", name, high, ends and ends[1] - 1, 100)
            claim("verdict: order, inside the interval", name, ends and last <= ratio and ends[0] <= ratio <= ends[1])
            last, shown = ratio, shown | {name}
    claim("verdict: all are listed", f"{set(words) ^ shown} are not", set(words) == shown)
    for other in of["others"]:
        expected, ratio, ends = words[other["implementation"]]
        claim("verdict in summary.json", f"{other}, recomputed {expected} {ratio} {ends}", other["verdict"] == expected and
              all(math.isclose(other[e], v, rel_tol=1e-6) for e, v in zip(("ratio", "low", "high"), (ratio, *ends))))
    if known := found("verdict: margin", r"not known to " + NUMBER + " %", said, needed=bool(more)):
        shows("verdict: margin", "of a tie", known[1], within, 100)
    step, given = found("verdict: best", r"(Use|Shortest so far is) (\S+?)(?:, (\S+) MiB)?(?:, [a-z0-9 ]+)?: a step takes " + NUMBER + " ms", said), run.implementations[best]
    if step:
        open_end = run.mode == "tune" and any(r["verdict"] == "dropped" for r in run.tables["candidates"]["rows"])
        claim("verdict: Use or Shortest so far", step[1],
              (step[1] == "Use") == (not more and not run.busy) or open_end and not more)
        claim("verdict: best", step[2], step[2] in (best, given["strategy"]))
        shows("verdict: best", "its step", step[4], typical(run.samples(best, rounds=rounds), medians), 1e3)
        if step[3] and "+" not in step[3]:
            claim("verdict: best", f"its bucket size, {step[3]}", step[3] == given["bucket_size"])
    if options := found("verdict: options", r"Options: --implementations (\S+)(?: --bucket-size-mb (\S+))?", said):
        claim("verdict: options", options[0], options[1].startswith(given["strategy"]) and options[2] == given.get("bucket_size"))
    value, ends, share = run.excess(best, "none", medians, rounds) if cost else (None, None, None)
    pattern = r"which is " + NUMBER + " ms" + ENDS + r" \(" + NUMBER + r" %\) (longer|shorter) than without communication( \(not significant\))?"
    if (costs := found("verdict: cost", pattern, said, needed=value is not None)) and value is not None:
        sign = -1 if costs[4] == "shorter" else 1
        shows("verdict: cost", "ms", costs[1], sign * value, 1e3, sorted(sign * e for e in ends), costs[2])
        shows("verdict: cost", "% of a step without", costs[3], sign * share, 100)
        claim("verdict: cost", "significance", bool(costs[5]) == (ends[0] <= 0 <= ends[1]))
    if warned := found("verdict: dependent rounds", r"\(\S+ rank correlation " + NUMBER + r"\)", said, needed=bool(dependent) and run.mode != "tune"):
        shows("verdict: dependent rounds", "correlation", warned[1], dependent)
    claim("verdict: dependent rounds", f"{dependent}", run.mode == "tune" or bool(warned) == bool(dependent))
    if more and run.busy:
        claim("verdict: a busy machine", "advice", "To decide, measure again on an idle machine." in said and "would decide" not in said)
    elif more:
        check_more(run, max(more), rounds)
    return best


def check_more(run, rounds, counted):
    times = [t for (_, number, _), x in run.blocks.items() if counted is None or number in counted
             for t in (x[0]["start"], x[-1]["start"] + x[-1]["step_ms"] / 1e3)]
    each = (max(times) - min(times)) / len({number for _, number, _ in run.blocks if counted is None or number in counted})
    if said := found("verdict: more time", r"About ([^()]*?) more \((\d+) rounds?\) would decide|it would take about (.*?) more to decide", run.said):
        if said[2]:
            unit = 10 ** max(0, len(str(math.ceil(rounds))) - 2)
            claim("verdict: more rounds", f"{said[2]}, recomputed {rounds}", abs(int(said[2]) - math.ceil(rounds)) <= max(1, unit * 0.51))
        unit = {"d": 86400, "h": 3600, "m": 60, "s": 1}
        seconds = sum(float(x) * (1e-3 if word == "ms" else unit[word[0]]) for x, word in re.findall(NUMBER + r" (days?|d|h|min|ms|s)\b", said[1] or said[3]))
        claim("verdict: more time", f"{said[0]}: recomputed {rounds:.1f} x {each:.4f} s", abs(seconds - rounds * each) <=
              max(0.06 * rounds * each, 1.2 * each) + (0.5 if seconds >= 1 else 0.005))


# ---- benchmark, tune ----

def ranked_of(run, names):
    """Returns the rows that a verdict compares: without controls, and without those that do the same as another."""
    of = {name: run.implementations[name] for name in names}
    return [name for name, i in of.items() if i["strategy"] != "none" and "twin_of" not in i and not i["approximates"]]



PARTS = ["data_loading", "forward_pass", "parameter_gather", "backward_pass", "gradient_sync", "optimizer_step", "checkpoint"]


def check_benchmark(run):
    kind, medians, table, over = "cells of the table", run.medians, run.tables["implementations"], collections.Counter()
    if legend := found("legend", r"(Medians|Geometric means) over (\d+) rounds?; a sample is the mean of (\d+) timed steps?", run.text):
        timed = sum(line["timed"] for line in next(iter(run.blocks.values())))
        claim("legend", "medians or means", (legend[1] == "Medians") == medians)
        claim("legend", f"{legend[2]} rounds", int(legend[2]) == max(map(len, run.rounds.values())) == run.summary["done"])
        claim("legend", f"{legend[3]} steps", int(legend[3]) == timed)
    claim("blocks last as long as their steps", f"{min(run.outside)} to {max(run.outside)}", min(run.outside) > -0.005 and median(run.outside) < 0.05)
    for row, cell in run.cells("implementations"):
        name, samples = row["implementation"], {key: run.samples(row["implementation"], key + "_ms") for key in PARTS}
        samples["step"] = run.samples(name)
        value = {key: typical(x, medians) for key, x in samples.items()}
        value["other"] = value["step"] - sum(value[k] for k in PARTS)
        for column in value.keys() & cell.keys():
            shows(kind, f"{name}, {column}", cell[column], value[column], 1e3)
        for f in (f for f in run.summary["figures"] if f["subject"] == name and f["name"] in samples):
            same("figures", f"{name}, {f['name']}", f["value"], value[f["name"]], absolute=1e-9)
        for column in ("data_loading", "other"):
            over[column] += value[column] > 0.05 * value["step"]
        if "step_to_ddp" in cell:
            reference = min((n for n, i in run.implementations.items() if i["strategy"] == "ddp"), key=lambda n: n != "ddp")
            shows(kind, f"{name}, vs ddp", cell["step_to_ddp"], typical(run.ratios(name, reference), medians))
        waits = [(s + g) / t for s, g, t in zip(samples["gradient_sync"], samples["parameter_gather"], samples["step"])]
        is_none = run.implementations[name]["strategy"] == "none"
        shows(kind, f"{name}, comm ratio", cell["communication_ratio"], None if is_none or run.ranks == 1 else typical(waits, medians))
        shows(kind, f"{name}, tokens", cell["tokens_per_second"], run.run["derived"]["tokens_per_step"] / value["step"])
        cost, ends, _ = run.excess(name, "none", medians)
        shows(kind, f"{name}, cost", cell.get("sync_cost"), cost, 1e3, ends, cell.get("sync_cost_95"))
        if "loss" in cell:
            shows(kind, f"{name}, loss", cell["loss"], fmean(x[-1]["loss"] for (of, number, _), x in run.blocks.items() if of == name and number == 0))
        if cell.get("step_to_attainable", "N/A") != "N/A":
            bound = attainable(run, name)
            shows("attainable", name, cell["attainable"], typical(bound, medians), 1e3)
            shows("attainable", name, cell["step_to_attainable"], typical([s / b for s, b in zip(samples["step"], bound)], medians))
    for column in ("data_loading", "other"):
        claim("columns data and other", f"{column}: above 5 % in {over[column]} rows", (column in cell) == (over[column] > 0))
    best, verdict = check_verdict(run, ranked_of(run, run.implementations), medians), run.summary.get("verdict", {"others": []})
    words = {o["implementation"]: o["verdict"] for o in verdict["others"]}
    for row in table["rows"]:
        mark = "" if run.ranks == 1 else "*" if row["implementation"] == best else "=" if words.get(row["implementation"]) == "tie" else ""
        claim("marks * and =", f"{row['implementation']}: {row['best']!r}, not {mark!r}", row["best"] == mark or best is None and run.ranks > 1)
    for name, of in run.implementations.items():
        if "twin_of" in of:
            claim("twins", name, f"{name} does the same as {of['twin_of']} here" in run.said and name not in words)
    if best and (ended := found("rounds end", r"(Resolved|Not resolved) to " + NUMBER + r" %.*?: (\d+) rounds", run.said, needed=medians)):
        claim("rounds end", ended[0], (ended[1] == "Resolved") == ("undecided" not in words.values()) and int(ended[3]) == run.summary["done"])


def check_tune(run):
    medians, rows = "Medians over the rounds" in run.text, {r["implementation"]: r for r in run.tables["candidates"]["rows"]}
    start = max((max(v) for name, v in run.rounds.items() if rows.get(name, {}).get("verdict") == "dropped"), default=-1) + 1
    final = set(range(start, 1 + max(run.rounds["none"])))
    has_final = any(r["verdict"] == "best" and r["rounds"] == len(final) for r in rows.values())
    for row, cell in run.cells("candidates"):
        name, kind = row["implementation"], "cells of the table of tune"
        of = set(run.rounds[name]) & (final if has_final and row["verdict"] != "dropped" else set(run.rounds[name]))
        cost, ends, _ = run.excess(name, "none", medians, of)
        shows(kind, f"{name}, rounds", cell["rounds"], len(of))
        shows(kind, f"{name}, buckets", cell["buckets"], len(run.implementations[name]["collectives"]))
        shows(kind, f"{name}, step", cell["step"], typical(run.samples(name, rounds=of), medians), 1e3)
        shows(kind, f"{name}, cost", cell["sync_cost"], cost, 1e3, ends, cell.get("sync_cost_95"))
    if limit := found("search", r"(?:after|so far) [^,]*?, (\d+) rounds", run.said, needed=False):
        claim("search", limit[0], int(limit[1]) == len(run.rounds["none"]))
    if not has_final:
        return claim("verdict: too few rounds", "no final", "no verdict" in run.said.lower())
    ranked = [name for name, r in rows.items() if r["verdict"] not in ("dropped", "control")]
    best, words = check_verdict(run, ranked, medians, final), {o["implementation"]: o["verdict"] for o in run.summary["verdict"]["others"]}
    for name in ranked:
        claim("marks * and =", name, rows[name]["verdict"] == ("best" if name == best else words[name]))
    if several := found("buckets of several sizes", r"Buckets of several sizes .*? with (\S+) a step is " + NUMBER + r" % .*? than with (\S+?)\. ", run.said + " ", needed=False):
        sized = {name: "+" in (run.implementations[name].get("bucket_size") or "") for name in ranked}
        strategy = run.implementations[best]["strategy"]
        rival = min((a for a in ranked if sized[a] != sized[best] and run.implementations[a]["strategy"] == strategy),
                    key=lambda a: typical(run.ratios(a, best, final), medians))
        claim("buckets of several sizes", f"{several[1]}, {several[3]}: the shortest other is {rival}", {several[1], several[3]} == {best, rival})
        shows("buckets of several sizes", "percentage", several[2], typical(run.ratios(several[1], several[3], final), medians) - 1, 100)


# ---- a profile ----

def check_captured(run):
    kind, steps, derived, ranks = "phases of a profile", run.of_captured("step_ms"), run.run["derived"], range(run.ranks)
    mean = {key: [fmean(run.of_captured(key + "_ms", r)) for r in ranks] for key in
            PARTS + ["step", "compute", "communication", "overlap", "exposed", "exposed_tail"]}
    step, note = fmean(steps), " ".join(run.tables["phases"]["notes"])
    figures = {f["name"]: f["value"] for f in run.summary["figures"] if f["subject"] == run.summary["implementation"]}
    title = found(kind, r"in (\d+) captured steps? .*on (\d+) ranks?", run.tables["phases"]["title"])
    claim(kind, title[0], int(title[1]) * int(title[2]) == len(steps) and int(title[2]) == run.ranks)
    for row, cell in run.cells("phases"):
        key, x = row["name"], run.of_captured(row["name"] + "_ms")
        of = [run.of_captured(key + "_ms", r) for r in ranks]
        medians, tails = [median(v) for v in of], [statistics.quantiles(v, n=20, method="inclusive")[-1] if len(v) > 1 else v[0] for v in of]
        for column, value in (("mean", fmean(x)), ("median", median(x)), ("least", min(medians)), ("most", max(medians)), ("p95_steps", max(tails))):
            shows(kind, f"{key}, {column}", cell[column], value, 1e3)
        for column, values, value in (("least_rank", medians, min(medians)), ("most_rank", medians, max(medians)), ("p95_rank", tails, max(tails))):
            same(kind, f"{key}, {column}", values[int(cell[column])], value)
        shows(kind, f"{key}, share", cell["share"], fmean(x) / step, 100)
        if key != "step" or not run.rounds:  # controls measure the step
            same("figures of phases", key, figures.get(key), row["mean" if key == "checkpoint" else "median"])
    whole = sum(r["mean"] for r in run.tables["phases"]["rows"] if r["name"] != "step")
    claim(kind, f"phases add up to {whole}", abs(whole / step - 1) < 0.01)
    rates = found(kind, NUMBER + r" tokens per second, " + NUMBER + r" ([GMT])FLOP/s of the model; .*? ([\d.]+)\.(?= |$)", note)
    shows(kind, "tokens per second", rates[1], derived["tokens_per_step"] / step)
    shows(kind, "FLOP/s", rates[2], derived["model_flops_per_step"] / step, {"M": 1e-6, "G": 1e-9, "T": 1e-12}[rates[3]])
    shows(kind, "communication ratio", rates[4], (fmean(mean["gradient_sync"]) + fmean(mean["parameter_gather"])) / step)
    kind, first = "first sentence of a profile", found("first sentence of a profile", r"A captured step takes " + NUMBER + r" (m?s|us) on average: (.*?) \(table", run.said)
    shows(kind, "step", first[1], step, {"s": 1, "ms": 1e3, "us": 1e6}[first[2]])
    rest, unnamed = step, {row["name"] for row in run.tables["phases"]["rows"]} - {"step"}
    for percent, name in re.findall(r"(\d+) % ([a-z_ ]+?)(?:,|$)", first[3]):
        value = rest if name == "other phases" else fmean(run.of_captured(name + "_ms"))
        rest -= value
        shows(kind, name, percent, value / step, 100)
        unnamed = unnamed - {name}
    claim(kind, "all phases above 5 % are named", all(fmean(run.of_captured(key + "_ms")) <= 0.051 * step for key in unnamed))
    for row, cell in run.cells("ranks"):
        r, kind = row["rank"], "ranks of a profile"
        for column, key in (("compute_busy", "compute"), ("comm_busy", "communication"), ("overlap", "overlap"), ("exposed", "exposed"), ("exposed_tail", "exposed_tail")):
            shows(kind, f"{r}, {column}", cell[column], mean[key][r], 1e3)
        for column, part, of, scale in (("span_overlap", "overlap", "communication", 1), ("compute_coverage", "overlap", "compute", 1), ("utilisation", "compute", "step", 100)):
            known = mean[of][r] and (part != "overlap" or mean["communication"][r])
            shows(kind, f"{r}, {column}", cell[column], mean[part][r] / mean[of][r] if known else None, scale)
        claim("a part is at most its whole", f"rank {r}", row["overlap"] <= min(row["comm_busy"], row["compute_busy"]) + 1e-9 and row["compute_busy"] <= row["step"] + 1e-9)
    kind, factor = "operations, collectives, buckets", 2 * (run.ranks - 1) / run.ranks
    for row, cell in run.cells("operations"):
        shows(kind, f"{row['name']}, self", cell["share"], row["self"] and row["self"] / (step * len(steps)), 100)
        shows(kind, f"{row['name']}, mean", cell["mean"], row["total"] / row["calls"], 1e6)
        claim("a part is at most its whole", row["name"], (row["self"] or 0) <= row["total"] + 1e-9 and 0 <= (row["share"] or 0) <= 1)
    for row, cell in run.cells("collectives"):
        shows(kind, f"{row['bytes']} bytes, algbw", cell["algbw"], row["bytes"] / row["duration"], 1e-9)
        of = factor / (1 if row.get("kind", "all_reduce") == "all_reduce" else 2)
        shows(kind, f"{row['bytes']} bytes, busbw", cell["busbw"], row["bytes"] / row["duration"] * of, 1e-9)
        claim("a part is at most its whole", f"{row['bytes']} bytes", max(row["wait"] or 0, row["transfer"] or 0) <= row["duration"] + 1e-9)
    calls = sum(line["collectives"] for line in run.captured)
    claim(kind, "calls of all sizes", run.ranks == 1 or calls == sum(r["calls"] for r in run.tables.get("collectives", {"rows": []})["rows"]))
    for row, _ in run.cells("buckets"):
        claim("a part is at most its whole", f"bucket {row['bucket']}", row["ready"] <= row["queued"] <= row["posted"] <= row["done"] and 0 <= row["last"] <= 1)
    work = [[s - sum(p) for s, *p in zip(*(run.of_captured(k + "_ms", r) for k in ("step", "gradient_sync", "parameter_gather", "checkpoint")))] for r in ranks]
    for row, cell in run.cells("stragglers"):
        r, known = row["rank"], sum(x["last"] for x in run.tables["stragglers"]["rows"])
        if run.ranks <= 4:  # the lower quartile over more ranks is interpolated
            shows("stragglers", f"{r}, late", cell["late"], median(work[r]) - min(map(median, work)), 1e3)
        shows("stragglers", f"{r}, last", cell["share"], row["last"] / known if known else None, 100)
        claim("a part is at most its whole", f"rank {r}", row["saves"] <= max(x["late"] for x in run.tables["stragglers"]["rows"]) + 1e-9 and row["cost"] <= max(mean["communication"]) + 1e-6)
    check_findings(run, mean)


# {figure: what this script calls it}; without rounds, or where a control does not apply, there is no such figure
CONTROLS = {"step_to_none": "step / none", "compute_slowdown": "compute slowdown", "sync_cost": "sync cost", "comm_alone": "comm alone",
            "attainable": "attainable", "step_to_attainable": "step / attainable", "comm_slowdown": "comm slowdown",
            "saved_by_overlap": "saved by overlap", "overlap_efficiency": "overlap efficiency", "profiling_overhead": "profiling overhead"}


def check_controls(run):
    kind, name = "controls", run.summary["implementation"]
    alone, slowdown = collections.defaultdict(list), collections.defaultdict(list)
    for line in (x for x in run.extra if x["implementation"] == name and "alone_ms" in x):
        gathers = line.get("gather_alone_ms", [0] * len(line["alone_ms"]))
        reductions = [line["reductions"] * (a + w) for a, w in zip(line["alone_ms"], within_host(line))]
        alone[line["round"]].append(sum(reductions) / 1e3)
        slowdown[line["round"]].append(median(a / (b + c) for a, b, c in zip(line["in_step_ms"], reductions, gathers)))
    untraced, after = (next((r for r in (c, f"{c}:{name}") if r in run.rounds), None) for c in ("untraced", "after_backward"))
    of = {"ddp": None} if not run.rounds else {n: run.samples(k) for n, k in ((name, name), ("untraced", untraced), ("after backward", after), ("none", "none")) if k}
    if alone:
        bound = attainable(run, name)
        of |= {"comm alone": [max(v) for _, v in sorted(alone.items())], "comm slowdown": [fmean(v) for _, v in sorted(slowdown.items())], "attainable": bound,
               "step / attainable": [s / b for s, b in zip(run.samples(name), bound)]}
    if run.rounds:
        of |= {"profiling overhead": run.ratios(name, untraced)}
    if run.rounds.get("none") and name != "none":  # a profile of inference has no such row
        of |= {"step / none": run.ratios(name, "none"),
               "compute slowdown": [a / b for a, b in zip(run.samples(name, "compute_ms"), run.samples("none", "compute_ms"))]}
    computed = {label: (typical(x, False), interval(x, False)) for label, x in of.items() if x}
    if run.rounds.get("none"):
        computed["sync cost"] = run.excess(name, "none", False)[:2]
    if run.rounds and after and alone:
        could, (value, ends, _) = min(computed["comm alone"][0], typical(run.samples("none", "backward_pass_ms"), False)), run.excess(after, name, False)
        computed |= {"saved by overlap": (value, ends), "overlap efficiency": (value / could, ends and tuple(e / could for e in ends))}
    figures = {f["name"]: f["value"] for f in run.summary["figures"] if f["subject"] == name}
    for figure, label in CONTROLS.items():  # an efficiency of collectives below 0.01 ms depends on single nanoseconds
        if figure != "overlap_efficiency" or computed.get("comm alone", (1,))[0] > 1e-5:
            rough = figure in ("overlap_efficiency", "comm_slowdown")
            same("figures of controls", figure, figures.get(figure), computed.get(label, (None,))[0], 1e-4, 1e-3 if rough else 1e-7)
    if run.rounds:
        same("figures of controls", "step", figures["step"], computed[name][0], 1e-4)
    for key, scale in (("controls", 1e3), ("control_ratios", 1)):
        for row, cell in run.cells(key):
            value, ends = computed.get(row["name"], (None, None))
            shows(kind, row["name"], cell["value"], value, scale, ends, cell["interval"], relative=1e-5)  # ratios of single microseconds
            claim("a control lies inside its interval", row["name"], not ends or row["interval_low"] <= row["value"] <= row["interval_high"])
    if saved := found("overlap sentence", r"\(saved: " + NUMBER + " ms" + ENDS + r" a step, n = (\d+) rounds\)", run.said, needed=False):
        value, ends = computed["saved by overlap"]
        shows("overlap sentence", "saved", saved[1], value, 1e3, ends, saved[2])
        word = "happened" if ends[0] > 0 and value >= 0.1 * could else "hardly happened" if ends[0] > 0 else \
            "is not significantly different" if ends[1] > 0.1 * could and len(run.implementations[name]["collectives"]) > 1 else "did not happen"
        claim("overlap sentence", f"Overlap {word}", f"Overlap {word}" in run.said)


def check_findings(run, mean):
    """Checks each number of a finding against the tables and lines, and their order: significant findings first, notes last, the
    costliest first. On a busy machine all are notes."""
    kind, findings, late, ranks = "findings", run.summary["findings"], {r["rank"]: r for r in run.tables.get("stragglers", {"rows": []})["rows"]}, range(run.ranks)
    steps, busy = [median(run.of_captured("step_ms", r)) for r in ranks], (run.summary["other_processes"]["share"] or 0) > 0.1
    exposed, compute = ([a / b for a, b in zip(mean[k], mean["step"])] for k in ("exposed", "compute"))
    ranking = [(f["loss_low"] is None or f["loss_low"] > 0, f["level"] != "note", f["loss"]) for f in findings if f["loss"] is not None]
    claim(kind, "the costliest first", ranking == sorted(ranking, reverse=True) and all(f["loss"] is None for f in findings[len(ranking):]))
    cost, ends, _ = run.excess(run.summary["implementation"], "none", False) if run.rounds.get("none") else (None, None, None)
    controls = {r["name"]: r["value"] for r in run.tables.get("controls", {"rows": []})["rows"]}
    backward = typical(run.samples("none", "backward_pass_ms"), False) if run.rounds.get("none") else None
    for f in findings:
        text, words, r = f["text"], r" \((\w+)(?:, (?:up to )?" + NUMBER + " ms" + ENDS + r" of a step)?\): ", re.search(r"rank (\d+)", f["text"])
        if opening := found(kind, re.escape(f["name"]) + words + re.escape(text), run.said):
            claim(kind, f"level of {f['name']}", opening[1] == f["level"] and (not busy or f["level"] == "note"))
            shows(kind, f"{f['name']}, lost", opening[2], f["loss"], 1e3, () if f["loss_low"] is None else (f["loss_low"], f["loss_high"]), opening[3])
        claim("shares", f"{f['name']}: {f['percent']}, {f['share']}", (0 <= f["percent"] <= 100 or f["name"] == "slow collectives") and 0 <= (f["share"] or 0) <= 1)
        of = late.get(int(r[1]) if r else None, collections.defaultdict(float))
        others = fmean(mean["step"][q] for q in ranks if q != of["rank"] or run.ranks == 1)
        least = min((x["core_wait"] for x in late.values()), default=0)
        for name, pattern, value, scale in (  # what each number of a sentence is
                ("idle device", r"in only " + NUMBER, min(compute), 100), ("data loading", NUMBER + " % of the step", sum(mean["data_loading"]) / sum(mean["step"]), 100),
                ("CPU contention", r"no core for " + NUMBER, of["core_wait"], 1e3), ("CPU contention", NUMBER + " % of its median", of["core_wait"] / steps[int(of["rank"])], 100),
                ("straggler", r"last in (\d+) of", of["last"], 1), ("straggler", r"last in \d+ of (\d+)", sum(x["last"] for x in late.values()), 1),
                ("straggler", r"by up to " + NUMBER, of["behind_most"], 1e3), ("straggler", r"stalled the others for " + NUMBER, of["cost"] / others, 100),
                ("straggler", r"it works " + NUMBER, of["late"], 1e3), ("straggler", r"no core for " + NUMBER, of["core_wait"] - least, 1e3),
                ("straggler", r"a step would be " + NUMBER, of["saves"], 1e3), ("exposed communication", r"takes " + NUMBER + " % of the step", max(exposed), 100),
                ("exposed communication", r"a step is " + NUMBER, cost, 1e3), ("exposed communication", r"alone take " + NUMBER, controls.get("comm alone"), 1e3),
                ("exposed communication", r"of `none` " + NUMBER, backward, 1e3), ("exposed communication", r"of `none` [\d.]+ ms: a ratio of " + NUMBER, backward and controls.get("comm alone", 0) / backward, 100)):
            if name == f["name"] and (late or name not in ("CPU contention", "straggler")) and (number := re.search(pattern, text)):
                shows(kind, f"{name}, {pattern}", number[1], value, scale)
        if f["name"] == "straggler" and late:  # without collectives there is no table of stragglers
            claim(kind, "loss of a straggler", f["loss"] == (of["saves"] if of["late"] == max(x["late"] for x in late.values()) and of["late"] > of["cost"] / 2 else of["cost"]))
        if above := re.search(r"above it: ranks? ([\d, ]+)\)", text):
            claim(kind, above[0], [int(q) for q in above[1].split(", ")] == [q for q in ranks if exposed[q] > 0.2])
    names = {f["name"] for f in findings}
    claim(kind, "idle device", ("idle device" in names) == (min(compute) < 0.8))
    shares = {row["criterion"]: row["percent"] for row in run.tables["criteria"]["rows"]}
    whole = sum(mean["step"]) / 100
    for name, value in (("device busy / step", 100 * min(compute)), ("exposed communication / step", 100 * max(exposed)),
                        ("forward / step", sum(mean["forward_pass"]) / whole), ("data loading / step", sum(mean["data_loading"]) / whole),
                        ("computation alone / step", (sum(mean["compute"]) - sum(mean["overlap"])) / whole), ("both at once / step", sum(mean["overlap"]) / whole),
                        ("communication alone / step", sum(mean["exposed"]) / whole), ("idle (neither) / step", 100 - (sum(mean["compute"]) + sum(mean["exposed"])) / whole)):
        claim("shares of a step", f"{name}: {shares[name]}, not {value}", abs(shares[name] - value) < 1e-3)
    claim(kind, "CPU contention", not late or ("CPU contention" in names) == any(x["core_wait"] / steps[q] > 0.1 for q, x in late.items()))


def check_comparison(run):
    if not run.rounds:
        return claim("table of several", "no comparison without rounds", "The steps are not compared" in run.said)
    names, others = [row["implementation"] for row in run.tables["implementations"]["rows"]], collections.defaultdict(set)
    best = check_verdict(run, ranked_of(run, names) or names, False, cost=False)
    columns = {"step": "step", "forward_pass": "forward_pass_ms", "backward_pass": "backward_pass_ms", "exposed": "exposed_ms", "overlap": "overlap_ms"}
    for row, cell in (of for key in ("implementations", "phases", "communication") for of in run.cells(key)):
        name = row["implementation"]
        for column in columns.keys() & cell.keys():
            x, medians = run.samples(name, columns[column]), column in ("exposed", "overlap")
            ends = interval(x, False) if not medians else \
                sign_interval(x, lambda k: sum(math.comb(len(x), i) for i in range(k)) * 2 / 2 ** len(x) <= 0.05)  # pylint: disable=cell-var-from-loop
            known = not medians or (name != "none" and run.ranks > 1)
            shows("table of several", f"{name}, {column}", cell[column], typical(x, medians) if known else None, 1e3,
                  ends if known else None, cell[column + "_95"])
        if "step_to_shortest" in cell:
            shows("table of several", f"{name}, ratio", cell["step_to_shortest"], typical(run.ratios(name, best), False))
            peaks = [max(x[0]["peak_memory_bytes"] for (of, number, _), x in run.blocks.items() if (of, number) == (name, r)) for r in run.rounds[name]]
            staged = name.startswith(("ddp_individual_v2", "ddp_sharded")) and name.split(":")[0]
            others[staged].add(median(peaks) - row["memory_peak_of_blocks"])
    for staged, of in others.items():  # bytes that only other profiles use: equal for all profiles, or all that stage in one way
        claim("memory of several", f"{staged}: {of}", len(of) == 1 and min(of) >= 0)


def main():
    global place
    for place in sys.argv[1:]:
        run = Run(place)
        run.sentences()
        if run.mode != "profile":
            {"benchmark": check_benchmark, "tune": check_tune}[run.mode](run)
        elif "implementation" in run.summary:
            check_captured(run)
            check_controls(run)
        else:
            check_comparison(run)
    for kind, (n, wrong) in sorted(claims.items()):
        print(f"not ok - {kind}: {len(wrong)} of {n} claims false: " + "; ".join(wrong) if wrong else f"ok - {kind}: {n} claims")
    n, wrong = sum(c[0] for c in claims.values()), sum(len(c[1]) for c in claims.values())
    print(f"{n - wrong} true of {n}")
    sys.exit(wrong > 0)


main()
