//! Finds the functions of a file without names by the messages that they print.
//!
//! A stripped executable that has llama.cpp linked in, or a stripped library that hides it, names
//! none of its functions. Their messages remain: the texts of assertions, the formats of messages,
//! and their own names as `__func__`. Stage: before attaching. From: one file's [`Calls`]. To:
//! addresses with the names that the functions have in the engine's sources. Promises: a function
//! is named only if it is the only one in the file that refers to all of its texts, and if it reads
//! its arguments as the function does. Where two do (inlined copies), there is none. Builds with
//! names confirm which texts identify a function: see the tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::dataflow::Trace;
use crate::code::function::Function;
use crate::code::instruction::Flow;
use crate::facts::tables;
use crate::file::elf::Symbol;
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::names::{Clue, Recovered};
use crate::symbols::references::{self, Reference};

/// A function and its texts.
struct Known {
    name: &'static str,
    /// It refers to all of these, and no other function does.
    texts: &'static [&'static str],
    /// (argument, offset in bytes) of a field that it reads first.
    reads: Option<(u8, i64)>,
}

const KNOWN: [Known; 5] = [
    // ggml_cplan: work_size 0, work_data 8, n_threads 16
    Known { name: GRAPH, texts: &["cplan", "cplan->n_threads > 0"], reads: Some((1, 16)) },
    Known { name: "llama_decode", texts: &["%s: failed to decode, ret = %d\n", "llama_decode"], reads: None },
    Known { name: "llama_encode", texts: &["%s: failed to encode, ret = %d\n", "llama_encode"], reads: None },
    Known {
        name: "ggml_backend_tensor_alloc",
        texts: &["tensor->buffer == NULL", "tensor->data == NULL", "tensor->view_src == NULL"],
        reads: None,
    },
    Known {
        name: "ggml_backend_sched_split_graph",
        texts: &["*cur_backend_id != -1", "node_backend_id != -1", "src_backend_id != -1"],
        reads: None,
    },
];

/// The function that runs a graph on the CPU.
pub(crate) const GRAPH: &str = "ggml_graph_compute";
/// The message of [`SCHEDULER`]'s caller when it fails.
const SCHEDULER_FAILS: &str = "%s: ggml_backend_sched_graph_compute_async failed with error %d\n";
const SCHEDULER: &str = "ggml_backend_sched_graph_compute_async";
/// The text that every failed assertion passes to [`ABORTS`].
const ASSERTS: &str = "GGML_ASSERT(%s) failed";
const ABORTS: &str = "ggml_abort";
/// Distance of the call after the text, in instructions.
const NEAR: usize = 12;

/// Finds the functions of a file that contains the engine and names none of these.
pub(crate) fn recover(calls: &mut Calls<'_, '_>) {
    calls.stripped = names_nothing(calls);
    if calls.stripped {
        for found in find(calls) {
            calls.names.add(found);
        }
    }
}

/// Whether the file contains the engine and names none of these functions.
fn names_nothing(calls: &Calls<'_, '_>) -> bool {
    let named = |name: &str| calls.names.get(name).is_some();
    // ggml-base: it has the operators' names, but neither of the functions that run graphs.
    let known = KNOWN.iter().any(|known| named(known.name)) || named(SCHEDULER) || named("ggml_get_name");
    !known && tables::may_be_in(calls.image)
}

/// The functions of a file, named or not.
pub(crate) fn find(calls: &Calls<'_, '_>) -> Vec<Recovered> {
    let texts = KNOWN.iter().flat_map(|known| known.texts).copied().chain([SCHEDULER_FAILS, ASSERTS]);
    let texts: BTreeMap<&str, BTreeSet<u64>> =
        texts.map(|text| (text, calls.image.places(text).into_iter().collect())).collect();
    let all: BTreeSet<u64> = texts.values().flatten().copied().collect();
    let references = references::to(calls.image, &all);
    let of = |text: &str| -> Vec<Reference> {
        let places = &texts[text];
        references.iter().filter(|r| places.contains(&r.target)).copied().collect()
    };
    let mut owners: BTreeMap<u64, Option<u64>> = BTreeMap::new();
    let mut found: Vec<Recovered> = Vec::new();
    for known in &KNOWN {
        let mut referring = known.texts.iter().map(|text| -> BTreeSet<Option<u64>> {
            let owner =
                |r: Reference| *owners.entry(r.part).or_insert_with(|| references::owner(calls, r.part));
            of(text).into_iter().map(owner).collect()
        });
        let first = referring.next().unwrap_or_default();
        let both = referring.fold(first, |some, more| some.intersection(&more).copied().collect());
        if both.len() != 1 {
            continue;
        }
        let Some(address) = both.first().copied().flatten() else { continue };
        let reads = known
            .reads
            .is_none_or(|(argument, offset)| Trace::new(calls.image, address, 64).touches(argument, offset));
        if reads {
            found.extend(one(calls, known.name, address, Clue::Texts(known.texts)));
        }
    }
    if let Some(address) = only(of(SCHEDULER_FAILS).iter().filter_map(|r| tested(calls, r)).collect()) {
        found.extend(one(calls, SCHEDULER, address, Clue::CalledBefore(SCHEDULER_FAILS)));
    }
    if let Some(address) = only(of(ASSERTS).iter().filter_map(|r| called_behind(calls, r)).collect()) {
        found.extend(one(calls, ABORTS, address, Clue::CalledWith(ASSERTS)));
    }
    found
}

fn only(addresses: BTreeSet<u64>) -> Option<u64> {
    if addresses.len() == 1 { addresses.first().copied() } else { None }
}

/// The function at `address` with a name, if one begins there.
pub(crate) fn one(calls: &Calls<'_, '_>, name: &'static str, address: u64, clue: Clue) -> Option<Recovered> {
    let (start, end) = unwind::function_around(calls.image, address)?;
    let symbol = Symbol { name, address, size: end - start, exported: false };
    (start == address).then_some(Recovered { symbol, clue })
}

/// The texts that identify a function if the file does not name it; empty where there are none.
pub(crate) fn texts_of(name: &str) -> &'static [&'static str] {
    match KNOWN.iter().find(|known| known.name == name) {
        Some(known) => known.texts,
        None if name == SCHEDULER => &[SCHEDULER_FAILS],
        None => &[],
    }
}

/// The function whose result decides whether the text is reached.
fn tested(calls: &Calls<'_, '_>, text: &Reference) -> Option<u64> {
    // The text may be in a part of the function that the compiler moved.
    let body = Function::around(calls.image, references::owner(calls, text.part)?)?;
    let elsewhere = (text.part != body.start).then(|| Function::around(calls.image, text.site)).flatten();
    let comes = |from: u64| {
        let there = [Some(&body), elsewhere.as_ref()].into_iter().flatten().find(|b| b.at(from).is_some());
        there.is_some_and(|b| b.straight(from).contains(&text.site))
    };
    let called = body.code.iter().enumerate().filter_map(|(n, i)| {
        let Flow::Call(to) = i.flow else { return None };
        body.decision(n)?.into_iter().any(comes).then_some(to)
    });
    only(called.filter(|to| calls.callee(*to).is_none() || calls.names.at(*to).is_some()).collect())
}

/// The function that is called next after the text.
fn called_behind(calls: &Calls<'_, '_>, text: &Reference) -> Option<u64> {
    let body = Function::around(calls.image, text.site)?;
    let behind = body.code.iter().skip(body.index(text.site)? + 1).take(NEAR);
    for instruction in behind {
        match instruction.flow {
            Flow::Next => {}
            Flow::Call(to) => return Some(to),
            _ => return None,
        }
    }
    None
}
