// `node shots.mjs LIST REPORTS OUT`: pictures of the parts of reports, for the documents. LIST is a file like `shots.json`: name of the
// picture, whose report (sample), what to unfold, and the element or the height.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [list, reports, out] = process.argv.slice(2);
const shots = JSON.parse(readFileSync(list, "utf8"));
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
  // No folders of the machine that recorded it
  await page.evaluate((home) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      texts.currentNode.data = texts.currentNode.data.replaceAll(home, "~");
    }
  }, homedir());
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
