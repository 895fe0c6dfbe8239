// `node tools/unit.mjs [NAME...]`: runs the tests in tests/unit, or only the named files, with
// Node's test runner. Node 20 cannot run TypeScript, so esbuild compiles the tests first.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, modulesDir, root } from "./modules.mjs";

const names = process.argv.slice(2).filter((name) => !name.startsWith("--"));
const files = readdirSync(join(root, "tests/unit"))
  .filter((file) => file.endsWith(".test.ts"))
  .filter((file) => names.length === 0 || names.includes(file.replace(".test.ts", "")));
const esbuild = await load("esbuild");
const dir = mkdtempSync(join(tmpdir(), "profinfer-unit-"));
try {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: files.map((file) => join("tests/unit", file)),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node18",
    sourcemap: "inline",
    nodePaths: [modulesDir()],
    outdir: dir,
    outExtension: { ".js": ".mjs" },
    logLevel: "error",
  });
  const built = files.map((file) => join(dir, file.replace(/\.ts$/, ".mjs")));
  const run = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...built], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(dir, { recursive: true });
}
