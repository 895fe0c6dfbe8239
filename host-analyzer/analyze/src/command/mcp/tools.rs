//! The tools that an assistant calls.

use std::path::PathBuf;

use profinfer_analysis::compare::{Choices, Comparison, PRACTICAL, SPREAD, WARM_UP};
use profinfer_analysis::ladder::Question;
use profinfer_views as views;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, Implementation, ServerCapabilities, ServerConfig};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::folder::Folder;
use super::loaded::Cache;
use super::query::{self, Query};
use crate::cli::ComparedQuestion;
use crate::command::compare::{self, Sides};

const INSTRUCTIONS: &str = "Recordings of large language models on boards, by ProfInfer. Begin with list_recordings. \
    `ladder` shows where the time of a token, a prompt, the first token or a start goes, step by step; the steps sum to \
    the measured time. `findings` has what would make it faster, each with its gain as an interval, and what was ruled \
    out or could not be checked. `compare` decides whether B is slower than A, from repeated runs. `table` answers \
    questions to the operators, tokens, experts and threads. Times are nanoseconds; null means unknown.";

/// A recording.
#[derive(Debug, Deserialize, JsonSchema)]
struct Of {
    /// Path of the recording, as list_recordings shows it.
    recording: String,
    /// Process id, where the recording has several engines.
    process: Option<u32>,
}

/// Two sides to compare.
#[derive(Debug, Deserialize, JsonSchema)]
struct Pair {
    /// Recordings of the first side, or folders of them: repeated runs of the same work.
    a: Vec<String>,
    /// The same of the second side.
    b: Vec<String>,
    /// The question that decides; by default decode if text was generated.
    question: Option<ComparedQuestion>,
}

/// A question to a table of a recording.
#[derive(Debug, Deserialize, JsonSchema)]
struct OfTable {
    /// Path of the recording, as list_recordings shows it.
    recording: String,
    /// Process id, where the recording has several engines.
    process: Option<u32>,
    /// `ops` (a row per operator and thread), `tokens` (per call), `experts` (per selected expert) or `threads`.
    table: String,
    #[serde(flatten)]
    query: Query,
}

/// The recordings of a folder.
#[derive(Debug)]
pub(super) struct Recordings {
    cache: Cache,
}

#[tool_router]
impl Recordings {
    pub(super) const fn new(folder: Folder) -> Self {
        Self { cache: Cache::new(folder) }
    }

    #[tool(
        description = "List the recordings of the folder: path, size, time of the last change.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_recordings(&self) -> CallToolResult {
        let (recordings, more) = self.cache.folder.list();
        answered(Ok(json!({ "recordings": recordings, "more": more })))
    }

    #[tool(
        description = "Where the time goes: the ladders of a recording, from the least time that the board allows up to the measured one, with the headline and the health of the recording.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn ladder(&self, Parameters(of): Parameters<Of>) -> CallToolResult {
        answered(self.cache.load(&of.recording, of.process).map(|loaded| {
            let summary = views::summary::document(&loaded.model, &loaded.analysis);
            let headline = of_json(&summary.findings).remove("headline");
            json!({ "headline": headline, "ladders": summary.ladders, "health": summary.health })
        }))
    }

    #[tool(
        description = "What would make the engine faster: findings of a recording with evidence, remedy and gain, and what was ruled out or could not be checked.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn findings(&self, Parameters(of): Parameters<Of>) -> CallToolResult {
        let loaded = self.cache.load(&of.recording, of.process);
        answered(loaded.map(|loaded| {
            let summary = views::summary::document(&loaded.model, &loaded.analysis);
            Value::Object(of_json(&summary.findings))
        }))
    }

    #[tool(
        description = "Compare two sides of repeated runs: is B faster or slower than A, by how much (an interval), and which operators, waits and steps make the difference.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn compare(&self, Parameters(pair): Parameters<Pair>) -> CallToolResult {
        answered(self.compared(&pair))
    }

    #[tool(
        description = "Rows of a table of a recording: filtered, grouped, sorted. Columns: see the error for an unknown one.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn table(&self, Parameters(of): Parameters<OfTable>) -> CallToolResult {
        let loaded = self.cache.load(&of.recording, of.process);
        answered(loaded.and_then(|loaded| query::answer(&loaded, &of.table, &of.query)))
    }
}

impl Recordings {
    fn compared(&self, pair: &Pair) -> crate::Result<Value> {
        let inside = |side: &[String]| {
            side.iter()
                .map(|recording| self.cache.folder.path(recording))
                .collect::<crate::Result<Vec<PathBuf>>>()
        };
        let Sides { names, runs } = compare::sides([&inside(&pair.a)?, &inside(&pair.b)?])?;
        let choices =
            Choices { practical: PRACTICAL, spread: SPREAD, warm_up: WARM_UP, different_work: false };
        let question = compare::question(&runs, pair.question.map(Question::from));
        compare::enough(&names, &runs, question, WARM_UP)?;
        let mut comparisons = Comparison::of_questions(&runs, choices);
        comparisons.sort_by_key(|c| (c.question != question, c.question));
        Ok(json!(views::compare::document(&comparisons, &names)))
    }
}

/// A published struct as the object that it is in JSON.
fn of_json(value: &impl Serialize) -> serde_json::Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => serde_json::Map::new(),
    }
}

/// The answer of a tool. An error is one that the assistant sees, with what to do.
fn answered<T: Serialize>(result: crate::Result<T>) -> CallToolResult {
    match result.map(|value| serde_json::to_value(value)) {
        Ok(Ok(value)) => CallToolResult::structured(value),
        Ok(Err(e)) => CallToolResult::error(vec![ContentBlock::text(e.to_string())]),
        Err(e) => CallToolResult::error(vec![ContentBlock::text(e.to_string())]),
    }
}

#[tool_handler]
impl ServerHandler for Recordings {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("profinfer", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }
}
