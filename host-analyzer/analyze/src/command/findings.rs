//! `analyze findings [CODE]`: the rules and the meaning of each finding.

use std::path::Path;

use serde::Serialize;

use crate::args::format::Format;
use crate::json::{self, Object};
use crate::{Diagnostic, Result};
use profinfer_analysis::findings::{RULES, Rule};
use profinfer_views::{rules, words};

/// The object.
#[derive(Debug, Serialize)]
struct Catalogue {
    findings: Vec<Explained>,
}

/// One rule. All fields but `code` are texts for people.
#[derive(Debug, Serialize)]
struct Explained {
    code: &'static str,
    title: &'static str,
    question: &'static str,
    condition: &'static str,
    needs: Vec<String>,
    gain: &'static str,
    remedy: &'static str,
    source: &'static str,
}

pub(crate) fn findings(code: Option<&str>, format: Format) -> Result<()> {
    let rule = code.map(find).transpose()?;
    if format.is_json() {
        let chosen = RULES.iter().filter(|r| rule.is_none_or(|only| **r == only));
        return json::print(&Object::new(Catalogue { findings: chosen.map(|r| explained(r)).collect() }));
    }
    // A pipe that closes early is no error.
    let _ = rules::page(rule, &mut anstream::stdout().lock());
    Ok(())
}

fn explained(rule: &Rule) -> Explained {
    Explained {
        code: rule.code,
        title: rule.title,
        question: rule.question,
        condition: rule.condition,
        needs: words::findings::needs(rule),
        gain: rule.formula,
        remedy: rule.remedy,
        source: rule.source,
    }
}

fn find(code: &str) -> Result<&'static Rule> {
    let found = RULES.iter().find(|rule| rule.code == code).copied();
    found.ok_or_else(|| {
        if Path::new(code).exists() {
            return Diagnostic::new(
                format!("explaining the finding {code:?}"),
                "this is a file; codes of findings are in its results",
                format!("analyze {code} shows what it found; `analyze findings CODE` explains one"),
            );
        }
        let codes: Vec<_> = RULES.iter().map(|rule| rule.code).collect();
        Diagnostic::new(
            format!("explaining the finding {code:?}"),
            "no rule has this code",
            format!("use one of: {}", codes.join(", ")),
        )
    })
}
