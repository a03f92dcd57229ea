"""What people do by hand."""
from .claim import beyond


def of_five(statistic):
    """A call to warm up, then five that count, of each; a difference of more than 1 % is believed."""
    def rule(window, _):
        incumbent, candidate = window.before[-6:], window.after[:6]
        return beyond(0.01, statistic(incumbent[1:]), statistic(candidate[1:]), incumbent.sum() + candidate.sum())
    return rule
