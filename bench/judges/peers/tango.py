"""tango: https://github.com/bazhenov/tango, 4b00d95 (2026-06)."""
import math

import numpy as np

from .claim import Claim, direction

SLICE = 10e-3  # seconds of one sample
NOISE = 0.01


def kept_range(differences):
    """The values that its outlier filter keeps, as (least, greatest), or None for all. In nanoseconds."""
    values = np.sort(differences)
    first, third = len(values) // 4, len(values) * 3 // 4 - 1
    if first >= third or third >= len(values):
        return None
    reach = 1.5 * max(values[third] - values[first], 1.0)
    below = np.searchsorted(values[:first], values[first] - reach)
    above = np.searchsorted(values[third:], values[third] + reach)  # counted from the third quartile, as there
    if below == 0 or above >= len(values):
        return None
    cut = min(below, len(values) - above)
    return values[cut], values[len(values) - cut - 1]


def decides(incumbent, candidate):
    """Significant at z >= 2.6 and beyond 1 %: (verdict, relative change). In nanoseconds, samples paired."""
    differences = candidate - incumbent
    kept = kept_range(differences)
    if kept is not None:
        inside = (differences >= kept[0]) & (differences <= kept[1])
        differences, incumbent = differences[inside], incumbent[inside]
    change = differences.mean() / incumbent.mean()
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    significant = error > 0 and abs(differences.mean()) / error >= 2.6 and abs(change) > NOISE
    return (direction(change) if significant else "unknown"), change


def rule(window, _):
    """Samples of both arms side by side; here their regions are interleaved more finely than its own."""
    pairs = window.pairs
    regions = max(1, int(SLICE / np.median(pairs[:100, 0])))
    whole = np.searchsorted(np.cumsum(pairs.sum(axis=1)), window.budget) // regions
    used = pairs[: whole * regions]
    samples = used.reshape(whole, regions, 2).mean(axis=1) * 1e9
    verdict, change = decides(samples[:, 0], samples[:, 1])
    return Claim(verdict, 1 + change, used.sum())
