// What the system and the engine's processes were set to, as summary.json has it.

import type { Maybe, Num, Str } from "./maybe.ts";

/** A value that was read again and again. */
export interface Seen {
  first: Num;
  last: Num;
  min: Num;
  max: Num;
}

/** How much a counter of the kernel rose: over the session, and within decode. */
export interface Rise {
  whole: Num;
  whole_ns: Num;
  decode: Num;
  decode_ns: Num;
}

export interface SystemFacts {
  kernel_options: Maybe<string[]>;
  preemption: Str;
  private_stacks: Maybe<boolean>;
  page_size_bytes: Num;
  numa_nodes: Num;
  hugepages_policy: Str;
  hypervisor: Str;
  memory_total_bytes: Num;
  memory_available_bytes: Maybe<Seen>;
  swap_total_bytes: Num;
  swap_free_bytes: Maybe<Seen>;
  ddr_frequency_hz: Maybe<Seen>;
  ddr_frequency_max_hz: Num;
  ddr_governor: Str;
  cpu_features: Maybe<string[]>;
  sched_missed: Maybe<number>;
}

export interface CpuFacts {
  cpu: Num;
  online: Maybe<boolean>;
  core: Str;
  capacity: Num;
  governor: Str;
  frequency_max_hz: Num;
  frequency_min_hz: Num;
  frequency_limit_hz: Maybe<Seen>;
  steal_ns: Maybe<Rise>;
}

export interface Quota {
  quota_us: Num;
  period_us: Num;
  milli_cpus: Num;
  level: Num;
}

export interface Cgroup {
  path: Str;
  version: Num;
  /** `none` where no limit is set. */
  quota: Maybe<Quota | string>;
  periods: Maybe<Rise>;
  throttled_periods: Maybe<Rise>;
  throttled_ns: Maybe<Rise>;
  cpuset: Maybe<number[]>;
  memory_limit_bytes: Maybe<number | string>;
}

export interface ProcessFacts {
  pid: Num;
  program: Str;
  environment: Maybe<{ name: Str; value: Str }[]>;
  variables: Num;
  affinity: Maybe<number[]>;
  cgroup: Maybe<Cgroup>;
  rss_anonymous_bytes: Maybe<Seen>;
  rss_file_bytes: Maybe<Seen>;
  rss_shared_bytes: Maybe<Seen>;
  huge_anonymous_bytes: Maybe<Seen>;
  huge_file_bytes: Maybe<Seen>;
  major_faults: Maybe<Rise>;
  minor_faults: Maybe<Rise>;
  storage_read_bytes: Maybe<Rise>;
  threads: Maybe<Seen>;
  nice: Num;
  ended: Maybe<boolean>;
}

export interface ThreadFacts {
  tid: Num;
  affinity: Maybe<number[]>;
  policy: Str;
  run_ns: Maybe<Rise>;
  run_delay_ns: Maybe<Rise>;
}

/** A fact that could not be read, and why. */
export interface AbsentFact {
  pid: Num;
  tid: Num;
  cpu: Num;
  name: Str;
  why: Str;
}

export interface Conditions {
  system: Maybe<SystemFacts>;
  cpus: Maybe<CpuFacts[]>;
  processes: Maybe<ProcessFacts[]>;
  threads: Maybe<ThreadFacts[]>;
  absent: Maybe<AbsentFact[]>;
}
