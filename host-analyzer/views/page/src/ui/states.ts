// Names and colours of thread states. The colours are those of the matching budget classes.

const COLOURS: Record<string, string> = {
  running: "--class-work",
  preempted: "--class-outside",
  throttled: "--class-throttled",
  woken: "--class-wait-outside",
  sleeping: "--class-wait",
  blocked: "--class-application",
  stopped: "--class-between",
  unknown: "--class-unknown",
};

const NAMES: Record<string, string> = {
  running: "running",
  woken: "woken, waiting for a CPU",
  sleeping: "sleeping",
  blocked: "blocked (uninterruptible)",
  unknown: "unknown",
};

/** CSS variable of the colour. */
export function stateColour(state: string): string {
  return COLOURS[state] ?? "--class-unknown";
}

/** Display name of the state. */
export function stateName(state: string): string {
  return NAMES[state] ?? state;
}
