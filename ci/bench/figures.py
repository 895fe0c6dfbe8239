"""From windows of tokens to ratios, and from ratios to a figure with its uncertainty."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """Median of the ratios of traced to untraced time."""
    median: float
    error: float  # its standard error
    low: float    # quartiles
    high: float
    n: int

    def text(self):
        """In percent above 1."""
        return (f"{(self.median - 1) * 100:+.2f} % ± {self.error * 100:.2f} "
                f"({(self.low - 1) * 100:+.1f} … {(self.high - 1) * 100:+.1f}; {self.n} pairs)")


def ratio(values):
    """Of at least four ratios. The standard error of a median is 1.2533 times that of a mean (normal distribution). The spread comes
    from the quartiles, which single disturbed windows do not move."""
    if len(values) < 4:
        return None
    low, _, high = statistics.quantiles(values, n=4)
    error = 1.2533 * (high - low) / 1.349 / len(values) ** 0.5
    return Ratio(statistics.median(values), error, low, high, len(values))


def usual_by_place(tokens, windows):
    """Median time per token by its position after the prompt, untraced: attention grows with the context."""
    by_place = {}
    for place, start, took in tokens:
        if any(begin <= start <= end for begin, end in windows):
            by_place.setdefault(place, []).append(took)
    return {place: statistics.median(times) for place, times in by_place.items()}


def window_time(tokens, window, usual, whole=False):
    """Mean time of the window's tokens in units of what is usual at their places, without the twentieth at either end: one
    that the machine interrupted for long is no cost of a tracer. None of hardly any tokens.

    `whole`: the slowest may be those that were traced, so only those of twice the usual time are left out."""
    times = sorted(took / usual[place] for place, start, took in tokens if window[0] <= start <= window[1] and place in usual)
    if whole:
        times = [t for t in times if t < 2]
    cut = 0 if whole else len(times) // 20
    return statistics.mean(times[cut:len(times) - cut]) if len(times) > 5 else None


def compare(tokens, taken, periods=()):
    """`taken`: (name, window) in the order of time, every traced window between two of name `plain`. `periods`: names of those that
    trace some tokens and not the others.

    Returns the untraced median token (ns) and the ratios by name. A pair whose untraced windows differ by half is left out: the
    machine did something else."""
    plain = [window for name, window in taken if name == "plain"]
    usual = usual_by_place(tokens, plain)
    ratios = {}
    for three in zip(taken, taken[1:], taken[2:]):
        name = three[1][0]
        before, time, after = (window_time(tokens, window, usual, name in periods) for _, window in three)
        if name == "plain" or None in (before, time, after) or not 2 / 3 < before / after < 3 / 2:
            continue
        ratios.setdefault(name, []).append(2 * time / (before + after))
    return statistics.median(usual.values()), ratios
