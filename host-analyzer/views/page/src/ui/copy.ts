// A command with a button that copies it.

import { h } from "./dom.ts";

function copy(text: string, code: HTMLElement, button: HTMLElement): void {
  const done = (): void => {
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 1500);
  };
  // Not available in pages that are opened from a folder in some browsers: select the text instead.
  const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
  written.then(done, () => getSelection()?.selectAllChildren(code));
}

export function copyable(text: string): HTMLElement {
  const code = h("code", {}, text);
  const button = h("button", { type: "button", class: "copy" }, "copy");
  button.addEventListener("click", () => copy(text, code, button));
  return h("span", { class: "copyable" }, code, button);
}
