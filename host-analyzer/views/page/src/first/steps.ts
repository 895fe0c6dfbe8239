// Colours and definitions of the ladder's steps. docs/ladder.md has the complete definitions.

import type { StepKind } from "../data/schema.ts";

/** Usual work, a cause that can be removed, or time that no record explains. */
type Family = "floor" | "operators" | "usual" | "probes" | "cause" | "unknown";

const KINDS: Record<StepKind, [Family, string]> = {
  floor: [
    "floor",
    "Operators at the limit that bounds each: reading its weights and KV cache, or its arithmetic.",
  ],
  above_floor: ["operators", "Time of the operators beyond that limit, without delays."],
  imbalance: [
    "usual",
    "The last thread at a barrier computed longer than the mean of the threads, or began later.",
  ],
  dispatch: ["usual", "From the opening of a barrier to the first start of the next operator."],
  graph_preparation: ["usual", "In the llama_decode call and outside of graphs."],
  application: ["usual", "Between two calls: sampling and the application."],
  other_backend: ["usual", "Graphs of other backends than the CPU's."],
  probes: ["probes", "What this recording costs, as the agent measured it before."],
  program: [
    "cause",
    "Another program had a CPU that a thread of the engine, or a thread before it on a shared CPU, needed.",
  ],
  agent: ["cause", "The agent had a CPU that a thread of the engine needed."],
  placement: ["cause", "Threads of the engine shared a CPU while another allowed CPU was idle."],
  too_many_threads: [
    "cause",
    "Threads of the engine shared a CPU, because there are more running threads than CPUs.",
  ],
  shared_cpu: [
    "cause",
    "Threads of the engine shared a CPU. The recording does not show who had the other CPUs.",
  ],
  throttled: [
    "cause",
    "A thread was runnable and its CPU idle: the quota was used up, or a hypervisor had the CPU.",
  ],
  unknown_holder: ["cause", "A thread was runnable, and no record shows who had its CPU."],
  interrupts: ["cause", "Interrupt handlers on the CPU of a computing thread."],
  wake_up: ["cause", "Threads slept at barriers and had to be woken."],
  blocked: ["cause", "Sleep inside operators: reading pages from storage, or kernel locks."],
  asleep: ["cause", "Other sleep inside operators."],
  stopped: ["cause", "Stopped by a signal or a debugger."],
  small_causes: ["cause", "Causes of less than 0.5 % each."],
  not_recorded: ["unknown", "Graphs whose operators were not captured."],
  unexplained: [
    "unknown",
    "Delays that no record explains, for example by a hypervisor that does not report them.",
  ],
};

export function family(kind: StepKind): Family {
  return KINDS[kind]?.[0] ?? "unknown";
}

/** Empty for a kind of a newer version. */
export function definition(kind: StepKind): string {
  return KINDS[kind]?.[1] ?? "";
}
