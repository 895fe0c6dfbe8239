// Embeds data in the built page, like the analyzer (host-analyzer/views/src/page_data.rs).

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./modules.mjs";

/** The page with data. */
export function page(data) {
  const blocks = Object.entries(data)
    .map(
      ([id, value]) =>
        `<script type="application/gzip" id="${id}">${gzipSync(JSON.stringify(value)).toString("base64")}</script>`,
    )
    .join("\n");
  return readFileSync(join(root, "dist/report.html"), "utf8").replace(
    "<!--profinfer:data-->",
    () => blocks,
  );
}
