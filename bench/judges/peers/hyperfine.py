"""hyperfine: https://github.com/sharkdp/hyperfine."""
import math

from scipy import stats

from .claim import Claim, direction


def welch_rule(window, _):
    """scripts/welch_ttest.py: "there is a difference" where Welch's t test says p < 0.05."""
    incumbent, candidate = window.incumbent(window.budget / 2), window.candidate(window.budget / 2)
    p_value = stats.ttest_ind(incumbent, candidate, equal_var=False).pvalue
    ratio = candidate.mean() / incumbent.mean()
    return Claim(direction(ratio - 1) if p_value < 0.05 else "unknown", ratio, incumbent.sum() + candidate.sum())


def relative(incumbent, candidate):
    """src/benchmark/relative_speed.rs: (x, y) of "x +- y times", of (mean, standard deviation) pairs."""
    ratio = candidate[0] / incumbent[0]
    return ratio, ratio * math.hypot(candidate[1] / candidate[0], incumbent[1] / incumbent[0])


def relative_rule(window, _):
    """The reader believes what is farther from 1 than the printed deviation."""
    incumbent, candidate = window.incumbent(window.budget / 2), window.candidate(window.budget / 2)
    ratio, deviation = relative(*((times.mean(), times.std(ddof=1)) for times in (incumbent, candidate)))
    verdict = direction(ratio - 1) if abs(ratio - 1) > deviation else "unknown"
    return Claim(verdict, ratio, incumbent.sum() + candidate.sum())
