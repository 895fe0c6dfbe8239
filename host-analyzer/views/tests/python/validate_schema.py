#!/usr/bin/env python3
"""validate_schema.py SCHEMA FILE...

Validates files against a JSON Schema, and checks that the schema refuses what is wrong: every key of the files that is left out, and
every value of another type, once for each place in the schema.
"""

import copy
import json
import sys

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

# Keys that may be absent.
OPTIONAL = {
    "findings.found.*.evidence.*.per",
    "findings.noisy.*.evidence.*.per",
    "findings.not_known.*.missing.*.name",
    "findings.ruled_out.*.evidence.*.per",
}


def short(value):
    """The value with two elements of each list, which are enough to be wrong in."""
    if isinstance(value, list):
        return [short(v) for v in value[:2]]
    if isinstance(value, dict):
        return {k: short(v) for k, v in value.items()}
    return value


def places(value, path=()):
    """Every key, with the place in the schema that it is at."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + (key,)
            yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from places(inner, path + (i,))


def check(schema, files):
    validator = Draft202012Validator(schema)
    Draft202012Validator.check_schema(schema)
    seen = set()
    for name in files:
        with open(name, encoding="utf-8") as file:
            document = json.load(file)
        error = best_match(validator.iter_errors(document))
        if error:
            sys.exit(f"{name}: {error.json_path}: {error.message[:300]}")
        for path in list(places(short(document))):
            place = ".".join("*" if isinstance(p, int) else p for p in path)
            if place in seen:
                continue
            seen.add(place)
            # Only what is around the key is checked again: the part of the document below its first key.
            part = short({path[0]: document[path[0]]})
            around = {"$defs": schema["$defs"], "required": [path[0]], "properties": {path[0]: schema["properties"][path[0]]}}
            checker = Draft202012Validator(around)
            for wrong in ("absent", "of another type"):
                damaged = copy.deepcopy(part)
                holder = damaged
                for p in path[:-1]:
                    holder = holder[p]
                if wrong == "absent":
                    if place in OPTIONAL:
                        continue
                    del holder[path[-1]]
                else:
                    holder[path[-1]] = {"x": [{}]}
                if checker.is_valid(damaged):
                    sys.exit(f"{name}: not noticed: {place} {wrong}")
    return len(seen)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    print(f"{check(schema, sys.argv[2:])} places")


if __name__ == "__main__":
    main()
