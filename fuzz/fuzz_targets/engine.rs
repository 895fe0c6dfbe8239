//! Recovery of an engine from any file: whatever the bytes, an answer, and no place outside of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use profinfer_engine::{BackendFunction, Image, describe, examine, is_engine_part, library_event_site, stripped_functions};

fuzz_target!(|data: &[u8]| {
    let Ok(image) = Image::parse("fuzzed", data) else { return };
    let backends = [BackendFunction { symbol: "ggml_cl_mul_mat".into(), backend: "CLBlast".into(), whole: false }];
    assert!(library_event_site(&image).is_none_or(|offset| offset < data.len() as u64));
    let part = is_engine_part(&image, &backends);
    let _ = stripped_functions(&image);
    let plan = examine(&[image], &backends);
    assert!(part || plan.sites.is_empty());
    assert!(plan.sites.iter().all(|site| site.offset < data.len() as u64));
    let given = [describe::Given { path: "fuzzed", bytes: data, named: true }];
    assert!(!describe::files(&given, &backends, true).text.is_empty());
});
