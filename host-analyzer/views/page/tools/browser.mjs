// Starts the installed Chromium, headless and without background traffic.

import { existsSync } from "node:fs";
import { load } from "./modules.mjs";

const PLACES = [
  process.env.PROFINFER_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].filter(Boolean);

export async function launch() {
  const executablePath = PLACES.find((p) => existsSync(p));
  if (!executablePath) {
    console.error(
      `No Chromium at ${PLACES.join(", ")}: set PROFINFER_CHROMIUM, or run scripts/setup.sh --tests.`,
    );
    process.exit(2);
  }
  const { chromium } = await load("playwright-core");
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
