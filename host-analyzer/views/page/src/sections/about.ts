// Footer: version, and the licences of the bundled libraries.

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
      "Written by ProfInfer",
      agent ? ` from a recording of agent ${agent}` : "",
      ". The page is one file and loads nothing from the network.",
    ),
    h("p", { class: "muted" }, "Bundled libraries:"),
    ...parts,
  );
}
