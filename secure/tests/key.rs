//! The key file: its text, and its permissions.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use profinfer_secure::Key;
use profinfer_secure::file::{FileError, create, read};
use profinfer_secure::key::{MAX_BOARD, MAX_TEXT, TextError};

#[test]
fn text_and_back() {
    let key = Key::new("rk3588-07", Key::secret().unwrap()).unwrap();
    let text = key.text();
    assert_eq!(text.lines().count(), 3);
    assert_eq!(Key::parse(&text), Ok(key.clone()));
    assert_eq!(Key::parse(text.trim_end()), Ok(key.clone()), "an editor may leave out the last line's end");
    assert!(!format!("{key:?}").contains(&text[text.len() - 20..text.len() - 1]), "{key:?}");
    assert_ne!(Key::secret().unwrap(), Key::secret().unwrap());
    let longest = Key::new(&"b".repeat(MAX_BOARD), [0xff; 32]).unwrap();
    assert!(longest.text().len() <= MAX_TEXT);
}

#[test]
fn says_which_line_is_wrong() {
    let digits = "0f".repeat(32);
    for (text, wrong) in [
        (String::new(), TextError::Format),
        (format!("profinfer-key 2\nb\n{digits}\n"), TextError::Format),
        (format!("profinfer-key 1\n\n{digits}\n"), TextError::Board),
        (format!("profinfer-key 1\na b\n{digits}\n"), TextError::Board),
        (format!("profinfer-key 1\n{}\n{digits}\n", "b".repeat(MAX_BOARD + 1)), TextError::Board),
        ("profinfer-key 1\nb\n".to_owned(), TextError::Digits),
        (format!("profinfer-key 1\nb\n{}\n", &digits[1..]), TextError::Digits),
        (format!("profinfer-key 1\nb\n{digits}0\n"), TextError::Digits),
        (format!("profinfer-key 1\nb\n+{}\n", &digits[1..]), TextError::Digits),
        (format!("profinfer-key 1\nb\n{digits}\nmore"), TextError::More),
    ] {
        assert_eq!(Key::parse(&text), Err(wrong), "{text:?}");
    }
}

#[test]
fn a_file_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("board.key");
    let key = Key::new("b", [3; 32]).unwrap();
    create(&path, &key).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(read(&path).unwrap(), key);
    let again = create(&path, &Key::new("c", [4; 32]).unwrap()).unwrap_err();
    assert!(again.help(&path).contains("never overwritten"), "{again}");
    assert_eq!(read(&path).unwrap(), key, "it is as it was");
    for mode in [0o640, 0o604, 0o620, 0o610, 0o777] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let e = read(&path).unwrap_err();
        assert!(matches!(e, FileError::Open(m) if m == mode), "{e}");
        assert!(e.help(&path).contains("chmod 600"), "{}", e.help(&path));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(read(&path).unwrap(), key);
}

#[test]
fn what_is_no_key_file() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(read(dir.path()), Err(FileError::NoFile)));
    let missing = dir.path().join("missing");
    assert!(read(&missing).unwrap_err().help(&missing).contains("keygen"));
    let long = dir.path().join("long");
    create(&long, &Key::new("b", [3; 32]).unwrap()).unwrap();
    let text = fs::read_to_string(&long).unwrap() + &"x".repeat(1 << 20);
    fs::write(&long, text).unwrap();
    assert!(matches!(read(&long), Err(FileError::Text(_))));
    fs::write(&long, [0xff, 0xfe]).unwrap();
    assert!(read(&long).is_err(), "no text");
    // Opening a pipe without a writer must not block.
    assert!(matches!(read(std::path::Path::new("/dev/zero")), Err(FileError::NoFile)));
}
