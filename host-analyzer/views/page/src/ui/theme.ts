// Light and dark: values that a canvas or a chart needs from the style sheet, and news of a change.

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** The dark scheme is in use. */
export function isDark(): boolean {
  return dark.matches;
}

/** The value of a custom property of the page. */
export function cssVar(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Calls back whenever the scheme changes. */
export function onTheme(changed: () => void): void {
  dark.addEventListener("change", changed);
}
