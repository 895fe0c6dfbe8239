"""Verdicts and results of an imagined product that is right; tests break one thing in each."""

import copy

EXPECTED = {"question": "decode", "steps": ["program", "placement"], "codes": ["preempted"], "culprit": True, "shows": {}}
PLANTED = {"pids": [42], "names": ["busy"]}
#: Undisturbed 10 ms per token; the planted runs take 30, and the probes are in both.
USUAL, SLOW = 10e6, 30e6
UNITS = 50


def step(kind, ns, pid=None):
    culprit = {"pid": pid, "tid": pid, "name": "python3", "command": "python3 -c x"} if pid else None
    return {"kind": kind, "ns": int(ns * UNITS), "culprit": culprit}


def verdict(slow=SLOW):
    """Everything right: 19 of 20 ms under the culprit, the rest in a wake-up, 1 % unexplained."""
    loss = slow - USUAL
    steps = [step("floor", USUAL * 0.9 - slow * 0.01), step("above_floor", USUAL * 0.1), step("program", loss * 0.95, 42), step("wake_up", loss * 0.05),
             step("unexplained", slow * 0.01)]
    ladder = {"question": "decode", "pid": 7, "units": UNITS, "measured_ns": sum(s["ns"] for s in steps), "steps": steps}
    gain = {"low": loss * 0.9, "likely": loss, "high": loss * 1.1}
    return {
        "found": [{"code": "preempted", "questions": ["decode"], "gain": gain, "steps": [2], "tasks": [{"id": 42, "name": "python3"}]}],
        "ruled_out": [{"code": "quota", "question": None}],
        "ladders": [ladder],
        "shown": {},
        "complete": True,
    }


def pair(slow=SLOW, usual=USUAL, shown=None):
    return {"planted_ns": slow, "remedied_ns": usual, "planted": PLANTED, "verdict": shown or verdict(slow)}


def result(count=5):
    """Five pairs that differ by some per cent."""
    return {"pairs": [pair(SLOW * (1 + i / 100), USUAL * (1 + i / 200)) for i in range(count)]}


def changed(change):
    """The result after `change(verdict)` in every pair."""
    out = copy.deepcopy(result())
    for one in out["pairs"]:
        change(one["verdict"])
    return out
