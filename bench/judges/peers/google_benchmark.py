"""Google Benchmark: compare.py of Debian's libbenchmark-tools, as it is."""
import sys

import numpy as np

from .claim import Claim, direction

TOOLS = "/usr/share/benchmark"
REPETITIONS = 9  # what compare.py asks for at least


def report_module():
    """gbench.report, or None where libbenchmark-tools is not installed."""
    if TOOLS not in sys.path:
        sys.path.append(TOOLS)
    try:
        from gbench import report
    except ImportError:
        return None
    return report


def means_of(times, parts):
    return np.array([part.mean() for part in np.array_split(times, parts)])


def utest_rule(window, _):
    """Repetitions of equal length, A's before B's (random interleaving is off by default), then the U test at 5 %."""
    incumbent, candidate = (times[: len(times) // REPETITIONS * REPETITIONS]
                            for times in (window.incumbent(window.budget / 2), window.candidate(window.budget / 2)))
    repetitions = [means_of(times, REPETITIONS) for times in (incumbent, candidate)]
    _, _, p_value = report_module().calc_utest(repetitions, repetitions)
    ratio = np.median(repetitions[1]) / np.median(repetitions[0])
    verdict = direction(ratio - 1) if p_value < 0.05 else "unknown"
    return Claim(verdict, ratio, incumbent.sum() + candidate.sum())
