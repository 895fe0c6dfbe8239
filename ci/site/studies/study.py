"""The case studies: their texts (studies.toml) and their data (data/CASE.json)."""

import json
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[2]
KEYS = {"case", "page", "title", "symptom", "planted", "meaning", "remedy", "tried"}
#: How the ladder of a question begins on the terminal.
LADDERS = {"decode": "decode:", "prompt": "prompt:", "first_token": "first ", "start_up": "start-up:"}


def all_studies():
    """Texts, in the order of the book."""
    with open(HERE / "studies.toml", "rb") as file:
        studies = tomllib.load(file)["study"]
    for one in studies:
        if set(one) != KEYS:
            raise ValueError(f"{one.get('case')}: wrong keys {sorted(set(one) ^ KEYS)}")
    return studies


def data_file(case):
    return HERE / "data" / f"{case}.json"


def data(case):
    """None if no battery supported it yet."""
    file = data_file(case)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
