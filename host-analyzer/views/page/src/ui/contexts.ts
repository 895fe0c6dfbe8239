// Numbers for contexts of the engine (two models, or two conversations), instead of addresses.

import type { Str } from "../data/maybe.ts";
import { h } from "./dom.ts";
import type { Column } from "./table.ts";

interface OfContext {
  context: Str;
  pid?: number | null | undefined;
}

/** A column with the context number; empty if there is only one context. */
export function contextColumn<T extends OfContext>(rows: T[]): Column<T>[] {
  const name = (r: T): string => `${r.pid ?? ""} ${r.context ?? "none"}`;
  const names = [...new Set(rows.map(name))];
  if (names.length < 2) {
    return [];
  }
  const number = (r: T): number => names.indexOf(name(r)) + 1;
  const cell = (r: T): HTMLElement =>
    h(
      "span",
      { title: `context ${r.context ?? "unknown"}${r.pid ? ` of process ${r.pid}` : ""}` },
      String(number(r)),
    );
  return [
    {
      key: "context",
      title: "Context",
      tip: "Context of the engine, in order of appearance",
      numeric: true,
      value: number,
      cell,
    },
  ];
}
