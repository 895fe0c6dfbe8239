// Lists of objects that the analyzer packed into columns (host-analyzer/views/src/report/pack.rs), as lists again.

interface Packed {
  "~": number;
  c: Record<string, Column>;
}

type Column = unknown[] | { "=": unknown } | { t: Packed; l?: number[] } | { d: string[]; i: number[] };

function values(column: Column, n: number): unknown[] {
  if (Array.isArray(column)) {
    return column;
  }
  if ("=" in column) {
    return new Array<unknown>(n).fill(column["="]);
  }
  if ("d" in column) {
    return column.i.map((at) => column.d[at]);
  }
  const all = rows(column.t);
  let at = 0;
  return column.l ? column.l.map((length) => all.slice(at, (at += length))) : all;
}

function rows({ "~": n, c }: Packed): Record<string, unknown>[] {
  const out: Record<string, unknown>[] = Array.from({ length: n }, () => ({}));
  for (const [name, column] of Object.entries(c)) {
    values(column, n).forEach((value, i) => (out[i]![name] = value));
  }
  return out;
}

/** The value, with every list in it as it was. */
export function unpack(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(unpack);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return "~" in value ? rows(value as Packed) : Object.fromEntries(Object.entries(value).map(([k, v]) => [k, unpack(v)]));
}
