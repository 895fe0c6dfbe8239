//! Texts of /proc, sysfs and processes. The recorded part of a command line has nothing that might
//! be a user's text.

use profinfer_agent::observe::counter::pmu::{cpu_list, list_of};
use profinfer_agent::observe::gauge::parse::{MAX_VALUES, values};
use profinfer_agent::target::command::{of_engine, of_other};
use profinfer_wire::record::gauge::GaugeParse;

const FORMS: [GaugeParse; 5] = [
    GaugeParse::Integer,
    GaugeParse::Thousands,
    GaugeParse::Percent,
    GaugeParse::LoadAtFrequency,
    GaugeParse::RknpuLoad,
];

/// First byte: the kind of the rest.
pub fn system(bytes: &[u8]) {
    let Some((what, text)) = bytes.split_first() else { return };
    match what % 3 {
        0 => command(text),
        1 => {
            let mut out = [0; MAX_VALUES];
            for form in FORMS {
                assert!(values(text, form, &mut out).is_none_or(|n| n <= MAX_VALUES));
            }
        }
        _ => {
            let cpus = cpu_list(&String::from_utf8_lossy(text));
            assert!(cpus.len() <= 8192);
            assert_eq!(cpu_list(&list_of(&cpus)).len(), cpus.len());
        }
    }
}

fn command(text: &[u8]) {
    let (program, script) = of_other(text);
    assert!(program.len() <= text.len() && script.is_none_or(|s| s.len() <= text.len()));
    let recorded = of_engine(text);
    assert!(!recorded.contains(char::is_control), "{recorded:?}");
    // A marked text after an option that takes one.
    let prompt = [b"llama-cli\0-p\0SECRET-TEXT\0--unknown\0SECRET-TEXT\0".as_slice(), text].concat();
    assert!(!of_engine(&prompt).contains("SECRET-TEXT"));
}
