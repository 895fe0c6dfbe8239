// `node compare.mjs PAGE`: opens a comparison in headless Chromium, light and dark, wide and
// narrow, and prints its content and all errors as JSON. Exit code 2: Chromium or the packages are
// not installed.

import { pathToFileURL } from "node:url";
import { launch } from "../tools/browser.mjs";

const [file] = process.argv.slice(2);
const browser = await launch();
const problems = [];
const requests = [];
let shown = null;
for (const options of [
  { viewport: { width: 1280, height: 900 } },
  { viewport: { width: 390, height: 800 }, colorScheme: "dark" },
]) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on(
    "console",
    (m) => ["error", "warning"].includes(m.type()) && problems.push(`${m.type()}: ${m.text()}`),
  );
  page.on("pageerror", (e) => problems.push(`uncaught: ${e.message}`));
  page.on("request", (r) => requests.push(r.url()));
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
  const more = page.locator("button.more:visible");
  while ((await more.count()) > 0) {
    await more.first().click();
  }
  const seen = await page.evaluate(() => {
    const tables = {};
    for (const t of document.querySelectorAll("[data-table]")) {
      tables[t.dataset.table] = [...t.querySelectorAll("tbody tr:not(.none)")].map((row) =>
        Object.fromEntries([...row.children].map((cell) => [cell.dataset.key, cell.dataset.value])),
      );
    }
    const value = (key) => document.querySelector(`[data-key="${key}"]`)?.dataset.value ?? null;
    return {
      title: document.title,
      code: value("verdict.code"),
      sentence: document.querySelector("h1")?.textContent ?? null,
      differs: [...document.querySelectorAll("[data-gate]")].map((e) => e.textContent),
      notes: [...document.querySelectorAll("[data-note]")].map((e) => e.dataset.note),
      dots: [...document.querySelectorAll("[data-run]")].map((e) => ({
        run: Number(e.dataset.run),
        mean: Number(e.dataset.mean),
        x: Number(e.getAttribute("cx")),
      })),
      interval: document.querySelector("svg.interval") !== null,
      wider: document.documentElement.scrollWidth > document.documentElement.clientWidth,
      hostile: window.__hostile ?? null,
      tables,
    };
  });
  shown ??= seen;
  if (seen.wider) {
    problems.push(`the page is wider than ${options.viewport.width} pixels`);
  }
  await context.close();
}
await browser.close();
console.log(
  JSON.stringify({
    ...shown,
    problems,
    requests: requests.filter((r) => !r.startsWith("file:") && !r.startsWith("data:")),
  }),
);
