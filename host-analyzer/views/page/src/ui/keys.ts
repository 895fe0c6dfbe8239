// The keys of the page, in a list that `?` opens.

import { h } from "./dom.ts";

const KEYS: [string, [string, string][]][] = [
  [
    "Page",
    [
      ["?", "this list"],
      ["Tab", "next link, table or drawing"],
      ["← →", "a focused table scrolls"],
      ["Esc", "close the list"],
    ],
  ],
  [
    "Timeline",
    [
      ["← →", "pan"],
      ["+ −", "zoom"],
      ["0", "show everything"],
    ],
  ],
  [
    "Operator graph",
    [
      ["← ↑ ↓ →", "pan"],
      ["+ −", "zoom"],
      ["0", "show everything"],
      [", .", "previous and next node"],
      ["Enter", "unfold a box, or fold the part around a node"],
    ],
  ],
  ["Experts", [["← ↑ ↓ →", "next cell"]]],
];

/** A button that opens the list; so does `?`, unless a text is being typed. */
export function keysButton(): HTMLElement {
  const list = h(
    "dialog",
    { class: "key-list", "aria-label": "Keys" },
    ...KEYS.flatMap(([where, rows]) => [
      h("h3", {}, where),
      h(
        "dl",
        {},
        ...rows.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
      ),
    ]),
    h("form", { method: "dialog" }, h("button", { class: "quiet" }, "Close")),
  ) as HTMLDialogElement;
  const open = () => {
    if (!list.open) {
      list.showModal();
    }
  };
  document.addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLElement && e.target.matches("input, textarea, select");
    if (e.key === "?" && !typing) {
      open();
    }
  });
  return h(
    "span",
    { class: "page-keys" },
    h(
      "button",
      {
        type: "button",
        class: "quiet",
        title: "Keys (?)",
        "aria-label": "Keys",
        on: { click: open },
      },
      "?",
    ),
    list,
  );
}
