// `node tools/unit.mjs [NAME...]`: the tests in tests/unit, by Node's own runner; with names only
// those of these files. Node 20 reads no TypeScript, so that esbuild turns them into JavaScript
// first.

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
