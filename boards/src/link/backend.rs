//! Checks of a backend.

use crate::error::BoardError;
use crate::parse::File;
use crate::{Backend, Level};

pub(crate) fn check_backend(file: &File<Backend>) -> Result<(), BoardError> {
    let backend = &file.value;
    file.check_name(&backend.name)?;
    if backend.libraries.is_empty() || (backend.probes.is_empty() && backend.guid.is_none()) {
        return Err(file.wrong(0..0, "name at least one library, and one probe or the GUID".to_owned()));
    }
    for (i, spanned) in backend.probes.iter().enumerate() {
        let probe = spanned.as_ref();
        let wrong = |what: String| Err(file.wrong(spanned.span(), what));
        let symbol = &probe.symbol;
        if let Some(other) = backend.probes[..i].iter().find(|p| p.as_ref().symbol == *symbol) {
            let line = file.line(other.span());
            return wrong(format!("the probe `{symbol}` is defined twice, first in line {line}"));
        }
        if probe.whole && (probe.level != Level::Op || probe.tensor.is_none()) {
            return wrong(format!("`{symbol}`: `whole = true` needs `level = \"op\"` and a `tensor`"));
        }
        for (what, index, kind) in
            [("tensor", probe.tensor, "ggml_tensor"), ("graph", probe.graph, "ggml_cgraph")]
        {
            let Some(index) = index else { continue };
            match probe.arguments.get(index) {
                Some(argument) if argument.contains(kind) && argument.contains('*') => {}
                Some(argument) => {
                    return wrong(format!("`{symbol}`: {what} = {index} is `{argument}`, not a `{kind} *`"));
                }
                None => {
                    let n = probe.arguments.len();
                    return wrong(format!(
                        "`{symbol}`: {what} = {index}, but it has {n} arguments, counted from 0"
                    ));
                }
            }
        }
    }
    Ok(())
}
