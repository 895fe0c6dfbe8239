// Reads the data embedded in the page (host-analyzer/views/src/page_data.rs): JSON, gzip, base64.

// Bidirectional control and invisible characters, which could reorder or hide text (same set as in
// host-analyzer/views/src/foreign/line.rs). The page replaces them; the JSON files keep them.
const INVISIBLE =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Selector of the data elements. */
export const DATA = 'script[type="application/gzip"]';

/** Whether this browser can read the data: Chrome 80, Firefox 113, Safari 16.4 or newer. */
export function canRead(): boolean {
  return typeof DecompressionStream !== "undefined";
}

async function inflate(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).text();
}

/** Parsed content of the element; null if it is missing or damaged. */
export async function readJson<T>(id: string): Promise<T | null> {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) {
    return null;
  }
  try {
    return JSON.parse((await inflate(text)).replace(INVISIBLE, "\ufffd")) as T;
  } catch {
    return null;
  }
}

/** The list; empty if the field is null. */
export function list<T>(value: T[] | null | undefined): T[] {
  return Array.isArray(value) ? value : [];
}
