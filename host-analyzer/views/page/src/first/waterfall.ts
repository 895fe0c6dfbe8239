// Positions of the bars of a ladder: each begins where the one before ends.

import type { Ladder } from "../data/schema.ts";

export interface Bar {
  /** Left end and width, as shares of the axis. */
  from: number;
  width: number;
}

/** The axis ends at the measured time, or at the largest sum of steps if some are negative. */
export function waterfall(ladder: Pick<Ladder, "steps" | "measured_ns">): Bar[] {
  let sum = 0;
  const ends = ladder.steps.map((step) => {
    const from = sum;
    sum += step.ns;
    return [Math.min(from, sum), Math.max(from, sum)] as const;
  });
  const low = Math.min(0, ...ends.map(([from]) => from));
  const high = Math.max(ladder.measured_ns, 1, ...ends.map(([, to]) => to));
  const whole = high - low;
  return ends.map(([from, to]) => ({ from: (from - low) / whole, width: (to - from) / whole }));
}
