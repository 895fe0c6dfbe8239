// Folded groups of sections below the first screen. A link to a section opens its group.

import { h } from "./dom.ts";

/** A group; null if none of its sections has content. */
export function group(
  id: string,
  title: string,
  content: string,
  sections: (HTMLElement | null)[],
): HTMLElement | null {
  const shown = sections.filter((s) => s !== null);
  return shown.length === 0
    ? null
    : h(
        "details",
        { class: "group", id },
        h("summary", {}, h("h2", {}, title), h("span", { class: "muted" }, content)),
        ...shown,
      );
}

/** Opens what hides the element, and scrolls to it. */
export function reveal(element: Element | null): void {
  for (let at = element; at; at = at.parentElement) {
    if (at instanceof HTMLDetailsElement) {
      at.open = true;
    }
  }
  element?.scrollIntoView();
}

/** Follows links to sections that are folded. */
export function openFolded(root: HTMLElement): void {
  root.addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest('a[href^="#"]') : null;
    if (link instanceof HTMLAnchorElement) {
      // Before the browser looks for the target.
      reveal(document.getElementById(link.hash.slice(1)));
    }
  });
  window.addEventListener("hashchange", () =>
    reveal(document.getElementById(location.hash.slice(1))),
  );
}
