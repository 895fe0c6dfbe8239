// Pan and zoom with drag, wheel (with Ctrl, or while the view has the focus), pinch and keys.

export interface View {
  x: number;
  y: number;
  k: number;
}

export interface PanZoom {
  view: () => View;
  set: (view: View) => void;
  /** Shows the complete rectangle, centred. */
  fit: (width: number, height: number) => void;
  /** Like `fit`, but at a scale of at least `k`: the upper edge, with the column `x` in view. */
  open: (width: number, height: number, k: number, x: number) => void;
  /** Brings a point to the centre at a scale of at least `k`. */
  centre: (x: number, y: number, k: number) => void;
  zoom: (factor: number) => void;
}

/** Limits of the scale. */
const MIN = 0.02;
const MAX = 4;
/** Space around what is shown, px: captions are above the boxes. */
const EDGE = 20;

export function panZoom(host: HTMLElement, apply: (view: View) => void): PanZoom {
  let view: View = { x: 0, y: 0, k: 1 };
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;

  function set(next: View): void {
    view = { ...next, k: Math.min(MAX, Math.max(MIN, next.k)) };
    apply(view);
  }
  /** Scales around a point of the host. */
  function zoomAt(px: number, py: number, factor: number): void {
    const k = Math.min(MAX, Math.max(MIN, view.k * factor));
    const f = k / view.k;
    set({ k, x: px - (px - view.x) * f, y: py - (py - view.y) * f });
  }
  const middle = (): [number, number] => [host.clientWidth / 2, host.clientHeight / 2];

  host.addEventListener(
    "wheel",
    (e) => {
      if (!(e.ctrlKey || e.metaKey || host.contains(document.activeElement))) {
        return;
      }
      e.preventDefault();
      const box = host.getBoundingClientRect();
      const lines = e.deltaMode === 1 ? 18 : 1;
      zoomAt(e.clientX - box.left, e.clientY - box.top, Math.exp((-e.deltaY * lines) / 420));
    },
    { passive: false },
  );

  host.addEventListener("pointerdown", (e) => {
    if ((e.target as Element).closest("[data-overlay]")) {
      return;
    }
    if (pointers.size === 0) {
      moved = 0;
    }
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  });
  host.addEventListener("pointermove", (e) => {
    const before = pointers.get(e.pointerId);
    if (!before) {
      return;
    }
    const dx = e.clientX - before.x;
    const dy = e.clientY - before.y;
    const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved > 3) {
      host.classList.add("dragging");
      if (!host.hasPointerCapture(e.pointerId)) {
        host.setPointerCapture(e.pointerId);
      }
    }
    const other = others[0];
    if (other) {
      const box = host.getBoundingClientRect();
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(e.clientX - other.x, e.clientY - other.y);
      zoomAt(other.x - box.left, other.y - box.top, is / Math.max(1, was));
    } else if (moved > 3) {
      set({ ...view, x: view.x + dx, y: view.y + dy });
    }
  });
  const release = (e: PointerEvent): void => {
    pointers.delete(e.pointerId);
    host.classList.remove("dragging");
  };
  host.addEventListener("pointerup", release);
  host.addEventListener("pointercancel", release);
  // A drag that ends on a node is not a click on it.
  host.addEventListener(
    "click",
    (e) => {
      if (moved > 3) {
        e.stopPropagation();
        moved = 0;
      }
    },
    true,
  );

  host.addEventListener("keydown", (e) => {
    if (e.target !== host || e.ctrlKey || e.metaKey || e.altKey) {
      return;
    }
    // Distance of one key press, px.
    const step = 80;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => set({ ...view, x: view.x + step }),
      ArrowRight: () => set({ ...view, x: view.x - step }),
      ArrowUp: () => set({ ...view, y: view.y + step }),
      ArrowDown: () => set({ ...view, y: view.y - step }),
      "+": () => zoomAt(...middle(), 1.25),
      "=": () => zoomAt(...middle(), 1.25),
      "-": () => zoomAt(...middle(), 0.8),
    };
    const move = moves[e.key];
    if (move) {
      e.preventDefault();
      move();
    }
  });

  const fitting = (width: number, height: number): number =>
    Math.min((host.clientWidth - 2 * EDGE) / width, (host.clientHeight - 2 * EDGE) / height, 1.2);

  return {
    view: () => view,
    set,
    zoom: (factor) => zoomAt(...middle(), factor),
    fit(width, height) {
      const [w, t] = [host.clientWidth, host.clientHeight];
      const k = Math.min(MAX, Math.max(MIN, fitting(width, height)));
      set({ k, x: (w - width * k) / 2, y: (t - height * k) / 2 });
    },
    open(width, height, least, x) {
      const [w, t] = [host.clientWidth, host.clientHeight];
      const k = Math.max(least, fitting(width, height));
      const fits = w - 2 * EDGE >= width * k;
      const left = Math.min(EDGE, Math.max(w - EDGE - width * k, w / 2 - x * k));
      set({ k, x: fits ? (w - width * k) / 2 : left, y: Math.max(EDGE, (t - height * k) / 2) });
    },
    centre(x, y, k) {
      const scale = Math.max(view.k, k);
      set({ k: scale, x: host.clientWidth / 2 - x * scale, y: host.clientHeight / 2 - y * scale });
    },
  };
}
