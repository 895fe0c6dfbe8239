//! Formats of several kernels, and invalid text.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use profinfer_wire::sched::Left;
use proptest::prelude::*;

use super::format::{Format, NotUsable, symbols};
use super::formats::Formats;
use super::states::States;
use crate::bpf::tracepoint::Tracepoint;

const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
/// How Linux 5.10 and later print a switch.
const PRINT: &str = "print fmt: \"prev_state=%s%s\", (REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | \
     0x0020 | 0x0040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & 0xff, \"|\", { 0x0001, \"S\" }, { 0x0002, \"D\" }, { 0x0004, \
     \"T\" }, { 0x0008, \"t\" }, { 0x0010, \"X\" }, { 0x0020, \"Z\" }, { 0x0040, \"P\" }, { 0x0080, \"I\" }) : \"R\", REC->prev_state & \
     (((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) ? \"+\" : \"\", REC->next_comm\n";

/// The fields of a record, starting at byte `at`.
fn fields(mut at: u32, fields: &[(&str, u32)]) -> String {
    let mut text = String::new();
    for (declared, size) in fields {
        text += &format!("\tfield:{declared};\toffset:{at};\tsize:{size};\tsigned:1;\n");
        at += size;
    }
    text
}

/// The tracepoints of a kernel whose specific fields begin at byte `first`.
fn kernel(first: u32, tracepoint: Tracepoint) -> String {
    let task = [("char comm[16]", 16), ("pid_t pid", 4), ("int prio", 4)];
    let own: Vec<(&str, u32)> = match tracepoint {
        Tracepoint::Switch => vec![
            ("char prev_comm[16]", 16),
            ("pid_t prev_pid", 4),
            ("int prev_prio", 4),
            ("long prev_state", 8),
            ("char next_comm[16]", 16),
            ("pid_t next_pid", 4),
        ],
        // Before 5.14 there was one more field.
        Tracepoint::Wakeup | Tracepoint::WakeupNew if first == 8 => {
            [&task[..], &[("int success", 4), ("int target_cpu", 4)]].concat()
        }
        Tracepoint::Waking | Tracepoint::Wakeup | Tracepoint::WakeupNew => {
            [&task[..], &[("int target_cpu", 4)]].concat()
        }
        Tracepoint::Migrate => [&task[..], &[("int orig_cpu", 4), ("int dest_cpu", 4)]].concat(),
        Tracepoint::Irq => vec![("int irq", 4), ("__data_loc char[] name", 4)],
        Tracepoint::IrqExit => vec![("int irq", 4), ("int ret", 4)],
        Tracepoint::Softirq | Tracepoint::SoftirqExit => vec![("unsigned int vec", 4)],
        // Since large folios there is one more field.
        Tracepoint::PageAdd => {
            let old = [
                ("unsigned long pfn", 8),
                ("unsigned long i_ino", 8),
                ("unsigned long index", 8),
                ("dev_t s_dev", 4),
            ];
            let order = [("unsigned char order", 1)];
            [&old[..], if first == 8 { &[] } else { &order[..] }].concat()
        }
    };
    let print = if tracepoint == Tracepoint::Switch {
        PRINT
    } else {
        "print fmt: \"%u\", { 1, \"TIMER\" }, { 9, \"RCU\" }\n"
    };
    format!("name: x\nID: 371\nformat:\n{COMMON}\n{}\n{print}", fields(first, &own))
}

#[test]
fn fields_shift_with_the_header_and_come_and_go() {
    let old = Formats::read("x", |t| Ok(kernel(8, t))).unwrap();
    assert_eq!((old.layout.prev_pid, old.layout.prev_state, old.layout.prev_state_size), (24, 32, 8));
    assert_eq!((old.layout.next_comm, old.layout.next_pid), (40, 56));
    assert_eq!((old.layout.waking_pid, old.layout.wakeup_cpu, old.layout.migrate_cpu), (24, 36, 36));
    assert_eq!((old.layout.irq_name, old.layout.softirq_vec), (12, 8));
    assert_eq!((old.layout.page_ino, old.layout.page_dev, old.layout.page_order), (16, 32, 0));
    assert_eq!((old.layout.preempted, old.layout.dead), (0x100, 0x30));
    assert_eq!(old.softirqs, [(1, "TIMER".to_owned()), (9, "RCU".to_owned())]);
    assert_eq!(old.id(Tracepoint::Irq), Ok(371));
    // common_preempt_lazy_count of real-time kernels, and no `success`.
    let lazy = Formats::read("x", |t| Ok(kernel(16, t))).unwrap();
    assert_eq!((lazy.layout.prev_pid, lazy.layout.next_pid, lazy.layout.irq_name), (32, 64, 20));
    assert_eq!((lazy.layout.wakeup_pid, lazy.layout.wakeup_cpu), (32, 40));
    assert_eq!((lazy.layout.page_ino, lazy.layout.page_dev, lazy.layout.page_order), (24, 40, 44));
}

#[test]
fn missing_fields_and_wrong_sizes_are_refused_with_the_reason() {
    let changed = |of: Tracepoint, from: &str, to: &str| {
        Formats::read("x", |t| Ok(if t == of { kernel(8, t).replace(from, to) } else { kernel(8, t) }))
    };
    let why = |of, from, to| changed(of, from, to).unwrap_err();
    let absent = why(Tracepoint::Wakeup, "target_cpu", "cpu");
    assert_eq!(absent, "the format of sched:sched_wakeup is not usable: it has no field target_cpu");
    assert!(
        why(Tracepoint::Switch, "size:8", "size:2").contains("prev_state has an unexpected size, 2 bytes")
    );
    assert!(why(Tracepoint::Switch, "offset:24", "offset:4").contains("prev_pid is at byte 4"));
    assert!(why(Tracepoint::Switch, "offset:24", "offset:4294967295").contains("is at byte"));
    assert!(why(Tracepoint::Migrate, "ID:", "Id:").contains("it has no `ID:`"));
    assert!(why(Tracepoint::Switch, "? \"+\"", "? \"*\"").contains("which state is preempted"));
    assert!(why(Tracepoint::Switch, "\"S\"", "\"s\"").contains("which states are sleep"));
    // If interrupts fail, only these are missing.
    let without = changed(Tracepoint::Irq, "__data_loc char[]", "char *").unwrap();
    assert!(without.id(Tracepoint::Irq).unwrap_err().contains("name has an unexpected kind"));
    assert!(without.id(Tracepoint::Switch).is_ok());
}

#[test]
fn states_are_read_from_the_print_format() {
    let of = |print: &str| States::new(&Format::parse(&format!("ID: 1\nprint fmt: {print}")).unwrap());
    let states = of(PRINT.strip_prefix("print fmt: ").unwrap()).unwrap();
    let left = [0x100, 0, 1, 2, 4, 8, 0x10, 0x20, 0x80, 0x40, 0x101].map(|s| states.left(s));
    let expected = [
        Left::Preempted,
        Left::Yielded,
        Left::Sleeping,
        Left::Blocked,
        Left::Stopped,
        Left::Stopped,
        Left::Ended,
        Left::Ended,
        Left::Blocked,
        Left::Other,
        // Whatever it was about to do.
        Left::Preempted,
    ];
    assert_eq!(left, expected);
    // Another kernel's bits, and the mark as one number.
    let other = of(
        "REC->prev_state & 1023 ? x, { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x40, \"X\" }, REC->prev_state & 2048 ? \"+\"",
    );
    let other = other.unwrap();
    assert_eq!((other.preempted, other.dead, other.left(0x40)), (2048, 0x40, Left::Ended));
    // A mark that is a state's bit, or not a single bit.
    for mark in ["2", "3", "0", "(1 | 2", "((1 | 2) + 1) << 2"] {
        let print = format!("{{ 0x1, \"S\" }}, {{ 0x2, \"D\" }}, REC->prev_state & {mark} ? \"+\"");
        assert!(matches!(of(&print), Err(NotUsable::States(_))), "{mark}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_without_panic(text in "(name: x\nID: [0-9]{0,22}\n|field:|[a-z_*\\[\\] ]{0,9};|\toffset:[0-9]{0,12};|\tsize:4;|print fmt: |REC->prev_state &|[()|{}<+\" 0-9x]{0,20}|\\PC{0,9}|\n){0,30}") {
        if let Ok(format) = Format::parse(&text) {
            let _ = (States::new(&format), format.offset("a", 4), format.text("b"), symbols(&format.print));
        }
    }
}

/// This machine's kernel, if tracefs is available.
#[test]
fn this_kernels_formats_are_usable() {
    match Formats::find() {
        Ok(formats) => assert!(formats.layout.prev_pid >= 8 && formats.layout.preempted.is_power_of_two()),
        Err(why) => println!("not checked: {why}"),
    }
}
