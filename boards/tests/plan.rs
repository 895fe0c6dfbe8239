//! The requests for a board's counter sets.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::collections::BTreeMap;

use profinfer_boards::{BoardError, Catalog, PlannedCounter};

const A55: u32 = 0x4100_d050;
const A76: u32 = 0x4100_d0b0;
const A78: u32 = 0x4100_d410;

fn plan(board: &str, set: Option<&str>) -> Vec<PlannedCounter> {
    Catalog::shipped().unwrap().find(board).unwrap().counter_plan(set).unwrap()
}

/// Slot of each name on cores with that MIDR: the agent assigns slots in the order of a core's
/// requests.
fn slots(plan: &[PlannedCounter], midr: u32) -> BTreeMap<&str, usize> {
    plan.iter().filter(|c| c.midr == midr).enumerate().map(|(slot, c)| (c.name.as_str(), slot)).collect()
}

#[test]
fn rk3588_counts_memory_alike_on_both_cores() {
    let plan = plan("rk3588", None);
    let all: Vec<(&str, u32, u32)> = plan.iter().map(|c| (c.name.as_str(), c.event, c.midr)).collect();
    let memory = [
        ("CPU_CYCLES", 0x11),
        ("INST_RETIRED", 0x08),
        ("STALL_BACKEND", 0x24),
        ("L3D_CACHE_REFILL", 0x2a),
        ("L2D_CACHE_REFILL", 0x17),
        ("L2D_CACHE_WB", 0x18),
        ("LL_CACHE_MISS_RD", 0x37),
    ];
    let mut expected: Vec<(&str, u32, u32)> = Vec::new();
    for midr in [A55, A76] {
        expected.extend(memory.map(|(name, event)| (name, event, midr)));
    }
    expected.extend([("minor-faults", 0, 0), ("major-faults", 0, 0)]);
    assert_eq!(all, expected);
}

/// On every board and for every set: cycles in slot 0, at most seven, and one slot for one name on
/// all cores.
#[test]
fn an_event_has_one_slot() {
    let catalog = Catalog::shipped().unwrap();
    let mut shared = 0;
    for board in catalog.boards() {
        for set in board.set_names() {
            let plan = board.counter_plan(Some(set)).unwrap();
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for midr in board.cores().iter().filter_map(|c| c.midr) {
                let slots = slots(&plan, midr);
                assert!(slots.len() <= 7, "{} {set}", board.name);
                assert_eq!(slots.get("CPU_CYCLES"), Some(&0), "{} {set}", board.name);
                for (name, slot) in slots {
                    let first = *seen.entry(name.to_owned()).or_insert(slot);
                    assert_eq!(first, slot, "{} {set} {name}", board.name);
                    shared += 1;
                }
            }
            assert_eq!(slots(&plan, 0).len(), 2, "page faults everywhere");
        }
    }
    assert!(shared > 100, "{shared}");
}

#[test]
fn what_only_one_core_has_comes_behind_what_both_have() {
    let plan = plan("qcs6490", Some("stalls"));
    let (little, big) = (slots(&plan, A55), slots(&plan, A78));
    assert_eq!(little["STALL_BACKEND"], big["STALL_BACKEND"]);
    assert!(little["STALL_BACKEND_LD"] > 3 && big["STALL_BACKEND_MEM"] > 3);
    assert!(!little.contains_key("STALL_BACKEND_MEM"));
}

#[test]
fn generic_asks_for_every_core_that_is_known() {
    let plan = plan("generic-aarch64", None);
    for midr in [A55, A76, A78] {
        assert_eq!(slots(&plan, midr).len(), 7, "{midr:#x}");
    }
    assert_eq!(plan.len(), 3 * 7 + 2);
}

#[test]
fn host_asks_for_page_faults_alone() {
    let plan = plan("host", None);
    assert!(
        plan.iter()
            .map(|c| (c.name.as_str(), c.event, c.midr))
            .eq([("minor-faults", 0, 0), ("major-faults", 0, 0)])
    );
}

#[test]
fn an_unknown_set_names_those_there_are() {
    let catalog = Catalog::shipped().unwrap();
    let e = catalog.find("rk3588").unwrap().counter_plan(Some("memry")).unwrap_err();
    let BoardError::NoSet { candidates, .. } = &e else { panic!("{e:?}") };
    assert_eq!(candidates[0], "memory");
    assert!(e.to_string().contains("rk3588") && e.to_string().contains("stalls"), "{e}");
}
