#!/usr/bin/env python3
"""collect.py RESULTS-DIR REPORTS-DIR      takes the results of the battery (ci/causes.sh) into data/, for the case studies

RESULTS-DIR is the folder of all results in the cache; those of the current recorder are taken. PROFINFER_ANALYZE names the `analyze` that reads
their recordings. Leaves the report of each study that it takes in REPORTS-DIR, and the list of their pictures for shots.mjs. A study without a result,
or whose result does not support it (check.py), keeps its old data, and is named. `ci/site.sh --studies` is the command for people.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent.parent / "causes")]

import check  # noqa: E402
import results  # noqa: E402
import score  # noqa: E402
import study  # noqa: E402
import truth  # noqa: E402


#: What follows the ladder of a question.
NEXT = re.compile(r"[a-z][a-z -]*: [\d.,]+ m?s |\S+, \w+ \d+:|The\b")


def first_screen(text, question):
    """The terminal's output up to the end of the ladder of the question, or None without one."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(study.LADDERS[question])), None)
    if begin is None:
        return None
    end = next((i for i in range(begin + 1, len(lines)) if not lines[i].strip() or NEXT.match(lines[i])), len(lines))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines[:end]).strip("\n"))


def without_paths(text):
    """No folders of the machine: the cache as its default is named."""
    return text.replace(os.environ.get("CACHE", str(Path.home() / ".cache/profinfer")), "~/.cache/profinfer")


def analyzed(recording, report):
    """What `analyze` prints, and its summary; the page becomes the file `report`."""
    with tempfile.TemporaryDirectory() as out:
        environment = dict(os.environ, PROFINFER_CEILINGS="")
        done = subprocess.run([os.environ["PROFINFER_ANALYZE"], recording, "--out", out], env=environment, check=True, stdout=subprocess.PIPE, text=True)
        report.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(Path(out) / "report.html", report)
        return done.stdout, json.loads((Path(out) / "summary.json").read_text(encoding="utf-8"))


def finding_of(summary, codes, question):
    """Title and remedy of the finding of the cause, as the page shows them."""
    for finding in summary["findings"]["found"]:
        questions = [effect["question"] for effect in finding.get("effects") or []] or ["decode"]
        if finding["code"] in codes and (question in questions or (question == "first_token" and "prompt" in questions)):
            return {key: finding[key] for key in ("code", "title", "action")}
    return None


def data_of(result, commit, report):
    """Everything that a page shows, of one case. Its report becomes the file `report`."""
    case, expected = result["case"], result["case"]["expected"]
    pairs = [[run["planted_ns"], run["remedied_ns"]] for run in result["pairs"]]
    typical = result["pairs"][truth.typical(pairs)]
    row = score.planted_case(expected, result)
    text, summary = analyzed(typical["recording"], report)
    screen = first_screen(text, case["question"])
    return {
        "case": case["name"], "commit": commit, "at": result["at"][:10], "question": case["question"],
        "setup": case["setup"], "remedied": case["remedied"], "pairs": pairs, "predicted": row["predicted"], "first": row["first"],
        "found_in": row["found_in"], "finding": json.loads(without_paths(json.dumps(finding_of(summary, expected["codes"], case["question"])))),
        "screen": without_paths(screen) if screen else None,
    }


def main():
    kept, reports, left, shots = results.Results.current(sys.argv[1], study.REPO), Path(sys.argv[2]), [], []
    for one in study.all_studies():
        path = kept.path(one["case"])
        if not path.exists():
            left.append(f"{one['case']}: no result")
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        if "error" in result:
            left.append(f"{one['case']}: {result['error']}")
            continue
        data = data_of(result, kept.analyzer, reports / one["case"] / "report.html")
        wrong = check.complaints(data)
        if wrong:
            left += wrong
            continue
        study.data_file(one["case"]).write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        shots.append({"name": f"cases/{one['page']}", "of": one["case"], "width": 1100, "height": 1000})
        print(f"{one['case']}: taken")
    (reports / "shots.json").write_text(json.dumps(shots), encoding="utf-8")
    for line in left:
        print(f"    {line}", file=sys.stderr)


if __name__ == "__main__":
    main()
