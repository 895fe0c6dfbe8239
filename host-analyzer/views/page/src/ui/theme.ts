// Light and dark scheme: values from the style sheet for canvases and charts, and change events.

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** Whether the dark scheme is active. */
export function isDark(): boolean {
  return dark.matches;
}

/** Value of a CSS custom property. */
export function cssVar(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls `changed` whenever the scheme changes. */
export function onTheme(changed: () => void): void {
  dark.addEventListener("change", changed);
}
