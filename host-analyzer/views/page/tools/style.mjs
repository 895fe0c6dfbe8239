// Formats and lints TypeScript and scripts with Biome (biome.jsonc). With --check it changes
// nothing and fails if Biome would change a file.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { modulesDir, root } from "./modules.mjs";

const biome = join(modulesDir(), ".bin", "biome");
if (!existsSync(biome)) {
  console.error(
    `No Biome at ${biome}: run scripts/setup.sh --tests, or \`npm ci\` in host-analyzer/views/page.`,
  );
  process.exit(2);
}
const action = process.argv.includes("--check") ? ["ci"] : ["check", "--write"];
const { status } = spawnSync(biome, [...action, "--error-on-warnings", "--colors=off"], {
  cwd: root,
  stdio: "inherit",
});
if (status !== 0) {
  console.error(
    "Run `npm run format` in host-analyzer/views/page, then fix the remaining lint errors.",
  );
}
process.exit(status ?? 1);
