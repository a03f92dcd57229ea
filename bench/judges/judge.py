#!/usr/bin/env python3
"""Gives the recorded traces to every rule, and counts how often each is wrong, blind, or slow.

    bench/judges/judge.py [--runs N] [--settings NAME ...] [--rules NAME ...] [--out results/judges/judges.json]

Needs numpy and scipy. For every setting of data/traces: A/A windows (contiguous ones, and block-bootstrapped ones), and
windows with a planted cost. The same seed draws the same windows for every rule of one order."""
import argparse
import datetime
import json
import math
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peers
import traces

ROOT = Path(__file__).resolve().parents[2]
BUDGET = {"hot": 1.0, "cold": 4.0}  # seconds of kernel time, all arms together
EFFECTS = (0.003, 0.005, 0.01, 0.02, 0.05)
INTERMITTENT = (0.07, 0.15)  # 7 % in 15 % of the calls: 1 % in the mean
SHORTEST_SEGMENT = 0.2  # do_bench alone warms up and repeats for 0.13 s
ALPHA_95, ALPHA_99 = 0.05, 0.01


# ---- Tare's rule: its own program ---------------------------------------------------------------
class Tare:
    name, order, kind, source = "Tare", "interleaved", "own program", "src/judge/mix.h"

    def __init__(self, program):
        self.program = program

    def rounds_of(self, window):
        cost = np.cumsum(window.rounds.sum(axis=1)) * (1 + window.opening)
        count = int(np.searchsorted(cost, window.budget, side="right"))
        return window.rounds[:count], cost

    def decide_all(self, windows, truth):
        told = b"".join(struct.pack("<Qd", len(rounds), -math.log(truth)) + np.ascontiguousarray(rounds, "<f8").tobytes()
                        for rounds, _ in map(self.rounds_of, windows))
        done = subprocess.run([self.program], input=told, capture_output=True, check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [self.result(window, line) for window, line in zip(windows, lines, strict=True)]

    def result(self, window, line):
        rounds, cost = self.rounds_of(window)
        at = line["direction_rounds"]
        equal = line["equivalent_rounds"]
        return {"verdict": ("faster" if line["faster"] else "slower") if at else "unknown",
                "seconds": float(cost[(at or len(rounds)) - 1]),
                "equivalent_seconds": float(cost[equal - 1]) if equal else None,
                # "never excluded on the whole path": the intervals of every look hold the truth
                "covers_95": line["evidence_against_truth"] < -math.log(ALPHA_95),
                "covers_99": line["evidence_against_truth"] < -math.log(ALPHA_99)}


class Peer:
    def __init__(self, rule, seed):
        self.rule, self.seed = rule, seed
        self.name, self.order, self.kind, self.source = rule.name, rule.order, rule.kind, rule.source

    def decide_all(self, windows, truth):
        random = np.random.default_rng(self.seed)
        return [self.result(self.rule.decide(window, random), truth) for window in windows]

    def result(self, claim, truth):
        result = {"verdict": claim.verdict, "seconds": float(claim.seconds)}
        if claim.interval is not None:
            result["covers_95"] = claim.interval[0] <= truth <= claim.interval[1]
        return result


# ---- counting -----------------------------------------------------------------------------------
def share(results, holds):
    return 100 * sum(map(holds, results)) / len(results)


def claimed(result):
    return result["verdict"] in ("faster", "slower")


def median_seconds(results):
    return float(np.median([result["seconds"] for result in results])) if results else None


def coverage(results):
    return {key: share(results, lambda result: result[key]) for key in ("covers_95", "covers_99") if key in results[0]}


def false_verdicts(results, label):
    return {f"false_percent_{label}": share(results, claimed), f"runs_{label}": len(results)}


def equivalence(results):
    """How often, and how soon, equal arms are found equal within 1 %; nothing for rules that do not say."""
    if "equivalent_seconds" not in results[0]:
        return {}
    seconds = sorted(result["equivalent_seconds"] or math.inf for result in results)
    ninth = seconds[math.ceil(0.9 * len(seconds)) - 1]
    return {"equivalent_percent": share(results, lambda result: result["equivalent_seconds"] is not None),
            "equivalent_seconds_of_9_in_10": ninth if math.isfinite(ninth) else None}


def effect(results, expected):
    """`results`: (result, expected verdict) pairs."""
    right = [result for result, verdict in zip(results, expected) if result["verdict"] == verdict]
    seen = sorted(result["seconds"] for result in right)
    nine = math.ceil(0.9 * len(results))
    return {"runs": len(results), "missed_percent": 100 - 100 * len(right) / len(results),
            "wrong_percent": 100 * sum(claimed(result) for result in results) / len(results) - 100 * len(right) / len(results),
            "seconds": median_seconds(right), "seconds_of_9_in_10": seen[nine - 1] if len(seen) >= nine else None,
            **coverage(results)}


class Setting:
    def __init__(self, name, folder):
        self.name = name
        rounds, segments = (traces.read(folder / f"{name}-{order}.trace.xz") for order in ("rounds", "segments"))
        self.header = rounds.header
        shortest = min(segment.sum() for segment in segments.segments)
        if shortest < SHORTEST_SEGMENT:
            raise SystemExit(f"a segment of {name} has {shortest:.2f} s: record {SHORTEST_SEGMENT} s at least (--segment)")
        self.budget = BUDGET[rounds.header["residency"]]
        self.windows = traces.Windows(rounds, segments, self.budget)

    def draw(self, order, count, seed, bootstrap=False):
        random = np.random.default_rng(seed)
        draw = self.windows.interleaved if order == "interleaved" else self.windows.sequential
        return [draw(random, bootstrap) for _ in range(count)]


def judge(rule, setting, runs, seed, effects=True):
    """All figures of one rule in one setting; without `effects`, those of equal arms."""
    def draw(count, step, bootstrap=False):
        return setting.draw(rule.order, count, [seed, step], bootstrap)
    real = rule.decide_all(draw(2 * runs, 0), 1)
    resampled = rule.decide_all(draw(runs, 1, True), 1)
    found = {"seconds": median_seconds(real), **false_verdicts(real, "real"), **false_verdicts(resampled, "bootstrapped"),
             **coverage(real), **equivalence(real)}
    if not effects:
        return found
    found["effects"] = {}
    for step, size in enumerate(EFFECTS):
        results, expected = [], []
        for side, verdict in ((size, "slower"), (-size, "faster")):
            windows = [window.planted(traces.multiplied(side)) for window in draw(runs // 2, [2, step, int(side > 0)])]
            results += rule.decide_all(windows, 1 + side)
            expected += [verdict] * len(windows)
        found["effects"][f"{100 * size:g}"] = effect(results, expected)
    random = np.random.default_rng([seed, 3])
    windows = [window.planted(traces.intermittent(*INTERMITTENT, random)) for window in draw(runs // 2, 3)]
    results = rule.decide_all(windows, 1 + INTERMITTENT[0] * INTERMITTENT[1])
    found["intermittent"] = {key: value for key, value in effect(results, ["slower"] * len(results)).items()
                             if not key.startswith("covers")}
    return found


# ---- the command --------------------------------------------------------------------------------
def machine():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def rules_here(program, seed):
    rules, absent = [], {}
    if program.exists():
        rules.append(Tare(program))
    else:
        absent["Tare"] = f"build bench_judges_tare ({program} is not there)"
    for rule in peers.RULES:
        advice = rule.missing()
        if advice is None:
            rules.append(Peer(rule, seed))
        else:
            absent[rule.name] = advice
    return rules, absent


def settings_of(folder):
    return sorted(path.name.removesuffix("-rounds.trace.xz") for path in folder.glob("*-rounds.trace.xz"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="windows of one effect; twice as many A/A")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--traces", type=Path, default=ROOT / "data/traces")
    parser.add_argument("--settings", nargs="*", help="default: all in the folder")
    parser.add_argument("--rules", nargs="*", help="names as in the table; default: all")
    parser.add_argument("--equal-arms", action="store_true", help="A/A windows only (not for page.py)")
    parser.add_argument("--tare", type=Path, default=ROOT / "build/release/bin/bench_judges_tare")
    parser.add_argument("--out", type=Path, default=ROOT / "results/judges/judges.json")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs must be 2 at least: half of them are planted slower, half faster")
    names = options.settings or settings_of(options.traces)
    if not names:
        parser.error(f"no traces in {options.traces}: record some with bench/judges/record-all")
    rules, absent = rules_here(options.tare, options.seed)
    if options.rules:
        rules = [rule for rule in rules if rule.name in options.rules]
    for name, advice in absent.items():
        print(f"without {name}: {advice}", file=sys.stderr)
    found = {"schema": 1, "command": ["bench/judges/judge.py", *sys.argv[1:]],
             "date": datetime.date.today().isoformat(), "machine": machine(), "processors": os.cpu_count(),
             "absent": absent, "rules": {rule.name: {"order": rule.order, "decided_by": rule.kind, "source": rule.source}
                                         for rule in rules}, "settings": {}}
    for name in names:
        setting = Setting(name, options.traces)
        found["settings"][name] = {"trace": {key: setting.header[key] for key in (
            "k", "n", "threads", "residency", "neighbour", "date", "machine")}, "budget_seconds": setting.budget, "rules": {}}
        for rule in rules:
            start = time.monotonic()
            figures = judge(rule, setting, options.runs, options.seed, effects=not options.equal_arms)
            found["settings"][name]["rules"][rule.name] = figures
            print(f"{name}: {rule.name} ({time.monotonic() - start:.0f} s)", file=sys.stderr)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
