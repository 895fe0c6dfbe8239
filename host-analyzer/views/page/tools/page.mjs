// Puts data into the built page, as the analyzer does (host-analyzer/views/src/report.rs).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./modules.mjs";

/** The page with data; `<` cannot occur in the embedded JSON, so nothing in it can end its element. */
export function page(data) {
  const blocks = Object.entries(data)
    .map(([id, value]) => `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>`)
    .join("\n");
  return readFileSync(join(root, "dist/report.html"), "utf8").replace("<!--profinfer:data-->", () => blocks);
}
