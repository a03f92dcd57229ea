"""How others decide whether one arm is faster than another: one function a rule.

Each takes a window (traces.py) and returns a Claim. Where a peer's own program can be had it decides; else its published
rule is restated here, with where it was published. tests/bench_judges holds each against its published example.
Ratios are candidate time / incumbent time: below 1 the candidate is faster."""
import math
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Claim:
    verdict: str  # "faster", "slower", "same" (only where a rule says so itself) or "unknown"
    ratio: float
    seconds: float  # of kernel time, both arms
    interval: tuple | None = None  # of the ratio, at `confidence`
    confidence: float = 0.95


def direction(change):
    return "slower" if change > 0 else "faster"


def beyond(share, incumbent, candidate, seconds):
    """What a reader does with two numbers: believes a difference of more than `share`."""
    ratio = candidate / incumbent
    verdict = direction(ratio - 1) if abs(ratio - 1) > share else "unknown"
    return Claim(verdict, ratio, seconds)


# ---- nvbench: https://github.com/NVIDIA/nvbench -------------------------------------------------
# nvbench/detail/stdrel_criterion.cxx and entropy_criterion.cxx, statistics.cuh (2026-08).
NVBENCH_MIN_SAMPLES = 10


def nvbench_noise_track(times):
    """Relative standard deviation of the first 1, 2, ... samples; infinite below five."""
    count = np.arange(1, len(times) + 1)
    shifted = times - times[0]  # against cancellation
    total, squares = np.cumsum(shifted), np.cumsum(shifted * shifted)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(0, squares - total * total / count) / (count - 1)
    mean = times[0] + total / count
    return np.where(count < 5, np.inf, np.sqrt(variance) / mean)


def nvbench_stdrel(times, max_noise=0.005, min_time=0.5):
    """How many samples the criterion takes: until the noise is small, or has stopped changing."""
    noise = nvbench_noise_track(times)
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


def nvbench_entropies(times):
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


def nvbench_entropy(times, max_angle=0.048, min_r2=0.36):
    """How many samples: until a line through the last 299 entropies is flat, and is a line. Even counts are looked at."""
    entropies = nvbench_entropies(times)
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


def nvbench_samples(window, criterion):
    def run(times):
        return times[: max(NVBENCH_MIN_SAMPLES, criterion(times))]
    half = window.budget / 2
    return run(window.incumbent(half)), run(window.candidate(half))


def nvbench_compare(incumbent, candidate):
    """nvbench-compare-legacy (nvbench_compare.py): a difference of means beyond the smaller relative deviation."""
    change = candidate.mean() / incumbent.mean() - 1
    noise = min(times.std(ddof=1) / times.mean() for times in (incumbent, candidate))
    verdict = "same" if abs(change) <= noise else direction(change)
    return Claim(verdict, 1 + change, incumbent.sum() + candidate.sum())


def nvbench_robust_module():
    """nvbench-compare-robust of PyPI's cuda-bench, as it is; None where it is not installed."""
    try:
        from cuda.bench.scripts import nvbench_compare_robust as module
    except ImportError:
        return None
    module.np = np
    return module


def nvbench_compare_robust(incumbent, candidate, module):
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


def nvbench_stdrel_rule(window, _):
    return nvbench_compare(*nvbench_samples(window, nvbench_stdrel))


def nvbench_entropy_rule(window, _):
    return nvbench_compare(*nvbench_samples(window, nvbench_entropy))


def nvbench_robust_rule(window, _):
    return nvbench_compare_robust(*nvbench_samples(window, nvbench_stdrel), nvbench_robust_module())


# ---- Google Benchmark: compare.py of Debian's libbenchmark-tools, as it is ---------------------
GOOGLE_TOOLS = "/usr/share/benchmark"
GOOGLE_REPETITIONS = 9  # what compare.py asks for at least


def google_report_module():
    """gbench.report, or None where libbenchmark-tools is not installed."""
    if GOOGLE_TOOLS not in sys.path:
        sys.path.append(GOOGLE_TOOLS)
    try:
        from gbench import report
    except ImportError:
        return None
    return report


def means_of(times, parts):
    return np.array([part.mean() for part in np.array_split(times, parts)])


def google_utest_rule(window, _):
    """Repetitions of equal length, A's before B's (random interleaving is off by default), then the U test at 5 %."""
    incumbent, candidate = (times[: len(times) // GOOGLE_REPETITIONS * GOOGLE_REPETITIONS]
                            for times in (window.incumbent(window.budget / 2), window.candidate(window.budget / 2)))
    repetitions = [means_of(times, GOOGLE_REPETITIONS) for times in (incumbent, candidate)]
    _, _, p_value = google_report_module().calc_utest(repetitions, repetitions)
    ratio = np.median(repetitions[1]) / np.median(repetitions[0])
    verdict = direction(ratio - 1) if p_value < 0.05 else "unknown"
    return Claim(verdict, ratio, incumbent.sum() + candidate.sum())


# ---- nanobench: https://github.com/martinus/nanobench, cdf49c6 (2026-08) -------------------------
NANOBENCH_EPOCHS = 11
NANOBENCH_EPOCH_SECONDS = 1e-3  # minEpochTime
NANOBENCH_UNSTABLE = 0.05  # the err% from which a row is marked


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


def nanobench_relative_rule(window, _):
    """Two runs, one after the other; the reader believes a difference of medians that is larger than both err%."""
    half = window.budget / 2
    needed = NANOBENCH_EPOCHS * NANOBENCH_EPOCH_SECONDS * 2
    (incumbent, first), (candidate, second) = (
        epochs_of(times, NANOBENCH_EPOCHS, NANOBENCH_EPOCH_SECONDS)
        for times in (window.incumbent(min(half, needed)), window.candidate(half)))
    errors = mdape(incumbent), mdape(candidate)
    claim = beyond(max(errors), np.median(incumbent), np.median(candidate), first + second)
    if max(errors) >= NANOBENCH_UNSTABLE:
        return Claim("unknown", claim.ratio, claim.seconds)
    return claim


def median_indices(count, confidence):
    """Order statistics, from 0, that bracket a median by the binomial law; None where there are none."""
    least = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))
    if stats.binom.cdf(least, count, 0.5) <= (1 - confidence) / 2:
        least += 1
    return (least - 1, count - least) if least > 0 else None


def nanobench_compare_rule(window, _):
    """Bench::compare(): one epoch of each in turn; the interval of the median log ratio excludes 1."""
    pairs = window.pairs
    regions = max(1, math.ceil(NANOBENCH_EPOCH_SECONDS / np.median(pairs[:100, 0])))
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


# ---- criterion.rs: https://github.com/bheisler/criterion.rs, 567405d (2025-07) -------------------
CRITERION_SAMPLES = 100
CRITERION_NOISE = 0.01


def criterion_iterations(seconds, mean):
    """Iterations of each sample: growing linearly, or flat where that would take over twice the time."""
    total = CRITERION_SAMPLES * (CRITERION_SAMPLES + 1) // 2
    step = math.ceil(seconds / mean / total)
    if total * step * mean <= 2 * seconds:
        return np.arange(1, CRITERION_SAMPLES + 1) * step
    return np.full(CRITERION_SAMPLES, max(1, math.ceil(seconds / CRITERION_SAMPLES / mean)))


def criterion_samples(times, seconds):
    counts = criterion_iterations(seconds, np.median(times[:100]))
    ends = np.cumsum(counts)
    ends = ends[ends <= len(times)]
    starts = np.concatenate([[0], ends[:-1]])
    return np.add.reduceat(times[: ends[-1]], starts) / counts[: len(ends)], times[: ends[-1]].sum()


def welch_t(first, second):
    """Of samples along the last axis."""
    error = first.var(axis=-1, ddof=1) / first.shape[-1] + second.var(axis=-1, ddof=1) / second.shape[-1]
    return (first.mean(axis=-1) - second.mean(axis=-1)) / np.sqrt(error)


def criterion_p_value(candidate, incumbent, random, resamples):
    """Two-sample t, against its bootstrap from both samples mixed."""
    mixed = np.concatenate([candidate, incumbent]).astype(np.float32) / np.float32(incumbent.mean())
    drawn = mixed[random.integers(0, len(mixed), (resamples, len(mixed)), dtype=np.int32)]
    distribution = welch_t(drawn[:, : len(candidate)], drawn[:, len(candidate):])
    hits = np.count_nonzero(distribution < welch_t(candidate, incumbent))
    return 2 * min(hits, resamples - hits) / resamples


def criterion_change(candidate, incumbent, random, resamples):
    """95 % percentile interval of the relative change of the mean: resamples of one crossed with those of the other."""
    root = math.ceil(math.sqrt(resamples))
    def means(sample, count):
        return sample[random.integers(0, len(sample), (count, len(sample)))].mean(axis=1)
    change = means(candidate, root)[:, None] / means(incumbent, root * root).reshape(root, root) - 1
    return np.percentile(change, [2.5, 97.5])


def criterion_verdict(p_value, low, high):
    """Of a p value and the interval of the relative change of the mean (src/report.rs)."""
    changed = p_value < 0.05 and (low > CRITERION_NOISE or high < -CRITERION_NOISE)
    return direction(low) if changed else "unknown"


def criterion_rule(window, random):
    half = window.budget / 2
    incumbent, first = criterion_samples(window.incumbent(half), half)
    candidate, second = criterion_samples(window.candidate(half), half)
    # 2,000 resamples instead of its 100,000: the p value to half a percent near 0.05, fifty times sooner.
    p_value = criterion_p_value(candidate, incumbent, random, 2000)
    low, high = criterion_change(candidate, incumbent, random, 2000)
    return Claim(criterion_verdict(p_value, low, high), candidate.mean() / incumbent.mean(), first + second, (1 + low, 1 + high))


# ---- tango: https://github.com/bazhenov/tango, 4b00d95 (2026-06) ---------------------------------
TANGO_SLICE = 10e-3  # seconds of one sample
TANGO_NOISE = 0.01


def tango_range(differences):
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


def tango_decides(incumbent, candidate):
    """Significant at z >= 2.6 and beyond 1 %: (verdict, relative change). In nanoseconds, samples paired."""
    differences = candidate - incumbent
    kept = tango_range(differences)
    if kept is not None:
        inside = (differences >= kept[0]) & (differences <= kept[1])
        differences, incumbent = differences[inside], incumbent[inside]
    change = differences.mean() / incumbent.mean()
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    significant = error > 0 and abs(differences.mean()) / error >= 2.6 and abs(change) > TANGO_NOISE
    return (direction(change) if significant else "unknown"), change


def tango_rule(window, _):
    """Samples of both arms side by side; here their regions are interleaved more finely than its own."""
    pairs = window.pairs
    regions = max(1, int(TANGO_SLICE / np.median(pairs[:100, 0])))
    whole = np.searchsorted(np.cumsum(pairs.sum(axis=1)), window.budget) // regions
    used = pairs[: whole * regions]
    samples = used.reshape(whole, regions, 2).mean(axis=1) * 1e9
    verdict, change = tango_decides(samples[:, 0], samples[:, 1])
    return Claim(verdict, 1 + change, used.sum())


# ---- hyperfine: https://github.com/sharkdp/hyperfine ---------------------------------------------
def hyperfine_welch_rule(window, _):
    """scripts/welch_ttest.py: "there is a difference" where Welch's t test says p < 0.05."""
    incumbent, candidate = window.incumbent(window.budget / 2), window.candidate(window.budget / 2)
    p_value = stats.ttest_ind(incumbent, candidate, equal_var=False).pvalue
    ratio = candidate.mean() / incumbent.mean()
    return Claim(direction(ratio - 1) if p_value < 0.05 else "unknown", ratio, incumbent.sum() + candidate.sum())


def hyperfine_relative(incumbent, candidate):
    """src/benchmark/relative_speed.rs: (x, y) of "x +- y times", of (mean, standard deviation) pairs."""
    ratio = candidate[0] / incumbent[0]
    return ratio, ratio * math.hypot(candidate[1] / candidate[0], incumbent[1] / incumbent[0])


def hyperfine_relative_rule(window, _):
    """The reader believes what is farther from 1 than the printed deviation."""
    incumbent, candidate = window.incumbent(window.budget / 2), window.candidate(window.budget / 2)
    ratio, deviation = hyperfine_relative(*((times.mean(), times.std(ddof=1)) for times in (incumbent, candidate)))
    verdict = direction(ratio - 1) if abs(ratio - 1) > deviation else "unknown"
    return Claim(verdict, ratio, incumbent.sum() + candidate.sum())


# ---- Triton: triton.testing.do_bench, 3.4.0 -----------------------------------------------------
DO_BENCH_WARMUP, DO_BENCH_REP = 25e-3, 100e-3


def triton_quantile(times, share):
    """Linear between order statistics, as triton.testing._quantile."""
    return float(np.quantile(times, share, method="linear"))


def do_bench(times):
    """The regions that do_bench times: a call, five to estimate, the warm-up, the repetitions; and the seconds of all."""
    estimate = times[1:6].mean()
    warm, repeat = max(1, int(DO_BENCH_WARMUP / estimate)), max(1, int(DO_BENCH_REP / estimate))
    return times[6 + warm: 6 + warm + repeat], times[: 6 + warm + repeat].sum()


def do_bench_rule(statistic):
    def rule(window, _):
        needed = (DO_BENCH_WARMUP + DO_BENCH_REP) * 1.3
        (incumbent, first), (candidate, second) = (
            do_bench(times) for times in (window.incumbent(needed), window.candidate(2 * needed)))
        return beyond(0.01, statistic(incumbent), statistic(candidate), first + second)
    return rule


# ---- what people do by hand ---------------------------------------------------------------------
def of_five(statistic):
    """A call to warm up, then five that count, of each; a difference of more than 1 % is believed."""
    def rule(window, _):
        incumbent, candidate = window.before[-6:], window.after[:6]
        return beyond(0.01, statistic(incumbent[1:]), statistic(candidate[1:]), incumbent.sum() + candidate.sum())
    return rule


# ---- all of them --------------------------------------------------------------------------------
@dataclass(frozen=True)
class Rule:
    name: str
    order: str  # "sequential" or "interleaved"
    kind: str  # "own program" or "published rule": who decides
    decide: object
    source: str
    missing: object = lambda: None  # says what to install where the peer's program is absent


def lacks(module, advice):
    return lambda: None if module() is not None else advice


RULES = [
    Rule("nvbench stdrel, compare", "sequential", "published rule", nvbench_stdrel_rule,
         "NVIDIA/nvbench stdrel_criterion.cxx, nvbench_compare.py"),
    Rule("nvbench entropy, compare", "sequential", "published rule", nvbench_entropy_rule,
         "NVIDIA/nvbench entropy_criterion.cxx, nvbench_compare.py"),
    Rule("nvbench stdrel, compare-robust", "sequential", "own program", nvbench_robust_rule, "cuda-bench 0.3.0",
         lacks(nvbench_robust_module, "pip install --no-deps cuda-bench==0.3.0")),
    Rule("Google Benchmark U test", "sequential", "own program", google_utest_rule, "libbenchmark-tools 1.7.1, compare.py",
         lacks(google_report_module, "apt-get install libbenchmark-tools")),
    Rule("nanobench relative, err%", "sequential", "published rule", nanobench_relative_rule, "martinus/nanobench nanobench.h"),
    Rule("nanobench compare()", "interleaved", "published rule", nanobench_compare_rule, "martinus/nanobench nanobench.h"),
    Rule("criterion.rs", "sequential", "published rule", criterion_rule, "bheisler/criterion.rs src/analysis/compare.rs"),
    Rule("tango", "interleaved", "published rule", tango_rule, "bazhenov/tango tango-bench/src/lib.rs"),
    Rule("hyperfine, Welch", "sequential", "published rule", hyperfine_welch_rule, "sharkdp/hyperfine scripts/welch_ttest.py"),
    Rule("hyperfine, x ± y times", "sequential", "published rule", hyperfine_relative_rule,
         "sharkdp/hyperfine src/benchmark/relative_speed.rs"),
    Rule("Triton do_bench, mean", "sequential", "published rule", do_bench_rule(np.mean), "triton 3.4.0 testing.py"),
    Rule("Triton do_bench, median", "sequential", "published rule",
         do_bench_rule(lambda times: triton_quantile(times, 0.5)), "triton 3.4.0 testing.py"),
    Rule("median of five", "sequential", "published rule", of_five(np.median), "common practice"),
    Rule("minimum of five", "sequential", "published rule", of_five(np.min), "common practice"),
]
