//! Recovery of an engine from any file: whatever the bytes, a result, and no place outside of them.

use profinfer_engine::{
    BackendFunction, Image, describe, examine, is_engine_part, library_event_site, stripped_functions,
};

/// The bytes are the file.
pub fn engine(bytes: &[u8]) {
    let Ok(image) = Image::parse("fuzzed", bytes) else { return };
    let backends =
        [BackendFunction { symbol: "ggml_cl_mul_mat".into(), backend: "CLBlast".into(), whole: false }];
    assert!(library_event_site(&image).is_none_or(|offset| offset < bytes.len() as u64));
    let part = is_engine_part(&image, &backends);
    let _ = stripped_functions(&image);
    let plan = examine(&[image], &backends);
    assert!(part || plan.sites.is_empty());
    assert!(plan.sites.iter().all(|site| site.offset < bytes.len() as u64));
    let given = [describe::Given { path: "fuzzed", bytes, named: true }];
    assert!(!describe::files(&given, &backends, true).text.is_empty());
}
