"""Recorded traces (README.md has their format) and the windows that rules are given.

A window is what one run of a harness would have seen: region times in seconds, in the order in which that harness runs
its arms. Planted costs multiply the candidate's times, so that the true ratio (candidate / incumbent) is known."""
import json
import lzma
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np


@dataclass
class Trace:
    header: dict
    rounds: np.ndarray | None = None  # interleaved: seconds [round][arm]
    segments: list = field(default_factory=list)  # sequential: seconds of each segment

    @property
    def setting(self):
        return self.header["setting"]

    @property
    def opening(self):
        """Untimed dispatches that each region of the interleaved order costs."""
        return 1 if self.header["opening"] else 0


def read(path):
    data = lzma.open(path).read() if str(path).endswith(".xz") else Path(path).read_bytes()
    line, _, body = data.partition(b"\n")
    header = json.loads(line)
    if header.get("format") != 1:
        raise SystemExit(f"{path} is no trace of format 1: record it again with bench_judges_record")
    if header["order"] == "rounds":
        count, arms = header["rounds"], header["arms"]
        expected = count * arms * 4 + 2 * count * arms
    else:
        expected = 4 * sum(header["counts"])
    if len(body) != expected:
        raise SystemExit(f"{path} was cut short ({len(body)} of {expected} bytes): fetch or record it again")
    if header["order"] == "rounds":
        times = np.frombuffer(body[: count * arms * 4], "<u4").reshape(count, arms) * 1e-9
        return Trace(header, rounds=times)
    times = np.frombuffer(body, "<u4") * 1e-9
    return Trace(header, segments=np.split(times, np.cumsum(header["counts"])[:-1]))


# ---- windows -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sequential:
    """All of A, then all of B, on buffers of their own. `before` ends where A's run ends, `after` begins where B's begins."""

    before: np.ndarray
    after: np.ndarray
    budget: float

    def incumbent(self, seconds):
        """The last regions that take about `seconds` in all, oldest first."""
        total = np.cumsum(self.before[::-1])
        return self.before[len(self.before) - min(len(total), 1 + np.searchsorted(total, seconds)):]

    def candidate(self, seconds):
        return self.after[: 1 + np.searchsorted(np.cumsum(self.after), seconds)]

    def planted(self, plant):
        return replace(self, after=plant(self.after))


@dataclass(frozen=True)
class Interleaved:
    """Rounds of incumbent, control and candidate, in random order, buffers dealt anew each round."""

    rounds: np.ndarray  # [round][3]
    budget: float
    opening: int

    @property
    def pairs(self):
        """Rounds of two arms only: incumbent and candidate."""
        return self.rounds[:, [0, 2]]

    def planted(self, plant):
        rounds = self.rounds.copy()
        rounds[:, 2] = plant(rounds[:, 2])
        return replace(self, rounds=rounds)


def multiplied(share):
    return lambda times: times * (1 + share)


def intermittent(share, often, random):
    """A cost of `share` in `often` of the calls."""
    return lambda times: times * (1 + share * (random.random(len(times)) < often))


def blocks(length, block, random):
    """Indices of a moving-block bootstrap of `length` values: whole blocks, so that what is near in time stays so."""
    block = min(block, length)
    starts = random.integers(0, length - block + 1, -(-length // block))
    return (starts[:, None] + np.arange(block)).ravel()[:length]


class Windows:
    """Draws windows of `budget` seconds from the traces of one setting."""

    def __init__(self, rounds, segments, budget):
        self.rounds, self.segments, self.budget = rounds, segments, budget
        # Twice what fits on average: a window may lie in a slow hour, and rules stop by the seconds that they use.
        per_round = rounds.rounds[:, :2].mean() * 2
        self.length = min(len(rounds.rounds) - 1, int(1.2 * budget / per_round))

    def interleaved(self, random, bootstrap):
        roles = random.permutation(self.rounds.rounds.shape[1])[:3]  # labels, as a harness would deal them
        if bootstrap:
            at = blocks(len(self.rounds.rounds), 100, random)[: self.length]
            rounds = self.rounds.rounds[at][:, roles]
        else:
            first = random.integers(0, len(self.rounds.rounds) - self.length)
            rounds = self.rounds.rounds[first: first + self.length][:, roles]
        return Interleaved(rounds, self.budget, self.rounds.opening)

    def sequential(self, random, bootstrap):
        """A harness's own time between two arms (setting up, warming up) is up to a fifth of a segment here."""
        which = random.integers(0, len(self.segments.segments) - 1)
        before, after = self.segments.segments[which: which + 2]
        gap = random.integers(0, max(1, len(after) // 6), 2)
        before, after = before[: len(before) - gap[0]], after[gap[1]:]
        if bootstrap:
            before, after = (times[blocks(len(times), max(10, len(times) // 25), random)] for times in (before, after))
        return Sequential(before, after, self.budget)
