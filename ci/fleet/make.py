"""make.py OUT N SUMMARY...      N summaries of a synthetic fleet, derived from real ones

Each is a real summary.json whose times are all multiplied by one factor, and whose identity is another: board, device, build, date. The factor is that of
the board, times noise of 1.5 %, times what is planted. Nothing else is changed, so a fleet made so has rows as real recordings have them, of the
same number and length; its speeds are not those of any board. Planted, so that a query can be held to them:

* the later half of the builds is 8 % slower on rk3588 with the first model;
* device rk3588-03 is 20 % slower than its kind.
"""
import json
import pathlib
import random
import sys

BOARDS = {"rk3588": 4.0, "rpi5": 5.5, "qcs6490": 3.0, "host": 1.0}
DEVICES = 5
DAY = 86_400_000_000_000
BEGAN = 1_790_000_000_000_000_000


def scaled(value, factor, key=""):
    """The same, with all times multiplied by the factor and all rates divided by it."""
    if isinstance(value, dict):
        return {k: scaled(v, factor, k) for k, v in value.items()}
    if isinstance(value, list):
        return [scaled(v, factor, key) for v in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if key.endswith("_ns") and key not in ("start_unix_ns", "start_ns"):
        return round(value * factor)
    if key.endswith("_per_s") or key == "mbu":
        return type(value)(value / factor)
    return value


def main():
    out, n, sources = pathlib.Path(sys.argv[1]), int(sys.argv[2]), [json.load(open(p)) for p in sys.argv[3:]]
    dice = random.Random(14)
    # A small fleet has few kinds, so that each kind has enough captures.
    boards = list(BOARDS)[: 2 if n < 200 else len(BOARDS)]
    builds = min(12, max(2, n // 80 // 2 * 2))
    for i in range(n):
        which = i % len(sources)
        board = boards[i // len(sources) % len(boards)]
        device = f"{board}-{i // len(sources) // len(boards) % DEVICES:02}"
        night = i * 60 // n
        build = 9001 + night * builds // 60
        factor = BOARDS[board] * dice.gauss(1, 0.015)
        if board == "rk3588" and which == 0 and night >= 30:
            factor *= 1.08
        if device == "rk3588-03":
            factor *= 1.2
        summary = scaled(sources[which], factor)
        session = summary["session"]
        session["board"] = board
        session["start_unix_ns"] = BEGAN + night * DAY + i * 1_000_000_007
        for engine in summary["engines"]:
            engine["version"] = f"llama.cpp 0.8.0 (b{build})"
        folder = out / device / f"{i:05}"
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(summary))


main()
