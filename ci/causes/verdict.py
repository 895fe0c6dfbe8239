"""What `analyze` concluded from one recording, reduced to what is scored. Pure functions of summary.json."""

#: Questions of the gains before findings had questions.
OF = {"token": "decode", "request": "first_token"}


def gain(raw):
    """Interval and likely value of a gain, ns per unit; None without a gain."""
    if not raw:
        return None
    low, high = raw["low_ns"], raw["high_ns"]
    likely = raw.get("likely_ns")
    return {"low": low, "likely": (low + high) / 2 if likely is None else likely, "high": high}


def finding(raw):
    """A finding: code, question, gain, and the steps of the ladder that it is attached to."""
    question = raw.get("question") or OF.get((raw.get("gain") or {}).get("of"), "decode")
    return {"code": raw["code"], "question": question, "gain": gain(raw.get("gain")), "steps": raw.get("steps") or []}


def ladder(raw):
    """A ladder with the fields that are scored."""
    steps = []
    for step in raw["steps"]:
        culprit = step.get("culprit")
        if culprit:
            culprit = {key: culprit.get(key) for key in ("pid", "tid", "name", "command")}
        steps.append({"kind": step["kind"], "ns": step["ns"], "culprit": culprit})
    return {"question": raw["question"], "pid": raw.get("pid"), "units": raw["units"], "measured_ns": raw["measured_ns"], "steps": steps}


def reduced(summary, pid=None):
    """The verdict of a summary. A recording without ladders has an empty list of them, which is scored as not found."""
    ladders = [ladder(raw) for raw in summary.get("ladders") or []]
    return {
        "found": [finding(raw) for raw in summary["findings"]["found"]],
        "ruled_out": [{"code": raw["code"], "question": raw.get("question")} for raw in summary["findings"]["ruled_out"]],
        "ladders": [one for one in ladders if pid is None or one["pid"] in (None, pid)],
        "complete": summary["health"]["perfect"],
    }
