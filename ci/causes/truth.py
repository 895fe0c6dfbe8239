"""The true gain of a remedy: pairs of runs with the cause and without it, by the engine's own clock. Pure functions.

Times are nanoseconds per unit of the question: per token for `decode`, per run for every other question.
"""

import math
import statistics

#: Least probability that the interval of a median contains it.
COVERAGE = 0.9
#: Width of an interval, as a share of the gain, that needs no further pairs: twice what the score allows a blame to miss.
EXACT = 0.2


def interval(values):
    """Median of the values, and the interval of order statistics that contains the true median with at least COVERAGE.

    With so few values that even the extremes do not reach COVERAGE, there is no interval, and this raises ValueError.
    """
    ordered, n = sorted(values), len(values)
    best = None
    for left_out in range((n + 1) // 2):
        outside = 2 * sum(math.comb(n, k) for k in range(left_out + 1)) / 2**n
        if 1 - outside >= COVERAGE:
            best = left_out
    if best is None:
        raise ValueError(f"{n} values are too few for an interval")
    return {"low": ordered[best], "median": statistics.median(ordered), "high": ordered[n - 1 - best]}


def gain(pairs):
    """The gain of the remedy: the differences of (planted, remedied) times."""
    return interval([planted - remedied for planted, remedied in pairs])


def is_exact(pairs):
    """Is the interval of the gain at most EXACT of the gain wide?"""
    true = gain(pairs)
    return true["high"] - true["low"] <= EXACT * abs(true["median"])


def ratio(pairs):
    """How many times as long the planted runs take."""
    return statistics.median(p for p, _ in pairs) / statistics.median(r for _, r in pairs)


def band(times):
    """The band of a loss: `large` above 2 times, `middle` from 1.2 times, `small` below."""
    return "large" if times > 2 else "middle" if times >= 1.2 else "small"


def typical(pairs):
    """Index of the pair whose planted time is the median: its recording is the one that is scored.

    The engine's clock selects it, never a prediction. Of an even number, the lower middle one.
    """
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][0])
    return order[(len(order) - 1) // 2]
