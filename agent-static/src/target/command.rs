//! Command lines as they may leave the board: options and numbers, but no prompt, text or secret.
//!
//! Of an engine, what is known to be harmless is kept and everything else is [`HIDDEN`]: an option that nobody thought of must not tell a
//! secret. Of other programs, only program and script are told.

/// Stands for each word that is not told.
pub const HIDDEN: &str = "<hidden>";

/// Options of engines whose next word may be told though it is neither a number nor a path: names of models' files, devices, types, modes.
const PLAIN: [&str; 40] = [
    "m",
    "model",
    "md",
    "model-draft",
    "mmproj",
    "lora",
    "control-vector",
    "slot-save-path",
    "log-file",
    "o",
    "output",
    "dev",
    "device",
    "devd",
    "device-draft",
    "ot",
    "override-tensor",
    "ts",
    "tensor-split",
    "sm",
    "split-mode",
    "ctk",
    "cache-type-k",
    "ctv",
    "cache-type-v",
    "ctkd",
    "cache-type-k-draft",
    "ctvd",
    "cache-type-v-draft",
    "fa",
    "flash-attn",
    "numa",
    "rope-scaling",
    "pooling",
    "attention",
    "spec-type",
    "load-mode",
    "reasoning-format",
    "argv0",
    "evict",
];
/// Options whose words are hidden whatever they look like.
const SECRET: [&str; 12] = ["p", "f", "bf", "sys", "sysf", "e", "r", "hft", "j", "jf", "l", "u"];
/// Parts of long options' names that say the same of them.
const SECRET_PARTS: [&str; 16] = [
    "prompt",
    "template",
    "key",
    "token",
    "secret",
    "pass",
    "auth",
    "grammar",
    "schema",
    "text",
    "credential",
    "url",
    "header",
    "cookie",
    "prefix",
    "suffix",
];
/// Long options with such a part that take numbers.
const NUMBERS: [&str; 5] = ["n-prompt", "spm-infill", "cache-prompt", "keep-tokens", "max-tokens"];
/// Words that are told behind any option that is not secret.
const WORDS: [&str; 10] = ["on", "off", "auto", "true", "false", "none", "all", "yes", "no", "default"];
/// Longest number, option and path that are told, bytes.
const NUMBER: usize = 32;
const OPTION: usize = 40;
const SHORT: usize = 8;
const PATH: usize = 400;
/// Programs whose first word is the name of what they run.
const INTERPRETERS: [&[u8]; 9] =
    [b"python", b"sh", b"bash", b"dash", b"perl", b"ruby", b"node", b"lua", b"busybox"];

/// The words of /proc/PID/cmdline.
fn words(cmdline: &[u8]) -> impl Iterator<Item = &[u8]> {
    cmdline.split(|b| *b == 0).filter(|w| !w.is_empty())
}

/// What may be told of an engine's command line, words separated by spaces; empty when there is none.
#[must_use]
pub fn of_engine(cmdline: &[u8]) -> String {
    let mut words = words(cmdline);
    let Some(first) = words.next() else { return String::new() };
    let first = program(first);
    let mut told = shown(first, is_path(first) || is_plain(first)).to_owned();
    // In llama-bench, -p is how many tokens a prompt has.
    let counts = file_name(first).windows(5).any(|w| w == b"bench");
    let mut state = Behind::Nothing;
    for word in words {
        told.push(' ');
        // Behind an option with a secret comes the secret, also if it begins with a dash.
        if let (Some((name, value)), false) = (option(word), state == Behind::Secret) {
            state = Behind::new(name, counts);
            told.push_str(shown(&word[..word.len() - value.map_or(0, |v| v.len())], true));
            if let Some(value) = value {
                told.push_str(state.shown(value));
                state = if state.hides() { Behind::More } else { Behind::Nothing };
            }
            continue;
        }
        told.push_str(state.shown(word));
        state = if state.hides() { Behind::More } else { Behind::Nothing };
    }
    told
}

/// What stands before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// No option, or one with its word.
    Nothing,
    /// An option whose word may be plain text.
    Plain,
    /// An option whose word is hidden.
    Secret,
    /// Such an option and a word of it: an unquoted text has more of them.
    More,
}

impl Behind {
    fn new(name: &str, counts: bool) -> Self {
        let part = || SECRET_PARTS.iter().any(|part| name.contains(part));
        match name {
            "p" if counts => Self::Nothing,
            _ if PLAIN.contains(&name) => Self::Plain,
            _ if NUMBERS.contains(&name) => Self::Nothing,
            _ if SECRET.contains(&name) || part() => Self::Secret,
            _ => Self::Nothing,
        }
    }

    fn hides(self) -> bool {
        matches!(self, Self::Secret | Self::More)
    }

    fn shown(self, word: &[u8]) -> &str {
        let harmless = is_number(word) || is_path(word) || WORDS.iter().any(|w| w.as_bytes() == word);
        shown(word, !self.hides() && (harmless || self == Self::Plain && is_plain(word)))
    }
}

/// Name in lower case and the value that follows behind `=`, if the word is an option.
fn option(word: &[u8]) -> Option<(&str, Option<&[u8]>)> {
    let at = word.iter().position(|b| *b == b'=').unwrap_or(word.len());
    let (name, value) = (word.get(..at)?, word.get(at + 1..));
    let (name, most) = match name.strip_prefix(b"--") {
        Some(name) => (name, OPTION),
        None => (name.strip_prefix(b"-")?, SHORT),
    };
    let fits = name.first()?.is_ascii_alphabetic()
        && name.len() <= most
        && name.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    // llama.cpp has both -C and -c, so capitals are of one letter.
    let fits = fits || name.len() == 1 && name[0].is_ascii_uppercase();
    fits.then(|| Some((std::str::from_utf8(name).ok()?, value)))?
}

fn shown(word: &[u8], harmless: bool) -> &str {
    std::str::from_utf8(word).ok().filter(|_| harmless).unwrap_or(HIDDEN)
}

/// 8, 0.5, -1, 1,2,4, 0-3, 4:7, 0xf, 1e-5, 4096M.
fn is_number(word: &[u8]) -> bool {
    let allowed = |b: &u8| b.is_ascii_hexdigit() || b",.-+:xKMG".contains(b);
    let digit = word.strip_prefix(b"-").unwrap_or(word).first().is_some_and(u8::is_ascii_digit);
    digit && word.len() <= NUMBER && word.iter().all(allowed)
}

/// `/a/b`, `./b`, `../b`, or a model's file.
fn is_path(word: &[u8]) -> bool {
    let begins = [&b"/"[..], b"./", b"../"].iter().any(|b| word.starts_with(b));
    (begins || word.ends_with(b".gguf")) && is_plain(word)
}

/// One word without spaces, quotes and the like.
fn is_plain(word: &[u8]) -> bool {
    let text = std::str::from_utf8(word);
    text.is_ok_and(|t| {
        t.len() <= PATH && t.chars().all(|c| c.is_alphanumeric() || "_-./+=,:~%#@^*".contains(c))
    })
}

/// A process that writes a title over its command line has it all in one word.
fn program(first: &[u8]) -> &[u8] {
    first.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// What may be told of the command line of a program that is no engine: the program, and the script if it is an interpreter with one.
/// Takes no memory, because it is asked for while a session runs.
#[must_use]
pub fn of_other(cmdline: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut words = words(cmdline);
    let first = program(words.next().unwrap_or_default());
    let name = file_name(first);
    let versions = |b: &u8| b.is_ascii_digit() || *b == b'.';
    let interprets = |i: &[u8]| name.strip_prefix(i).is_some_and(|rest| rest.iter().all(versions));
    if !INTERPRETERS.iter().any(|i| interprets(i)) {
        return (first, None);
    }
    for word in words {
        match word {
            // What follows is the program itself.
            b"-c" | b"-e" | b"-m" | b"--eval" => return (first, None),
            _ if word.starts_with(b"-") => {}
            _ => return (first, Some(word).filter(|w| is_plain(w))),
        }
    }
    (first, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(line: &str) -> String {
        of_engine(line.replace('|', "\0").as_bytes())
    }

    #[test]
    fn what_an_engine_is_set_to_is_told() {
        for line in [
            "/usr/bin/llama-cli|-m|/models/a b.gguf|-t|4|-ngl|0|-C|0xf0|--numa|distribute|-no-cnv",
            "llama-bench|-m|smollm2.gguf|-p|512|-n|128,256|-fa|on|-ctk|q8_0",
            "./llama-server|--host|127.0.0.1|--port|8080|--threads=4|--cache-type-k=q4_0|-ot|exps=CPU",
            "/lib/ld.so|--argv0|x|/b/llama-completion|-m|m.gguf",
            "nodes|-t|2|--temp|0.8|-s|-1|--list|--rope-freq-base|1e-5",
        ] {
            let told = line.replace('|', " ").replace("/models/a b.gguf", HIDDEN);
            assert_eq!(engine(line), told);
        }
        assert_eq!(engine(""), "");
    }

    #[test]
    fn what_an_engine_is_told_is_not() {
        let text = "Geheim 4711";
        for (line, told) in [
            ("llama-cli|-p|@|-n|3", "llama-cli -p @ -n 3"),
            ("llama-cli|-p|4711", "llama-cli -p @"),
            ("llama-cli|-p|-x|-n|3", "llama-cli -p @ -n 3"),
            ("llama-cli|-p|mein|Geheim|ist|7|-n|3", "llama-cli -p @ @ @ @ -n 3"),
            ("llama-cli|-f|/home/me/diary", "llama-cli -f @"),
            ("llama-cli|--prompt=@", "llama-cli --prompt=@"),
            ("llama-cli|-sys|@|--chat-template|chatml", "llama-cli -sys @ --chat-template @"),
            ("llama-server|--api-key|4711|--hf-token|/a", "llama-server --api-key @ --hf-token @"),
            ("llama-server|--ssl-key-file|/etc/k", "llama-server --ssl-key-file @"),
            ("llama-cli|--grammar|root|-j|{}|--in-prefix|User", "llama-cli --grammar @ -j @ --in-prefix @"),
            ("llama-cli|--new-option|hunter2|word", "llama-cli --new-option @ @"),
            ("llama-cli|-pGeheim|--Geheim|-m|https://me:4711@h/a b", "llama-cli @ @ -m @"),
            ("llama-server: answers Geheim", "llama-server:"),
            ("llama-cli|-a|/home/a word", "llama-cli -a @"),
            ("@ @", "@"),
        ] {
            let told = if line == "@ @" { "Geheim".to_owned() } else { told.replace('@', HIDDEN) };
            assert_eq!(
                engine(&line.replacen('@', text, if line.contains("me:") { 0 } else { 9 })),
                told,
                "{line}"
            );
        }
        assert_eq!(of_engine(b"llama-cli\0-m\0\xff\xfe"), "llama-cli -m <hidden>");
        assert_eq!(engine(&format!("llama-cli|-m|{}", "a".repeat(401))), "llama-cli -m <hidden>");
    }

    #[test]
    fn of_others_program_and_script() {
        let of = |line: &str| {
            let bytes = line.replace('|', "\0");
            let (program, script) = of_other(bytes.as_bytes());
            let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
            (text(program), script.map(text))
        };
        let told = |program: &str, script: Option<&str>| (program.to_owned(), script.map(str::to_owned));
        assert_eq!(of("/usr/bin/curl|-H|Authorization: x|http://a"), told("/usr/bin/curl", None));
        assert_eq!(of("python3.11|-u|/opt/app.py|--token|x"), told("python3.11", Some("/opt/app.py")));
        assert_eq!(of("sh|-c|echo Geheim"), told("sh", None));
        assert_eq!(of("shred|Geheim"), told("shred", None));
        assert_eq!(of("nginx: worker for Geheim"), told("nginx:", None));
        assert_eq!(of("bash|mein Geheim"), told("bash", None));
        assert_eq!(of(""), told("", None));
    }
}
