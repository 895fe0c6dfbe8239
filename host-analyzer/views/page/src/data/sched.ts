// What the kernel's scheduler did with the engine's threads, as summary.json has it.

import type { Maybe, Num, Str } from "./maybe.ts";

export interface StateTimes {
  running_ns: Num;
  preempted_ns: Num;
  woken_ns: Num;
  sleeping_ns: Num;
  blocked_ns: Num;
  stopped_ns: Num;
  unknown_ns: Num;
}

export interface SchedThread {
  tid: Num;
  pid: Num;
  name: Str;
  runs: Num;
  preemptions: Num;
  migrations: Num;
  whole: Maybe<StateTimes>;
  prefill: Maybe<StateTimes>;
  decode: Maybe<StateTimes>;
}

/** A task that had a CPU while a thread of the engine wanted it. */
export interface Interferer {
  tid: Num;
  pid: Num;
  name: Str;
  command: Str;
  cgroup: Str;
  /** A thread of a traced process itself. */
  engine: Maybe<boolean>;
  /** No task: the CPU did nothing. */
  idle: Maybe<boolean>;
  turns: Num;
  time_ns: Num;
  prefill_ns: Num;
  decode_ns: Num;
  preempted_ns: Num;
  woken_ns: Num;
  cpus: Maybe<{ cpu: Num; turns: Num; time_ns: Num }[]>;
}

export interface Interrupt {
  kind: Str;
  name: Str;
  count: Num;
  time_ns: Num;
  prefill_ns: Num;
  decode_ns: Num;
  longest_ns: Num;
}

export interface Sched {
  recorded: Maybe<boolean>;
  interrupts_recorded: Maybe<boolean>;
  threads: Maybe<SchedThread[]>;
  interference: Maybe<Interferer[]>;
  /** Tasks that are not listed: they had CPUs for less time. */
  left_out?: Maybe<{ tasks: Num; time_ns: Num }>;
  interrupts: Maybe<Interrupt[]>;
}
