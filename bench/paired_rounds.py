"""Ratios of a recorded weighing's rounds, arm by arm: what lies under a verdict, or under a refusal.

usage: python bench/paired_rounds.py FILE...       FILE: --json of tare headroom, tare weigh-model ...

A round is one region of each arm, one right after the other; its ratio is free of whatever slows all of them. Printed are the median of the
incumbent's time over the candidate's and over the control's, and its 95 % interval by the signs. It is no verdict: nothing is said of what a region costs
beside its dispatches, rounds are taken to be independent, and nobody may have looked at them before.
"""

import json
import math
import statistics
import sys
from collections import defaultdict


def interval(values, level=0.95):
    """Of the median: how many values may lie below it if each does by the toss of a coin."""
    values, below, tail = sorted(values), 0, 1 / 2 ** len(values)
    while tail <= (1 - level) / 2:
        below += 1
        tail += math.comb(len(values), below) / 2 ** len(values)
    return (values[below - 1], values[-below]) if below else (0, math.inf)


def rounds_of(regions, purpose):
    """By placement: {arm: seconds per dispatch} of every round."""
    rounds = defaultdict(dict)
    for i, arm in enumerate(regions["arm"]):
        if regions["purpose"][i] == purpose:
            at = regions["placement"][i], regions["block"][i], regions["round"][i]
            rounds[at][arm] = regions["seconds"][i] / regions["dispatches"][i]
    return rounds


def line(what, rounds):
    text = []
    for arm in ("candidate", "control"):
        ratios = [one["incumbent"] / one[arm] for one in rounds if arm in one and "incumbent" in one]
        if ratios:
            text.append("{} {:.3f}x [{:.3f}, {:.3f}] of {}".format(arm, statistics.median(ratios), *interval(ratios), len(ratios)))
    times = {arm: statistics.median(one[arm] for one in rounds if arm in one) for arm in ("incumbent", "candidate")}
    print(f"  {what}: " + ", ".join(text) + "; medians " + ", ".join(f"{arm} {1e3 * seconds:.3f} ms" for arm, seconds in times.items()))


def main():
    for path in sys.argv[1:]:
        for row in map(json.loads, open(path)):
            if row["kind"] != "row" or not row["weighing"]["regions"]["arm"]:
                continue
            print(f"{path}: {row['projection']} {row['k']}x{row['n']}, {row['rows']} rows: {row['verdict']} {row['cause']}")
            for purpose in ("round", "long"):
                rounds = rounds_of(row["weighing"]["regions"], purpose)
                for placement in sorted({at[0] for at in rounds}):
                    line(f"{purpose}s, placement {placement + 1}", [one for at, one in rounds.items() if at[0] == placement])
                line(f"{purpose}s", list(rounds.values()))


if __name__ == "__main__":
    main()
