//! Evidence of findings as names and values.

use super::ladder::unit;
use super::{count, duration, one_line, quantity, size};
use profinfer_analysis::findings::{Evidence, Value};

/// Names of the quantities, by key.
const NAMES: &[(&str, &str)] = &[
    ("above_limit_ns", "above the limit"),
    ("accepted_share", "accepted guesses"),
    ("allocation_ns", "time of an allocation"),
    ("application_ns_per_token", "sampling and application, per token"),
    ("application_share", "share of the time"),
    ("at_least_ns", "at least"),
    ("at_most_ns", "at most"),
    ("attention_ns_per_token", "attention, per token"),
    ("attention_share", "share of the time"),
    ("batch_ns", "time of a batch"),
    ("batches_with_guesses", "batches with guesses"),
    ("before_request_ns", "before the first call of a request"),
    ("best_read_rate_seen", "fastest operator"),
    ("blocked_in_tables", "of the sleep while rows are looked up"),
    ("break_even_per_round", "tokens per round that pay off"),
    ("break_even_per_round_at_least", "tokens per round that pay off, at least"),
    ("busy_cpus", "other CPUs busy, in the mean"),
    ("bytes", "read"),
    ("bytes_of_a_state", "size of a state"),
    ("bytes_per_token", "read per token"),
    ("call_ns", "fixed time of a call"),
    ("calls_of_such_a_prompt", "calls of such a prompt"),
    ("cells", "KV cells"),
    ("changed_at", "changed at"),
    ("clock_at_first", "clock at the start"),
    ("clock_at_last", "clock at the end"),
    ("clock_in_decode", "clock while generating"),
    ("clock_limit", "limit of the clock"),
    ("context_ns_per_token", "cost of the context, per token"),
    ("context_share", "share of the time"),
    ("copies_per_round", "copies of states, per round"),
    ("copy_ns", "time of a copy"),
    ("cpus", "CPUs"),
    ("decode_token_ns", "time of a token"),
    ("emitted_per_round", "tokens per round"),
    ("fast_cpus", "fast CPUs"),
    ("file", "file"),
    ("frozen_at", "control group frozen at"),
    ("gomp_cpu_affinity", "GOMP_CPU_AFFINITY"),
    ("governor", "governor"),
    ("graph_preparation_ns", "building the graph"),
    ("highest_clock", "highest clock"),
    ("highest_memory_clock", "highest memory clock"),
    ("huge_pages", "in huge pages"),
    ("idle_threads_running", "idle threads ran, of the time"),
    ("instructions", "by the instructions"),
    ("late_for_others_ns", "of that, for other sequences"),
    ("late_ns", "between its calls"),
    ("loaded_variant", "loaded CPU variant"),
    ("lost_ns", "cost"),
    ("lost_share", "share of the time"),
    ("major_faults", "major page faults"),
    ("major_faults_per_token", "major page faults per token"),
    ("memory_available", "available memory"),
    ("memory_bandwidth_used", "memory bandwidth used in traced calls"),
    ("memory_grew", "growth of the memory"),
    ("moves_per_token", "migrations per token"),
    ("never_used", "experts never used"),
    ("ns_per_1000_cells", "per 1,000 KV cells"),
    ("numa_nodes", "NUMA nodes"),
    ("of_best_read_rate_seen", "of the fastest operator's read rate"),
    ("other_type", "faster type"),
    ("own_weights", "weights in anonymous memory"),
    ("page_walks_per_token", "page walks per token"),
    ("pauses_ns", "pauses between requests"),
    ("plain_token_at_least", "token without the draft, at least"),
    ("plain_token_at_most", "token without the draft, at most"),
    ("plain_tokens_per_s", "tokens per second without the draft"),
    ("products_possible", "possible here"),
    ("prompts_in_parts", "prompts in several calls"),
    ("read_ceiling", "measured read bandwidth"),
    ("read_of_it", "read of it"),
    ("reading_it_ns_per_token", "reading it, per token"),
    ("repacked", "repacked weights"),
    ("replay_per_round", "accepted guesses computed again, per round"),
    ("requests_from_the_beginning", "requests read from the beginning"),
    ("resident_file", "resident part of the file"),
    ("running_in_pauses", "threads ran, of the pauses"),
    ("served_by_a_quarter", "uses served by a quarter of the experts"),
    ("served_by_chance", "uses served by chance"),
    ("slowest_to_fastest", "slowest core, of the fastest"),
    ("small_part_ns", "time of a small part"),
    ("small_parts", "small parts"),
    ("splits_per_call", "graph splits per call"),
    ("stolen_in_session", "taken by the hypervisor in the session"),
    ("swapped", "in swap"),
    ("table", "table"),
    ("taken_by_others", "taken by other programs"),
    ("task", "program"),
    ("task_cpus", "held CPUs"),
    ("task_ns", "its part"),
    ("temperature_at_last", "temperature at the end"),
    ("tensor_group", "tensors"),
    ("threads", "computing threads"),
    ("time_ns_after", "after it"),
    ("time_ns_at_first", "at the start"),
    ("time_ns_at_last", "at the end"),
    ("time_ns_before", "before it"),
    ("token_ns_with_full_context", "token with a full context"),
    ("tokens_per_s", "tokens per second"),
    ("tokens_read_again", "tokens read again"),
    ("type_of_cache", "type of the KV cache"),
    ("type_of_weights", "type of the weights"),
    ("uclamp_max", "cpu.uclamp.max"),
    ("value_after", "became"),
    ("value_before", "was"),
    ("wait_slower_core_ns", "waiting for slower cores"),
    ("weights_ns_after", "products with weights after it"),
    ("weights_ns_before", "products with weights before it"),
    ("working_set", "for a working set of"),
];

/// What a piece of evidence is. Other keys are their name: `memory_limit`.
#[must_use]
pub fn name(e: &Evidence) -> String {
    let named = NAMES.binary_search_by_key(&e.key, |(key, _)| key).ok().map(|i| NAMES[i].1.to_owned());
    // Names of environment variables stay as they are.
    let plain =
        || if e.key.chars().any(char::is_uppercase) { e.key.to_owned() } else { e.key.replace('_', " ") };
    let name = named.unwrap_or_else(plain);
    match (e.per, &e.value) {
        (None, _) => name,
        // A number of things per token, and a time of each.
        (Some(question), Value::Mean(_)) => format!("{name} per {}", unit(question)),
        (Some(question), _) => format!("{name}, per {}", unit(question)),
    }
}

/// Its value with a unit.
#[must_use]
pub fn text(e: &Evidence) -> String {
    match &e.value {
        Value::Nanoseconds(ns) => duration(*ns),
        Value::Bytes(n) => size(*n),
        Value::Count(n) => count(*n),
        Value::Mean(x) => format!("{x:.2}"),
        Value::Share(x) => format!("{:.1} %", x * 100.0),
        Value::BytesPerSecond(x) => quantity(*x, "bytes_per_s"),
        Value::Hertz(n) => quantity(*n as f64, "hertz"),
        Value::Millidegrees(n) => quantity(*n as f64, "millidegrees"),
        Value::Cpus(list) => cpus(list),
        Value::MilliCpus(n) => format!("{:.2} CPUs", *n as f64 / 1000.0),
        // A tensor group is a key, a name of the engine is a text.
        Value::Name(name) if e.key == "tensor_group" => name.replace('_', " "),
        Value::Name(name) => short(name),
    }
}

/// `0, 1`, and `0-3, 6` from three neighbours on.
fn cpus(cpus: &[u16]) -> String {
    let neighbours = cpus.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let parts = neighbours.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}-{last}")],
        few => few.iter().map(u16::to_string).collect(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// `cost 1.84 ms`
#[must_use]
pub fn piece(e: &Evidence) -> String {
    format!("{} {}", name(e), text(e))
}

/// Longest name in a sentence, in characters: a command line may have thousands.
const LONGEST_NAME: usize = 60;

pub(super) fn short(name: &str) -> String {
    let mut letters = name.chars();
    let mut text: String = letters.by_ref().take(LONGEST_NAME).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    one_line(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_analysis::findings::Place;
    use profinfer_analysis::ladder::Question;

    #[test]
    fn names_are_sorted_by_key() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0), "the search needs it");
    }

    #[test]
    fn a_list_of_names_and_values() {
        let piece_of = |key, value| piece(&Evidence { key, value, per: None, place: Place::Conditions });
        assert_eq!(piece_of("task_cpus", Value::Cpus(vec![0, 1])), "held CPUs 0, 1");
        assert_eq!(piece_of("cpus", Value::Cpus(vec![0, 1, 2, 3, 6])), "CPUs 0-3, 6");
        assert_eq!(piece_of("lost_ns", Value::Nanoseconds(1_840_000)), "cost 1.84 ms");
        assert_eq!(piece_of("memory_limit", Value::Bytes(1 << 30)), "memory limit 1.00 GiB");
        assert_eq!(piece_of("OMP_WAIT_POLICY", Value::Name("passive".into())), "OMP_WAIT_POLICY passive");
        let per =
            |question, key, value| piece(&Evidence { key, value, per: Some(question), place: Place::Budget });
        assert_eq!(per(Question::Prompt, "sleeps", Value::Mean(3.0)), "sleeps per prompt 3.00");
        assert_eq!(per(Question::Decode, "at_most_ns", Value::Nanoseconds(80)), "at most, per token 80 ns");
        assert_eq!(piece_of("tensor_group", Value::Name("feed_forward".into())), "tensors feed forward");
    }
}
