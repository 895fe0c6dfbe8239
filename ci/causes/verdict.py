"""What `analyze` concluded from one recording, reduced to what is scored. Pure functions of summary.json."""


def gain(raw):
    """Interval and likely value of a gain, ns per unit; None without a gain."""
    if not raw:
        return None
    low, high = raw["low_ns"], raw["high_ns"]
    likely = raw.get("likely_ns")
    return {"low": low, "likely": (low + high) / 2 if likely is None else likely, "high": high}


def findings(raw):
    """A finding, once for each question that it is about: code, questions, gain, the steps of the ladder that it claims, the tasks that it blames."""
    tasks = [{"id": number, "name": name} for number, name in (raw.get("remedy") or {}).get("tasks") or []]
    effects = raw.get("effects") or [{"question": "decode", "gain": raw.get("gain"), "steps": []}]
    rows = []
    for effect in effects:
        # Without a ladder of its own, the time to the first token is that of the prompt.
        of = effect["question"]
        questions = ["prompt", "first_token"] if of == "prompt" else [of]
        rows.append({"code": raw["code"], "questions": questions, "gain": gain(effect.get("gain")), "steps": effect["steps"], "tasks": tasks})
    return rows


def ladder(raw):
    """A ladder with the fields that are scored."""
    steps = []
    for step in raw["steps"]:
        culprit = step.get("culprit")
        if culprit:
            culprit = {key: culprit.get(key) for key in ("pid", "tid", "name", "command")}
        steps.append({"kind": step["kind"], "ns": step["ns"], "culprit": culprit})
    return {"question": raw["question"], "pid": raw.get("pid"), "units": raw["units"], "measured_ns": raw["measured_ns"], "steps": steps}


def at(value, path):
    """The value at a place: names of fields and numbers of items, with dots; NAME=TEXT is the item whose field has this value. None if absent."""
    for part in path.split("."):
        if isinstance(value, list):
            name, equals, text = part.partition("=")
            if equals:
                value = next((item for item in value if str(item.get(name)) == text), None)
            else:
                value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def reduced(summary, pid=None, places=()):
    """The verdict of a summary. A recording without ladders has an empty list of them, which is scored as not found."""
    ladders = [ladder(raw) for raw in summary.get("ladders") or []]
    return {
        "found": [row for raw in summary["findings"]["found"] for row in findings(raw)],
        "ruled_out": [{"code": raw["code"], "question": raw.get("question")} for raw in summary["findings"]["ruled_out"]],
        "ladders": [one for one in ladders if pid is None or one["pid"] in (None, pid)],
        "shown": {path: at(summary, path) for path in places},
        "complete": summary["health"]["perfect"],
    }
