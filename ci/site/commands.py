#!/usr/bin/env python3
"""The commands that the pages of Start, of the cookbook and for programs show.

A comment above a block of `sh` or `python` says how it is tested:
  <!-- runs -->             commands.py --run executes it, with `analyze` and a small engine in PATH (for the cookbook, also
                           with the folder AGENT, as the agent's package has it), and the Python of scripts/requirements-notebook.txt
  <!-- runs-in: SCRIPT -->  that script of the repository executes these commands
  <!-- untested: REASON --> nothing here can execute it; the site shows the reason

commands.py          complains about blocks without such a comment, and about scripts that do not exist
commands.py --run    executes the blocks of the first kind, each page in a folder of its own, and stops at the first failure
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

import markdown
import places

COMMENT = re.compile(r"^<!-- (runs|runs-in: (\S+)|untested: (.+)) -->$")
#: Pages whose commands a newcomer types, or a program.
FOLDERS = ("docs/start", "docs/cookbook", "docs/programs")
#: Files of the folder of a page, next to the recording trace.pfi: name, and the variable with the path of the original.
FILES = {"m.gguf": "MODEL", "moe.gguf": "MODEL_WITH_EXPERTS"}
#: Longest time of a block, s: in parallel with compilers it takes ten times as long as alone.
LONGEST = 900
#: How a block of each language is executed.
RUNNERS = {"sh": ["bash", "-euc"], "python": [os.environ.get("PROFINFER_PYTHON", sys.executable), "-c"]}


def of_pages(repo=places.REPO):
    """(page, line, match of COMMENT or None, language, content) of each block of commands."""
    for file in sorted(file for folder in FOLDERS for file in (repo / folder).glob("*.md")):
        page = file.relative_to(repo).as_posix()
        for line, above, language, content in markdown.blocks(file.read_text(encoding="utf-8")):
            if language in RUNNERS:
                yield page, line, COMMENT.match(above), language, content


def complaints(repo=places.REPO):
    for page, line, how, *_ in of_pages(repo):
        if not how:
            yield f"{page}:{line}: no comment above says how these commands are tested"
        elif how[2] and not (repo / how[2]).is_file():
            yield f"{page}:{line}: there is no {how[2]}"


def with_notes(text):
    """A page that shows which commands are not tested."""
    note = lambda found: f"*Not tested: {found[1]}.*"
    return re.sub(r"^<!-- untested: (.+) -->$", note, text, flags=re.M)


def environment(page):
    """The environment of the commands of a page."""
    out = dict(os.environ)
    if page.startswith("docs/cookbook/") and "AGENT" in out:
        out["PATH"] = f"{out['AGENT']}:{out['PATH']}"
    return out


def finished(words, folder, env=None):
    """(what went wrong or None, output, errors) of a block. Nothing that it started goes on after it."""
    with subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=LONGEST)
            wrong = f"exit status {process.returncode}" if process.returncode else None
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            wrong = f"longer than {LONGEST} s"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return wrong, out, err


def run(repo=places.REPO):
    """Executes what can run here, each page in a folder with FILES, the recording trace.pfi and a text prompt.txt."""
    by_page = {}
    for page, line, how, language, content in of_pages(repo):
        if how and how[1] == "runs":
            by_page.setdefault(page, []).append((line, language, content))
    for page, contents in by_page.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cp", repo / "host-analyzer/tests/data/sample.pfi", f"{folder}/trace.pfi"], check=True)
            for name, variable in FILES.items():
                if variable in os.environ:
                    os.symlink(os.environ[variable], f"{folder}/{name}")
            with open(f"{folder}/prompt.txt", "w", encoding="utf-8") as file:
                file.write("The quick brown fox jumps over the lazy dog. " * 8)
            for line, language, content in contents:
                status, out, err = finished([*RUNNERS[language], content], folder, environment(page))
                if status:
                    raise SystemExit(f"{page}:{line}: {status}\n{content}{out[-1500:]}{err[-1500:]}")
                print(f"{page}:{line}: ran")


def main():
    wrong = list(complaints())
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong and "--run" in sys.argv:
        run()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
