"""Compares the engine's figures of a run with the product's. Counts must be equal. Times are shown, and their median
difference over all quiet scenarios is limited: both are by the clock of one run, so no load of the machine is in it."""
from collections import Counter
from statistics import median

COUNTS = ("cached", "prompt", "output", "reads")
HEAD = f"{'scenario':28} {'engine':32} {'ProfInfer':32} {'TTFT':>15} {'answer':>15}"
TIMES = (("first token after", "ttft_ms"), ("answer in", "answer_ms"))
SHOWN_ROWS, SHOWN_TIMES = 12, 2
# Sampling and the log take up to a millisecond, which is 2 % of the shortest time whose difference counts.
CLOSE, NOISE_MS = 0.02, 1
SHORTEST_MS = NOISE_MS / CLOSE


def known(value):
    return "?" if value is None else str(value)


class Comparison:
    """The requests of a run by the engine, by the product's list of requests, and by its slots."""

    def __init__(self, name, engine, listed, slots, gap=None):
        self.name, self.engine, self.listed, self.slots, self.gap = name, engine, listed, slots, gap
        # What the engine does not report cannot be compared. The list has no number of reads.
        self.names = [n for n in COUNTS if engine.requests and all(getattr(r, n) is not None for r in engine.requests)]
        self.list_names = [n for n in self.names if n != "reads"]
        self.slot_names = [*self.names, "slot"] if len({r.slot for r in engine.requests}) > 1 else self.names
        self.differences, self.notes = [], []
        self.compare()

    def compare(self):
        self.compare_rows("requests", self.list_names, self.listed)
        if self.slots.requests:
            self.compare_rows("by slot", self.slot_names, self.slots, unknown_allowed=True)
        for name in ("guesses", "accepted"):
            engine, ours = getattr(self.engine, name), getattr(self.listed, name)
            if engine and ours is None:
                self.notes.append(f"{name}: {engine} by the engine, not known to ProfInfer")
            elif engine is not None and engine != (ours or 0):
                self.differences.append(f"{name}: {engine} by the engine, {ours} by ProfInfer")

    def compare_rows(self, title, names, run, unknown_allowed=False):
        """The list must have every count. The slots may say that one is not known."""
        engine, ours = (Counter(r.counts(names) for r in of.requests) for of in (self.engine, run))
        engine, ours = engine - ours, ours - engine
        if not engine and not ours:
            return
        text = (f"{title} ({', '.join(names)}): only the engine has {shown(engine)}; only ProfInfer has {shown(ours)}")
        known_alike = unknown_allowed and matched(list(engine.elements()), list(ours.elements()))
        (self.notes if known_alike else self.differences).append(text)

    def equal(self):
        return not self.differences

    def as_expected(self):
        """Equal, unless the table says why not."""
        return self.equal() == (self.gap is None)

    def verdict(self):
        if self.gap is None:
            return "equal" if self.equal() else "DIFFERS"
        return "EQUAL, though the table says that it differs" if self.equal() else "differs: " + self.gap

    def pairs(self):
        """Requests with equal counts, in the order of their times: the engine's and the product's."""
        ours = sorted(self.listed.requests, key=lambda r: r.ttft_ms or 0)
        for engine in sorted(self.engine.requests, key=lambda r: r.ttft_ms or 0):
            same = next((o for o in ours if o.counts(self.list_names) == engine.counts(self.list_names)), None)
            if same:
                ours.remove(same)
                yield engine, same

    def times(self, name):
        """The engine's and the product's times of requests, where both have them."""
        found = [(getattr(engine, name), getattr(ours, name)) for engine, ours in self.pairs()]
        return [(engine, ours) for engine, ours in found if engine and ours is not None]

    def deviation(self, name):
        """The median and the largest deviation."""
        shares = [(ours - engine) / engine * 100 for engine, ours in self.times(name)]
        return f"{median(shares):+.1f} {max(shares, key=abs):+.1f} %" if shares else ""

    def totals(self, run):
        """Requests, and the sums of their counts: cached + computed → output, accepted/guessed."""
        def total(name):
            values = [getattr(r, name) for r in run.requests]
            return known(None if None in values or name not in self.names else sum(values))

        guesses = f", {known(run.accepted)}/{run.guesses}" if run.guesses else ""
        return f"{len(run.requests)}: {total('cached')} + {total('prompt')} → {total('output')}{guesses}"

    def __str__(self):
        row = (f"{self.name:28} {self.totals(self.engine):32} {self.totals(self.listed):32} "
               f"{self.deviation('ttft_ms'):>15} {self.deviation('answer_ms'):>15}  "
               f"{self.verdict()}")
        notes = [f"    (not known: {n})" for n in self.notes] + [f"    (time: {t})" for t in self.far()]
        return "\n".join([row, *(f"    {d}" for d in self.differences), *notes])

    def far(self):
        """The times that deviate most, where they are not near the engine's."""
        found = [(abs(ours - engine), title, engine, ours) for title, name in TIMES for engine, ours in self.times(name)
                 if not near(engine, ours)]
        for _, title, engine, ours in sorted(found, reverse=True)[:SHOWN_TIMES]:
            yield f"{title} {engine:.1f} ms by the engine, {ours:.1f} ms by ProfInfer"


def matched(engine, ours):
    """Whether all rows are alike in what the product knows."""
    for row in ours:
        same = next((e for e in engine if all(o in (None, v) for v, o in zip(e, row))), None)
        if same is None:
            return False
        engine.remove(same)
    return not engine


def shown(rows):
    parts = ["(" + ", ".join(map(known, row)) + ")" + (f" × {n}" if n > 1 else "") for row, n in rows.items()]
    more = f" and {len(parts) - SHOWN_ROWS} more" if len(parts) > SHOWN_ROWS else ""
    return (" ".join(parts[:SHOWN_ROWS]) or "none") + more


def near(engine, ours):
    """Within 2 %, or within the millisecond that sampling and the log take."""
    return abs(ours - engine) <= max(CLOSE * engine, NOISE_MS)


def difference(times):
    """Median relative difference between the engine's and the product's times that are long enough, and their number."""
    shares = [abs(ours - engine) / engine for engine, ours in times if engine >= SHORTEST_MS]
    return (median(shares) if shares else None), len(shares)
