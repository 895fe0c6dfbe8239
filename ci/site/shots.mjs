// `node shots.mjs REPORTS OUT`: pictures of the parts of reports, for docs/understand/report.md and the README. Reads `shots.json`:
// name of the picture, whose report (sample), what to unfold, and the element or the height.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [reports, out] = process.argv.slice(2);
const shots = JSON.parse(readFileSync(new URL("shots.json", import.meta.url), "utf8"));
const browser = await launch();

for (const { name, of, width, height, element, open } of shots) {
  const page = await browser.newPage({ viewport: { width, height: height ?? 900 } });
  await page.goto(pathToFileURL(join(reports, of ?? "sample", "report.html")).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  if (open) {
    // A link to a folded section opens it, as a reader does.
    await page.evaluate((hash) => {
      location.hash = hash;
    }, open);
    await page.waitForTimeout(300);
  }
  const path = join(out, `${name}.png`);
  if (element) {
    await page.locator(element).first().screenshot({ path });
  } else {
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path });
  }
  await page.close();
}
await browser.close();
