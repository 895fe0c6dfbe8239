//! The counters to request from the agent: the board's default set, another set, or events by name.

use profinfer_boards::{Board, PlannedCounter};
use profinfer_wire::record::control::ANY_CORE;

use crate::{Diagnostic, Result};

/// The name that requests no counters.
const NONE: &str = "none";

/// The counters that `--counters` and the board request, in order of slots. Without a board, only named events are
/// requested, because nothing is known about the machine.
pub(crate) fn requests(board: Option<&Board>, asked: &[String]) -> Result<Vec<PlannedCounter>> {
    let asked: Vec<&str> = asked.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    match (asked.as_slice(), board) {
        ([], None) | ([NONE], _) => Ok(Vec::new()),
        ([], Some(board)) => plan(board, None),
        ([set], Some(board)) if is_set(set, Some(board)) => plan(board, Some(set)),
        (names, board) => match names.iter().find(|n| is_set(n, board) || **n == NONE) {
            None => names.iter().map(|name| by_name(name, board)).collect(),
            Some(set) => {
                let (answer, help) = match board {
                    None => (
                        "counter sets belong to a board, but no board is named",
                        "name the board with --board, or name events",
                    ),
                    Some(_) => (
                        "a set or `none` cannot be combined with other names",
                        "name one set, or only events",
                    ),
                };
                Err(Diagnostic::new(format!("choosing the counters `{set}`"), answer, help))
            }
        },
    }
}

/// Events are in capitals, as in Arm's manuals. The kernel's own events have a hyphen.
fn is_set(name: &str, board: Option<&Board>) -> bool {
    let event = name.contains('-') || !name.contains(|c: char| c.is_ascii_lowercase());
    board.is_some_and(|b| b.set_names().contains(&name)) || (!event && name != NONE)
}

fn plan(board: &Board, set: Option<&str>) -> Result<Vec<PlannedCounter>> {
    board.counter_plan(set).map_err(|e| {
        let help = format!("`analyze boards {}` shows the events of each set; or name events", board.name);
        Diagnostic::new("choosing the counters", e, help)
    })
}

/// Requests an event on every core type, by the PMU's own number. The agent knows the kernel's own events; it refuses,
/// by name, an event that it does not have.
fn by_name(name: &str, board: Option<&Board>) -> Result<PlannedCounter> {
    if let Some(board) = board {
        board.can_count(name).map_err(|e| {
            let help = format!(
                "`analyze boards {}` lists the events; without --board, any name is accepted",
                board.name
            );
            Diagnostic::new("choosing the counters", e, help)
        })?;
    }
    let midr = if name.contains('-') { 0 } else { ANY_CORE };
    Ok(PlannedCounter { name: name.to_owned(), event: 0, midr })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use profinfer_boards::Catalog;

    use super::*;

    fn names(board: Option<&str>, asked: &[&str]) -> std::result::Result<Vec<String>, String> {
        let catalog = Catalog::shipped().unwrap();
        let board = board.map(|name| catalog.find(name).unwrap());
        let asked: Vec<String> = asked.iter().map(|a| (*a).to_owned()).collect();
        let requests = requests(board, &asked).map_err(|e| e.to_string())?;
        Ok(requests.into_iter().map(|w| format!("{}@{:x}", w.name, w.midr)).collect())
    }

    #[test]
    fn of_the_board_of_a_set_by_name_or_none() {
        assert_eq!(names(None, &[]).unwrap(), [""; 0]);
        assert_eq!(names(Some("rk3588"), &["none"]).unwrap(), [""; 0]);
        assert_eq!(names(Some("host"), &[]).unwrap(), ["minor-faults@0", "major-faults@0"]);
        let memory = names(Some("rk3588"), &[]).unwrap();
        assert_eq!(memory, names(Some("rk3588"), &["memory"]).unwrap());
        assert_eq!((memory.len(), &*memory[3]), (16, "L3D_CACHE_REFILL@4100d050"));
        assert!(names(Some("bcm2712"), &["cache"]).unwrap().contains(&"L1D_CACHE@4100d0b0".to_owned()));
        let named = ["L3D_CACHE_REFILL", "minor-faults"];
        assert_eq!(names(Some("rk3588"), &named).unwrap(), ["L3D_CACHE_REFILL@ff00fff0", "minor-faults@0"]);
        assert_eq!(names(None, &named).unwrap(), names(Some("rk3588"), &named).unwrap());
    }

    #[test]
    fn wrong_names_are_reported() {
        for (board, asked, words) in [
            (Some("rk3588"), &["memry"][..], "no counter set `memry`; its sets: memory"),
            (Some("rk3588"), &["CPU_CYCLES", "L3D_CACHE_REFIL"], "similar events: L3D_CACHE_REFILL, "),
            (Some("rk3588"), &["page-faults"], "has an event `page-faults`"),
            (None, &["memory"], "counter sets belong to a board"),
            (Some("rk3588"), &["memory", "BR_PRED"], "cannot be combined"),
            (Some("rk3588"), &["BR_PRED", "none"], "cannot be combined"),
        ] {
            let said = names(board, asked).unwrap_err();
            assert!(said.contains(words) && said.contains("help: "), "{said}");
        }
    }
}
