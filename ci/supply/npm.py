"""npm.py LOCKFILE: licences and locked versions of the npm packages that build the report's page, and of those inside it.

Every package is of one version from the npm registry with its checksum, and of a licence that may be linked into a product (`A OR B`: one
of them is).
"""

import json
import sys

ALLOWED = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

with open(sys.argv[1], encoding="utf-8") as f:
    packages = json.load(f)["packages"]

wrong = []
inside = 0
for path, package in packages.items():
    if not path:  # the page itself: every dependency of one version, no range
        for kind in ("dependencies", "devDependencies"):
            wrong += [f"{name}: '{v}' is a range, not a version" for name, v in package.get(kind, {}).items() if not v[0].isdigit()]
        continue
    name = path.removeprefix("node_modules/")
    inside += not package.get("dev", False)
    if ALLOWED.isdisjoint(str(package.get("license")).split(" OR ")):
        wrong.append(f"{name}: licence {package.get('license')} is not one of {', '.join(sorted(ALLOWED))}")
    if "integrity" not in package or "version" not in package:
        wrong.append(f"{name}: without version and checksum")
    if not package.get("resolved", "https://registry.npmjs.org/").startswith("https://registry.npmjs.org/"):
        wrong.append(f"{name}: comes from {package['resolved']}")
for line in wrong:
    print(f"error: npm: {line}", file=sys.stderr)
print(f"npm packages: {len(packages) - 1} locked, {inside} of them inside the page; {len(wrong)} refused")
sys.exit(1 if wrong else 0)
