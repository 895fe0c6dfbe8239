#!/usr/bin/env python3
"""pages.py PAGE --on WORDS --get WORDS --profile NAME [--replace NAME=VALUE]…

Types the commands of a page that names ci/push/pages.sh as its test, line by line, as a reader would: `analyze` and `adb` here, all
others on the board, and on the board all of a block that begins with the comment of ON_BOARD. A capture runs in the background until
the engine of the next line has ended. After each capture and each analysis the result must be complete: as many tokens as the engine
says, nothing lost, the profile of the board.

--on WORDS           the words before a command for the board
--get WORDS          the words before a file of the board and the file of this machine that becomes its copy
--profile NAME       the profile that the result must have
--replace NAME=VALUE what a reader puts for a name in capitals
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "ci/site"))

import markdown  # noqa: E402

COMMENT = "<!-- runs-in: ci/push/pages.sh -->"
#: How a block begins whose lines are all typed on the board.
ON_BOARD = "# on the board:"
#: The agent records this fact when it waits for the engine: `analyze` tells the reader.
WAITING = b"agent.no_new_privileges"
#: Of the engine's log: the number of decode calls.
RUNS = re.compile(r" eval time = .*? / *(\d+) runs")
#: Longest time of a command, s: four threads of the emulated board share two CPUs.
LONGEST = 1500


def commands(text):
    """(command, is it one of a block for the board) of the page's blocks, in order."""
    blocks = [content for _, above, language, content in markdown.blocks(text) if language == "sh" and above == COMMENT]
    lines = [(line, block.startswith(ON_BOARD)) for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [(line, on_board) for line, on_board in lines if line.strip() and not line.startswith("#")]


def here(command):
    return command.split()[0] in ("analyze", "adb")


def captures(command):
    return command.startswith("analyze ") and " tcp:" in command


def starts_engine(command):
    """The engine by itself, not by the agent."""
    return "llama-" in command and not command.startswith("analyze ")


def complete(folder, most, said, profile):
    """Fails unless the result in a folder is that of a whole run, of `most` tokens at most. `said` is what the engine said, if that was heard."""
    summary = json.loads((folder / "summary.json").read_text())
    health, decode, session = summary["health"], summary["tokens"]["decode"], summary["session"]
    print(f"    {decode['tokens']} tokens, {health['spans']['received']} operators, board {session['board']} ({session['machine']})")
    runs = RUNS.search(said)
    assert health["perfect"], health["lines"]
    # A random model may end its text at any token.
    assert decode["tokens"] <= most, decode
    assert not runs or decode["tokens"] == int(runs[1]), (decode, runs[0])
    assert session["board"] == profile and session["machine"] == "aarch64", session
    assert (folder / "report.html").stat().st_size > 100_000


def n_tokens(command):
    words = shlex.split(command)
    return int(words[words.index("-n") + 1])


class Page:
    def __init__(self, options):
        self.options, self.folder = options, pathlib.Path.cwd()

    def words(self, command, on_board=False):
        if here(command) and not on_board:
            return ["bash", "-euc", command]
        return [*shlex.split(self.options.on), f"cd / && {command}"]

    def run(self, command, on_board=False):
        print(f"  $ {command}", flush=True)
        done = subprocess.run(self.words(command, on_board), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LONGEST)
        if done.returncode:
            sys.exit(f"exit status {done.returncode}: {command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout + done.stderr

    def capture(self, command, engine):
        """A capture that waits for the engine of the next line."""
        log_file, recording = self.folder / "capture.log", self.folder / "profile/recording.pfi"
        print(f"  $ {command} &", flush=True)
        with open(log_file, "wb") as log, subprocess.Popen(self.words(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
            until = time.monotonic() + LONGEST
            while not (recording.exists() and WAITING in recording.read_bytes()):
                if process.poll() is not None or time.monotonic() > until:
                    process.kill()
                    sys.exit(f"it does not wait for an engine: {command}\n{log_file.read_text()[-3000:]}")
                time.sleep(0.5)
            said = self.run(engine)
            if process.wait(LONGEST):
                sys.exit(f"exit status {process.returncode}: {command}\n{log_file.read_text()[-3000:]}")
        return said

    def fetch(self, result):
        """What `complete` reads of a result on the board."""
        result.mkdir()
        for name in ("summary.json", "report.html"):
            subprocess.run([*shlex.split(self.options.get), f"/profile/{name}", result / name], check=True, stdout=subprocess.DEVNULL)

    def type(self, all_commands):
        waiting, engine = list(all_commands), ""
        while waiting:
            command, on_board = waiting.pop(0)
            engine = command if "llama-" in command else engine
            result, said = None, ""
            if captures(command):
                result = self.folder / "profile"
                if waiting and starts_engine(waiting[0][0]):
                    engine, _ = waiting.pop(0)
                    said = self.capture(command, engine)
                else:
                    self.run(command)
            else:
                self.run(command, on_board)
                result = self.folder / "profile" if command.split()[:2] == ["analyze", "trace.pfi"] else None
                if result and on_board:
                    self.fetch(result)
            if result:
                complete(result, n_tokens(engine), said, self.options.profile)
                result.rename(self.folder / f"profile-{len(waiting)}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", 1)[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--on", required=True)
    parser.add_argument("--get", required=True)
    parser.add_argument("--profile", required=True)
    parser.add_argument("--replace", action="append", default=[])
    options = parser.parse_args()
    text = options.page.read_text(encoding="utf-8")
    all_commands = commands(text)
    for pair in options.replace:
        name, value = pair.split("=", 1)
        all_commands = [(command.replace(name, value), on_board) for command, on_board in all_commands]
    if not all_commands:
        sys.exit(f"{options.page} has no commands for this script")
    Page(options).type(all_commands)


if __name__ == "__main__":
    main()
