#!/usr/bin/env python3
"""validate_chrome.py TIMELINE SUMMARY [--dump]

Checks a file in the Chrome Trace Event Format: strict JSON, required keys and their types, times that are whole
nanoseconds, order of time, begin and end events that balance, names for all processes
and tracks; and that slices and durations per track equal those of summary.json. --dump prints the slices, one JSON
array a line.

Written from the document "Trace Event Format" of the Chromium project, not from the code that writes the file.
"""

import json
import sys
from decimal import Decimal

from slices import Invalid, Slice, check, compare, compare_gauges

NUMBER = (int, Decimal)
# Our files have no complete events (X), whose ends are rounded by readers that add start and length.
# Keys that an event of each phase must have, besides `ph`, with their types.
REQUIRED = {
    "B": {"pid": int, "tid": int, "ts": NUMBER, "name": str, "cat": str, "args": dict},
    "E": {"pid": int, "tid": int, "ts": NUMBER, "name": str},
    "C": {"pid": int, "ts": NUMBER, "name": str, "args": dict},
    "i": {"pid": int, "tid": int, "ts": NUMBER, "name": str, "cat": str, "s": str, "args": dict},
    "M": {"pid": int, "name": str, "args": dict},
}
OPTIONAL = {"B": set(), "E": set(), "C": set(), "i": set(), "M": {"tid"}}
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
    for key in ("pid", "tid"):
        check(0 <= event.get(key, 0) < 2**32, f"{key} out of range: {event}")
    return phase


class Timeline:
    """One pass over the events, in the order of the file."""

    def __init__(self, origin):
        self.origin = origin  # ns of the session's clock at ts 0
        self.names = {}  # (pid, tid or None) -> name
        self.seen = set()  # metadata
        self.open = {}  # (pid, tid) -> slices that are open, the innermost last
        self.last = {}  # (pid, tid) -> time of the last event
        self.slices = []
        self.instants = []
        self.points = {}  # (pid, name, unit) -> times and values of a counter

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

    def time(self, event):
        """Time of the session's clock; never goes back on a track."""
        at = self.origin + nanoseconds(event, "ts")
        track = (event["pid"], event["tid"])
        check(at >= self.last.get(track, 0), f"goes back in time on its track: {event}")
        self.last[track] = at
        return at, track

    def begin(self, event):
        at, track = self.time(event)
        stack = self.open.setdefault(track, [])
        begun = Slice(*track, len(stack), at, None, event["name"], event["cat"], event["args"])
        # Slices are listed by begin; the end fills its place.
        stack.append(len(self.slices))
        self.slices.append(begun)

    def end(self, event):
        at, track = self.time(event)
        check(self.open.get(track), f"ends a slice that did not begin: {event}")
        i = self.open[track].pop()
        check(self.slices[i].name == event["name"], f"ends a slice of another name, {self.slices[i]}: {event}")
        self.slices[i] = self.slices[i]._replace(end=at)

    def counter(self, event):
        check(event["args"].keys() == {"value"}, f"a counter with more or less than its value: {event}")
        value = event["args"]["value"]
        check(isinstance(value, NUMBER) and not isinstance(value, bool), f"the value is no number: {event}")
        name, _, unit = event["name"].rpartition(", ")
        points = self.points.setdefault((event["pid"], name, unit), [])
        points.append((self.origin + nanoseconds(event, "ts"), value))

    def event(self, event):
        phase = shape(event)
        if phase == "M":
            self.metadata(event)
        elif phase == "B":
            self.begin(event)
        elif phase == "E":
            self.end(event)
        elif phase == "C":
            self.counter(event)
        else:
            check(event["s"] in SCOPES, f"unknown scope: {event}")
            self.instants.append((self.time(event)[0], event))

    def resolve(self):
        """Slices with the names of their tracks."""
        tracks = {}
        for track, stack in self.open.items():
            check(not stack, f"slices of track {track} do not end")
        for _, i in self.instants:
            check((i["pid"], i["tid"]) in self.names, f"the track of an instant has no name: {i}")
        for pid, tid in {(s.process, s.track) for s in self.slices}:
            check((pid, None) in self.names, f"process {pid} has slices and no name")
            check((pid, tid) in self.names, f"track {pid}, {tid} has slices and no name")
            key = (pid, self.names[pid, tid])
            check(key not in tracks, f"two tracks of a process have the same name: {key}")
            tracks[key] = tid
        for pid, name, _ in self.points:
            check((pid, None) in self.names, f"the process of counter {name} has no name")
            check(not any(s.process == pid for s in self.slices), f"slices in the process of counter {name}")
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
    first = min((s.start for s in timeline.slices), default=timeline.origin)
    instants = [(at, i["name"], i["args"]) for at, i in timeline.instants]
    expected = (first, lines[0], {"lines": lines})
    check(instants == [expected], f"the health event is not that of summary.json at the start: {instants}")


def validate(trace, summary):
    """The slices of a parsed file; raises Invalid."""
    check(isinstance(trace, dict), "the file is not an object")
    check(trace.keys() == {"displayTimeUnit", "otherData", "traceEvents"}, f"top-level keys: {sorted(trace)}")
    check(trace["displayTimeUnit"] == "ns", "displayTimeUnit is not ns")
    check(isinstance(trace["otherData"], dict), "otherData is not an object")
    check(isinstance(trace["traceEvents"], list), "traceEvents is not an array")
    timeline = Timeline(int(trace["otherData"]["origin_ns"]))
    for event in trace["traceEvents"]:
        timeline.event(event)
    slices, tracks = timeline.resolve()
    compare(slices, tracks, summary)
    compare_gauges({(name, unit): p for (_, name, unit), p in timeline.points.items()}, summary)
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
