"""The table of cases: reads cases.toml, fills in what a case leaves out, and refuses what nobody would notice.

Keys of a case: name; kind (host, small, quiet, board, guest, standin); question; cause, a key of [cause];
shows, values of the planted recordings' summary.json by their places (verdict.at);
runs (quiet only); and those of a setup, which `remedied` replaces:
  build     an engine of scripts/engine.sh; NAME/old has CPU code for old processors only
  tool      a program of that build
  model, draft   names of scripts/model.sh, or arch/NAME of scripts/gen_archs.py
  threads, prompt (words), tokens
  args, env, preload   more arguments and variables; a library of ci/causes/programs
  cpus, nice           affinity and niceness of the engine
  group     limits by controller of control groups of version 1; `DISK` in a value is the model's disk
  requests  of llama-server: `turns` requests, each with the previous one and `words` more, `cache` of prompts;
            `clients` at the same time (1), `tokens` of each answer (12)
  agent     options of the agent
  sysfs     files of each CPU that only agent and engine see, by name: one text per CPU
  steal     share of the time by which steal time grows in a stand-in for /proc/stat (standin only)
  memory    of the weights: `huge_pages`, which is the default of host, small and standin, `mapped_file`, as engines do by themselves,
            or `huge_file`, the same with a page cache in huge pages
  evict     the model leaves the page cache before the run
  plant     what is planted; see plant.py, and for boards onboard.py
of boards and guests, whose engine is `nodes`, the build that scripts/board.sh puts on them:
  boot      options of `board.sh up`
  speeds    per cent by list of CPUs, for boards with --speeds
  group2    limits of control groups of version 2
"""

import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("host", "small", "quiet", "board", "guest", "standin")
QUESTIONS = ("decode", "prompt", "first_token", "start_up")
SETUP = {
    "build": "debian", "tool": "llama-completion", "model": "", "draft": "", "threads": 1, "prompt": 8, "tokens": 64, "args": [], "env": {},
    "preload": "", "cpus": "0,1", "nice": 0, "group": {}, "memory": "", "evict": False, "plant": [],
    "requests": {}, "steal": 0.0, "agent": ["--full"], "sysfs": {}, "boot": "", "speeds": {}, "group2": {},
}
#: What a board cannot do.
HOST_ONLY = ("draft", "preload", "group", "memory", "evict", "requests", "sysfs", "steal")
CASE = {"name", "kind", "question", "cause", "runs", "remedied", "shows"}
CAUSE = {"steps": [], "codes": [], "culprit": False, "off_cpu": False}
#: Pairs of a case, and of a small loss, whose single runs are judged.
PAIRS = {"host": 5, "small": 10, "board": 5, "guest": 5, "standin": 5}
#: As many at most, where the truth differs between pairs: other guests of the hardware share its memory and its last cache.
MOST = PAIRS | {"host": 15, "board": 15}


#: Where a case that names no memory has its weights. Quiet runs are as users have them.
MEMORY = {"host": "huge_pages", "small": "huge_pages", "standin": "huge_pages"}


class Bad(Exception):
    """The table is wrong."""


def known(entry, keys, what):
    for key in entry:
        if key not in keys:
            raise Bad(f"{what}: unknown key '{key}'")


def case_of(raw, defaults, causes):
    """A complete case: `setup`, `remedied` (a complete setup as well), `expected`."""
    name = raw.get("name") or "?"
    known(raw, CASE | set(SETUP), name)
    kind, question = raw.get("kind", "host"), raw.get("question", "decode")
    if kind not in KINDS or question not in QUESTIONS:
        raise Bad(f"{name}: kind '{kind}', question '{question}'")
    setup = defaults | {"memory": MEMORY.get(kind, "mapped_file")} | {key: value for key, value in raw.items() if key in SETUP}
    if kind in ("board", "guest"):
        setup |= {"build": "board", "tool": "nodes"} | {key: raw[key] for key in ("model",) if key in raw}
        if not setup["boot"] or any(key in raw for key in HOST_ONLY):
            raise Bad(f"{name}: a board needs `boot`, and has none of {', '.join(HOST_ONLY)}")
    if setup["memory"] not in ("huge_pages", "huge_file", "mapped_file") or setup["evict"] and setup["memory"] != "mapped_file":
        raise Bad(f"{name}: memory '{setup['memory']}'")
    case = {"name": name, "kind": kind, "question": question, "setup": setup, "runs": raw.get("runs", 0), "shows": raw.get("shows", {})}
    if kind == "quiet":
        if case["runs"] < 1 or setup["plant"] or raw.get("cause") or raw.get("remedied"):
            raise Bad(f"{name}: a quiet case has runs, and no cause")
        return case
    if raw.get("cause") not in causes:
        raise Bad(f"{name}: no cause '{raw.get('cause')}'")
    case["cause"] = raw["cause"]
    case["expected"] = causes[raw["cause"]] | {"question": question, "shows": case["shows"]}
    remedied = raw.get("remedied", {})
    known(remedied, SETUP, f"{name}: remedied")
    case["remedied"] = setup | {"plant": []} | remedied
    if case["remedied"] == setup:
        raise Bad(f"{name}: the remedy changes nothing")
    if (kind == "standin") != (setup["steal"] > 0):
        raise Bad(f"{name}: a stand-in, and nothing else, has `steal`")
    case["pairs"] = PAIRS[kind]
    return case


def read(path=HERE / "cases.toml"):
    """Cases in the order of the file, and the remedies of findings on quiet runs."""
    with open(path, "rb") as file:
        raw = tomllib.load(file)
    known(raw, {"setup", "cause", "remedy", "case"}, "cases.toml")
    defaults = SETUP | raw.get("setup", {})
    known(defaults, SETUP, "setup")
    causes = {}
    for name, cause in raw["cause"].items():
        known(cause, CAUSE, f"cause {name}")
        causes[name] = CAUSE | cause
        if not causes[name]["steps"] or not causes[name]["codes"]:
            raise Bad(f"cause {name}: no steps or no codes")
    remedies = raw.get("remedy", {})
    for code, change in remedies.items():
        known(change, SETUP, f"remedy {code}")
    cases = [case_of(one, defaults, causes) for one in raw["case"]]
    names = [case["name"] for case in cases]
    if len(set(names)) != len(names):
        raise Bad("two cases have the same name")
    return cases, remedies
