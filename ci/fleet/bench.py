"""bench.py FLEET-PROGRAM DIR      adds DIR/made to DIR/fleet, and runs the prepared queries; prints seconds"""
import os
import pathlib
import statistics
import subprocess
import sys
import time

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
place = str(folder / "fleet")


def timed(*arguments):
    began = time.monotonic()
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


added, spent = 0, 0.0
for device in sorted((folder / "made").iterdir()):
    captures = [str(c) for c in sorted(device.iterdir())]
    spent += timed("add", *captures, "--device", device.name, "--to", place)
    added += len(captures)
files = [p for p in (folder / "fleet").rglob("*.parquet")]
size = sum(os.path.getsize(p) for p in files)
print(f"add: {added / spent:.0f} captures/s ({spent:.2f} s for {added}); {len(files)} files, {size / 1e6:.1f} MB")
again = sum(timed("add", *map(str, sorted(d.iterdir())), "--to", place) for d in sorted((folder / "made").iterdir()))
print(f"add again: {again:.2f} s, nothing new")
for name in ("trend", "regressions", "ranking", "outliers"):
    print(f"{name}: {statistics.median(timed(name, '--in', place) for _ in range(3)):.3f} s")
for name, sql in {
    "one partition": "SELECT count(*), median(tokens_per_s) FROM captures WHERE board = 'rk3588'",
    "all operators": "SELECT op, sum(wall_ns) FROM operators GROUP BY op",
    "operators of one board": "SELECT op, sum(wall_ns) FROM operators WHERE board = 'rk3588' GROUP BY op",
}.items():
    print(f"{name}: {statistics.median(timed('sql', sql, '--in', place) for _ in range(3)):.3f} s")
print(f"report: {timed('report', '--in', place, '--out', str(folder / 'fleet.html')):.3f} s")
