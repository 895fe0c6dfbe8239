//! Recordings from emulated boards, compared with the lists that the engines printed there.
//!
//! `ci/board/matrix.sh` boots the boards, brings recordings and lists back, and names their folder in
//! PROFINFER_BOARD_DIR: one folder for each board, with `trace.pfi` and `nodes.txt`.

use std::path::Path;

use crate::engine_list::parse;
use crate::nodes::check_trace;
use crate::support::read;

#[test]
#[ignore = "ci/board/matrix.sh and ci/board/serial.sh run it"]
fn traces_of_boards() {
    let Some(dir) = profinfer_skip::needed_path("PROFINFER_BOARD_DIR", "ci/board/matrix.sh") else { return };
    let mut boards: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|b| b.unwrap().path()).collect();
    boards.sort();
    assert!(!boards.is_empty(), "{} holds no boards", dir.display());
    // Check each board, also after a failure, to show which kernels differ.
    boards.retain(|b| std::panic::catch_unwind(|| check(b)).is_err());
    assert!(boards.is_empty(), "wrong on {boards:?}");
}

fn check(board: &Path) {
    let name = board.file_name().unwrap().to_string_lossy();
    let calls = parse(&std::fs::read_to_string(board.join("nodes.txt")).unwrap());
    assert_eq!(calls.len(), 5, "{name}: prefill and four decodes");
    check_trace(&read(&board.join("trace.pfi")), &calls, &name);
}
