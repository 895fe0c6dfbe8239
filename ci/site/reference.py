"""Pages that are made from other files: the command lines from the snapshots of --help that tests compare with the programs, and
the shipped board profiles."""

import tomllib

#: A snapshot begins with the summary of `-h`; the text of `--help` follows.
BREAK = "\n=====\n"


def help_text(snapshot):
    """The text of --help in a snapshot."""
    body = snapshot.split("\n---\n", 1)[1]
    return "\n".join(line.rstrip() for line in body.split(BREAK, 1)[-1].strip("\n").splitlines())


def command_name(stem, prefix):
    """`wording__help-analyze-export-ftrace` → `analyze export ftrace`, with the words of a command that has a hyphen kept together."""
    words = stem.removeprefix(f"wording__help-{prefix}").lstrip("-")
    words = words.replace("export-expert-pins", "export expert-pins").replace("export-ftrace", "export ftrace")
    return words


def command_page(title, lead, program, texts):
    """One page with a section per command. `texts`: help by command name, `` for the program itself."""
    parts = [f"# {title}", lead]
    for name in sorted(texts):
        command = f"{program} {name}".strip()
        parts.append(f"## {command}\n\n```text\n{texts[name]}\n```")
    return "\n\n".join(parts) + "\n"


def gigabytes(n):
    return f"{n / 1e9:.1f} GB/s"


def board_section(board):
    """One board profile."""
    rows = [f"## {board['name']}", board["description"] + ".", ""]
    if board.get("models"):
        rows.append(f"* Recognised by: {', '.join(board['models'])}")
    if board.get("aliases"):
        rows.append(f"* Other names for `--board`: {', '.join(board['aliases'])}")
    for cluster in board.get("clusters", []):
        clock = f", {cluster['max_khz'] / 1e6:g} GHz" if "max_khz" in cluster else ""
        rows.append(f"* CPUs {cluster['cpus']}: {cluster['core']}{clock}")
    memory = board.get("memory", {})
    if memory:
        peak = memory.get("theoretical_bytes_per_second")
        rows.append(f"* Memory: {memory.get('type', 'unknown')}" + (f", {gigabytes(peak)} in theory" if peak else ""))
        for one in memory.get("measured", []):
            rows.append(f"* Measured: {gigabytes(one['bytes_per_second'])}, {one['how']} ({one['provenance']})")
    for sensor in board.get("uncore", []):
        rows.append(f"* Sensor: {sensor['name']}")
    if board.get("backends"):
        rows.append(f"* Backends: {', '.join(board['backends'])}")
    for note in board.get("notes", []):
        rows.append(f"* {note['text']} ({note['provenance']})")
    return "\n".join(rows)


def boards_page(texts):
    """All shipped profiles. `texts`: their TOML."""
    boards = sorted((tomllib.loads(text) for text in texts), key=lambda board: board["name"])
    lead = "The profiles that `analyze boards` lists, made from `boards/*.toml`. [Board profiles](../board-profiles.md) describes the format and how to add one."
    return "\n\n".join(["# Shipped board profiles", lead, *map(board_section, boards)]) + "\n"


def pages(repo):
    """Made pages by their place in the site."""
    out = {}
    for page, program, prefix, folder in (
        ("reference/analyze.md", "analyze", "analyze", "host-analyzer/analyze/tests/snapshots"),
        ("reference/agent.md", "profinfer-agent", "agent", "agent-static/tests/snapshots"),
    ):
        files = sorted((repo / folder).glob(f"wording__help-{prefix}*.snap"))
        texts = {command_name(file.stem, prefix): help_text(file.read_text(encoding="utf-8")) for file in files}
        lead = f"The output of `{program} --help` and of its commands. `{program} -h` prints a line per option."
        out[page] = command_page(f"Command line of {program}", lead, program, texts)
    out["reference/boards.md"] = boards_page(file.read_text(encoding="utf-8") for file in (repo / "boards").glob("*.toml") if file.name != "Cargo.toml")
    return out
