// Reads the JSON that the analyzer put into the page.

import { unpack } from "./unpack.ts";

// Characters that turn or hide the text around them (the same as host-analyzer/views/src/foreign/line.rs): what is seen stands in the
// order in which it is seen. In the JSON files they stay as they are.
const TURNING = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** The parsed content of `<script type="application/json" id="...">`; null when absent or not JSON. */
export function readJson<T>(id: string): T | null {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) {
    return null;
  }
  try {
    return unpack(JSON.parse(text.replace(TURNING, "\ufffd"))) as T;
  } catch {
    return null;
  }
}

/** The list, or an empty one where the field is null. */
export function list<T>(value: T[] | null | undefined): T[] {
  return Array.isArray(value) ? value : [];
}
