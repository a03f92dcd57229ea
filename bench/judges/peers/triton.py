"""Triton: triton.testing.do_bench, 3.4.0."""
import numpy as np

from .claim import beyond

WARMUP, REPETITIONS = 25e-3, 100e-3


def quantile(times, share):
    """Linear between order statistics, as triton.testing._quantile."""
    return float(np.quantile(times, share, method="linear"))


def do_bench(times):
    """The regions that do_bench times: a call, five to estimate, the warm-up, the repetitions; and the seconds of all."""
    estimate = times[1:6].mean()
    warm, repeat = max(1, int(WARMUP / estimate)), max(1, int(REPETITIONS / estimate))
    return times[6 + warm: 6 + warm + repeat], times[: 6 + warm + repeat].sum()


def do_bench_rule(statistic):
    def rule(window, _):
        needed = (WARMUP + REPETITIONS) * 1.3
        (incumbent, first), (candidate, second) = (
            do_bench(times) for times in (window.incumbent(needed), window.candidate(2 * needed)))
        return beyond(0.01, statistic(incumbent), statistic(candidate), first + second)
    return rule
