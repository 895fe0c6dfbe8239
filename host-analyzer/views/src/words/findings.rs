//! The sentences of findings.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{piece, short};
use super::ladder::unit;
use super::{count, counted, duration, no_ceiling, per_s, quantity, size};
use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::duty::Slowdown;
use profinfer_analysis::findings::{
    Effect, Evidence, Finding, Findings, Gain, Headline, RULES, Remedy, Requirement, Rule, Speeds,
};
use profinfer_analysis::ladder::Question;
use profinfer_trace::model::CeilingSource;

/// How fast the engine decodes; without generated tokens, how fast it reads.
#[must_use]
pub fn headline(h: &Headline) -> String {
    let Some(speed) = h.tokens_per_s else { return reading(h) };
    let threads = match h.threads {
        // No operator was traced.
        0 => String::new(),
        1 => " on 1 thread".to_owned(),
        n => format!(" on {n} threads"),
    };
    let with = if h.drafted { " with speculation" } else { "" };
    let mut text = match h.sequences {
        Some(n) => {
            let each = speed / n;
            format!("Decode: {} t/s{threads}: {} with {each:.2} t/s each", per_s(speed), sequences(n))
        }
        None => format!("Decode: {} t/s{with}{threads}", per_s(speed)),
    };
    if let Some(ns) = h.token_ns {
        text += &format!(", {} per token", duration(ns));
    }
    if let Some(mbu) = h.mbu {
        text += &format!(
            ", {:.0} % of what this memory can deliver to {}",
            mbu * 100.0,
            if h.threads == 1 { "it" } else { "them" }
        );
    }
    if let Some(prefill) = h.prefill_tokens_per_s {
        text += &format!(". Prefill: {} t/s", per_s(prefill));
    }
    if let Slowdown::Measured(m) = &h.slowdown {
        text +=
            &format!(". A traced token takes {} time (measured)", super::capture::signed_percent(m.slowdown));
    } else if h.probes_share >= 0.01 {
        text += &format!(". The probes took {:.1} % of a token's time", h.probes_share * 100.0);
    }
    text + "."
}

/// `4 sequences`, `3.4 sequences`.
#[must_use]
pub fn sequences(mean: f64) -> String {
    let whole = (mean - mean.round()).abs() < 0.05;
    format!("{mean:.*} sequences", usize::from(!whole))
}

/// How fast texts or prompts are read.
fn reading(h: &Headline) -> String {
    match (&h.texts, h.prefill_tokens_per_s) {
        (Some(t), _) => {
            let speed = |rate: Option<f64>| rate.map_or("–".to_owned(), per_s);
            let texts = match (t.texts, t.reads) {
                (1, 1) => "1 text was read".to_owned(),
                (n, reads) if reads > n => {
                    format!("{} texts were read {} times, as a diffusion model does", count(n), count(reads))
                }
                (n, _) => format!("{} texts were read", count(n)),
            };
            let mut text = format!(
                "{texts}, {} tokens: {} tokens/s, {} texts/s, {} tokens per call",
                count(t.tokens),
                speed(t.tokens_per_s),
                speed(t.texts_per_s),
                count(t.tokens.checked_div(t.calls).unwrap_or(0)),
            );
            if let Some(ns) = t.median_ns {
                text += &format!(". The median text took {}", duration(ns));
            }
            text + "."
        }
        (None, Some(speed)) => {
            format!("Prompts: {} t/s. No token was generated after them.", per_s(speed))
        }
        (None, None) => "No token was generated.".to_owned(),
    }
}

/// Few tokens may take half of the time: then the mean describes none of them.
#[must_use]
pub fn distribution(h: &Headline) -> Option<String> {
    let few = h.half_of_time > 0 && h.half_of_time.saturating_mul(5) <= h.tokens;
    few.then(|| format!("{} of {} tokens took half of all the time.", count(h.half_of_time), count(h.tokens)))
}

/// Where a rate of the memory is from.
#[must_use]
pub const fn rate_from(source: Option<CeilingSource>) -> &'static str {
    match source {
        Some(CeilingSource::Recording) | None => "measured for this session",
        Some(CeilingSource::Given) => "from the given file",
        Some(CeilingSource::Kept { .. }) => "measured earlier on this machine",
        Some(CeilingSource::Profile) => "from the board's profile",
        Some(CeilingSource::BestSeen) => "the best seen in this recording",
    }
}

/// A finding: its title, the evidence, the remedy, the gain.
#[must_use]
pub fn sentence(f: &Finding) -> String {
    let mut text = format!("{}: {}. {}", f.rule.title, observed(f), action(f));
    if let Some(g) = f.gain() {
        text += &format!(" {}", gain(&g));
    }
    for effect in f.effects.iter().skip(1) {
        text += &format!(" {}", also(effect));
    }
    text
}

/// Another question that the finding is about.
#[must_use]
pub fn also(effect: &Effect) -> String {
    let share = format!("{:.0} % of the time of a {}", effect.share * 100.0, unit(effect.question));
    let gain = effect.gain.map_or_else(String::new, |g| {
        format!(", gain {} ({} to {})", duration(g.likely_ns), duration(g.low_ns), duration(g.high_ns))
    });
    format!("Also {share}{gain}.")
}

/// The evidence of a finding.
#[must_use]
pub fn observed(f: &Finding) -> String {
    list(&f.found.evidence)
}

/// What to do about a finding, and what its effect depends on.
#[must_use]
pub fn action(f: &Finding) -> String {
    let action = remedy(f.rule, &f.found.remedy);
    match unmeasured(f) {
        Some(what) => format!("{action} The gain depends on {what}, which is not recorded."),
        None => action,
    }
}

/// What no recording has and the effect of a remedy depends on, where nothing is promised as the least gain.
fn unmeasured(f: &Finding) -> Option<&'static str> {
    if f.gain().is_some_and(|gain| gain.low_ns > 0) {
        return None;
    }
    match f.rule.code {
        "few_threads" => Some("how far the memory, the caches and the cores serve more threads"),
        "clock_limit" | "cpu_variant" => Some("how much of the time the operators wait for memory"),
        "memory_clock" => Some("how much of the time the operators wait for arithmetic"),
        "splits" => Some("the time of copies between backends"),
        "huge_pages" => Some("the time of a page-table walk"),
        "fake_numa" => Some("how often two accesses want the same memory bank"),
        _ => None,
    }
}

/// The gain of a remedy.
#[must_use]
pub fn gain(g: &Gain) -> String {
    let of = becomes_shorter(g.question);
    let (low, likely, high) = (duration(g.low_ns), duration(g.likely_ns), duration(g.high_ns));
    let mut text = format!("Gain: {likely} {of} ({low} to {high})");
    if let Some(Speeds { low, high, .. }) = g.speeds() {
        text += &match high {
            Some(high) => format!(", {} to {} t/s", per_s(low), per_s(high)),
            None => format!(", {} t/s or more", per_s(low)),
        };
    }
    text + "."
}

/// What a gain is of.
#[must_use]
pub const fn becomes_shorter(question: Question) -> &'static str {
    match question {
        Question::Decode => "per token",
        Question::Prompt => "per prompt",
        Question::FirstToken => "until the first token of a request",
        Question::StartUp => "until the first call of the program",
        Question::Encode => "per call of the encoder",
        Question::BetweenCalls => "between two calls",
    }
}

/// A rule that was ruled out, with the number that excludes it.
#[must_use]
pub fn ruled_out(rule: &Rule, evidence: &[Evidence]) -> String {
    let first = evidence.first().map(|e| format!(" ({})", piece(e))).unwrap_or_default();
    format!("{}{first}", rule.topic)
}

/// An inconclusive rule, with the interval of its effect.
#[must_use]
pub fn noisy(rule: &Rule, evidence: &[Evidence]) -> String {
    format!("{} ({})", rule.topic, list(evidence))
}

/// A rule without enough data, and what it needs.
#[must_use]
pub fn not_known(rule: &Rule, missing: &[Requirement], headline: &Headline) -> String {
    let calls = calls(headline);
    let needs: Vec<_> = missing.iter().map(|m| needed(m, calls)).collect();
    format!("{}: needs {}", rule.topic, needs.join(", "))
}

/// The missing data, each with the number of checks that need it, the most needed first. Facts,
/// counters, sensors and ceilings are one entry each, to keep the list short.
#[must_use]
pub fn not_enough_data(findings: &Findings) -> Vec<String> {
    let mut groups: BTreeMap<Group, (BTreeSet<&str>, u64, usize)> = BTreeMap::new();
    for (_, missing) in &findings.not_known {
        let mut counted = BTreeSet::new();
        for m in missing {
            let (group, name, most) = group(m);
            let (names, n, checks) = groups.entry(group).or_default();
            names.extend(name);
            *n = most.max(*n);
            *checks += usize::from(counted.insert(group));
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (_, _, checks))| std::cmp::Reverse(*checks));
    let calls = calls(&findings.headline);
    let line = |(group, (names, n, checks)): (Group, (BTreeSet<&str>, u64, usize))| {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let what = match group {
            Group::Calls => format!("{} of {n} {calls}", findings.headline.calls.min(n)),
            Group::Traced => format!("{n} {calls} with operators"),
            Group::Levels => format!("level {names} (--levels all)"),
            Group::Ceilings(why) => format!("measured peak {names}: {}", no_ceiling(why)),
            Group::Facts => format!("facts {names}"),
            Group::Counters => format!("counters {names}"),
            Group::Sensors => format!("sensors {names}"),
            Group::Other => names,
        };
        format!("{what}: {checks} {}", if checks == 1 { "check needs more" } else { "checks need more" })
    };
    groups.into_iter().map(line).collect()
}

/// Missing data that is reported together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Calls,
    Traced,
    Levels,
    Ceilings(NoCeiling),
    Facts,
    Counters,
    Sensors,
    Other,
}

/// The group of a piece of missing data, its name inside it, and the number that is needed.
fn group(missing: &Requirement) -> (Group, Option<&'static str>, u64) {
    match missing {
        Requirement::Calls(n) => (Group::Calls, None, *n),
        Requirement::TracedCalls(n) => (Group::Traced, None, *n),
        Requirement::Level(name) => (Group::Levels, Some(name), 0),
        Requirement::Ceiling(name) => (Group::Ceilings(NoCeiling::NotMeasured), Some(name), 0),
        Requirement::NoCeiling(name, why) => (Group::Ceilings(*why), Some(name), 0),
        Requirement::Fact(name) => (Group::Facts, Some(name), 0),
        Requirement::Counter(name) => (Group::Counters, Some(name), 0),
        Requirement::Gauge(name) => (Group::Sensors, Some(name), 0),
        Requirement::Ends => (Group::Other, Some("ends of operators (not --ends none)"), 0),
        Requirement::Cpus => (Group::Other, Some("CPUs of operators"), 0),
        Requirement::AllOperators => (Group::Other, Some("all operators of all threads (no filter)"), 0),
        Requirement::ContextSteps => (Group::Other, Some("a longer text (three steps of the KV cache)"), 0),
        Requirement::Rounds => (Group::Other, Some("rounds of draft and target with a known outcome"), 0),
        Requirement::PlainTokens => (Group::Other, Some(PLAIN_TOKENS), 0),
        Requirement::Culprit => (Group::Other, Some("a record of what these delays come from"), 0),
        Requirement::OtherType => (Group::Other, Some(OTHER_TYPE), 0),
        Requirement::OtherKvType => (Group::Other, Some(OTHER_KV_TYPE), 0),
        Requirement::WithoutNeighbours => (Group::Other, Some(WITHOUT_NEIGHBOURS), 0),
        Requirement::WaitsForBackends => (Group::Other, Some(WAITS_FOR_BACKENDS), 0),
        Requirement::StealReadings => (Group::Other, Some(STEAL_READINGS), 0),
        Requirement::Explained => (Group::Other, Some(EXPLAINED), 0),
        Requirement::Interrupts => (Group::Other, Some(INTERRUPTS), 0),
        Requirement::TextLengths => (Group::Other, Some(TEXT_LENGTHS), 0),
        Requirement::Prompts => (Group::Other, Some(PROMPTS), 0),
    }
}

const STEAL_READINGS: &str = "a longer run: steal time is read once a second";
const EXPLAINED: &str = "a recording with less than 2 % of unexplained time";
const INTERRUPTS: &str = "records of interrupts (tracepoints irq:*)";
const OTHER_TYPE: &str = "a recording of the same model with weights of another type";
const OTHER_KV_TYPE: &str = "a recording with keys of another type (-ctk f16)";
/// See [`Requirement::Prompts`].
const PROMPTS: &str = "the tokens of the prompts, which are not recorded";
const TEXT_LENGTHS: &str = "eight calls with texts of different lengths";
const WITHOUT_NEIGHBOURS: &str = "a recording without the programs on other CPUs";
const WAITS_FOR_BACKENDS: &str = "the waits for other backends (ggml_backend_sched_synchronize)";

/// What the judged calls of a session are.
const fn calls(h: &Headline) -> &'static str {
    match (h.question, h.drafted) {
        _ if h.calls == 0 => "calls",
        (Question::Decode, false) => "decode tokens",
        (Question::Decode, true) => "decode calls",
        (Question::Prompt, _) => "calls that read prompts",
        (..) => "calls of the encoder",
    }
}

/// What a rule needs, whatever it judges.
#[must_use]
pub fn needs(rule: &Rule) -> Vec<String> {
    rule.requires.iter().map(|r| needed(r, "calls")).collect()
}

/// What a rule needs of `calls`.
fn needed(missing: &Requirement, calls: &str) -> String {
    match missing {
        Requirement::Calls(n) => format!("{n} {calls}"),
        Requirement::TracedCalls(n) => format!("{n} {calls} with their operators (--full, or a longer run)"),
        Requirement::Ends => "the ends of operators (not --ends none)".to_owned(),
        Requirement::Cpus => "the CPUs on which operators ran".to_owned(),
        Requirement::AllOperators => "all operators of all threads (no filter)".to_owned(),
        Requirement::Level(name) => format!("the {name} level (--levels all)"),
        Requirement::Ceiling(name) => format!("the measured {name} peak (--bench)"),
        Requirement::NoCeiling(name, why) => format!("the measured {name} peak: {}", no_ceiling(*why)),
        Requirement::Fact(name) => format!("the fact {name}"),
        Requirement::Counter(name) => format!("the counter {name}"),
        Requirement::Gauge(name) => format!("the sensor of {name}"),
        Requirement::ContextSteps => "a longer text (three steps of the KV cache)".to_owned(),
        Requirement::Rounds => "rounds of draft and target whose outcome is known".to_owned(),
        Requirement::PlainTokens => PLAIN_TOKENS.to_owned(),
        Requirement::Culprit => "a record of what these delays come from".to_owned(),
        Requirement::OtherType => OTHER_TYPE.to_owned(),
        Requirement::OtherKvType => OTHER_KV_TYPE.to_owned(),
        Requirement::WithoutNeighbours => WITHOUT_NEIGHBOURS.to_owned(),
        Requirement::WaitsForBackends => WAITS_FOR_BACKENDS.to_owned(),
        Requirement::StealReadings => STEAL_READINGS.to_owned(),
        Requirement::Explained => EXPLAINED.to_owned(),
        Requirement::Interrupts => INTERRUPTS.to_owned(),
        Requirement::TextLengths => TEXT_LENGTHS.to_owned(),
        Requirement::Prompts => PROMPTS.to_owned(),
    }
}

fn list(evidence: &[Evidence]) -> String {
    evidence.iter().map(piece).collect::<Vec<_>>().join(", ")
}

/// Tasks with their ids: `cc1plus (4242), make (17)`. Many short ones of the same name have none.
fn named(tasks: &[(u32, String)]) -> String {
    let one = |(id, name): &(u32, String)| match id {
        0 => format!("what starts the tasks named {}", short(name)),
        id => format!("{} ({id})", short(name)),
    };
    tasks.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn remedy(rule: &Rule, remedy: &Remedy) -> String {
    match remedy {
        Remedy::Threads { threads } => {
            format!("Give the engine {} (-t {threads}).", counted(*threads, "thread"))
        }
        Remedy::MoveTasks { tasks } if !tasks.is_empty() => {
            let them = if tasks.len() == 1 { "it" } else { "them" };
            format!("Stop {}, or keep {them} off these CPUs (taskset, cpuset).", named(tasks))
        }
        Remedy::KernelThreads { tasks } => {
            format!(
                "{}: threads of the kernel, which cannot be stopped. Find what makes them work: a driver, storage, memory reclaim, kdamond (DAMON).",
                named(tasks)
            )
        }
        Remedy::MoveNeighbours { tasks } if !tasks.is_empty() => {
            format!("Run {} while the engine is idle, and compare.", named(tasks))
        }
        Remedy::Quota { cpus, threads } => {
            let cpus = counted(*cpus, "CPU");
            format!(
                "Raise the quota to {cpus}, or give the engine {} (-t {threads}).",
                counted(*threads, "thread")
            )
        }
        Remedy::Pin { threads, cpus } => {
            let cpus = cpu_list(cpus);
            let of = counted(*threads, "thread");
            format!("Give the engine {of} on the fast cores (taskset -c {cpus} … -t {threads}).")
        }
        Remedy::ShorterContext { cells, quantize } => {
            let how = if *quantize { rule.remedy } else { SHORTER_CONTEXT };
            format!("Keep {cells} KV cells or fewer. {how}")
        }
        Remedy::KvType { types: [only] } => {
            format!("Try {only} for keys and values (no -ctk and -ctv), and compare.")
        }
        Remedy::Clock { hertz } => format!("Allow {}. {}", quantity(*hertz as f64, "hertz"), rule.remedy),
        Remedy::MemoryClock { hertz } => {
            format!("Allow {}. {}", quantity(*hertz as f64, "hertz"), rule.remedy)
        }
        Remedy::MoreMemory { bytes } => format!("The weights take {}. {}", size(*bytes), rule.remedy),
        Remedy::LargerBatches { .. } => rule.remedy.to_owned(),
        Remedy::Requantize { group, from, to } => {
            let (group, from, to) = (group.replace('_', " "), short(from), short(to));
            format!("Tensors of {group} from {from} to {to}. {}", rule.remedy)
        }
        Remedy::OneCopy { bytes } => format!("{} Saves {}.", rule.remedy, size(*bytes)),
        Remedy::KeepWindow => KEEP_WINDOW.to_owned(),
        Remedy::KeepState => KEEP_STATE.to_owned(),
        Remedy::LessApplicationWork => LESS_APPLICATION_WORK.to_owned(),
        Remedy::TableInMemory => TABLE_IN_MEMORY.to_owned(),
        Remedy::MoveTasks { .. }
        | Remedy::MoveNeighbours { .. }
        | Remedy::PinThreads
        | Remedy::SpinAtBarriers
        | Remedy::SleepWhenIdle
        | Remedy::Cooling
        | Remedy::Sampling
        | Remedy::SmallerWeights
        | Remedy::NoDraft
        | Remedy::PinExperts
        | Remedy::RepackedType
        | Remedy::BetterVariant
        | Remedy::FakeNuma
        | Remedy::HugePages
        | Remedy::OneBackend
        | Remedy::CachePrompt
        | Remedy::FewerStateCopies
        | Remedy::WholePrompts
        | Remedy::SteadyShapes
        | Remedy::NoStops
        | Remedy::NoIdleTeam
        | Remedy::ReservedCpus
        | Remedy::MoveInterrupts
        | Remedy::FindSleep
        | Remedy::WarmCache
        | Remedy::KvType { .. }
        | Remedy::KeepConditions => rule.remedy.to_owned(),
    }
}

/// The fixed sentences about remedies: those of the rules, and those that replace them for some models.
pub fn remedies() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.remedy).chain([
        SHORTER_CONTEXT,
        KEEP_WINDOW,
        TABLE_IN_MEMORY,
        KEEP_STATE,
        LESS_APPLICATION_WORK,
    ])
}

const PLAIN_TOKENS: &str = "a recording without guesses, to compare with";

const SHORTER_CONTEXT: &str = "Keep less context: a smaller -c, shorter prompts and histories, summaries; a sliding window. The KV cache is quantized already.";
const KEEP_WINDOW: &str = "This model keeps only a window of the context in some layers: keep all of it (--swa-full), or checkpoints (--ctx-checkpoints), and leave the history of a conversation unchanged.";
const TABLE_IN_MEMORY: &str = "Rows of this table are read from storage when a token needs them: leave memory for it and keep it there (--lazy-mode off; older builds: --mlock), or put the model on faster storage. Fewer bits for other tensors change nothing.";
const LESS_APPLICATION_WORK: &str = "Another thread of the program works at the same time: let it write fewer lines (--log-disable), or do its work between tokens.";
const KEEP_STATE: &str = "This model has a state that cannot be cut back: keep checkpoints of it (--ctx-checkpoints, --checkpoint-min-step), and leave the history of a conversation unchanged.";

fn cpu_list(cpus: &[u16]) -> String {
    cpus.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_tasks_of_one_name_have_no_id_to_stop() {
        let tasks = [(0, "cc1plus".to_owned()), (42, "make".to_owned())];
        assert_eq!(named(&tasks), "what starts the tasks named cc1plus, make (42)");
    }
}
