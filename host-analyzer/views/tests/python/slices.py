"""What the readers of both timeline formats have in common: nesting, and the comparison with summary.json."""

from collections import namedtuple

# One slice as a viewer shows it. Times in ns; args as a dict; depth 0 is the outermost.
Slice = namedtuple("Slice", "process track depth start end name category args")


class Invalid(Exception):
    """The file is not what it should be."""


def check(condition, message):
    if not condition:
        raise Invalid(message)


def compare_gauges(points, summary):
    """`points` are time and value in order, by name and unit; their number and bounds are those of the summary."""
    units = {"hertz": "Hz", "millidegrees": "m°C", "percent": "%", "bytes_per_s": "B/s", "microwatts": "µW"}
    expected = {}
    for row in summary["gauges"]:
        if row["session"]:
            # Of bytes, a value for each time between two samples.
            number = row["samples"] - (row["unit"] == "bytes_per_s")
            bounds = (float(row["session"]["min"]), float(row["session"]["max"]))
            expected[row["name"], units[row["unit"]]] = (number, *bounds)
    for key, all_points in points.items():
        times = [at for at, _ in all_points]
        check(times == sorted(set(times)), f"times of gauge {key} are not in order")
    found = {
        key: (len(p), float(min(v for _, v in p)), float(max(v for _, v in p))) for key, p in points.items()
    }
    check(found == expected, f"gauges: {found} in the file, {expected} in summary.json")


def compare(slices, tracks, summary, left_out=(0, 0)):
    """Counts and durations per track equal those of the summary; `tracks` are all (process, track) of the file. The file has so many
    slices less on the tracks of threads, with so many ns, as it says itself."""
    expected = {}
    for row in summary["tracks"]:
        key = (row["process"], row["track"])
        check(key not in expected, f"summary.json has the track {key} twice")
        expected[key] = (row["slices"], row["total_ns"])
    found = {key: [0, 0] for key in tracks}
    for s in slices:
        found[s.process, s.track][0] += 1
        found[s.process, s.track][1] += s.end - s.start
    threads = {(row["process"], row["track"]) for row in summary["tracks"] if row["kind"] == "thread"} & found.keys()
    less = [[expected.get(key, (0, 0))[i] - found[key][i] for key in threads] for i in (0, 1)]
    check(all(n >= 0 for n in less[0] + less[1]), f"more slices on threads than in summary.json: {less}")
    check((sum(less[0]), sum(less[1])) == tuple(left_out), f"{left_out} left out, but {less} are")
    for key in threads if any(left_out) else ():
        check(found[key][0] > 0, f"track {key} is empty")
        found[key] = list(expected[key])
    for key in sorted(expected.keys() | found.keys()):
        want, have = expected.get(key), tuple(found[key]) if key in found else None
        check(want == have, f"track {key}: {have} slices and ns in the file, {want} in summary.json")
