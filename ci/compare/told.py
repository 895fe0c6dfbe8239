#!/usr/bin/env python3
"""told.py PLANTED FILE...    number of comparisons that detected a planted difference, and the expected number

PLANTED is the difference in per cent, each FILE a compare.json. A difference is told if the interval lies above none. How likely that was
follows from the scatter of the runs in each: by simulated comparisons of as many normal values, whose interval of ranks is counted out here
by the critical value of Mann and Whitney's table. Prints a line; fails if so few told ones have a probability below 1 %.
"""
import json
import math
import random
import sys
from collections import Counter
from itertools import combinations

planted, files = float(sys.argv[1]) / 100, sys.argv[2:]
DRAWS = 2000


def critical(n):
    """Number of reversed pairs in a two-sided test of n and n values at 5 %, counted over all orders."""
    orders = Counter()
    for places in combinations(range(2 * n), n):
        orders[sum(places) - n * (n - 1) // 2] += 1
    total, below, most = sum(orders.values()), 0, -1
    for u in sorted(orders):
        below += orders[u]
        if 2 * below / total > 0.05:
            return most
        most = u


def likely(scatter, n, most):
    """Probability that a difference of the planted size is detected."""
    found = 0
    for _ in range(DRAWS):
        a = [random.gauss(0, scatter) for _ in range(n)]
        b = [random.gauss(math.log1p(planted), scatter) for _ in range(n)]
        found += sum(y <= x for x in a for y in b) <= most
    return found / DRAWS


random.seed(1)
told, chances, leads, shifts = 0, [], Counter(), []
for name in files:
    document = json.load(open(name))
    runs = [len(side["runs"]) for side in document["sides"]]
    assert runs[0] == runs[1], f"{name}: {runs} runs"
    chances.append(likely(math.log1p(document["power"]["variation_share"]), runs[0], critical(runs[0])))
    shifts.append(document["verdict"]["shift_share"])
    if document["verdict"]["low_share"] > 0:
        told += 1
        leads[next(row["step"] for row in document["rows"] if row["level"] == "step")] += 1
# Probability of this number or fewer, of independent comparisons with different probabilities.
few = [1.0]
for chance in chances:
    few = [(few[k] if k < len(few) else 0) * (1 - chance) + (few[k - 1] * chance if k else 0) for k in range(len(few) + 1)]
probability = sum(few[: told + 1])
shifts.sort()
lead = ", ".join(f"{name} {n}" for name, n in leads.most_common()) or "-"
print(f"{planted * 100:g} %\t{told} of {len(files)}\t{sum(chances):.1f}\t{shifts[len(shifts) // 2] * 100:+.1f} %\t{lead}")
sys.exit(probability < 0.01)
