// From a part of the model to its operators: the table of operators shows what a link asks for.

import { h } from "./dom.ts";

/** Which operators are wanted: of a phase, and what the filter then says. */
export interface Wanted {
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
      title: "Shows its operators",
      data: { filter: wanted.filter },
      on: { click: show },
    },
    text,
  );
}

export function onPart(act: (wanted: Wanted) => void): void {
  document.addEventListener(EVENT, (e) => act((e as CustomEvent<Wanted>).detail));
}
