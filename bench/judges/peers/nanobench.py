"""nanobench: https://github.com/martinus/nanobench, cdf49c6 (2026-08)."""
import math

import numpy as np
from scipy import stats

from .claim import Claim, beyond, direction

EPOCHS = 11
EPOCH_SECONDS = 1e-3  # minEpochTime
UNSTABLE = 0.05  # the err% from which a row is marked


def mdape(values):
    """Median absolute percentage error, nanobench's err%."""
    values = np.asarray(values, float)
    if len(values) == 0:
        return 0.0
    median = np.median(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs((values - median) / values)
    errors[values <= 0] = 0.0 if median <= 0 else np.inf
    return float(np.median(errors))


def epochs_of(times, epochs, seconds):
    """Mean region time of each of `epochs` runs of regions that take `seconds`; and the seconds used."""
    regions = max(1, math.ceil(seconds / np.median(times[:100])))
    used = times[: epochs * regions]
    return used[: len(used) // regions * regions].reshape(-1, regions).mean(axis=1), used.sum()


def relative_rule(window, _):
    """Two runs, one after the other; the reader believes a difference of medians that is larger than both err%."""
    half = window.budget / 2
    needed = EPOCHS * EPOCH_SECONDS * 2
    (incumbent, first), (candidate, second) = (
        epochs_of(times, EPOCHS, EPOCH_SECONDS)
        for times in (window.incumbent(min(half, needed)), window.candidate(half)))
    errors = mdape(incumbent), mdape(candidate)
    claim = beyond(max(errors), np.median(incumbent), np.median(candidate), first + second)
    if max(errors) >= UNSTABLE:
        return Claim("unknown", claim.ratio, claim.seconds)
    return claim


def median_indices(count, confidence):
    """Order statistics, from 0, that bracket a median by the binomial law; None where there are none."""
    least = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    if stats.binom.cdf(least, count, 0.5) <= (1 - confidence) / 2:
        least += 1
    return (least - 1, count - least) if least > 0 else None


def compare_rule(window, _):
    """Bench::compare(): one epoch of each in turn; the interval of the median log ratio excludes 1."""
    pairs = window.pairs
    regions = max(1, math.ceil(EPOCH_SECONDS / np.median(pairs[:100, 0])))
    whole = np.searchsorted(np.cumsum(pairs.sum(axis=1)), window.budget) // regions
    used = pairs[: whole * regions]
    epochs = used.reshape(whole, regions, 2).sum(axis=1)
    logs = np.sort(np.log(epochs[:, 1] / epochs[:, 0]))
    indices = median_indices(whole, 0.95)
    seconds = used.sum()
    if indices is None:
        return Claim("unknown", math.exp(np.median(logs)), seconds)
    low, high = math.exp(logs[indices[0]]), math.exp(logs[indices[1]])
    ratio = math.exp(np.median(logs))
    verdict = direction(ratio - 1) if low > 1 or high < 1 else "unknown"
    return Claim(verdict, ratio, seconds, (low, high))
