#!/usr/bin/env python3
"""check_readers.py TIMELINE TRACE SUMMARY

Checks that the readers of both timeline formats see what is wrong with a file: every change that is made here to
the two valid files given must make its reader refuse.
"""

import copy
import sys

import read_pftrace
import validate_chrome
from google.protobuf.message import DecodeError
from slices import Invalid

refused = 0


def must_fail(what, validate, *arguments):
    global refused
    try:
        validate(*arguments)
    except (Invalid, DecodeError, KeyError, IndexError):
        refused += 1
        return
    sys.exit(f"not noticed: {what}")


def chrome(trace, summary):
    def fails(what, change, events=None):
        damaged = copy.deepcopy(trace)
        change(damaged if events is None else damaged["traceEvents"])
        must_fail(f"timeline.json, {what}", validate_chrome.validate, damaged, summary)

    for i, event in enumerate(trace["traceEvents"]):
        name = f"event {i} {event['ph']} {event.get('name')!r}"
        if event.get("name") != "thread_sort_index":
            fails(f"{name} left out", lambda events, i=i: events.pop(i), True)
        fails(f"{name} twice", lambda events, i=i: events.insert(i, events[i]), True)
        for key in validate_chrome.REQUIRED[event["ph"]]:
            fails(f"{name} without {key}", lambda events, i=i, key=key: events[i].pop(key), True)
        if event["ph"] in "BE":
            ns = validate_chrome.Decimal("0.001")
            fails(f"{name} later", lambda e, i=i: e[i].update(ts=e[i]["ts"] + ns), True)
            fails(f"{name} by half a ns", lambda e, i=i: e[i].update(ts=e[i]["ts"] + ns / 2), True)
            fails(f"{name} with a text as time", lambda e, i=i: e[i].update(ts=str(e[i]["ts"])), True)
            fails(f"{name} elsewhere", lambda e, i=i: e[i].update(tid=4_000_000_000), True)
    fails("no otherData", lambda t: t.pop("otherData"))
    fails("other health", lambda t: t["otherData"]["health"].append("fine"))


def perfetto(data, summary):
    good = read_pftrace.parse(data)

    def fails(what, change):
        damaged = copy.deepcopy(good)
        change(damaged)
        must_fail(f"timeline.pftrace, {what}", read_pftrace.validate, damaged, summary)

    for i, packet in enumerate(good.packet):
        name = f"packet {i} ({', '.join(f.name for f, _ in packet.ListFields())})"
        fails(f"{name} left out", lambda t, i=i: t.packet.pop(i))
        fails(f"{name} twice", lambda t, i=i: t.packet.insert(i, t.packet[i]))
        if packet.HasField("interned_data"):
            fails(f"{name} without interned data", lambda t, i=i: t.packet[i].ClearField("interned_data"))
        if packet.HasField("track_event"):
            fails(f"{name} without time", lambda t, i=i: t.packet[i].ClearField("timestamp"))
            fails(f"{name} without type", lambda t, i=i: t.packet[i].track_event.ClearField("type"))
        if packet.sequence_flags:
            fails(f"{name} without flags", lambda t, i=i: t.packet[i].ClearField("sequence_flags"))

    # A file without one of its bundles, and one with a bit of a bundle changed.
    packed = read_pftrace.schema.Trace()
    packed.ParseFromString(data)
    bundles = [i for i, p in enumerate(packed.packet) if p.HasField("compressed_packets")]
    if not bundles:
        sys.exit("no bundles to damage")
    for i in bundles:
        less, changed = copy.deepcopy(packed), copy.deepcopy(packed)
        less.packet.pop(i)
        bytes_ = bytearray(changed.packet[i].compressed_packets)
        bytes_[len(bytes_) // 2] ^= 4
        changed.packet[i].compressed_packets = bytes(bytes_)
        for what, damaged in (("left out", less), ("changed", changed)):
            written = damaged.SerializeToString()
            must_fail(f"bundle {i} {what}", lambda w=written: read_pftrace.validate(read_pftrace.parse(w), summary))

    # Field 9000, a varint: in the trace, in a packet, in a track event. No file of ours uses that number.
    unknown = bytes([0xC0, 0xB2, 0x04, 1])
    must_fail("an unknown field", lambda: read_pftrace.validate(read_pftrace.parse(data + unknown), summary))
    event = next(i for i, p in enumerate(good.packet) if p.HasField("track_event"))
    fails("an unknown field in a packet", lambda t: t.packet[event].MergeFromString(unknown))
    fails("an unknown field in an event", lambda t: t.packet[event].track_event.MergeFromString(unknown))
    must_fail("a file cut short", lambda: read_pftrace.validate(read_pftrace.parse(data[:-1]), summary))


def main(timeline, trace, summary):
    expected = validate_chrome.load(summary)
    parsed = validate_chrome.load(timeline)
    with open(trace, "rb") as file:
        data = file.read()
    validate_chrome.validate(parsed, expected)
    read_pftrace.validate(read_pftrace.parse(data), expected)
    chrome(parsed, expected)
    perfetto(data, expected)
    print(f"{refused} damaged files, all refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
