// What a thread can do, as the scheduler sees it: names and colours, the same wherever states are
// shown. The colours are those of the budget's classes that the states become.

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
  running: "on a CPU",
  woken: "woken, no CPU yet",
  sleeping: "asleep",
  blocked: "blocked, cannot be interrupted",
  unknown: "not known",
};

/** Name of the variable that holds the colour. */
export function stateColour(state: string): string {
  return COLOURS[state] ?? "--class-unknown";
}

/** The state in words. */
export function stateName(state: string): string {
  return NAMES[state] ?? state;
}
