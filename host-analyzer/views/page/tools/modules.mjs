// Finds the npm packages: in PROFINFER_NODE_MODULES, next to package.json, or in the cache, in this
// order. Nothing is written to the clone unless someone runs npm there.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const cache = process.env.PROFINFER_CACHE ?? join(homedir(), ".cache", "profinfer");
const places = [
  process.env.PROFINFER_NODE_MODULES,
  join(root, "node_modules"),
  join(cache, "report", "node_modules"),
].filter(Boolean);

/** Folder of the packages. Exits with an instruction if there is none. */
export function modulesDir() {
  const found = places.find((p) => existsSync(join(p, "esbuild")));
  if (!found) {
    console.error(
      `The npm packages of the page are not installed. Searched in\n  ${places.join("\n  ")}`,
    );
    console.error("Run scripts/setup.sh --tests, or `npm ci` in host-analyzer/views/page.");
    process.exit(2);
  }
  return found;
}

/** Imports one of these packages. */
export async function load(name) {
  const resolve = createRequire(join(modulesDir(), "_.js")).resolve;
  const module = await import(pathToFileURL(resolve(name)).href);
  return module.default ?? module;
}
