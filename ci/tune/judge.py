"""judge.py SERIES PREDICTION SWEEP: is the setting that `analyze tune --run` recommends within 3 % of the best of a full sweep?

SERIES and PREDICTION are files tune.json, SWEEP is a folder with NAME.ROUND.log, what the engine's driver says of a run without the agent: its
own list of calls. Prints each setting's time by the engine, by the series and as estimated. Exit status 1: not within 3 %, noise allowed for; 2: there is so much noise
that nothing can be said.
"""
import collections
import json
import math
import pathlib
import statistics
import sys

WARM_UP = 3
PRACTICAL = 0.03
# Above this run-to-run variation, the runs prove nothing.
NOISE = 0.15
# Student's quantile for an interval of 95 %, by degrees of freedom.
STUDENT = [12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]


def token_ns(log):
    """Mean time per decode token: from the end of one call to the end of the next."""
    calls = [line.split("\t") for line in log.read_text(errors="replace").splitlines() if line.startswith("decode\t")]
    ends = [int(call[5]) for call in calls if int(call[3]) == 1]
    return (ends[-1] - ends[WARM_UP - 1]) / (len(ends) - WARM_UP)


def own_of(tuning, name):
    rows = [row for row in tuning["settings"] if row["name"] == name]
    return rows[0] if rows else None


def main(series, prediction, sweep):
    tuned = json.load(open(series))
    # With doubtful ceilings, there are no estimates.
    known = pathlib.Path(prediction).exists()
    estimated = json.load(open(prediction))["prediction"] if known else {"settings": [], "plausible": []}
    runs = collections.defaultdict(dict)
    for log in pathlib.Path(sweep).glob("*.log"):
        name, number = log.stem.rsplit(".", 1)
        runs[name][number] = token_ns(log)
    medians = {name: statistics.median(times.values()) for name, times in runs.items()}
    best = min(medians, key=medians.get)
    print("setting\tby the engine, ms\tto the best\tby analyze, ms\tdifference\testimated, ms\tlow\thigh\terror\tin the interval")
    errors = []
    for name in sorted(medians, key=medians.get):
        row, guess = own_of(tuned, name), own_of(estimated, name)
        cells = [name, f"{medians[name] / 1e6:.3f}", f"{medians[name] / medians[best] - 1:+.1%}"]
        cells += [f"{row['token_ns'] / 1e6:.3f}", f"{row['token_ns'] / medians[name] - 1:+.1%}"] if row else ["-", "-"]
        if guess:
            error = guess["token_ns"] / medians[name] - 1
            inside = guess["low_ns"] <= medians[name] <= guess["high_ns"]
            errors.append((error, guess["recorded"]))
            cells += [f"{guess[key] / 1e6:.3f}" for key in ("token_ns", "low_ns", "high_ns")]
            cells += [f"{error:+.1%}", "recorded" if guess["recorded"] else "yes" if inside else "no"]
        else:
            cells += ["not estimated"]
        print("\t".join(cells))
    others = [abs(error) for error, recorded in errors if not recorded]
    if others:
        print(f"estimated from one recording: median error {statistics.median(others):.1%} of {len(others)} other settings, estimated to try: {', '.join(estimated['plausible'])}")
        tried = [name for name in estimated["plausible"] if name in medians]
        if tried:
            least = min(medians[name] for name in tried)
            print(f"the best of those to try is {least / medians[best] - 1:+.1%} from the best of all")
    choice = tuned["choice"]
    # Run by run, so that drift affects both alike.
    ratios = [runs[choice][i] / runs[best][i] for i in sorted(runs[best]) if i in runs[choice]]
    mean = statistics.mean(ratios)
    half = 0.0
    if len(ratios) > 1 and choice != best:
        half = STUDENT[min(len(ratios) - 2, len(STUDENT) - 1)] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    if half > NOISE:
        print(f"named {choice}, best of the sweep {best}: {mean - 1:+.1%} ± {half:.1%}: too noisy to say anything, more rounds or a quiet machine are needed")
        return 2
    within = mean - half <= 1 + PRACTICAL
    print(f"named {choice}, best of the sweep {best}: {mean - 1:+.1%} ± {half:.1%}, {'within' if within else 'NOT within'} {PRACTICAL:.0%}")
    return 0 if within else 1


sys.exit(main(*sys.argv[1:]))
