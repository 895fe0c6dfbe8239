#!/usr/bin/env python3
"""Finds scripts that decide by a sentence: patterns of grep, sed, awk, `case` and Python that contain prose.

no-prose.py [FILE...]      (default: all .sh and .py files of scripts/ and ci/)

The agent and `analyze` print JSON with --format json, and their sentences can change in any release. So no
script may search their output for two words with a space between them. A pattern for the text of another
program is listed in no-prose.tsv with the reason. The exit status is 1 if a pattern is not listed,
or if a listed pattern does not exist any more. Before that, the script checks itself on planted examples.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
ALLOWED = REPO / "ci/no-prose.tsv"

#: Two words. Escapes and classes of regular expressions count as separators, not as letters.
PROSE = re.compile(r"(?<![\w\\-])[A-Za-z]{2,}[,.:;]? +[A-Za-z]{2,}(?![\w=(-])")
QUOTED = r"'[^']*'|\"(?:[^\"\\]|\\.)*\""
OPTIONS = r"(?:\s+-{1,2}[\w-]+(?:[= ]\d+)?)*"
GREP = re.compile(rf"\bgrep{OPTIONS}(?:\s+--)?\s+({QUOTED})")
SED = re.compile(rf"\bsed{OPTIONS}\s+({QUOTED})")
AWK = re.compile(r"\bawk\b(.*)")
#: What a script of sed searches for: addresses, and the first part of `s`.
SED_SEARCHES = re.compile(r"(?:^|[;{,\s])/((?:[^/\\]|\\.)+)/|\bs([/|,#])((?:(?!\2).)+)\2")
#: What a program of awk searches for: regular expressions and compared texts.
AWK_SEARCHES = re.compile(r"(?:^|[\s({!~'])/((?:[^/\\]|\\.)+)/|[=~]=? *\"([^\"]*)\"|\bindex\([^,]*, *\"([^\"]*)\"")
#: Patterns of `case` and `[[`: *"two words"* and "two words")
CASE = re.compile(r"\*\"([^\"]*)\"|\"([^\"]*)\"\*|^\s*\"([^\"]*)\"\)|=~ *\"?([^\"\]]*)")


def of_shell(text):
    """Line numbers and patterns of a shell script."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        # A line for a shell on a board is quoted once more.
        line = line.replace("\\\"", "'").replace("'\\''", "'")
        for found in GREP.finditer(line):
            yield number, found[1][1:-1]
        # A pattern in quotes inside a quoted command.
        for found in re.finditer(rf"\bgrep{OPTIONS} '([^']*)'", line):
            yield number, found[1]
        for found in SED.finditer(line):
            for part in SED_SEARCHES.finditer(found[1][1:-1]):
                yield number, part[1] or part[3]
        for found in AWK.finditer(line):
            for part in AWK_SEARCHES.finditer(found[1]):
                yield number, next(filter(None, part.groups()), "")
        for part in CASE.finditer(line):
            yield number, next(filter(None, part.groups()), "")


def constants(node):
    """The texts in an expression."""
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


#: Functions and methods that search a text for their first argument.
SEARCHES = {"search", "match", "fullmatch", "findall", "finditer", "compile", "startswith", "endswith", "find", "index", "count",
            "partition", "rpartition", "split", "removeprefix"}


def of_python(text):
    """Line numbers and patterns of a Python script."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in SEARCHES:
                yield from ((node.lineno, text) for text in constants(node.args[0]))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
            yield from ((node.lineno, text) for text in constants(node.left))


def patterns(name, text):
    """Line numbers and patterns with prose, each once."""
    found = of_python(text) if name.endswith(".py") else of_shell(text)
    return sorted({(number, pattern) for number, pattern in found if PROSE.search(pattern)})


PLANTED = {
    "grep.sh": "grep -q 'waiting for a host' log",
    "quoted.sh": "there \"until grep 'waiting for a host' log; do sleep 1; done\"",
    "grep-e.sh": 'grep -qE "waits for the engine|other" "$2"',
    "sed.sh": "sed -n 's/.*waiting for a host at \\([0-9]*\\)$/\\1/p' log",
    "awk.sh": "awk '/spans sent/ { print $3 }' log",
    "case.sh": 'case $said in *"no process appeared"*) exit ;; esac',
    "in.py": 'assert "does not stop" in said',
    "re.py": 'found = re.search(r": (\\d+) places put back", said)',
    "count.py": 'n = log.count("spans lost")',
}
CLEAN = {
    "json.sh": 'python3 ci/agent_json.py field "$dir/summary.json" rss_bytes',
    "comment.sh": "# grep 'waiting for a host' log",
    "words.sh": "grep -c '^decode' list; sed -n 's/^ready\\t\\([0-9]*\\).*/\\1/p' calls.txt; awk '$1 == \"read\" { print $2 }' table",
    "said.py": 'fail("the agent does not listen"); assert result["spans_lost"] == 0, "spans were lost"',
}


def check_itself():
    """Every planted example is found, and nothing in what is clean."""
    for name, text in PLANTED.items():
        assert patterns(name, text), f"{name}: not found: {text}"
    for name, text in CLEAN.items():
        assert not patterns(name, text), f"{name}: found: {patterns(name, text)}"


def main(files):
    check_itself()
    listed = [line.split("\t") for line in ALLOWED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    allowed, used, bad = {(path, pattern) for path, pattern, _ in listed}, set(), []
    if not files:
        command = ["git", "ls-files", "-co", "--exclude-standard", "scripts/*.sh", "ci/*.sh", "ci/*.py", "scripts/*.py"]
        files = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in files:
        if (REPO / name) == Path(__file__).resolve():
            continue
        for number, pattern in patterns(name, (REPO / name).read_text(encoding="utf-8")):
            key = next((key for key in ((name, pattern), (name, "*")) if key in allowed), None)
            if key:
                used.add(key)
            else:
                bad.append(f"{name}:{number}: {pattern}")
    unused = [f"{path}: {pattern}" for path, pattern in sorted(allowed - used)] if len(files) > 1 else []
    for line in bad:
        print(f"a pattern with prose: {line}", file=sys.stderr)
    for line in unused:
        print(f"listed in {ALLOWED.name}, and no longer there: {line}", file=sys.stderr)
    if bad:
        print("  help: read data: --format json of the agent and of analyze (docs/agent-json.md, docs/analyze-json.md),\n"
              "        --port-file, exit statuses; list patterns for other programs with a reason", file=sys.stderr)
    return int(bool(bad or unused))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
