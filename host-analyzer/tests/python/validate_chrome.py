#!/usr/bin/env python3
"""validate_chrome.py TIMELINE SUMMARY [--dump]

Checks a file in the Chrome Trace Event Format: strict JSON, required keys and their types, times that are whole
nanoseconds, order and nesting of slices, no duplicates, names for all processes
and tracks; and that slices and durations per track equal those of summary.json. --dump prints the slices, one JSON
array a line.

Written from the document "Trace Event Format" of the Chromium project, not from the code that writes the file.
"""

import json
import sys
from decimal import Decimal

from slices import Invalid, Slice, check, compare

NUMBER = (int, Decimal)
# Our files have complete events (X) only, so that there are no begin and end events (B, E) to be balanced.
# Keys that an event of each phase must have, besides `ph`, with their types.
REQUIRED = {
    "X": {"pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER, "name": str, "cat": str},
    "i": {"pid": int, "tid": int, "ts": NUMBER, "name": str, "cat": str, "s": str},
    "M": {"pid": int, "name": str, "args": dict},
}
OPTIONAL = {"X": {"args"}, "i": {"args"}, "M": {"tid"}}
METADATA = {
    "process_name": ("name", str),
    "process_labels": ("labels", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
SCOPES = {"g", "p", "t"}


def unique(pairs):
    keys = [k for k, _ in pairs]
    check(len(keys) == len(set(keys)), f"a key occurs twice in an object: {keys}")
    return dict(pairs)


def refuse(constant):
    raise Invalid(f"{constant} is not JSON")


def load(path):
    with open(path, encoding="utf-8", errors="strict", newline="") as file:
        return json.load(file, object_pairs_hook=unique, parse_float=Decimal, parse_constant=refuse)


def nanoseconds(event, key):
    ns = Decimal(event[key]) * 1000
    check(ns == ns.to_integral_value(), f"{key} is not a whole number of nanoseconds: {event}")
    check(ns >= 0, f"{key} is negative: {event}")
    return int(ns)


def shape(event):
    check(isinstance(event, dict), f"an event is not an object: {event}")
    phase = event.get("ph")
    check(phase in REQUIRED, f"phase {phase!r} is not expected: {event}")
    for key, kind in REQUIRED[phase].items():
        check(key in event, f"{key} is missing: {event}")
        check(isinstance(event[key], kind) and not isinstance(event[key], bool), f"{key} has a wrong type: {event}")
    extra = event.keys() - REQUIRED[phase].keys() - OPTIONAL[phase] - {"ph"}
    check(not extra, f"keys that mean nothing in this phase, {sorted(extra)}: {event}")
    check(isinstance(event.get("args", {}), dict), f"args is not an object: {event}")
    for key in ("pid", "tid"):
        check(0 <= event.get(key, 0) < 2**32, f"{key} out of range: {event}")
    return phase


class Timeline:
    """One pass over the events, in the order of the file."""

    def __init__(self):
        self.names = {}  # (pid, tid or None) -> name
        self.seen = set()  # metadata
        self.open = {}  # (pid, tid) -> ends of the slices that are open, the innermost last
        self.last = {}  # (pid, tid) -> start of the last slice, and the events with that start
        self.slices = []
        self.instants = []

    def metadata(self, event):
        name = event["name"]
        check(name in METADATA, f"unknown metadata: {event}")
        key, kind = METADATA[name]
        check(isinstance(event["args"].get(key), kind), f"args.{key} is missing or has a wrong type: {event}")
        of_thread = name.startswith("thread_")
        check(("tid" in event) == of_thread, f"tid is for metadata of threads only: {event}")
        track = (event["pid"], event.get("tid"))
        check((name, track) not in self.seen, f"the same metadata twice: {event}")
        self.seen.add((name, track))
        if key == "name":
            self.names[track] = event["args"]["name"]

    def complete(self, event):
        start = nanoseconds(event, "ts")
        end = start + nanoseconds(event, "dur")
        track = (event["pid"], event["tid"])
        last, same = self.last.get(track, (-1, []))
        check(start >= last, f"starts before the slice that stands before it on its track: {event}")
        same = same if start == last else []
        check(event not in same, f"the same event twice: {event}")
        self.last[track] = (start, same + [event])
        stack = self.open.setdefault(track, [])
        while stack and stack[-1] <= start:
            stack.pop()
        check(not stack or end <= stack[-1], f"ends behind the slice around it: {event}")
        depth = len(stack)
        stack.append(end)
        self.slices.append(
            Slice(*track, depth, start, end, event["name"], event["cat"], event.get("args", {}))
        )

    def event(self, event):
        phase = shape(event)
        if phase == "M":
            self.metadata(event)
        elif phase == "X":
            self.complete(event)
        else:
            check(event["s"] in SCOPES, f"unknown scope: {event}")
            nanoseconds(event, "ts")
            self.instants.append(event)

    def resolve(self):
        """Slices with the names of their tracks."""
        tracks = {}
        for i in self.instants:
            check((i["pid"], i["tid"]) in self.names, f"the track of an instant has no name: {i}")
        for pid, tid in {(s.process, s.track) for s in self.slices}:
            check((pid, None) in self.names, f"process {pid} has slices and no name")
            check((pid, tid) in self.names, f"track {pid}, {tid} has slices and no name")
            key = (pid, self.names[pid, tid])
            check(key not in tracks, f"two tracks of a process have the same name: {key}")
            tracks[key] = tid
        slices = [s._replace(track=self.names[s.process, s.track]) for s in self.slices]
        return slices, tracks


def ids(tracks, summary):
    """Tracks of threads have the thread's id, all others one that no thread has."""
    threads = {t["tid"] for t in summary["threads"]}
    for row in summary["tracks"]:
        tid = tracks.get((row["process"], row["track"]))
        own = row["kind"] == "thread" and ", overlapping " not in row["track"]
        check(tid == row["tid"] if own else tid not in threads, f"track {row} has the id {tid}")


def health(trace, timeline, summary):
    lines = summary["health"]["lines"]
    check(trace["otherData"].get("health") == lines, "otherData.health is not the health of summary.json")
    instants = [(i["name"], i["args"]) for i in timeline.instants]
    check(instants == [(lines[0], {"lines": lines})], f"the health event is not the one of summary.json: {instants}")
    first = min((s.start for s in timeline.slices), default=None)
    at = nanoseconds(timeline.instants[0], "ts")
    check(first is None or at == first, "the health event is not at the start of the timeline")


def validate(trace, summary):
    """The slices of a parsed file; raises Invalid."""
    check(isinstance(trace, dict), "the file is not an object")
    check(trace.keys() == {"displayTimeUnit", "otherData", "traceEvents"}, f"top-level keys: {sorted(trace)}")
    check(trace["displayTimeUnit"] == "ns", "displayTimeUnit is not ns")
    check(isinstance(trace["otherData"], dict), "otherData is not an object")
    check(isinstance(trace["traceEvents"], list), "traceEvents is not an array")
    timeline = Timeline()
    for event in trace["traceEvents"]:
        timeline.event(event)
    slices, tracks = timeline.resolve()
    compare(slices, tracks, summary)
    ids(tracks, summary)
    health(trace, timeline, summary)
    return slices


def main(arguments):
    paths = [a for a in arguments if not a.startswith("--")]
    try:
        slices = validate(load(paths[0]), load(paths[1]))
    except (Invalid, ValueError) as error:
        sys.exit(f"{paths[0]}: {error}")
    if "--dump" in arguments:
        for s in slices:
            print(json.dumps(s))
    else:
        print(f"{paths[0]}: valid, {len(slices)} slices")


if __name__ == "__main__":
    main(sys.argv[1:])
