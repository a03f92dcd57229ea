"""criterion.rs: https://github.com/bheisler/criterion.rs, 567405d (2025-07)."""
import math

import numpy as np

from .claim import Claim, direction

SAMPLES = 100
NOISE = 0.01


def iterations(seconds, mean):
    """Iterations of each sample: growing linearly, or flat where that would take over twice the time."""
    total = SAMPLES * (SAMPLES + 1) // 2
    step = math.ceil(seconds / mean / total)
    if total * step * mean <= 2 * seconds:
        return np.arange(1, SAMPLES + 1) * step
    return np.full(SAMPLES, max(1, math.ceil(seconds / SAMPLES / mean)))


def samples(times, seconds):
    counts = iterations(seconds, np.median(times[:100]))
    ends = np.cumsum(counts)
    ends = ends[ends <= len(times)]
    starts = np.concatenate([[0], ends[:-1]])
    return np.add.reduceat(times[: ends[-1]], starts) / counts[: len(ends)], times[: ends[-1]].sum()


def welch_t(first, second):
    """Of samples along the last axis."""
    error = first.var(axis=-1, ddof=1) / first.shape[-1] + second.var(axis=-1, ddof=1) / second.shape[-1]
    return (first.mean(axis=-1) - second.mean(axis=-1)) / np.sqrt(error)


def bootstrapped_p(candidate, incumbent, random, resamples):
    """Two-sample t, against its bootstrap from both samples mixed."""
    mixed = np.concatenate([candidate, incumbent]).astype(np.float32) / np.float32(incumbent.mean())
    drawn = mixed[random.integers(0, len(mixed), (resamples, len(mixed)), dtype=np.int32)]
    distribution = welch_t(drawn[:, : len(candidate)], drawn[:, len(candidate):])
    hits = np.count_nonzero(distribution < welch_t(candidate, incumbent))
    return 2 * min(hits, resamples - hits) / resamples


def change_interval(candidate, incumbent, random, resamples):
    """95 % percentile interval of the relative change of the mean: resamples of one crossed with those of the other."""
    root = math.ceil(math.sqrt(resamples))
    def means(sample, count):
        return sample[random.integers(0, len(sample), (count, len(sample)))].mean(axis=1)
    change = means(candidate, root)[:, None] / means(incumbent, root * root).reshape(root, root) - 1
    return np.percentile(change, [2.5, 97.5])


def verdict_of(p_value, low, high):
    """Of a p value and the interval of the relative change of the mean (src/report.rs)."""
    changed = p_value < 0.05 and (low > NOISE or high < -NOISE)
    return direction(low) if changed else "unknown"


def rule(window, random):
    half = window.budget / 2
    incumbent, first = samples(window.incumbent(half), half)
    candidate, second = samples(window.candidate(half), half)
    # 2,000 resamples instead of its 100,000: the p value to half a percent near 0.05, fifty times sooner.
    p_value = bootstrapped_p(candidate, incumbent, random, 2000)
    low, high = change_interval(candidate, incumbent, random, 2000)
    return Claim(verdict_of(p_value, low, high), candidate.mean() / incumbent.mean(), first + second, (1 + low, 1 + high))
