// `node search.mjs HTML-DIR`: opens the site as a reader does, without a server. Each page must load
// without an error, the search must find the page of each word, and the sample report must open.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

/** A word, and the page that must be among the first results. */
const WORDS = [
  ["background program", "cases/background-program.html"],
  ["preempted", "findings.html"],
  ["serial console", "cookbook/serial-console.html"],
  ["rk3588", "start/rk3588.html"],
  ["TTFT", "glossary.html"],
  ["root", "faq.html"],
];

const site = process.argv[2];
const browser = await launch();
const wrong = [];

async function open(name, query = "") {
  const page = await browser.newPage();
  page.on("pageerror", (e) => wrong.push(`${name}: ${e.message}`));
  page.on("requestfailed", (r) => wrong.push(`${name}: not loaded: ${r.url()}`));
  await page.goto(pathToFileURL(join(site, name)).href + query);
  return page;
}

for (const [word, expected] of WORDS) {
  const page = await open("index.html", `?search=${encodeURIComponent(word)}`);
  const results = page.locator("#mdbook-searchresults a");
  try {
    await results.first().waitFor({ timeout: 20000 });
    const found = await results.evaluateAll((links) => links.map((a) => a.getAttribute("href")));
    if (!found.some((href) => href.includes(expected))) {
      wrong.push(`search for "${word}": no ${expected} among ${found.length} results`);
    }
  } catch {
    wrong.push(`search for "${word}": no result`);
  }
  await page.close();
}

const page = await open("index.html");
await page.locator('a[href="sample/report.html"]').first().click();
try {
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true", null, {
    timeout: 20000,
  });
} catch {
  wrong.push("the sample report does not open from the first page");
}
await browser.close();
for (const line of wrong) {
  console.error(line);
}
process.exit(wrong.length > 0 ? 1 : 0);
