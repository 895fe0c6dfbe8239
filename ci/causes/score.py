"""Scores of one case: was the planted cause found, blamed and measured? Pure functions.

What was expected comes from the table (`expected`: question, steps, codes, culprit), what happened from
a result file: the pairs of times, and the verdicts of the planted recordings with the process IDs
that were planted in each. Whatever is missing counts against the product, never for it.
"""

import math
import statistics

import truth

#: Share of the planted loss that must stand under its culprit.
SHARE = 0.9
#: Steps that hold no cause.
UNCLAIMED = ("unexplained", "not_recorded")


def per_unit(ns, ladder):
    """A step's time per unit of its question: per token of `decode`, per run of everything else."""
    return ns / ladder["units"] if ladder["question"] == "decode" else ns


def ladder_of(verdict, question):
    """The ladder that answers the question, or None. One that covers nothing answers nothing."""
    return next((one for one in verdict["ladders"] if one["question"] == question and one["units"] > 0), None)


def is_planted(step, planted):
    """Is this step's culprit one of the planted processes, by its process ID or else by the name of a short one?"""
    culprit = step["culprit"]
    if not culprit:
        return False
    if culprit["pid"] in planted["pids"] or culprit["tid"] in planted["pids"]:
        return True
    program = (culprit["command"] or "").split(" ")[0].split("/")[-1]
    return any(name in (culprit["name"], program) for name in planted["names"])


def names_planted(finding, planted):
    """Does the remedy of the finding name a planted process?"""
    return any(task["id"] in planted["pids"] or task["name"] in planted["names"] for task in finding["tasks"])


def blamed(ladder, steps, expected, planted):
    """Time per unit under the planted cause, of the steps with these indices: of an expected kind, and of its culprit if it has one."""
    ns = 0
    for index in steps:
        if not 0 <= index < len(ladder["steps"]):
            continue
        step = ladder["steps"][index]
        if step["kind"] in expected["steps"] and (not expected["culprit"] or is_planted(step, planted)):
            ns += step["ns"]
    return per_unit(ns, ladder)


def wanted(verdict, expected):
    """The finding of the planted cause for the question, or None."""
    return next((f for f in verdict["found"] if f["code"] in expected["codes"] and expected["question"] in f["questions"]), None)


def is_first(verdict, expected):
    """The planted cause comes first: of all findings, and of those for its question."""
    of_question = [f for f in verdict["found"] if expected["question"] in f["questions"]]
    return bool(of_question) and verdict["found"][0]["code"] in expected["codes"] and of_question[0]["code"] in expected["codes"]


def is_ruled_out(verdict, expected):
    """Is the planted cause ruled out, for its question or for all? Not by a second code of it, if the first is found."""
    finding = wanted(verdict, expected)
    codes = [finding["code"]] if finding else expected["codes"]
    return any(r["code"] in codes and r["question"] in (None, expected["question"]) for r in verdict["ruled_out"])


def predicted(verdict, expected):
    """The gain that the finding predicts, in the units of the truth; None without one."""
    finding = wanted(verdict, expected)
    if not finding or not finding["gain"]:
        return None
    ladder = ladder_of(verdict, expected["question"])
    units = 1 if expected["question"] == "decode" or not ladder else ladder["units"]
    return {key: value * units for key, value in finding["gain"].items()}


def inside(true, predicted):
    """The interval of the truth overlaps the predicted one, and the likely gain is within half of its width of the true one."""
    if predicted is None:
        return False
    overlap = true["low"] <= predicted["high"] and predicted["low"] <= true["high"]
    return overlap and abs(predicted["likely"] - true["median"]) <= (predicted["high"] - predicted["low"]) / 2


def width(predicted):
    """Upper end by lower end. Infinite without a prediction, and if the lower end is not above zero."""
    return math.inf if predicted is None or predicted["low"] <= 0 else predicted["high"] / predicted["low"]


def unexplained(ladder):
    """Share of the measured time that no step explains; 1 without a ladder."""
    if ladder is None or ladder["measured_ns"] <= 0:
        return 1.0
    return sum(abs(step["ns"]) for step in ladder["steps"] if step["kind"] == "unexplained") / ladder["measured_ns"]


def sums(ladder):
    """Do the steps sum to the measured time?"""
    return ladder is not None and sum(step["ns"] for step in ladder["steps"]) == ladder["measured_ns"]


def on_finding(verdict, ladder, expected, planted, loss_ns):
    """Share of the loss that the finding claims: its steps, or, where a summary does not name them, its likely gain if it blames the right task."""
    finding = wanted(verdict, expected)
    if not finding:
        return 0.0
    if finding["steps"] is not None:
        return blamed(ladder, finding["steps"], expected, planted) / loss_ns
    gain = predicted(verdict, expected)
    if not gain or (expected["culprit"] and not names_planted(finding, planted)):
        return 0.0
    return gain["likely"] / loss_ns


def found(verdict, expected, planted, loss_ns):
    """Of one recording: is the cause first, and which share of the loss stands under it, on the ladder and on the finding?"""
    ladder, first = ladder_of(verdict, expected["question"]), is_first(verdict, expected)
    shares = 0.0, 0.0
    if ladder and loss_ns > 0:
        everything = range(len(ladder["steps"]))
        shares = blamed(ladder, everything, expected, planted) / loss_ns, on_finding(verdict, ladder, expected, planted, loss_ns)
    return {"first": first, "on_ladder": shares[0], "on_finding": shares[1], "solved": first and min(shares) >= SHARE}


def of_most(rows):
    """What holds in most recordings of a case, with the medians of the shares: in a single one, another program of the machine may come first."""
    most = {key: 2 * sum(row[key] for row in rows) > len(rows) for key in ("first", "solved")}
    return most | {key: statistics.median(row[key] for row in rows) for key in ("on_ladder", "on_finding")}


def shows(verdict, expected):
    """Does the summary have the values that the case expects?"""
    return all(verdict["shown"].get(path) == value for path, value in expected["shows"].items())


def planted_case(expected, result):
    """Scores of a case with a planted cause."""
    pairs = [(run["planted_ns"], run["remedied_ns"]) for run in result["pairs"]]
    true, times = truth.gain(pairs), truth.ratio(pairs)
    scored = result["pairs"][truth.typical(pairs)]
    verdict = scored["verdict"]
    usual = truth.interval([remedied for _, remedied in pairs])["median"]
    # The loss of each recording itself: planted runs differ by chance in how much is lost.
    row = of_most([found(run["verdict"], expected, run["planted"], run["planted_ns"] - usual) for run in result["pairs"]])
    ladder, gain = ladder_of(verdict, expected["question"]), predicted(verdict, expected)
    row.update(
        times=times, band=truth.band(times), true=true, predicted=gain, inside=inside(true, gain), width=width(gain),
        shown=true["low"] > 0, ruled_out=any(is_ruled_out(run["verdict"], expected) for run in result["pairs"]),
        unexplained=unexplained(ladder), sums=sums(ladder),
    )
    row["solved"] = row["solved"] and shows(verdict, expected)
    # Runs of a small loss are judged one by one: found, whatever comes first.
    row["found_in"] = sum(wanted(run["verdict"], expected) is not None for run in result["pairs"])
    row["runs"] = len(pairs)
    return row


def standin_case(expected, result, share):
    """Scores of a stand-in, which reports a cause that takes no time: is so much of a token's time under it, in most recordings?"""
    ladders, rows = [], []
    for run in result["pairs"]:
        ladders.append(ladder_of(run["verdict"], expected["question"]))
        rows.append(found(run["verdict"], expected, run["planted"], run["planted_ns"] * share))
    return of_most(rows) | {
        "times": 1.0, "band": "small", "true": None, "predicted": None, "inside": False, "width": math.inf, "shown": True,
        "ruled_out": any(is_ruled_out(run["verdict"], expected) for run in result["pairs"]), "unexplained": max(map(unexplained, ladders)),
        "sums": all(map(sums, ladders)), "found_in": sum(wanted(run["verdict"], expected) is not None for run in result["pairs"]), "runs": len(rows),
    }


def really_ran(finding, units, took):
    """Did the blamed programs have a CPU for half of the gain, by the kernel's account `took`, ns by process ID? They are programs of the machine, which nobody planted."""
    return 2 * sum(took.get(task["id"], 0) for task in finding["tasks"]) >= finding["gain"]["likely"] * units > 0


def alarms(verdict, tried, took):
    """Codes of findings with a gain whose remedy does not bring it, or was not tried. `tried`: true gains by code and question."""
    out = []
    for finding in verdict["found"]:
        if finding["gain"] is None or finding["gain"]["high"] <= 0:
            continue
        of_ladder = ladder_of(verdict, finding["questions"][0])
        if finding["tasks"] and really_ran(finding, of_ladder["units"] if of_ladder else 1, took):
            continue
        question = finding["questions"][0]
        true, ladder = tried.get(f"{finding['code']}/{question}"), ladder_of(verdict, question)
        units = 1 if question == "decode" or not ladder else ladder["units"]
        if true is None or true["high"] < finding["gain"]["low"] * units:
            out.append(finding["code"])
    return out


def quiet_case(result):
    """Scores of quiet runs of one command."""
    verdicts = [run["verdict"] for run in result["runs"]]
    # The keys of a result file are texts.
    accounts = [{int(pid): ns for pid, ns in run.get("took", {}).items()} for run in result["runs"]]
    tried = {key: truth.gain([tuple(pair) for pair in pairs]) for key, pairs in result["tried"].items()}
    ladders = [ladder_of(verdict, "decode") for verdict in verdicts]
    return {
        "runs": len(verdicts),
        "alarms": [code for verdict, took in zip(verdicts, accounts) for code in alarms(verdict, tried, took)],
        "unexplained": [unexplained(ladder) for ladder in ladders],
        "sums": all(sums(ladder) for ladder in ladders),
    }
