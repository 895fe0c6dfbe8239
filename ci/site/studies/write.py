#!/usr/bin/env python3
"""Makes docs/cases/ from studies.toml and data/.

write.py            writes the pages, and their lines in docs/SUMMARY.md
write.py --check    complains if they are not those of the data
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent.parent / "causes")]

import study  # noqa: E402
import truth  # noqa: E402

DOCS = HERE.parent.parent.parent / "docs"
#: The lines of SUMMARY.md between these two are written by this script.
BEGIN, END = "- [Case studies](cases/index.md)\n", "\n# Cookbook"
UNIT = {"decode": "per token", "prompt": "per prompt", "first_token": "to the first token", "start_up": "for the start"}
NAME = {"decode": "decode", "prompt": "prompt processing", "first_token": "time to first token", "start_up": "start-up"}


def time(ns):
    """Three digits, in ms or s."""
    value, unit = (ns / 1e9, "s") if ns >= 1e9 else (ns / 1e6, "ms")
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


def span(interval, likely):
    return f"{time(interval[likely])} ({time(interval['low'])} to {time(interval['high'])})"


def command(setup):
    """The engine's command, without folders."""
    words = ["taskset", "-c", setup["cpus"]] if setup["cpus"] != "0,1" else []
    words += ["nice", "-n", str(setup["nice"])] if setup["nice"] else []
    words += ["env"] if words and setup["env"] else []
    words += [f"{key}='{value}'" for key, value in setup["env"].items()]
    tool = "nodes" if setup.get("boot") else setup["tool"]
    words += [tool, "-m", f"{Path(setup['model']).name}.gguf"]
    words += ["-md", f"{setup['draft']}.gguf"] if setup["draft"] else []
    words += ["-t", str(setup["threads"])]
    words += ["-n", str(setup["tokens"])] if tool != "llama-server" else []
    words += ["-p", f"'{setup['prompt']} words'"] if setup["prompt"] > 8 else []
    args = [f"'{word[:40]}…'" if len(word) > 60 else word for word in setup["args"]]
    return " ".join([*words, *args])


def results_table(data):
    planted, remedied = zip(*data["pairs"])
    middle = {"with the cause": truth.interval(planted)["median"], "with the remedy": truth.interval(remedied)["median"]}
    rows = ["| | " + " | ".join(middle) + " |", "|---|---|---|", f"| time {UNIT[data['question']]} | " + " | ".join(map(time, middle.values())) + " |"]
    if data["question"] == "decode":
        rows.append("| speed | " + " | ".join(f"{1e9 / ns:.1f} t/s" for ns in middle.values()) + " |")
    return "\n".join(rows)


def predicted_sentence(data):
    if not data["predicted"]:
        return "The finding states no gain."
    return f"The report of the median run predicted {span(data['predicted'], 'likely')}."


def picture(one):
    """The first screen of the page, of the same recording as the text of the terminal."""
    if not (DOCS / "cases" / f"{one['page']}.png").exists():
        return ""
    return f"\n![{one['title']}: the first screen of the report]({one['page']}.png)\n\nThe same on the terminal:\n"


def page(one, data):
    """The Markdown of a case study."""
    finding, pairs = data["finding"], [tuple(pair) for pair in data["pairs"]]
    gain = truth.gain(pairs)
    return f"""# {one['title']}

**Symptom.** {one['symptom']}

**Cause, planted on purpose.** {one['planted']}

```text
{command(data['setup'])}
```

## First screen
{picture(one)}
```text
$ analyze trace.pfi
{data['screen']}
```

## Statement of the report

> **{finding['title']}**: {finding['action']}

{one['meaning']} The rule is `{finding['code']}` in [findings](../findings.md).

## Remedy

{one['remedy']}

Tried in the measurement: {one['tried']}

## Measured effect

{results_table(data)}

Medians of {len(pairs)} pairs of runs in turn, by the engine's own clock. The remedy saves {span(gain, 'median')} {UNIT[data['question']]}: without
the cause the same work is {truth.ratio(pairs):.1f} times as fast. {predicted_sentence(data)} The cause was found in {data['found_in']} of {len(pairs)} recordings.

*Case `{data['case']}` of the [battery](../battery.md), {data['at']}, commit {data['commit'][:12]}. Both runs of a pair were recorded, so the cost of
the probes is in both. This page is generated from the battery's result.*
"""


def index(rows):
    """The list of all studies."""
    table = [f"| [{one['title']}]({one['page']}.md) | {one['symptom']} | {NAME[data['question']]} | {truth.ratio([tuple(p) for p in data['pairs']]):.1f} times |" for one, data in rows]
    return """# Case studies

Each page plants one cause next to a real engine, shows what `analyze` prints, and measures what the remedy brings. The engine is an unmodified
llama.cpp on a virtual machine with two CPUs (x86-64) or on an emulated board, so times differ from those of a real one. The causes and the
sentences are the same.
`nodes` in a command is the driver of the test suite, a small program on libllama. The models `dense-…` and `moe-…` are untrained.

| case | symptom | slower | faster with the remedy |
|---|---|---|---|
""" + "\n".join(table) + "\n"


def files():
    """All files of the case studies, by their place in docs/."""
    rows = [(one, data) for one in study.all_studies() if (data := study.data(one["case"]))]
    out = {f"cases/{one['page']}.md": page(one, data) for one, data in rows}
    out["cases/index.md"] = index(rows)
    summary = (DOCS / "SUMMARY.md").read_text(encoding="utf-8")
    before, rest = summary.split(BEGIN)
    lines = "".join(f"  - [{one['title']}](cases/{one['page']}.md)\n" for one, _ in rows)
    out["SUMMARY.md"] = before + BEGIN + lines + END + rest.split(END)[1]
    return out


def main():
    made, wrong = files(), []
    extra = {p.relative_to(DOCS).as_posix() for p in (DOCS / "cases").glob("*.md")} - set(made)
    if "--check" in sys.argv:
        wrong += [f"docs/{name} is not a page of ci/site/studies" for name in sorted(extra)]
        for name, text in made.items():
            path = DOCS / name
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                wrong.append(f"docs/{name} is not that of ci/site/studies: run ci/site/studies/write.py")
    else:
        (DOCS / "cases").mkdir(exist_ok=True)
        for name in extra:
            (DOCS / name).unlink()
        for name, text in made.items():
            (DOCS / name).write_text(text, encoding="utf-8")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
