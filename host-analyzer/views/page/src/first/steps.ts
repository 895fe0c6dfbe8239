// Colours, names and definitions of the ladder's steps. docs/ladder.md has the complete definitions.

import type { StepKind } from "../data/schema.ts";

/** Usual work, a cause that can be removed, or time that no record explains. */
type Family = "floor" | "operators" | "usual" | "probes" | "cause" | "unknown";

const KINDS: Record<StepKind, [Family, string, string]> = {
  floor: [
    "floor",
    "operators at their limits",
    "Operators at the limit that bounds each: reading its weights and KV cache, or its arithmetic.",
  ],
  above_floor: [
    "operators",
    "operators",
    "Time of the operators above their limits, without delays; all of it where no limit is known.",
  ],
  imbalance: [
    "usual",
    "uneven split",
    "The last thread at a barrier computed longer than the mean of the threads, or began later.",
  ],
  dispatch: [
    "usual",
    "barriers and starts",
    "From the opening of a barrier to the first start of the next operator.",
  ],
  graph_preparation: [
    "usual",
    "building the graph",
    "In the llama_decode call and outside of graphs.",
  ],
  graph_allocation: [
    "usual",
    "allocating graphs",
    "In the llama_decode call: the memory of a graph is allocated anew.",
  ],
  application: [
    "usual",
    "sampling, application",
    "Between two calls: sampling and the application.",
  ],
  state_copies: [
    "usual",
    "copies of states",
    "Between two calls: the states of sequences are copied, for checkpoints and kept prompts.",
  ],
  encoder: ["usual", "encoder", "Between two calls: graphs of an encoder of images or sound."],
  idle: [
    "usual",
    "asleep",
    "Between two calls: the calling thread slept, for example for a request.",
  ],
  before_engine: [
    "usual",
    "before the engine's code",
    "CPU time from the start of the program until the engine's code was loaded: exec and linking.",
  ],
  page_in: [
    "cause",
    "reading from storage",
    "The main thread slept while data was read from storage.",
  ],
  page_faults: [
    "usual",
    "kernel",
    "CPU time in the kernel during the start: page faults, and copies of files.",
  ],
  loading: [
    "usual",
    "loading",
    "CPU time outside of the kernel during the start: repacking, allocation, tokenizer.",
  ],
  context: [
    "usual",
    "creating the context",
    "At the start: CPU time outside of the kernel while a context is created: KV cache, buffers, trial graphs.",
  ],
  warm_up: ["operators", "trial calls", "Trial calls before the first prompt, without delays."],
  other_backend: ["usual", "other backends", "Graphs of other backends than the CPU's."],
  probes: ["probes", "probes", "What this recording costs, as the agent measured it before."],
  program: [
    "cause",
    "another program",
    "Another program had a CPU that the engine needed: a thread waited for it, or shared another CPU meanwhile.",
  ],
  agent: ["cause", "the agent", "The agent had a CPU that a thread of the engine needed."],
  placement: [
    "cause",
    "shared CPU, another free",
    "Threads of the engine shared a CPU while another allowed CPU was idle.",
  ],
  too_many_threads: [
    "cause",
    "more threads than CPUs",
    "Threads of the engine shared a CPU, because there are more running threads than CPUs.",
  ],
  shared_cpu: [
    "cause",
    "shared CPU",
    "Threads of the engine shared a CPU. The recording does not show who had the other CPUs.",
  ],
  idle_team: [
    "cause",
    "idle engine threads",
    "Threads of the engine that computed nothing had a CPU: an idle team that spins.",
  ],
  steal: ["cause", "hypervisor", "A hypervisor had a CPU, by the counters of /proc/stat."],
  throttled: [
    "cause",
    "runnable, CPU idle",
    "A thread was runnable and its CPU idle: the quota was used up, or a hypervisor had the CPU.",
  ],
  unknown_holder: [
    "cause",
    "preempted by unknown",
    "A thread was runnable, and no record shows who had its CPU.",
  ],
  interrupts: ["cause", "interrupts", "Interrupt handlers on the CPU of a computing thread."],
  wake_up: ["cause", "wake-ups", "Threads slept at barriers and had to be woken."],
  blocked: [
    "cause",
    "blocked",
    "Sleep inside operators: reading pages from storage, or kernel locks.",
  ],
  asleep: ["cause", "asleep", "Other sleep inside operators."],
  stopped: [
    "cause",
    "stopped",
    "Stopped by a signal or a debugger, or frozen with the control group.",
  ],
  shared_memory: [
    "cause",
    "programs on other CPUs",
    "They share memory, caches or the clock: operators take longer while they run.",
  ],
  lower_speed: [
    "cause",
    "operators at a lower speed",
    "The same operators took longer than in the fastest part of the recording, for many tokens in a row, while no thread lacked a CPU: a lower clock, heat, or a user of the memory that was not recorded.",
  ],
  small_causes: ["cause", "small delays", "Causes of less than 0.5 % each."],
  not_recorded: ["unknown", "not recorded", "Graphs whose operators were not captured."],
  unexplained: [
    "unknown",
    "unexplained",
    "Delays that no record explains, for example by a hypervisor that does not report them.",
  ],
};

export function family(kind: StepKind): Family {
  return KINDS[kind]?.[0] ?? "unknown";
}

/** Name without culprit and figures. */
export function stepName(kind: StepKind): string {
  return KINDS[kind]?.[1] ?? kind.replaceAll("_", " ");
}

/** Empty for a kind of a newer version. */
export function definition(kind: StepKind): string {
  return KINDS[kind]?.[2] ?? "";
}
