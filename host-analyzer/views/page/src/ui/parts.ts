// Small parts that several sections use.

import { h, type Child } from "./dom.ts";
import { percent } from "./format.ts";
import type { Num } from "../data/maybe.ts";

/** A section of the page with its heading. */
export function section(id: string, title: string, lead: Child, ...children: Child[]): HTMLElement {
  const head = h("header", {}, h("h2", { id: `${id}-title` }, title), lead ? h("p", { class: "lead" }, lead) : null);
  return h("section", { id, "aria-labelledby": `${id}-title` }, head, ...children);
}

/** A framed block with its own small heading. */
export function panel(title: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "panel" }, title ? h("h3", {}, title) : null, ...children);
}

/** A bar from 0 to 1 with its figure. */
export function shareBar(share: Num, colour: string): HTMLElement {
  const width = Math.max(0, Math.min(1, share ?? 0)) * 100;
  const fill = h("span", { class: "fill" });
  fill.style.width = `${width}%`;
  fill.style.background = colour;
  return h("span", { class: "share" }, h("span", { class: "track" }, fill), h("span", { class: "num" }, percent(share)));
}

/** Choice between a few things, one of them in force. */
export function choice(label: string, names: string[], pick: (index: number) => void, first = 0): HTMLElement {
  const buttons = names.map((name, i) =>
    h("button", { type: "button", "aria-pressed": String(i === first), on: { click: () => set(i) } }, name),
  );
  function set(index: number): void {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === index)));
    pick(index);
  }
  return h("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

/** A line that says why something is not there. */
export function absent(text: string): HTMLElement {
  return h("p", { class: "absent" }, text);
}

/** Square of a colour for legends. */
export function swatch(colour: string): HTMLElement {
  const box = h("span", { class: "swatch", "aria-hidden": "true" });
  box.style.background = colour;
  return box;
}
