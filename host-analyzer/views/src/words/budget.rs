//! Names of the classes of the budget.

use profinfer_analysis::budget::Class;

#[must_use]
pub const fn name(class: Class) -> &'static str {
    match class {
        Class::Work => "operators",
        Class::WorkAndWait => "operators and waits after them",
        Class::WaitPreempted => "waiting for a preempted thread",
        Class::WaitThrottled => "waiting for a throttled thread",
        Class::WaitInterrupted => "waiting for an interrupted thread",
        Class::WaitBlocked => "waiting for a blocked thread",
        Class::WaitStartedLate => "waiting for a thread that began late",
        Class::WaitSlowerCore => "waiting for a slower core",
        Class::WaitMoreRows => "uneven split of rows between threads",
        Class::WaitUneven => "waiting, cause unknown",
        Class::WaitOneThread => "waiting for operators of one thread",
        Class::Preempted => "preempted",
        Class::Throttled => "throttled",
        Class::Waking => "waking up",
        Class::Interrupted => "interrupts",
        Class::Blocked => "blocked",
        Class::BetweenOperators => "gaps between operators",
        Class::GraphPreparation => "building the graph",
        Class::Application => "sampling and application",
        Class::OtherBackend => "other backends",
        Class::Probes => "measuring overhead",
        Class::NotTraced => "operators that were not captured",
        Class::Unknown => "unknown",
    }
}
