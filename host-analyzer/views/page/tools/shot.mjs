// `node tools/shot.mjs PAGE OUT.png [--dark] [--width N] [--at SELECTOR | --from Y --tall N]
// [--do SCRIPT]`: takes a screenshot of a report.

import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const args = process.argv.slice(2);
const value = (name, otherwise) => (args.includes(name) ? args[args.indexOf(name) + 1] : otherwise);
const [file, out] = args;
const browser = await launch();
const context = await browser.newContext({
  viewport: { width: Number(value("--width", 1280)), height: Number(value("--height", 900)) },
  colorScheme: args.includes("--dark") ? "dark" : "light",
});
const page = await context.newPage();
page.on("console", (m) => console.log(`${m.type()}: ${m.text()}`));
page.on("pageerror", (e) => console.log(`error: ${e.stack}`));
await page.goto(pathToFileURL(file).href);
await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
await page.waitForTimeout(400);
for (const step of args.flatMap((a, i) => (a === "--do" ? [args[i + 1]] : []))) {
  await page.evaluate(step);
  await page.waitForTimeout(200);
}
const at = value("--at", null);
const clip = args.includes("--from")
  ? {
      x: 0,
      y: Number(value("--from")),
      width: page.viewportSize().width,
      height: Number(value("--tall", 1100)),
    }
  : undefined;
await (at ? page.locator(at) : page).screenshot({
  path: out,
  ...(at ? {} : { fullPage: true, clip }),
});
await browser.close();
