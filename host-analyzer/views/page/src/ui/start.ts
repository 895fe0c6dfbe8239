// Start of both pages: reads the embedded data, draws it, and sets `data-ready`.

import { canRead, DATA } from "../data/read.ts";
import { h } from "./dom.ts";
import { openFolded, reveal } from "./groups.ts";
import { liveLinks } from "./links.ts";

/** Name of the data, and the command that writes the page; for messages. */
interface About {
  data: string;
  command: string;
}

async function content(
  { data, command }: About,
  draw: () => Promise<HTMLElement[] | null>,
): Promise<HTMLElement[] | string> {
  if (!canRead()) {
    return "This browser cannot read the data on this page, because it has no DecompressionStream. Use Chrome 80, Firefox 113, Safari 16.4 or newer.";
  }
  try {
    return (
      (await draw()) ??
      `The ${data} on this page is missing or damaged. Write the page again with ${command}.`
    );
  } catch (error) {
    console.error(error);
    return `Could not draw the page: ${String(error)}.`;
  }
}

/** Fills the body with the result of `draw`, which returns null for missing or damaged data. */
export async function start(
  about: About,
  draw: () => Promise<HTMLElement[] | null>,
): Promise<void> {
  const found = await content(about, draw);
  const elements = typeof found === "string" ? [h("p", { class: "warning" }, found)] : found;
  // Keep the data elements, so that a page saved from the browser can be opened again.
  document.body.replaceChildren(...document.body.querySelectorAll(DATA), ...elements);
  liveLinks(document.body);
  openFolded(document.body);
  // The target of the URL fragment did not exist when the browser looked for it.
  reveal(document.getElementById(location.hash.slice(1)));
  document.documentElement.dataset.ready = "true";
}
