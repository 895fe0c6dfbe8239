// Links from a part of the model to its rows in the operator table.

import { h } from "./dom.ts";

/** Selection in the operator table: phase and filter text. */
interface Wanted {
  phase: string;
  filter: string;
}

const EVENT = "profinfer-part";

export function partLink(text: string, wanted: Wanted): HTMLElement {
  const show = (): void =>
    void document.dispatchEvent(new CustomEvent<Wanted>(EVENT, { detail: wanted }));
  return h(
    "a",
    {
      href: "#operators",
      title: "List its operators",
      data: { filter: wanted.filter },
      on: { click: show },
    },
    text,
  );
}

export function onPart(act: (wanted: Wanted) => void): void {
  document.addEventListener(EVENT, (e) => act((e as CustomEvent<Wanted>).detail));
}
