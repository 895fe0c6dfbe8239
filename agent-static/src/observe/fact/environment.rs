//! The engine's environment: only the variables of OpenMP, GGML and llama.cpp.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use profinfer_wire::record::fact::FactScope;

use super::read;
use super::send::Sender;

/// Prefixes of the variables that are examined.
const PREFIXES: [&[u8]; 5] = [b"OMP_", b"GOMP_", b"KMP_", b"GGML_", b"LLAMA_"];
/// Parts of names whose values are not sent: llama.cpp's server takes `LLAMA_API_KEY`, addresses
/// may contain a password, and prompts are private (`LLAMA_ARG_CHAT_TEMPLATE`).
const SECRET: [&[u8]; 14] = [
    b"KEY",
    b"TOKEN",
    b"SECRET",
    b"PASS",
    b"CREDENTIAL",
    b"AUTH",
    b"URL",
    b"HEADER",
    b"COOKIE",
    b"PROMPT",
    b"TEMPLATE",
    b"GRAMMAR",
    b"SCHEMA",
    b"TEXT",
];
/// Longest value and longest name that are sent, in bytes.
const MAX_VALUE: usize = 200;
const MAX_NAME: usize = 80;
const MAX_SENT: u64 = 64;

pub(super) fn send(root: &Path, pid: u32, out: &mut Sender<'_>) {
    let scope = FactScope::Process(pid);
    let path = format!("/proc/{pid}/environ");
    let mut found = 0;
    let read = File::open(read::at(root, &path)).and_then(|file| {
        each(&mut BufReader::new(file), &mut |entry, len| {
            let Some((name, value)) = variable(entry, len) else { return };
            found += 1;
            if found > MAX_SENT {
                return;
            }
            let name = format!("env.{}", String::from_utf8_lossy(name));
            match value {
                Ok(value) => out.text(scope, &name, &String::from_utf8_lossy(value)),
                Err(why) => out.absent(scope, &name, why),
            }
        })
    });
    match read {
        Ok(()) => out.number(scope, "environment.read", found),
        Err(e) => out.absent(scope, "environment.read", &read::why(&path, &e)),
    }
}

type Value<'e> = Result<&'e [u8], &'static str>;

/// Name and value of an examined variable; `len` is the length of the complete entry.
fn variable(entry: &[u8], len: usize) -> Option<(&[u8], Value<'_>)> {
    if !PREFIXES.iter().any(|p| entry.starts_with(p)) {
        return None;
    }
    let equals = entry.iter().position(|b| *b == b'=').filter(|at| *at <= MAX_NAME)?;
    let (name, value) = (&entry[..equals], &entry[equals + 1..]);
    let upper = name.to_ascii_uppercase();
    let secret = SECRET.iter().any(|part| upper.windows(part.len()).any(|w| w == *part));
    Some((
        name,
        match () {
            () if secret => Err("withheld: its name suggests a secret or a text"),
            () if len - equals - 1 > MAX_VALUE => Err("the value is longer than the 200 bytes that are sent"),
            () => Ok(value),
        },
    ))
}

/// Calls `see` with the beginning of each zero-terminated entry and with its length. An environment
/// may have megabytes, so it is not kept in memory.
fn each(from: &mut impl BufRead, see: &mut dyn FnMut(&[u8], usize)) -> io::Result<()> {
    let (mut entry, mut kept, mut len) = ([0; MAX_NAME + 1 + MAX_VALUE], 0, 0);
    loop {
        let bytes = from.fill_buf()?;
        let used = bytes.len();
        for byte in bytes {
            if *byte == 0 {
                see(&entry[..kept], len);
                (kept, len) = (0, 0);
                continue;
            }
            if let Some(place) = entry.get_mut(kept) {
                *place = *byte;
                kept += 1;
            }
            len += 1;
        }
        from.consume(used);
        if used == 0 {
            if len > 0 {
                see(&entry[..kept], len);
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_the_engine_are_sent() {
        let of =
            |entry: &[u8]| variable(entry, entry.len()).map(|(n, v)| (n.to_vec(), v.map(<[u8]>::to_vec)));
        let ok = |name: &str, value: &str| Some((name.into(), Ok(value.into())));
        assert_eq!(of(b"OMP_WAIT_POLICY=passive"), ok("OMP_WAIT_POLICY", "passive"));
        assert_eq!(of(b"GGML_NUMA="), ok("GGML_NUMA", ""));
        assert_eq!(of(b"KMP_AFFINITY=a=b"), ok("KMP_AFFINITY", "a=b"));
        for other in ["HOME=/root", "XOMP_A=1", "OMP_", "omp_num_threads=1", "AWS_SECRET=OMP_X=1", ""] {
            assert_eq!(of(other.as_bytes()), None, "{other}");
        }
        for secret in
            ["LLAMA_API_KEY=x", "LLAMA_ARG_HF_TOKEN=x", "GGML_rpc_password=x", "LLAMA_ARG_CHAT_TEMPLATE=x"]
        {
            assert!(of(secret.as_bytes()).is_some_and(|(_, v)| v.is_err()), "{secret}");
        }
        assert!(of(&[b"OMP_PLACES=", &[b'x'; 200][..]].concat()).is_some_and(|(_, v)| v.is_ok()));
        assert!(of(&[b"OMP_PLACES=", &[b'x'; 201][..]].concat()).is_some_and(|(_, v)| v.is_err()));
        assert_eq!(of(&[b"OMP_", &[b'N'; 100][..], b"=1"].concat()), None);
    }

    #[test]
    fn entries_are_complete_for_any_buffer_size() -> io::Result<()> {
        let long = [b"LONG=", &[b'y'; 5000][..]].concat();
        let bytes = [b"A=1", &long[..], b"B=2"].join(&0);
        for capacity in [1, 7, 4096] {
            let mut seen = Vec::new();
            each(&mut BufReader::with_capacity(capacity, &*bytes), &mut |e, len| {
                seen.push((e.to_vec(), len))
            })?;
            let cut = long[..MAX_NAME + 1 + MAX_VALUE].to_vec();
            assert_eq!(seen, [(b"A=1".to_vec(), 3), (cut, 5005), (b"B=2".to_vec(), 3)]);
        }
        Ok(())
    }
}
