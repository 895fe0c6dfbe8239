//! Glob patterns.

/// True if `pattern` matches all of `name`: `*` matches any bytes, `?` one byte.
#[must_use]
pub(super) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // Where to continue when the text after the last star does not match: one byte later.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(b) if *b == b'?' || *b == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    (p, n) = (at + 1, from + 1);
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        let good = [
            ("blk.*.ffn_*", "blk.12.ffn_up.weight"),
            ("*", ""),
            ("*", "x"),
            ("ffn_out-?", "ffn_out-3"),
            ("*a*b", "aab"),
            ("a**", "a"),
            ("exact", "exact"),
        ];
        for (pattern, name) in good {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        let bad = [
            ("blk.*.ffn_*", "blk.12.attn_q"),
            ("?", ""),
            ("ffn_out-?", "ffn_out-31"),
            ("a", "aa"),
            ("*a", "ab"),
            ("", "a"),
        ];
        for (pattern, name) in bad {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        // Many stars must not take long.
        assert!(!matches("*a".repeat(32).as_bytes(), "a".repeat(31).as_bytes()));
    }
}
