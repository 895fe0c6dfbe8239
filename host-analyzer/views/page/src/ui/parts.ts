// Building blocks of sections.

import { h, type Child } from "./dom.ts";
import { percent } from "./format.ts";
import type { Num } from "../data/maybe.ts";

/** A section with its heading and introduction. */
export function section(id: string, title: string, lead: Child, ...children: Child[]): HTMLElement {
  const head = h(
    "header",
    {},
    h("h2", { id: `${id}-title` }, title),
    lead ? h("p", { class: "lead" }, lead) : null,
  );
  return h("section", { id, "aria-labelledby": `${id}-title` }, head, ...children);
}

/** A framed block with a small heading. */
export function panel(title: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "panel" }, title ? h("h3", {}, title) : null, ...children);
}

/** A bar from 0 to 1 with its figure. */
export function shareBar(share: Num, colour: string): HTMLElement {
  const width = Math.max(0, Math.min(1, share ?? 0)) * 100;
  const fill = h("span", { class: "fill" });
  fill.style.width = `${width}%`;
  fill.style.background = colour;
  return h(
    "span",
    { class: "share" },
    h("span", { class: "track" }, fill),
    h("span", { class: "num" }, percent(share)),
  );
}

/** A group of buttons, one of which is pressed. */
export function choice(
  label: string,
  names: string[],
  pick: (index: number) => void,
  first = 0,
): HTMLElement {
  const buttons = names.map((name, i) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(i === first), on: { click: () => set(i) } },
      name,
    ),
  );
  function set(index: number): void {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(i === index)));
    pick(index);
  }
  return h("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

/** A line that explains why data is missing. */
export function absent(text: string): HTMLElement {
  return h("p", { class: "absent" }, text);
}

/** Coloured square for legends. */
export function swatch(colour: string): HTMLElement {
  const box = h("span", { class: "swatch", "aria-hidden": "true" });
  box.style.background = colour;
  return box;
}
