// Reads the data that the analyzer put into the page (host-analyzer/views/src/page_data.rs): JSON,
// as gzip, in base64.

// Characters that turn or hide the text around them (the same as
// host-analyzer/views/src/foreign/line.rs): what is seen stands in the order in which it is seen.
// In the JSON files they stay as they are.
const TURNING =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Elements that hold data. */
export const DATA = 'script[type="application/gzip"]';

/** Whether this browser can read the data: Chrome 80, Firefox 113, Safari 16.4 and newer can. */
export function canRead(): boolean {
  return typeof DecompressionStream !== "undefined";
}

async function inflate(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).text();
}

/** The parsed content of the element; null when it is absent or damaged. */
export async function readJson<T>(id: string): Promise<T | null> {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) {
    return null;
  }
  try {
    return JSON.parse((await inflate(text)).replace(TURNING, "\ufffd")) as T;
  } catch {
    return null;
  }
}

/** The list, or an empty one where the field is null. */
export function list<T>(value: T[] | null | undefined): T[] {
  return Array.isArray(value) ? value : [];
}
