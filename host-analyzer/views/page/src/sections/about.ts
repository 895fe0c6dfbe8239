// Footer: what made the page, and the notices of the libraries inside it.

import { h } from "../ui/dom.ts";

declare const THIRD_PARTY: { name: string; version: string; license: string; text: string }[];

export function about(agent: string | null | undefined): HTMLElement {
  const parts = THIRD_PARTY.map((p) =>
    h(
      "details",
      {},
      h("summary", {}, `${p.name} ${p.version}`, h("span", { class: "muted" }, ` ${p.license}`)),
      h("pre", {}, p.text),
    ),
  );
  return h(
    "footer",
    { id: "about" },
    h(
      "p",
      {},
      "Made by ProfInfer",
      agent ? ` from a stream of agent ${agent}` : "",
      ". One file, no network: it can be mailed and archived as it is.",
    ),
    h("p", { class: "muted" }, "Libraries inside this page:"),
    ...parts,
  );
}
