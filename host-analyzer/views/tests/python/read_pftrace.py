#!/usr/bin/env python3
"""read_pftrace.py TRACE SUMMARY [--dump]

Reads a Perfetto trace with the classes that are generated from the official schema (PyPI package `perfetto`), as
trace_processor would: sequences with their incremental state, clocks, interned texts, tracks, slices. Checks that
no field at any depth is unknown to the schema, that every reference resolves, that slices nest and close; and that
slices and durations per track equal those of summary.json, but for the waits that the file says it leaves out. --dump prints the
slices, one JSON array a line. --part: the file is one of several, so that nothing is compared with summary.json but health and session.
"""

import json
import sys
import zlib

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
from slices import Invalid, Slice, check, compare, compare_gauges

MONOTONIC = schema.BUILTIN_CLOCK_MONOTONIC
CLEARED = schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
NEEDS = schema.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
Event = schema.TrackEvent
# Interning tables that are used: field of InternedData -> field of its text.
TABLES = {
    "event_categories": "name",
    "event_names": "name",
    "debug_annotation_names": "name",
    "debug_annotation_string_values": "str",
}


def known_fields(message, where="Trace"):
    unknown = [f.field_number for f in UnknownFieldSet(message)]
    check(not unknown, f"{where} has fields that the schema does not know: {unknown}")
    for field, value in message.ListFields():
        if field.message_type is not None:
            inside = value if field.is_repeated else [value]
            for child in inside:
                known_fields(child, f"{where}.{field.name}")


class Sequence:
    """Incremental state of one packet sequence."""

    def __init__(self):
        self.valid = False
        self.interned = {table: {} for table in TABLES}
        self.clock = None  # default clock of timestamps
        self.track = None  # default track of events
        self.now = {}  # incremental clock -> [its time in its units, unit in ns, offset to monotonic ns]

    def text(self, table, iid):
        check(iid in self.interned[table], f"{table} {iid} is not defined on its sequence")
        return self.interned[table][iid]


class Track:
    """A track that was described."""

    def __init__(self, descriptor, parent):
        self.descriptor = descriptor
        self.parent = parent
        self.stack = []  # slices that are open
        self.last = 0

    def pid(self):
        d = self.descriptor
        if d.HasField("process"):
            return d.process.pid
        if d.HasField("thread"):
            return d.thread.pid
        return self.parent.pid() if self.parent else 0

    def key(self):
        """Process and name, as summary.json has them."""
        d = self.descriptor
        if d.HasField("thread"):
            return self.pid(), f"{d.thread.thread_name or 'thread'} {d.thread.tid}"
        return self.pid(), d.name


class Reader:
    def __init__(self):
        self.sequences = {}
        self.tracks = {}
        self.slices = []
        self.instants = []
        self.points = {}  # (name, unit) -> times and values of a counter
        self.attributes = {}
        self.monotonic = None

    def packet(self, packet):
        number = packet.trusted_packet_sequence_id
        check(number != 0, f"a packet has no sequence: {packet}")
        first = number not in self.sequences
        check(packet.first_packet_on_sequence == first, f"first_packet_on_sequence is wrong: {packet}")
        if packet.sequence_flags & CLEARED:
            self.sequences[number] = Sequence()
            self.sequences[number].valid = True
        sequence = self.sequences.setdefault(number, Sequence())
        needs = packet.sequence_flags & NEEDS
        check(sequence.valid or not needs, f"needs incremental state that nothing has set: {packet}")
        check(needs or not packet.HasField("interned_data"), f"interns without the flag: {packet}")
        if packet.HasField("trace_packet_defaults"):
            defaults = packet.trace_packet_defaults
            sequence.clock = defaults.timestamp_clock_id or None
            sequence.track = defaults.track_event_defaults.track_uuid or None
        if packet.HasField("clock_snapshot"):
            self.snapshot(packet.clock_snapshot, sequence)
        self.intern(packet.interned_data, sequence)
        at = self.time(packet, sequence, needs)
        if packet.HasField("track_descriptor"):
            self.describe(packet.track_descriptor)
        if packet.HasField("trace_attributes"):
            for a in packet.trace_attributes.attribute:
                check(a.key not in self.attributes, f"the attribute {a.key} occurs twice")
                self.attributes[a.key] = a.string_value
        if packet.HasField("track_event"):
            self.event(packet.track_event, sequence, at, needs)

    def snapshot(self, snapshot, sequence):
        check(snapshot.primary_trace_clock == MONOTONIC, "the trace clock is not the monotonic clock")
        clocks = {c.clock_id: c for c in snapshot.clocks}
        check(len(clocks) == len(snapshot.clocks), f"a clock occurs twice: {snapshot}")
        check(MONOTONIC in clocks, f"a clock snapshot without the monotonic clock: {snapshot}")
        monotonic = clocks[MONOTONIC].timestamp
        # trace_processor wants the clocks of successive snapshots never to go back.
        check(self.monotonic is None or monotonic >= self.monotonic, "clock snapshots go back in time")
        self.monotonic = monotonic
        for c in clocks.values():
            if c.is_incremental:
                check(64 <= c.clock_id < 128, f"clock {c.clock_id} cannot belong to a sequence")
                unit = c.unit_multiplier_ns or 1
                sequence.now[c.clock_id] = [c.timestamp, unit, monotonic - c.timestamp * unit]

    def intern(self, data, sequence):
        for field, entries in data.ListFields():
            check(field.name in TABLES, f"an interning table that nothing refers to: {field.name}")
            for entry in entries:
                text = getattr(entry, TABLES[field.name])
                text = text.decode("utf-8") if isinstance(text, bytes) else text
                check(entry.iid != 0, f"interning number 0 is reserved: {entry}")
                table = sequence.interned[field.name]
                check(entry.iid not in table, f"{field.name} {entry.iid} is defined twice on its sequence")
                check(text not in table.values(), f"{field.name} {text!r} is defined twice on its sequence")
                table[entry.iid] = text

    def time(self, packet, sequence, needs):
        if not packet.HasField("timestamp"):
            return None
        clock = packet.timestamp_clock_id or (sequence.clock if needs else None)
        if clock == MONOTONIC:
            return packet.timestamp
        check(clock in sequence.now, f"no such clock, {clock}: {packet}")
        now = sequence.now[clock]
        now[0] += packet.timestamp
        return now[0] * now[1] + now[2]

    def describe(self, descriptor):
        check(descriptor.uuid != 0, f"a track without an id: {descriptor}")
        check(descriptor.uuid not in self.tracks, f"a track is described twice: {descriptor}")
        parent = None
        if descriptor.HasField("parent_uuid"):
            check(descriptor.parent_uuid in self.tracks, f"no such parent: {descriptor}")
            parent = self.tracks[descriptor.parent_uuid]
        self.tracks[descriptor.uuid] = Track(descriptor, parent)

    def event(self, event, sequence, at, needs):
        check(at is not None, f"an event without a time: {event}")
        uuid = event.track_uuid or (sequence.track if needs else None)
        check(uuid in self.tracks, f"no such track, {uuid}: {event}")
        track = self.tracks[uuid]
        check(at >= track.last, f"goes back in time on its track: {event}")
        track.last = at
        if event.type == Event.TYPE_SLICE_BEGIN:
            name, category, args = self.texts(event, sequence)
            pid, track_name = track.key()
            begun = Slice(pid, track_name, len(track.stack), at, None, name, category, args)
            # Slices are listed by begin, like those of the other format; the end fills its place.
            track.stack.append(len(self.slices))
            self.slices.append(begun)
        elif event.type == Event.TYPE_SLICE_END:
            check(track.stack, f"ends a slice that did not begin on track {track.key()}")
            extra = [f.name for f, _ in event.ListFields() if f.name != "type"]
            check(not extra, f"an end with more than its type: {event}")
            i = track.stack.pop()
            self.slices[i] = self.slices[i]._replace(end=at)
        elif event.type == Event.TYPE_COUNTER:
            self.counter(event, track, at)
        else:
            check(event.type == Event.TYPE_INSTANT, f"an event of an unexpected type: {event}")
            self.instants.append((track, at, *self.texts(event, sequence)))

    def counter(self, event, track, at):
        check(track.descriptor.HasField("counter"), f"a counter's value on another track: {event}")
        kind = event.WhichOneof("counter_value_field")
        check(kind is not None, f"a counter event without a value: {event}")
        key = (track.descriptor.name, track.descriptor.counter.unit_name)
        self.points.setdefault(key, []).append((at, getattr(event, kind)))

    def texts(self, event, sequence):
        name = event.name if event.HasField("name") else sequence.text("event_names", event.name_iid)
        categories = [sequence.text("event_categories", i) for i in event.category_iids] + list(event.categories)
        args = {}
        for a in event.debug_annotations:
            key = a.name if a.HasField("name") else sequence.text("debug_annotation_names", a.name_iid)
            check(key not in args, f"the argument {key} occurs twice: {event}")
            args[key] = self.value(a, sequence)
        return name, ",".join(categories), args

    def value(self, annotation, sequence):
        if annotation.array_values:
            return [self.value(a, sequence) for a in annotation.array_values]
        kind = annotation.WhichOneof("value")
        check(kind is not None, f"an argument without a value: {annotation}")
        value = getattr(annotation, kind)
        return sequence.text("debug_annotation_string_values", value) if kind == "string_value_iid" else value

    def resolve(self):
        """All tracks with slices, after checking that nothing is left open or without use."""
        used = {}
        with_children = {id(t.parent) for t in self.tracks.values()}
        with_events = {id(t) for t, *_ in self.instants}
        named = {(s.process, s.track) for s in self.slices}
        for track in self.tracks.values():
            check(not track.stack, f"slices of track {track.key()} do not end")
            key = track.key()
            if track.descriptor.HasField("process"):
                check(track.descriptor.process.process_name, f"a process without a name: {track.descriptor}")
                used[track.pid()] = used.get(track.pid(), 0)
            elif track.descriptor.HasField("counter"):
                name = (track.descriptor.name, track.descriptor.counter.unit_name)
                check(name in self.points, f"a counter track without values: {name}")
            elif id(track) not in with_children and id(track) not in with_events:
                check(key in named, f"a track without slices: {key}")
                check(key not in used, f"two tracks of a process have the same name: {key}")
                used[key] = track
        for process, track in named:
            check(process == 0 or process in used, f"track {track} has slices and its process is not described")
        return named


def left_out(reader):
    """Number and sum of the waits that the file leaves out, as its attributes and its event have them."""
    keys = ("waits_left_out", "waits_left_out_ns", "waits_shorter_than_ns")
    check(all(f"profinfer.{k}" in reader.attributes for k in keys), "no attributes of what is left out")
    numbers = {k: int(reader.attributes[f"profinfer.{k}"]) for k in keys}
    waits, ns, limit = numbers.values()
    events = reader.instants[1:]
    check(len(events) == min(waits, 1), f"{len(events)} events say that {waits} waits are left out")
    check(all(args == numbers for *_, args in events), f"the event of what is left out is not as the attributes: {events}")
    check(ns < max(waits * limit, 1) and waits <= ns, f"{waits} waits shorter than {limit} ns took {ns} ns")
    short = [s for s in reader.slices if s.category == "barrier" and s.end - s.start < limit]
    check(not short, f"shorter than {limit} ns: {short[:3]}")
    return waits, ns


def facts(reader, summary, part):
    """Health and session, as summary.json has them."""
    lines = summary["health"]["lines"]
    first = min((s.start for s in reader.slices), default=None)
    check(reader.instants, "no health event")
    _, _, name, _, args = reader.instants[0]
    for track, at, *_ in reader.instants:
        check(track.key() == (0, "health"), f"an event is on the track {track.key()}")
        check(first is None or at == first or part, "an event is not at the start of the timeline")
    check((name, args) == (lines[0], {"lines": lines}), f"the health event is not the one of summary.json: {args}")
    check(("profinfer.part" in reader.attributes) == part, "a part without its number, or a number without parts")
    health = {k: v for k, v in reader.attributes.items() if k.startswith("profinfer.health.")}
    check(health == {f"profinfer.health.{i}": line for i, line in enumerate(lines)}, "attributes of health differ")
    for key in ("agent", "kernel", "machine", "cpu_model", "board", "start_unix_ns"):
        want, have = summary["session"][key], reader.attributes.get(f"profinfer.{key}")
        check(have == (str(want) if want else None), f"attribute {key} is {have!r}, in summary.json {want!r}")


def validate(trace, summary, part=False):
    """The slices of a parsed trace; raises Invalid."""
    known_fields(trace)
    check(len(trace.packet) > 0 and trace.packet[0].HasField("clock_snapshot"), "the first packet sets no clock")
    reader = Reader()
    for packet in trace.packet:
        reader.packet(packet)
    tracks = reader.resolve()
    waits = left_out(reader)
    if not part:
        compare(reader.slices, tracks, summary, waits)
        compare_gauges(reader.points, summary)
    facts(reader, summary, part)
    return reader.slices


def parse(data):
    """All packets of a file, those in bundles in the places of these."""
    trace, packed = schema.Trace(), schema.Trace()
    packed.ParseFromString(data)
    known_fields(packed)
    for packet in packed.packet:
        if packet.HasField("compressed_packets"):
            check(len(packet.ListFields()) == 1, "a bundle with more than its packets")
            check(packet.ByteSize() < 512 * 1024, "a bundle is larger than the schema allows")
            try:
                inside = zlib.decompress(packet.compressed_packets)
            except zlib.error as error:
                raise Invalid(f"a bundle cannot be read: {error}") from error
            trace.MergeFromString(inside)
        else:
            trace.packet.append(packet)
    return trace


def main(arguments):
    paths = [a for a in arguments if not a.startswith("--")]
    with open(paths[0], "rb") as trace, open(paths[1], encoding="utf-8") as summary:
        data, expected = trace.read(), json.load(summary)
    try:
        slices = validate(parse(data), expected, "--part" in arguments)
    except (Invalid, DecodeError) as error:
        sys.exit(f"{paths[0]}: {error}")
    if "--dump" in arguments:
        for s in slices:
            print(json.dumps(s))
    else:
        print(f"{paths[0]}: valid, {len(slices)} slices, {len(data)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
