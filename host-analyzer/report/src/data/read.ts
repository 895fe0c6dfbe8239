// Reads the JSON that the analyzer put into the page.

import { unpack } from "./unpack.ts";

/** The parsed content of `<script type="application/json" id="...">`; null when absent or not JSON. */
export function readJson<T>(id: string): T | null {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) {
    return null;
  }
  try {
    return unpack(JSON.parse(text)) as T;
  } catch {
    return null;
  }
}

/** The list, or an empty one where the field is null. */
export function list<T>(value: T[] | null | undefined): T[] {
  return Array.isArray(value) ? value : [];
}
