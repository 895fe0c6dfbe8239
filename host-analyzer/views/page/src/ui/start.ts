// What both pages do with the data inside them: read it, draw it, and mark when that is done.

import { canRead, DATA } from "../data/read.ts";
import { h } from "./dom.ts";
import { liveLinks } from "./links.ts";

/** What a page is about, and the command that writes it: for messages. */
export interface About {
  data: string;
  command: string;
}

async function content(
  { data, command }: About,
  draw: () => Promise<HTMLElement[] | null>,
): Promise<HTMLElement[] | string> {
  if (!canRead()) {
    return "This browser cannot read the data in this page: it has no DecompressionStream. Chrome 80, Firefox 113, Safari 16.4 and newer have it.";
  }
  try {
    return (
      (await draw()) ??
      `This page holds no ${data}, or a damaged one: write it again with ${command}.`
    );
  } catch (error) {
    console.error(error);
    return `The page could not be drawn: ${String(error)}.`;
  }
}

/** Fills the body with what `draw` makes; it makes null of damaged data. */
export async function start(
  about: About,
  draw: () => Promise<HTMLElement[] | null>,
): Promise<void> {
  const found = await content(about, draw);
  const elements = typeof found === "string" ? [h("p", { class: "warning" }, found)] : found;
  // The data stays, so that a page that is saved from the browser can be opened again.
  document.body.replaceChildren(...document.body.querySelectorAll(DATA), ...elements);
  liveLinks(document.body);
  // The section that the address names was not there yet when the browser looked for it.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  document.documentElement.dataset.ready = "true";
}
