"""What a rule says of a window, and the words of all rules."""
from dataclasses import dataclass


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
