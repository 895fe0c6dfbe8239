// Links to sections. Some sections are not there, since a recording may have nothing for them.

import { h } from "./dom.ts";

/** A link to the first of these sections that the page has; its text stays where it has none. */
export function evidenceLink(sections: string[], text: string, tip?: string): HTMLElement {
  return h(
    "a",
    {
      class: "evidence",
      href: `#${sections[0]}`,
      title: tip,
      data: { sections: sections.join(" ") },
    },
    text,
  );
}

function there(id: string): boolean {
  return document.getElementById(id) !== null;
}

/**
 * Leads links to places that are in the page: to another one that shows the same, or they go, and
 * the words around links that are all gone.
 */
export function liveLinks(root: HTMLElement): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
    if (there(link.hash.slice(1))) {
      continue;
    }
    const other = link.dataset.sections?.split(" ").find(there);
    if (other) {
      link.hash = other;
    } else if (link.dataset.sections) {
      link.replaceWith(...link.childNodes);
    } else {
      link.remove();
    }
  }
  for (const words of root.querySelectorAll(".shown-in")) {
    if (words.querySelector("a") === null) {
      words.remove();
    }
  }
}
