// `npm run dev -- DIR [LISTING]`: builds the page and writes sample reports to DIR: a perfect
// recording, one with losses, an empty one. LISTING is an alternative output of the nodes driver.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sample } from "../fixtures/make.mjs";
import { page } from "./page.mjs";

await import("./build.mjs");
const [dir, listing] = process.argv.slice(2).filter((a) => !a.startsWith("--"));
if (!dir) {
  console.error("usage: npm run dev -- DIR [LISTING]");
  process.exit(2);
}
mkdirSync(dir, { recursive: true });
const perfect = sample(listing ? { listing } : {});
const lossy = structuredClone(perfect);
Object.assign(lossy.summary.health, {
  perfect: false,
  lines: [
    "dropped: 1 204 of 16 384 operator spans, the ring buffer was full: record fewer levels or a larger --ring",
    "damaged: 3 frames with a wrong checksum: the link flips bits; use TCP, or a lower serial rate",
    "cut short: the recording has no end; the link closed or the agent was killed",
  ],
  damaged: [{ kind: "checksum mismatch", count: 3, bytes: 1022, first_offset: 88131 }],
  cut_short: true,
  end_reason: null,
});
Object.assign(lossy.summary.health.dropped, { spans: 1204, ring_full: 1204 });
const pages = {
  perfect,
  lossy,
  empty: { summary: { schema: 2 }, dag: { schema: 2, graphs: [] } },
};
for (const [name, data] of Object.entries(pages)) {
  writeFileSync(join(dir, `${name}.html`), page(data));
  console.log(join(dir, `${name}.html`));
}
