// Timeline of the excerpt that the page contains, with zoom.

import { partsOf, type Timeline, type TimelinePart } from "../data/timeline.ts";
import type { OperatorColours } from "../ui/colour.ts";
import { h } from "../ui/dom.ts";
import { count, plural, time } from "../ui/format.ts";
import { absent, section, swatch } from "../ui/parts.ts";
import { onTime } from "../ui/show_time.ts";
import { stateColour, stateName } from "../ui/states.ts";
import { onTheme } from "../ui/theme.ts";
import { TimelineCanvas, type Window } from "./canvas.ts";
import { GEOMETRY } from "./place.ts";
import { rowsOf } from "./rows.ts";
import type { Slice } from "./slice.ts";
import { statesIn, statesMissing } from "./states.ts";

const LEAD =
  "Threads over time: operators and barrier waits; below each thread, its scheduler state.";
const LEAD_WITHOUT = "Threads over time: operators and barrier waits.";

function pointer(): HTMLElement {
  return h(
    "p",
    { class: "hint" },
    // Not a link: the page does not know whether the timeline was split.
    "The complete timeline is in timeline.pftrace next to this page (long recordings: timeline-1.pftrace, …). Open it at ",
    h("a", { href: "https://ui.perfetto.dev", rel: "noreferrer" }, "ui.perfetto.dev"),
    ".",
  );
}

class View {
  readonly element: HTMLElement;
  private readonly canvas: TimelineCanvas;
  private readonly tooltip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  private readonly end: number;
  /** Thread states that occur. */
  readonly states: string[];
  private window: Window;
  private marked: Slice | null = null;
  private drag: { x: number; w: Window } | null = null;
  private queued = false;

  constructor(
    private readonly t: Timeline,
    colours: OperatorColours,
  ) {
    const rows = rowsOf(t);
    this.end = Math.max(1, t.end_ns - t.start_ns);
    const parts = partsOf(t).map((p) => ({
      from: p.start_ns - t.start_ns,
      to: p.end_ns - t.start_ns,
    }));
    this.window = { from: 0, to: this.end };
    this.canvas = new TimelineCanvas(rows, colours, parts);
    this.states = statesIn(rows.flatMap((r) => r.slices));
    const slices = rows.reduce((n, r) => n + (r.thin ? 0 : r.slices.length), 0);
    const stretches = rows.reduce((n, r) => n + (r.thin ? r.slices.length : 0), 0);
    this.element = h(
      "div",
      {
        class: "time-view",
        tabindex: 0,
        role: "application",
        "aria-label":
          "Timeline. Left and right arrows pan, plus and minus zoom, 0 shows everything.",
        data: {
          rows: rows.length,
          slices,
          stretches,
          gutter: GEOMETRY.gutter,
          places: JSON.stringify(this.canvas.places),
        },
      },
      this.canvas.element,
      this.tooltip,
    );
    this.listen();
    new ResizeObserver(() => {
      if (this.element.clientWidth > 0) {
        this.canvas.resize(this.element.clientWidth);
        this.canvas.draw(this.window, this.marked);
      }
    }).observe(this.element);
  }

  redraw(): void {
    if (!this.queued) {
      this.queued = true;
      requestAnimationFrame(() => {
        this.queued = false;
        this.canvas.draw(this.window, this.marked);
      });
    }
  }

  fit(): void {
    this.move(0, this.end);
  }

  /** Shows this part of the recording, ns from session start, with some time around it. */
  show(start_ns: number, time_ns: number): void {
    const from = start_ns - this.t.start_ns;
    this.move(from - time_ns * 0.05, from + time_ns * 1.05);
  }

  /** Zooms around a position in the window, 0 to 1. */
  zoom(factor: number, around = 0.5): void {
    const { from, to } = this.window;
    const span = Math.min(this.end, Math.max(200, (to - from) / factor));
    const at = from + (to - from) * around;
    this.move(at - span * around, at + span * (1 - around));
  }

  private move(from: number, to: number): void {
    const span = Math.min(to - from, this.end);
    const left = Math.min(Math.max(0, from), this.end - span);
    this.window = { from: left, to: left + span };
    this.element.dataset.window = `${left} ${left + span}`;
    this.redraw();
  }

  private pan(share: number): void {
    const by = (this.window.to - this.window.from) * share;
    this.move(this.window.from + by, this.window.to + by);
  }

  private hover(x: number, y: number): void {
    this.marked = this.canvas.at(this.window, x, y);
    this.tooltip.hidden = !this.marked;
    if (this.marked) {
      const m = this.marked;
      const lines = m.facts().map((f) => h("span", { class: "muted" }, f));
      this.tooltip.replaceChildren(
        h("strong", { class: "mono" }, m.label),
        h("span", {}, time(m.length)),
        ...lines,
        h(
          "span",
          { class: "muted" },
          m.start < 0 ? `started ${time(-m.start)} before this excerpt` : `at ${time(m.start)}`,
        ),
      );
      const left =
        x + 14 + this.tooltip.offsetWidth > this.element.clientWidth
          ? x - 14 - this.tooltip.offsetWidth
          : x + 14;
      const below =
        y + 16 + this.tooltip.offsetHeight > this.element.clientHeight
          ? y - 12 - this.tooltip.offsetHeight
          : y + 16;
      this.tooltip.style.transform = `translate(${Math.max(2, left)}px, ${below}px)`;
    }
    this.redraw();
  }

  private listen(): void {
    const { element } = this;
    const at = (e: MouseEvent): { x: number; y: number } => {
      const box = element.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    element.addEventListener(
      "wheel",
      (e) => {
        const active = e.ctrlKey || e.metaKey || document.activeElement === element;
        if (active || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
          e.preventDefault();
          if (active && Math.abs(e.deltaY) >= Math.abs(e.deltaX)) {
            this.zoom(
              Math.exp(-e.deltaY / 420),
              Math.min(1, Math.max(0, (at(e).x - GEOMETRY.gutter) / this.canvas.span)),
            );
          } else {
            this.pan(e.deltaX / this.canvas.span);
          }
        }
      },
      { passive: false },
    );
    element.addEventListener("pointerdown", (e) => {
      this.drag = { x: e.clientX, w: this.window };
      element.setPointerCapture(e.pointerId);
    });
    element.addEventListener("pointerup", () => (this.drag = null));
    element.addEventListener("pointercancel", () => (this.drag = null));
    element.addEventListener("pointermove", (e) => {
      if (this.drag && Math.abs(e.clientX - this.drag.x) > 2) {
        const by =
          ((this.drag.x - e.clientX) / this.canvas.span) * (this.drag.w.to - this.drag.w.from);
        this.tooltip.hidden = true;
        this.move(this.drag.w.from + by, this.drag.w.to + by);
      } else {
        this.hover(at(e).x, at(e).y);
      }
    });
    element.addEventListener("pointerleave", () => {
      this.marked = null;
      this.tooltip.hidden = true;
      this.redraw();
    });
    element.addEventListener("dblclick", (e) => {
      const hit = this.canvas.at(this.window, at(e).x, at(e).y);
      if (hit) {
        this.move(hit.start - hit.length * 0.15, hit.start + hit.length * 1.15);
      }
    });
    element.addEventListener("keydown", (e) => {
      const acts: Record<string, () => void> = {
        ArrowLeft: () => this.pan(-0.15),
        ArrowRight: () => this.pan(0.15),
        "+": () => this.zoom(1.4),
        "=": () => this.zoom(1.4),
        "-": () => this.zoom(1 / 1.4),
        "0": () => this.fit(),
      };
      const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : acts[e.key];
      if (act) {
        e.preventDefault();
        act();
      }
    });
  }

  /** The part of the recording that is shown. */
  caption(): string {
    const { t } = this;
    const calls =
      t.calls_total > 0 ? `${plural(t.calls, "call")} of ${count(t.calls_total)}, ` : "";
    const outside = partsOf(t).length > 1 ? " Between the parts, nothing is shown." : "";
    return `${calls}${count(t.spans)} operator spans of ${count(t.spans_total)}${t.complete ? "" : ", truncated inside a call at the page's limit"}.${outside}`;
  }
}

export function timelineSection(t: Timeline | null, colours: OperatorColours): HTMLElement {
  if (!t || t.tracks.every((track) => track.slices.length === 0)) {
    return section(
      "proftime",
      "Timeline",
      LEAD_WITHOUT,
      absent("No calls were recorded."),
      pointer(),
    );
  }
  const view = new View(t, colours);
  const button = (name: string, label: string, act: () => void): HTMLElement =>
    h("button", { type: "button", "aria-label": label, title: label, on: { click: act } }, name);
  // The longest token first: it shows the delays. The others resemble one another.
  const parts = partsOf(t);
  const showPart = ({ start_ns, end_ns }: TimelinePart): void =>
    view.show(start_ns, end_ns - start_ns);
  const length = (p: TimelinePart): number => p.end_ns - p.start_ns;
  const long = parts.filter((p) => p.long_token).sort((a, b) => length(b) - length(a));
  const beginning = parts.find((p) => !p.long_token);
  const places =
    beginning && long.length > 0
      ? [
          ...long.map((p, i) =>
            button(
              i === 0 ? "Longest token" : `No. ${i + 1}`,
              `One of the longest tokens: ${time(length(p))}`,
              () => showPart(p),
            ),
          ),
          button("Start", "The first prompt and the tokens after it", () => showPart(beginning)),
        ]
      : [];
  if (long[0]) {
    showPart(long[0]);
  }
  const legend = colours
    .legend()
    .map(([name, colour]) => h("span", { class: "key" }, swatch(colour), name));
  const barrier = h("span", { class: "key" }, h("span", { class: "swatch wait" }), "barrier");
  const known = view.states
    .filter((s) => s !== "unknown")
    .map((s) => h("span", { class: "key" }, swatch(`var(${stateColour(s)})`), stateName(s)));
  const gaps = view.states.includes("unknown")
    ? h("span", { class: "key" }, h("span", { class: "swatch wait" }), stateName("unknown"))
    : null;
  const states =
    view.states.length > 0
      ? h("p", { class: "keys states" }, "Thread state:", ...known, gaps)
      : null;
  const tools = h(
    "div",
    { class: "tools" },
    h("span", { class: "keys" }, ...legend, barrier),
    h("span", { class: "grow" }),
    h(
      "div",
      { class: "choice" },
      button("−", "Zoom out", () => view.zoom(1 / 1.6)),
      button("+", "Zoom in", () => view.zoom(1.6)),
      button("Fit", "Show everything", () => view.fit()),
      ...places,
    ),
  );
  onTheme(() => view.redraw());
  onTime(({ start_ns, time_ns }) => view.show(start_ns, time_ns));
  const missing = statesMissing(t);
  const hint = h(
    "p",
    { class: "hint" },
    view.caption(),
    missing ? ` ${missing}` : null,
    " Drag to pan, Ctrl + wheel to zoom, double-click a slice to zoom to it.",
  );
  const lead = states ? LEAD : LEAD_WITHOUT;
  return section(
    "proftime",
    "Timeline",
    lead,
    h("div", { class: "panel flush" }, tools, states, view.element),
    hint,
    pointer(),
  );
}
