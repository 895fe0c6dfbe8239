//! Filters the last lines of an engine's standard error before they leave the board: diagnostics
//! stay, prompts, answers and secrets do not.
//!
//! Like for command lines, only words that are known to be harmless stay; all others are hidden.
//! Only lines that begin like an engine's log (`llama_model_load: …`) count. A word is shown if it
//! is in the vocabulary below, a function or tensor name of the engine, a number, or a path in the
//! shown command line. A word that is hidden in the command line is hidden here too. Standard
//! output is never read, because answers are written there.

use super::command::{self, HIDDEN};

/// Most lines that are sent.
const LINES: usize = 5;
/// Longest line that is sent, in bytes.
const LINE: usize = 200;
/// Longest function or tensor name, and longest number, in bytes.
const NAME: usize = 64;
const NUMBER: usize = 12;
/// Prefixes of functions that write diagnostics.
const FUNCTIONS: &str = "\
    llama_ ggml_ gguf_ common_ load_ init_ server_ clip_ mtmd_ whisper_ sched_ graph_ print_info create_ \
    read_ alloc_ model_ backend_ get_ set_ cpu_ llm_ \
    ";
/// Other first words of diagnostics.
const HEADS: &str = "error warning warn fatal main srv slot cmn que init terminate what() operator() Error";
/// Words of diagnostics, in lower case.
const WORDS: &str = "\
    a abort aborted aborting access adapter address after all allocate allocated allocating allocation an \
    and any architecture are argument arguments array assert assertion at available backend backends bad \
    batch be because before bind bounds broken buffer buffers build but by bytes cache called can cannot \
    check code compatible compute connect context corrupt corrupted could cpu create creating data decode \
    deprecated denied device devices did different directory does done draft due duplicate dump dumped empty \
    encode encountered end error errors exceeded exception exit exited exiting expected fail failed failure \
    file files find fit flash for format found free from full function got gpu graph had handle has have \
    header in incomplete incompatible initialize initialized initializing input instance insufficient \
    instruction int invalid is it key kv large length library limit listen load loaded loader loading lock \
    lora magic map match max maximum memory metadata mib mismatch missing mlock mmap model must n name no \
    not null number of offset on open opening option or out output parameters params parse parsing \
    permission pool pos position read reading ready reserve resource run runtime server shape shared size \
    slot small such support supported system tensor tensors than the thread threads throwing to token \
    tokenizer tokens too trying type unable unexpected unknown unsupported usage use value version vocab \
    ";

/// The last diagnostics among the last bytes of an engine's standard error, one per line. `cmdline`
/// is the content of /proc/PID/cmdline.
#[must_use]
pub fn of_engine(tail: &[u8], cmdline: &[u8]) -> String {
    let command = command::of_engine(cmdline);
    let shown: Vec<&str> = command.split(' ').filter(|w| *w != HIDDEN).collect();
    let cmdline = String::from_utf8_lossy(cmdline);
    let hidden: Vec<&str> = cmdline
        .split(|c: char| c == '\0' || c == '=' || c.is_whitespace())
        .filter(|w| !w.is_empty() && !shown.iter().any(|s| s == w || s.split('=').any(|part| part == *w)))
        .map(bare)
        .collect();
    let text = String::from_utf8_lossy(tail);
    let mut lines: Vec<String> = text
        .lines()
        .rev()
        .map(without_colours)
        .filter_map(|line| diagnostic(&line, &shown, &hidden))
        .take(LINES)
        .collect();
    lines.reverse();
    lines.join("\n")
}

/// The harmless part of a line; `None` if it is not a diagnostic.
fn diagnostic(line: &str, shown: &[&str], hidden: &[&str]) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|w| is_stamp(w)).peekable();
    let first = words.peek()?.trim_end_matches(':');
    let program = shown.first().and_then(|p| p.rsplit('/').next()).unwrap_or_default();
    let begins = one_of(HEADS, first) || is_function(first) || first == program || is_source(first);
    if !begins || hidden.contains(&bare(first)) {
        return None;
    }
    let mut out = String::new();
    let mut last_hidden = false;
    for (i, word) in words.enumerate() {
        let harmless = i == 0 || is_harmless(word, shown) && !hidden.contains(&bare(word));
        if harmless || !last_hidden {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(if harmless { word } else { HIDDEN });
        }
        last_hidden = !harmless;
        if out.len() > LINE {
            out.truncate(out.floor_char_boundary(LINE));
            break;
        }
    }
    Some(out)
}

fn one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|w| w == word)
}

/// Time and level before a line of the log: `0.00.074.114 E`.
fn is_stamp(word: &str) -> bool {
    let time = word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    time || ["D", "I", "W", "E"].contains(&word)
}

/// Removes punctuation around a word.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation() && !"/-<>_".contains(c))
}

fn is_harmless(word: &str, shown: &[&str]) -> bool {
    let bare = bare(word);
    let lower = bare.to_ascii_lowercase();
    let number = |w: &str| {
        w.len() <= NUMBER
            && w.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && w.bytes().all(|b| b.is_ascii_hexdigit() || b"x.-%".contains(&b))
    };
    bare.is_empty()
        || one_of(WORDS, &lower)
        || one_of(HEADS, bare)
        || number(bare)
        || shown.contains(&bare)
        || is_function(bare)
        || is_tensor(bare)
        || is_library(bare)
        || is_source(word)
        || bare.starts_with("GGML_")
            && bare.len() <= NAME
            && bare.bytes().all(|b| b.is_ascii_uppercase() || b"_(".contains(&b))
}

/// `llama_model_load`.
fn is_function(word: &str) -> bool {
    let name = word.trim_end_matches("()");
    name.len() <= NAME
        && FUNCTIONS.split_whitespace().any(|f| name.starts_with(f))
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// `blk.0.attn_q.weight`.
fn is_tensor(word: &str) -> bool {
    word.len() <= NAME
        && (word.ends_with(".weight") || word.ends_with(".bias"))
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b))
}

/// `libllama.so.0`.
fn is_library(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.len() <= NAME && name.starts_with("lib") && name.contains(".so") && name == word
}

/// `ggml.c:1234:`, with any folder before it.
fn is_source(word: &str) -> bool {
    let mut parts = word.trim_end_matches(':').rsplitn(2, ':');
    let (line, file) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let ends = [".c", ".cpp", ".h", ".hpp"].iter().any(|end| file.ends_with(end));
    let plain = file.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-.+".contains(&b));
    ends && plain && file.len() <= 2 * NAME && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
}

/// Removes terminal escape sequences.
fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        rest = rest.strip_prefix('[').map_or(rest, |code| {
            code.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &code[end + 1..])
        });
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &[u8] =
        b"/b/llama-completion\0-m\0/models/cut.gguf\0-p\0Geheim 4711 tensor\0--hf-token\0hf-4712\0";

    fn shown(text: &str) -> String {
        of_engine(text.as_bytes(), COMMAND)
    }

    #[test]
    fn diagnostics_of_real_engines_are_shown() {
        for line in [
            "llama_model_load_from_file_impl: failed to load model",
            "cmn common_init_: failed to load model '/models/cut.gguf'",
            "llama_completion: unable to create context",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "/build/ggml/src/ggml.c:1234: GGML_ASSERT(a->ne[0] == b->ne[0]) failed",
            "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 123456",
        ] {
            let expected = line
                .replace("'std::bad_alloc'", HIDDEN)
                .replace("GGML_ASSERT(a->ne[0]", HIDDEN)
                .replace("b->ne[0])", HIDDEN);
            assert_eq!(shown(line), expected);
        }
        // Stamps, colours and levels are removed.
        let stamped = "\u{1b}[31m0.00.074.114 E llama_model_load: failed to load model\u{1b}[0m";
        assert_eq!(shown(stamped), "llama_model_load: failed to load model");
    }

    #[test]
    fn prompts_and_secrets_are_hidden() {
        assert_eq!(shown("main: prompt: 'Geheim 4711'\n"), format!("main: {HIDDEN}"));
        // Words of the prompt are hidden even if they are in the vocabulary.
        assert_eq!(
            shown("llama_decode: tensor error 4711 of 4713"),
            format!("llama_decode: {HIDDEN} error {HIDDEN} of 4713")
        );
        assert_eq!(shown("error: --hf-token hf-4712: /home/me/diary"), format!("error: --hf-token {HIDDEN}"));
        for none in
            ["Geheim is here", "I am an answer", "", "  \n\n", "Once upon a time: error", "key: Geheim"]
        {
            assert_eq!(shown(none), "");
        }
        assert_eq!(of_engine(b"main: x", b""), format!("main: {HIDDEN}"));
    }

    #[test]
    fn the_last_five_lines_are_shown_and_cut_to_length() {
        let text: String = (0..9).map(|i| format!("main: error {i}\nnoise\n")).collect();
        let expected: Vec<String> = (4..9).map(|i| format!("main: error {i}")).collect();
        assert_eq!(shown(&text), expected.join("\n"));
        assert!(shown(&format!("main: {}", "error ".repeat(99))).len() <= LINE);
        assert_eq!(of_engine(b"main: \xff\xfe failed", COMMAND), format!("main: {HIDDEN} failed"));
    }
}
