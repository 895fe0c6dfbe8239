//! From a sensor's text to numbers. A text that does not have exactly the expected form has no number.

use profinfer_wire::record::gauge::GaugeParse;

/// Most values of one sensor: the cores of an NPU.
pub const MAX_VALUES: usize = 8;

/// Parses the text into `out`. Returns the number of values; `None` if the text has another form.
#[must_use]
pub fn values(text: &[u8], parse: GaugeParse, out: &mut [i64; MAX_VALUES]) -> Option<usize> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii();
    let one = match parse {
        GaugeParse::Integer => integer(text),
        GaugeParse::Thousands => integer(text)?.checked_mul(1000),
        GaugeParse::Percent => percent(text.strip_suffix('%').unwrap_or(text)),
        GaugeParse::LoadAtFrequency => load_at_frequency(text),
        GaugeParse::RknpuLoad => return rknpu_load(text, out),
    };
    out[0] = one?;
    Some(1)
}

fn integer(text: &str) -> Option<i64> {
    // `parse` would accept a plus sign, which no sensor writes.
    if text.starts_with('+') { None } else { text.parse().ok() }
}

fn percent(text: &str) -> Option<i64> {
    integer(text.trim_ascii_end()).filter(|p| (0..=100).contains(p))
}

/// `45@1560000000Hz`, of devfreq drivers.
fn load_at_frequency(text: &str) -> Option<i64> {
    let (load, frequency) = text.split_once('@')?;
    integer(frequency.strip_suffix("Hz").unwrap_or(frequency))?;
    percent(load)
}

/// `NPU load:  Core0: 12%, Core1:  0%, Core2:  0%,`; with one core, `NPU load:  12%`.
fn rknpu_load(text: &str, out: &mut [i64; MAX_VALUES]) -> Option<usize> {
    let text = text.strip_prefix("NPU load:")?.trim_ascii();
    if !text.starts_with("Core") {
        out[0] = percent(text.strip_suffix('%')?)?;
        return Some(1);
    }
    let mut n = 0;
    for part in text.strip_suffix(',').unwrap_or(text).split(',') {
        let (core, load) = part.trim_ascii().strip_prefix("Core")?.split_once(':')?;
        if core.parse() != Ok(n) {
            return None;
        }
        *out.get_mut(n)? = percent(load.trim_ascii().strip_suffix('%')?)?;
        n += 1;
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, parse: GaugeParse) -> Option<Vec<i64>> {
        let mut out = [0; MAX_VALUES];
        values(text.as_bytes(), parse, &mut out).map(|n| out[..n].to_vec())
    }

    #[test]
    fn numbers() {
        assert_eq!(of("46230\n", GaugeParse::Integer), Some(vec![46_230]));
        assert_eq!(of("-5000\n", GaugeParse::Integer), Some(vec![-5_000]));
        assert_eq!(of("1800000\n", GaugeParse::Thousands), Some(vec![1_800_000_000]));
        assert_eq!(of("37%\n", GaugeParse::Percent), Some(vec![37]));
        assert_eq!(of("37\n", GaugeParse::Percent), Some(vec![37]));
        for text in ["", "\n", "<unknown>", "12 34", "0x12", "+1", "1.5", "9223372036854775808"] {
            assert_eq!(of(text, GaugeParse::Integer), None, "{text}");
        }
        assert_eq!(of("9223372036854775807", GaugeParse::Thousands), None);
        for text in ["101%", "-1", "%"] {
            assert_eq!(of(text, GaugeParse::Percent), None, "{text}");
        }
    }

    #[test]
    fn loads_at_a_frequency() {
        let of = |text| of(text, GaugeParse::LoadAtFrequency);
        assert_eq!(of("45@1560000000Hz\n"), Some(vec![45]));
        assert_eq!(of("0@0\n"), Some(vec![0]));
        for text in ["45", "45@", "@1560000000Hz", "45@fastHz", "145@1Hz"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn loads_of_an_npu() {
        let of = |text| of(text, GaugeParse::RknpuLoad);
        assert_eq!(of("NPU load:  Core0: 12%, Core1:  0%, Core2:  100%,\n"), Some(vec![12, 0, 100]));
        assert_eq!(of("NPU load:  7%\n"), Some(vec![7]));
        let many: String = (0..9).map(|i| format!(" Core{i}: 1%,")).collect();
        for text in [
            "",
            "NPU load:",
            "load:  7%",
            "NPU load:  Core1: 1%,",
            "NPU load:  Core0: 1,",
            &format!("NPU load: {many}"),
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
