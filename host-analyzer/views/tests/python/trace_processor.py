#!/usr/bin/env python3
"""trace_processor.py TRACE [--args]

Lets Perfetto's own trace_processor read a trace of any format that it takes, and prints its slices, one JSON array a line: process,
thread (null where it is an asynchronous one), name, start, length, in ns; then its counters: process, name, number of values, sum. It
fails where trace_processor counts an error or a loss of data. With --args it prints instead, of slices with the same name, category,
`cpu` and `waits_left_out` as arguments: these, their number, and the sum of their lengths.
"""

import json
import os
import subprocess
import sys
import tempfile

import perfetto
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER = os.path.join(HERE, "..", "..", "page", "tests", "trace_processor.mjs")
APPEND, FINALIZE, QUERY = 1, 2, 3
SLICES = """
select coalesce(p.pid, tp.pid, 0), t.tid, s.name, s.ts, s.dur from slice s
left join thread_track tt on s.track_id = tt.id left join thread t using (utid) left join process tp on t.upid = tp.upid
left join process_track pt on s.track_id = pt.id left join process p on pt.upid = p.upid
"""
COUNTERS = """
select coalesce(p.pid, 0), pt.name, count(*), sum(c.value) from counter c join process_counter_track pt on c.track_id = pt.id
left join process p using (upid) group by 1, 2 order by 2
"""
ARGS = """
select s.name, s.category, extract_arg(s.arg_set_id, 'debug.cpu'), extract_arg(s.arg_set_id, 'debug.waits_left_out'), count(*), sum(s.dur)
from slice s group by 1, 2, 3, 4 order by 1, 2, 3, 4
"""
TROUBLE = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"


def messages():
    """The classes of the RPC protocol, from the descriptors that the package carries."""
    path = os.path.join(os.path.dirname(perfetto.__file__), "trace_processor", "trace_processor.descriptor")
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as f:
        files.ParseFromString(f.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    name = "perfetto.protos.TraceProcessorRpcStream"
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def rows(reply):
    """The rows of a reply, cell by cell."""
    if reply.query_result.error:
        sys.exit(reply.query_result.error)
    columns = len(reply.query_result.column_names)
    cells = []
    for batch in reply.query_result.batch:
        numbers, reals = iter(batch.varint_cells), iter(batch.float64_cells)
        texts = iter(batch.string_cells.split("\0"))
        take = {1: lambda: None, 2: lambda: next(numbers), 3: lambda: next(reals), 4: lambda: next(texts)}
        cells += [take[kind]() for kind in batch.cells]
    return [cells[i : i + columns] for i in range(0, len(cells), columns)]


def main(trace, *options):
    stream = messages()
    asked = stream()
    with open(trace, "rb") as f:
        while part := f.read(1 << 20):
            asked.msg.add(request=APPEND, append_trace_data=part)
    asked.msg.add(request=FINALIZE)
    for query in (TROUBLE, SLICES, COUNTERS, ARGS):
        asked.msg.add(request=QUERY).query_args.sql_query = query
    for seq, message in enumerate(asked.msg):
        message.seq = seq
    with tempfile.TemporaryDirectory() as folder:
        requests, replies = (os.path.join(folder, name) for name in ("requests", "replies"))
        with open(requests, "wb") as f:
            f.write(asked.SerializeToString())
        subprocess.run(["node", WORKER, requests, replies], check=True, stdout=sys.stderr)
        told = stream()
        with open(replies, "rb") as f:
            told.ParseFromString(f.read())
    # A long answer comes in several messages.
    answers, last = [], None
    for message in (m for m in told.msg if m.response == QUERY):
        if last is None or any(b.is_last_batch for b in last.query_result.batch):
            answers.append(message)
        else:
            answers[-1].query_result.batch.extend(message.query_result.batch)
        last = message
    trouble, slices, counters, args = (rows(a) for a in answers)
    if trouble:
        sys.exit(f"trace_processor counted {trouble}")
    if "--args" in options:
        slices, counters = [], args
    for row in sorted(slices, key=lambda r: (r[3], r[4], r[2])) + counters:
        print(json.dumps(row, ensure_ascii=False))


main(*sys.argv[1:])
