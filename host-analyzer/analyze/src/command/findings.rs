//! `analyze findings [CODE]`: what is looked for, and what each finding means.

use crate::{Diagnostic, Result};
use profinfer_analysis::findings::RULES;
use profinfer_views::rules;

pub(crate) fn findings(code: Option<&str>) -> Result<()> {
    let rule = code.map(find).transpose()?;
    // Whoever reads may stop reading.
    let _ = rules::page(rule, &mut anstream::stdout().lock());
    Ok(())
}

fn find(code: &str) -> Result<&'static profinfer_analysis::findings::Rule> {
    let found = RULES.iter().find(|rule| rule.code == code).copied();
    found.ok_or_else(|| {
        let codes: Vec<_> = RULES.iter().map(|rule| rule.code).collect();
        Diagnostic::new(
            format!("explaining the finding {code:?}"),
            "there is no such rule",
            format!("these are: {}", codes.join(", ")),
        )
    })
}
