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
        """In per cent above 1."""
        return (f"{(self.median - 1) * 100:+.2f} % ± {self.error * 100:.2f} "
                f"({(self.low - 1) * 100:+.1f} … {(self.high - 1) * 100:+.1f}; {self.n} pairs)")


def ratio(values):
    """Of at least four. The standard error of a median is 1.2533 of that of a mean (normal distribution); the spread is taken
    from the quartiles, which single disturbed windows do not move."""
    if len(values) < 4:
        return None
    low, _, high = statistics.quantiles(values, n=4)
    error = 1.2533 * (high - low) / 1.349 / len(values) ** 0.5
    return Ratio(statistics.median(values), error, low, high, len(values))


def usual_by_place(tokens, windows):
    """Median time of a token by its place behind the prompt, untraced: attention grows with the context."""
    by_place = {}
    for place, start, took in tokens:
        if any(begin <= start <= end for begin, end in windows):
            by_place.setdefault(place, []).append(took)
    return {place: statistics.median(times) for place, times in by_place.items()}


def window_time(tokens, window, usual):
    """Mean time of the window's tokens in units of what is usual at their places, without the twentieth at either end: one
    that the machine interrupted for long is no cost of a tracer. None of hardly any tokens."""
    times = sorted(took / usual[place] for place, start, took in tokens if window[0] <= start <= window[1] and place in usual)
    cut = len(times) // 20
    return statistics.mean(times[cut:len(times) - cut]) if len(times) > 5 else None


def compare(tokens, taken):
    """`taken`: (name, window) in the order of time, every traced window between two of name `plain`.

    Returns the untraced median token (ns) and the ratios by name. A pair whose untraced windows differ by half is left out: the
    machine did something else."""
    plain = [window for name, window in taken if name == "plain"]
    usual = usual_by_place(tokens, plain)
    times = [(name, window_time(tokens, window, usual)) for name, window in taken]
    ratios = {}
    for before, (name, time), after in zip(times, times[1:], times[2:]):
        if name == "plain" or None in (before[1], time, after[1]) or not 2 / 3 < before[1] / after[1] < 3 / 2:
            continue
        ratios.setdefault(name, []).append(2 * time / (before[1] + after[1]))
    return statistics.median(usual.values()), ratios
