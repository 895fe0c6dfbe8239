// Links from a token to its place in the timeline.

import { h } from "./dom.ts";

/** Part of the recording, ns from session start. */
interface Span {
  start_ns: number;
  time_ns: number;
}

const EVENT = "profinfer-time";

export function timeLink(text: string, span: Span, tip?: string): HTMLElement {
  const show = (): void =>
    void document.dispatchEvent(new CustomEvent<Span>(EVENT, { detail: span }));
  return h("a", { href: "#proftime", class: "to-time", title: tip, on: { click: show } }, text);
}

export function onTime(act: (span: Span) => void): void {
  document.addEventListener(EVENT, (e) => act((e as CustomEvent<Span>).detail));
}
