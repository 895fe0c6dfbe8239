// Links to sections, some of which may be missing from the page.

import { h } from "./dom.ts";

/** A link to the first of these sections that exists; plain text if none does. */
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
 * Redirects links to missing sections: to an alternative section if there is one, otherwise the
 * link is removed. Text around links (`.shown-in`) is removed with its last link.
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
