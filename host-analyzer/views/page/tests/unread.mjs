// `node unread.mjs PAGE`: opens a page in a browser without DecompressionStream, with damaged data,
// and at a section, and prints the results as JSON. Exit code 2: Chromium or the packages are not
// installed.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch } from "../tools/browser.mjs";

const [file] = process.argv.slice(2);
const browser = await launch();

/** Opens the page and waits until it is drawn. `before` runs before the program of the page. */
async function open(url, before = () => {}) {
  const page = await browser.newPage();
  await page.addInitScript(before);
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  return page;
}

const url = pathToFileURL(file).href;
const warning = (page) => page.locator("p.warning").textContent();
const old = await warning(await open(url, () => delete window.DecompressionStream));

// The URL names a section that exists only after the page is drawn.
const section = await open(`${url}#probes`);
const top = await section.evaluate(
  () => document.getElementById("probes").getBoundingClientRect().top,
);
const height = await section.evaluate(() => window.innerHeight);

// Change one letter in the middle of the first data block.
const html = readFileSync(file, "utf8");
const from = html.indexOf('<script type="application/gzip"');
const at = Math.floor((from + html.indexOf("</script>", from)) / 2);
writeFileSync(file, `${html.slice(0, at)}${html[at] === "A" ? "B" : "A"}${html.slice(at + 1)}`);
const damaged = await warning(await open(url));

await browser.close();
console.log(JSON.stringify({ old, damaged, section_in_view: top >= 0 && top < height }));
