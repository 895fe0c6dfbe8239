// Links to sections that this recording has nothing for: they go.

/** Removes links to places that are not in the page, and the words around links that are all gone. */
export function liveLinks(root: HTMLElement): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
    if (document.getElementById(link.hash.slice(1)) === null) {
      link.remove();
    }
  }
  for (const words of root.querySelectorAll(".shown-in")) {
    if (words.querySelector("a") === null) {
      words.remove();
    }
  }
}
