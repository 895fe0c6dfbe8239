// A sortable table. Every cell has its field name and exact value in `data-key` and `data-value`.

import { h, type Child } from "./dom.ts";
import { plural } from "./format.ts";

type Raw = string | number | boolean | null | undefined;

export interface Column<T> {
  key: string;
  title: string;
  tip?: string;
  /** Right-aligned, and sorted descending first. */
  numeric?: boolean;
  value: (row: T) => Raw;
  /** Content of the cell; default: the value. */
  cell?: (row: T) => Child;
  class?: string;
}

interface Options<T> {
  name: string;
  rows: T[];
  columns: Column<T>[];
  sort?: { key: string; down: boolean };
  /** Number of rows before "Show all". */
  limit?: number;
}

export interface Table<T> {
  element: HTMLElement;
  /** Replaces the rows. */
  show: (rows: T[]) => void;
}

function compare(a: Raw, b: Raw): number {
  if (a == null || b == null) {
    return (a == null ? 1 : 0) - (b == null ? 1 : 0);
  }
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b));
}

export function table<T>(options: Options<T>): Table<T> {
  const { columns, limit = Number.POSITIVE_INFINITY } = options;
  let rows = options.rows;
  let sort = options.sort ?? null;
  let all = false;
  const body = h("tbody");
  const more = h("button", {
    type: "button",
    class: "quiet more",
    hidden: true,
    on: { click: showAll },
  });
  const heads = columns.map((c) => {
    const button = h(
      "button",
      { type: "button", title: c.tip, on: { click: () => sortBy(c) } },
      c.title,
    );
    return h("th", { scope: "col", class: c.numeric ? "right" : "" }, button);
  });
  const grid = h(
    "table",
    { data: { table: options.name } },
    h("thead", {}, h("tr", {}, ...heads)),
    body,
  );
  const scroll = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": options.name },
    grid,
  );
  const element = h("div", { class: "table" }, scroll, more);
  // Hidden columns are announced above the table.
  const watcher = new ResizeObserver(() =>
    element.toggleAttribute("data-wide", scroll.scrollWidth > scroll.clientWidth + 1),
  );
  watcher.observe(scroll);
  watcher.observe(grid);

  function showAll(): void {
    all = true;
    draw();
  }
  function sortBy(c: Column<T>): void {
    const down = sort?.key === c.key ? !sort.down : Boolean(c.numeric);
    sort = { key: c.key, down };
    draw();
  }
  function sorted(): T[] {
    const column = columns.find((c) => c.key === sort?.key);
    if (!sort || !column) {
      return rows;
    }
    const sign = sort.down ? -1 : 1;
    // A stable sort; unknown values stay last in both directions.
    return [...rows].sort((x, y) => {
      const a = column.value(x);
      const b = column.value(y);
      return a == null || b == null ? compare(a, b) : sign * compare(a, b);
    });
  }
  function line(row: T): HTMLElement {
    const cells = columns.map((c) => {
      const value = c.value(row);
      const kind = [c.numeric ? "right" : "", c.class ?? ""].join(" ").trim();
      return h(
        "td",
        { class: kind, data: { key: c.key, value: value ?? "" } },
        c.cell ? c.cell(row) : String(value ?? "–"),
      );
    });
    return h("tr", {}, ...cells);
  }
  function draw(): void {
    columns.forEach((c, i) => {
      const order = sort?.key === c.key ? (sort.down ? "descending" : "ascending") : "none";
      heads[i]!.setAttribute("aria-sort", order);
    });
    const visible = all ? sorted() : sorted().slice(0, limit);
    body.replaceChildren(...visible.map(line));
    if (rows.length === 0) {
      body.append(h("tr", { class: "none" }, h("td", { colspan: columns.length }, "No rows.")));
    }
    more.hidden = visible.length >= rows.length;
    more.textContent = `Show all ${plural(rows.length, "row")}`;
  }
  draw();
  return {
    element,
    show(next) {
      rows = next;
      draw();
    },
  };
}
