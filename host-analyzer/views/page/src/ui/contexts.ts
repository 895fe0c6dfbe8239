// Contexts of the engine (two models, or two conversations) told apart by a number instead of an address.

import type { Str } from "../data/maybe.ts";
import { h } from "./dom.ts";
import type { Column } from "./table.ts";

interface OfContext {
  context: Str;
  pid?: number | null | undefined;
}

/** A column that tells rows of several contexts apart; none when there is one context only. */
export function contextColumn<T extends OfContext>(rows: T[]): Column<T>[] {
  const name = (r: T): string => `${r.pid ?? ""} ${r.context ?? "none"}`;
  const names = [...new Set(rows.map(name))];
  if (names.length < 2) {
    return [];
  }
  const number = (r: T): number => names.indexOf(name(r)) + 1;
  const cell = (r: T): HTMLElement => h("span", { title: `context ${r.context ?? "not known"}${r.pid ? ` of process ${r.pid}` : ""}` }, String(number(r)));
  return [{ key: "context", title: "Context", tip: "Of the contexts of the engine, in order of appearance", numeric: true, value: number, cell }];
}
