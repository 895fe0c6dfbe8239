//! Checks the stack depths that the verifier reports, for all constants that can be set before
//! loading. The verifier ignores branches that these disable, and may count more than the
//! instructions show.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::cell::RefCell;
use std::mem::MaybeUninit;

use libbpf_rs::PrintLevel;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use profinfer_skip::skip;

use super::layout::types::limit;
use super::skel::ProfinferSkelBuilder;
use super::stack::STACK_MAX;
use super::{own_pid_namespace, sched};

/// `BPF_LOG_STATS` of the kernel's verifier: print only the statistics of each program.
const FIGURES: u32 = 4;

thread_local! {
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Constants that are set before loading.
#[derive(Debug, Clone, Copy)]
struct Constants {
    pid_namespace: bool,
    sched: bool,
    slots: u32,
    hardware: u32,
    starts_only: bool,
    nodes: bool,
    threads: bool,
    tids: bool,
    whole: bool,
}

impl Constants {
    /// One of all combinations.
    fn number(n: u32) -> Self {
        let bit = |k: u32| n >> k & 1 != 0;
        let slots = [0, 1, limit::COUNTER_SLOTS.0, limit::COUNTER_SLOTS.0][(n & 3) as usize];
        Self {
            slots,
            hardware: if n & 3 == 3 { 7 } else { 0 },
            pid_namespace: bit(2),
            sched: bit(3),
            starts_only: bit(4),
            nodes: bit(5),
            threads: bit(6),
            tids: bit(7),
            whole: bit(8),
        }
    }
    const ALL: u32 = 1 << 9;
}

/// Programs with the stack depths of their functions, as reported by the verifier.
fn verified(c: Constants) -> Vec<(String, Vec<u32>)> {
    LOG.with_borrow_mut(String::clear);
    let mut storage = MaybeUninit::uninit();
    let mut open = ProfinferSkelBuilder::default().open(&mut storage).unwrap();
    let rodata = open.maps.rodata_data.as_deref_mut().unwrap();
    rodata.counter_slots = c.slots;
    rodata.counter_hardware = c.hardware;
    rodata.starts_only = c.starts_only.into();
    rodata.filter_nodes = c.nodes.into();
    rodata.filter_threads = c.threads.into();
    rodata.filter_tids = c.tids.into();
    rodata.sched_on = c.sched.into();
    rodata.sched_format.prev_state_size = if c.tids { 8 } else { 4 };
    rodata.backend_whole.fill(c.whole.into());
    let (dev, ino) = own_pid_namespace().unwrap_or((1, 1));
    (rodata.pidns_dev, rodata.pidns_ino) = if c.pid_namespace { (dev, ino) } else { (0, 0) };
    rodata.pid_layout.upid_size = if c.whole { 16 } else { 0 };
    if !c.sched {
        sched::leave_out(&mut open).unwrap();
    }
    open.open_object_mut().progs_mut().for_each(|mut p| p.set_log_level(FIGURES));
    let _loaded = open.load().unwrap();
    LOG.with_borrow(|log| {
        let programs = log.split("prog '").skip(1);
        let depths = |text: &str| {
            let line = text.lines().find_map(|l| l.trim().strip_prefix("stack depth "))?;
            // Newer kernels append more fields.
            let sum = line.split_whitespace().next()?;
            Some(sum.split('+').map(|n| n.parse().unwrap()).collect())
        };
        programs.filter_map(|p| Some((p.split('\'').next()?.to_owned(), depths(p)?))).collect()
    })
}

/// A few combinations in which each constant takes each of its values.
#[test]
fn no_function_exceeds_the_stack_limit() {
    check((0..Constants::ALL).step_by(31));
}

/// All combinations. The kernel verifies them for most of a minute.
#[test]
fn no_function_uses_more_stack_than_may_be_whatever_is_set_before_loading() {
    check(0..Constants::ALL);
}

fn check(combinations: impl Iterator<Item = u32>) {
    if let Ok(why) = std::env::var("PROFINFER_NO_BPF") {
        return skip(why);
    }
    if !nix::unistd::geteuid().is_root() {
        return skip("loading BPF programs needs root");
    }
    libbpf_rs::set_print(Some((PrintLevel::Debug, |_, text| LOG.with_borrow_mut(|log| log.push_str(&text)))));
    let mut deepest: Vec<(String, u32)> = Vec::new();
    for n in combinations {
        let constants = Constants::number(n);
        let programs = verified(constants);
        assert!(programs.len() >= 40, "the verifier reported only {} programs", programs.len());
        for (name, depths) in programs {
            let most = depths.iter().copied().max().unwrap_or(0);
            assert!(
                most <= STACK_MAX,
                "{name} has a function with {most} bytes of stack ({depths:?}), with {constants:?}"
            );
            match deepest.iter_mut().find(|(known, _)| *known == name) {
                Some((_, before)) => *before = most.max(*before),
                None => deepest.push((name, most)),
            }
        }
    }
    for (name, most) in deepest {
        println!("{most:3} {name}");
    }
}
