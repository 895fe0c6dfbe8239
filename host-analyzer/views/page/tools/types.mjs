// Type-checks the sources with the packages found by modules.mjs.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modulesDir, root } from "./modules.mjs";

const modules = modulesDir();
const dir = mkdtempSync(join(tmpdir(), "profinfer-types-"));
const config = join(dir, "tsconfig.json");
writeFileSync(
  config,
  JSON.stringify({
    extends: join(root, "tsconfig.json"),
    compilerOptions: { paths: { "*": [join(modules, "*")] } },
    include: [join(root, "src"), join(root, "tests/unit")],
  }),
);
const tsc = spawnSync(join(modules, ".bin", "tsc"), ["--noEmit", "-p", config], {
  stdio: "inherit",
});
rmSync(dir, { recursive: true });
process.exit(tsc.status ?? 1);
