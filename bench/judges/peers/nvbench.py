"""nvbench: https://github.com/NVIDIA/nvbench."""
import math
from types import SimpleNamespace

import numpy as np

from .claim import Claim, direction

# nvbench/detail/stdrel_criterion.cxx and entropy_criterion.cxx, statistics.cuh (2026-08).
MIN_SAMPLES = 10


def noise_track(times):
    """Relative standard deviation of the first 1, 2, ... samples; infinite below five."""
    count = np.arange(1, len(times) + 1)
    shifted = times - times[0]  # against cancellation
    total, squares = np.cumsum(shifted), np.cumsum(shifted * shifted)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(0, squares - total * total / count) / (count - 1)
    mean = times[0] + total / count
    return np.where(count < 5, np.inf, np.sqrt(variance) / mean)


def stdrel(times, max_noise=0.005, min_time=0.5):
    """How many samples the criterion takes: until the noise is small, or has stopped changing."""
    noise = noise_track(times)
    enough = np.cumsum(times) > min_time
    for count in range(5, len(times) + 1):
        if not enough[count - 1]:
            continue
        current = noise[count - 1]
        if current < max_noise:
            return count
        tracked = noise[4:count][-512:]  # the criterion's ring buffer
        if len(tracked) > 64 and count % 16 == 0:
            spread = math.sqrt(((tracked - current) ** 2).sum() / (len(tracked) - 1))
            if spread / current < 0.05:
                return count
    return len(times)


def entropy_track(times):
    """Entropy, in bits, of the values among the first 1, 2, ... samples."""
    counts, entropies, weighted = {}, np.empty(len(times)), 0.0
    for index, value in enumerate(times.tolist()):
        seen = counts.get(value, 0)
        counts[value] = seen + 1
        weighted += (seen + 1) * math.log2(seen + 1) - (seen * math.log2(seen) if seen else 0.0)
        entropies[index] = math.log2(index + 1) - weighted / (index + 1)
    return entropies


def flat_line(window, max_angle, min_r2):
    """Whether a line through the last axis of `window` rises by no more than `max_angle` degrees, and is a line."""
    x = np.arange(window.shape[-1]) - (window.shape[-1] - 1) / 2
    centred = window - window.mean(axis=-1, keepdims=True)
    slope = centred @ x / (x @ x)
    total = (centred * centred).sum(axis=-1)
    rest = ((centred - slope[..., None] * x) ** 2).sum(axis=-1)
    r2 = 1 - np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)
    return (np.degrees(np.arctan(slope)) <= max_angle) & (r2 >= min_r2)


def entropy(times, max_angle=0.048, min_r2=0.36):
    """How many samples: until a line through the last 299 entropies is flat, and is a line. Even counts are looked at."""
    entropies = entropy_track(times)
    tracked = 299  # the criterion's ring buffer
    for count in range(2, min(tracked, len(times) + 1), 2):
        if flat_line(entropies[:count], max_angle, min_r2):
            return count
    if len(times) > tracked:
        windows = np.lib.stride_tricks.sliding_window_view(entropies, tracked)[1::2]  # of 300, 302, ... samples
        for first in range(0, len(windows), 256):
            met = np.flatnonzero(flat_line(windows[first:first + 256], max_angle, min_r2))
            if len(met):
                return tracked + 1 + 2 * (first + int(met[0]))
    return len(times)


def samples(window, criterion):
    def run(times):
        return times[: max(MIN_SAMPLES, criterion(times))]
    half = window.budget / 2
    return run(window.incumbent(half)), run(window.candidate(half))


def compare(incumbent, candidate):
    """nvbench-compare-legacy (nvbench_compare.py): a difference of means beyond the smaller relative deviation."""
    change = candidate.mean() / incumbent.mean() - 1
    noise = min(times.std(ddof=1) / times.mean() for times in (incumbent, candidate))
    verdict = "same" if abs(change) <= noise else direction(change)
    return Claim(verdict, 1 + change, incumbent.sum() + candidate.sum())


def robust_module():
    """nvbench-compare-robust of PyPI's cuda-bench, as it is; None where it is not installed."""
    try:
        from cuda.bench.scripts import nvbench_compare_robust as module
    except ImportError:
        return None
    module.np = np
    return module


def compare_robust(incumbent, candidate, module):
    def timing(times):
        first, median, third = np.percentile(times, [25, 50, 75], method="nearest")
        deviation, mean = times.std(ddof=1), times.mean()
        return module.GpuTimingData(
            minimum=times.min(), maximum=times.max(), mean=mean, stdev=deviation, stdev_relative=deviation / mean,
            first_quartile=first, median=median, third_quartile=third, interquartile_range=third - first,
            interquartile_range_relative=(third - first) / median,
            sm_clock_rate_mean=1e9,  # constant: it wants every gap in cycles, too
            sample_source=SimpleNamespace(values=times.astype(np.float32)))
    found = module.compare_gpu_timings(timing(incumbent), timing(candidate))
    words = {"FAST": "faster", "SLOW": "slower", "SAME": "same"}
    return Claim(words.get(found.status.name, "unknown"), found.cmp_time / found.ref_time,
                 incumbent.sum() + candidate.sum())


def stdrel_rule(window, _):
    return compare(*samples(window, stdrel))


def entropy_rule(window, _):
    return compare(*samples(window, entropy))


def robust_rule(window, _):
    return compare_robust(*samples(window, stdrel), robust_module())
