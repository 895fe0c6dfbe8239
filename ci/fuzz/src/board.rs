//! Board profiles: any text is one, or gives an error that names a file. All functions work on a
//! valid one.

use profinfer_boards::{BoardError, Catalog};

/// First byte: the kind of text: a board, a core or a backend. The rest: the text.
pub fn board(bytes: &[u8]) {
    let Some((kind, text)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let folder = ["", "cores/", "backends/"][usize::from(kind % 3)];
    let (path, text) = (format!("{folder}fuzzed.toml"), text.to_owned());
    if let Err(error) = asked(path, text) {
        assert!(!error.to_string().is_empty());
    }
}

fn asked(path: String, text: String) -> Result<(), BoardError> {
    let mut catalog = Catalog::default();
    catalog.with_folder([(path, text)].into_iter())?;
    for board in catalog.boards() {
        for set in board.set_names() {
            let _ = board.counter_plan(Some(set));
        }
        let _ = board.counter_plan(None);
    }
    let _ = (catalog.backends().count(), catalog.by_machine("fuzzed", &[0x410f_d0b0]));
    catalog.find("fuzzed").map(|_| ())
}
