"""What the engine's own clock says of one run. Pure functions of its output.

Times in ns: `decode` per token, everything else per run. What an engine does not tell is missing.
"""

import re

#: llama.cpp's figures at the end of a run, all tools: milliseconds, and the number of tokens or runs
FIGURE = re.compile(r"(prompt eval|eval|total) time *= *([0-9.]+) ms(?: */ *(\d+))?")
#: when llama-completion begins to generate, since its start: minutes, seconds, ms, us. Its "load time" lacks the loading of the weights
BEGINS = re.compile(r"^(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) I generate:", re.MULTILINE)
#: the last of the figures; a log without it was cut
LAST = "total time ="
#: before our driver's first line, when it began: seconds since the machine's start, which is what its own clock counts, too
EXEC = re.compile(r"^exec (\d+\.\d+)$", re.MULTILINE)
#: of llama-lookup and llama-speculative-simple: tokens that came out, and seconds
DECODED = re.compile(r"decoded +(\d+) tokens in +([0-9.]+) seconds")


def of_log(log):
    """Times of a tool of llama.cpp, from its log. Nothing of a log that was cut.

    A token's time is all of the run's but the prompt's: with sampling, and with the time between both, in which an engine
    waits for a CPU too. What is in it once per run, 3 to 7 ms, is in the run without the cause too.
    """
    decoded = DECODED.search(log)
    if not decoded and LAST not in log:
        return {}
    figures = {}
    for name, ms, count in FIGURE.findall(log):
        figures[name] = (float(ms) * 1e6, int(count or 0))
    out = {}
    begins = BEGINS.search(log)
    if begins:
        minutes, seconds, ms, us = map(int, begins.groups())
        out["start_up"] = (((minutes * 60 + seconds) * 1000 + ms) * 1000 + us) * 1e3
    if "prompt eval" in figures:
        out["prompt"] = out["first_token"] = figures["prompt eval"][0]
    if decoded:
        out["decode"] = float(decoded[2]) * 1e9 / int(decoded[1])
    elif {"prompt eval", "eval", "total"} <= figures.keys() and figures["eval"][1]:
        out["decode"] = (figures["total"][0] - figures["prompt eval"][0]) / figures["eval"][1]
    return out


def of_nodes(text):
    """Times of our driver `nodes`: one line per call, with its start and end."""
    calls = [line.split("\t") for line in text.splitlines() if line.startswith("decode\t")]
    if not calls:
        return {}
    start, end = int(calls[0][4]), int(calls[0][5])
    out = {"prompt": end - start, "first_token": end - start}
    began = EXEC.search(text)
    if began:
        out["start_up"] = start - float(began[1]) * 1e9
    if len(calls) > 1:
        out["decode"] = (int(calls[-1][5]) - end) / (len(calls) - 1)
    return out


def times(tool, text, log):
    """Times of a run by its standard output and standard error."""
    return of_nodes(text) if tool == "nodes" else of_log(log)
