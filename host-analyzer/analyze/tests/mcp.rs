//! `analyze mcp`, by its protocol: an assistant lists, asks and compares; and gets nothing from outside of the
//! folder. The official Python client runs on docs/programs/mcp.md (ci/site.sh).
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;
use serde_json::{Value, json};

struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(folder: &Path) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_analyze"))
            .arg("mcp")
            .arg(folder)
            .env("PROFINFER_CEILINGS", "")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, to, from, id: 0 };
        let begun = client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } }),
        );
        assert_eq!(begun["serverInfo"]["name"], "profinfer");
        assert!(begun["instructions"].as_str().unwrap().contains("list_recordings"));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool. The text of an answer is its content as JSON.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if answer["isError"] == true {
            return Err(text);
        }
        let content = answer["structuredContent"].clone();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), content);
        Ok(content)
    }

    /// The server ends when its client does.
    fn end(self) {
        let Self { mut server, to, .. } = self;
        drop(to);
        assert!(server.wait().unwrap().success());
    }
}

/// A folder with the sample recording, and one outside of it.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    std::fs::create_dir(dir.path().join("runs")).unwrap();
    for (from, to) in
        [("sample.pfi", "runs/sample.pfi"), ("demo.pfi", "runs/demo.pfi"), ("demo.pfi", "outside.pfi")]
    {
        std::fs::copy(data.join(from), dir.path().join(to)).unwrap();
    }
    dir
}

fn sample() -> Model {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/sample.pfi");
    profinfer_trace::read(&std::fs::read(data).unwrap()).unwrap()
}

#[test]
fn an_assistant_reads_recordings() {
    let dir = folder();
    let mut client = Client::start(&dir.path().join("runs"));
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["compare", "findings", "ladder", "list_recordings", "table"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let list = client.call("list_recordings", &json!({})).unwrap();
    let names: Vec<_> = list["recordings"].as_array().unwrap().iter().map(|r| &r["recording"]).collect();
    assert_eq!(names, ["demo.pfi", "sample.pfi"]);
    let of = json!({ "recording": "sample.pfi" });
    let ladder = client.call("ladder", &of).unwrap();
    let decode = ladder["ladders"].as_array().unwrap().iter().find(|l| l["question"] == "decode").unwrap();
    let sum: i64 = decode["steps"].as_array().unwrap().iter().map(|s| s["ns"].as_i64().unwrap()).sum();
    assert_eq!(sum, decode["measured_ns"].as_i64().unwrap());
    assert!(ladder["headline"]["tokens_per_s"].as_f64().unwrap() > 0.0);
    let findings = client.call("findings", &of).unwrap();
    assert!(findings["found"].is_array() && findings["ruled_out"].is_array(), "{findings}");
    client.end();
}

/// The sums of a table are those of the analysis, in whatever way it is asked.
#[test]
fn tables_answer_questions() {
    let dir = folder();
    let mut client = Client::start(&dir.path().join("runs"));
    let mut ask = |query: Value| {
        let mut all = json!({ "recording": "sample.pfi" });
        all.as_object_mut().unwrap().extend(query.as_object().unwrap().clone());
        client.call("table", &all)
    };
    let model = sample();
    let analysis = Analysis::compute(&model);
    let threads = ask(json!({ "table": "threads", "columns": ["tid", "work_ns"], "order_by": "work_ns", "descending": true })).unwrap();
    let mut expected: Vec<(u64, u32)> = analysis.thread.iter().map(|t| (t.work_ns, t.tid)).collect();
    expected.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    let row = |row: &Value| (row[1].as_u64().unwrap(), row[0].as_u64().unwrap() as u32);
    assert_eq!(threads["rows"].as_array().unwrap().iter().map(row).collect::<Vec<_>>(), expected);
    assert_eq!((&threads["columns"], &threads["of"]), (&json!(["tid", "work_ns"]), &json!(expected.len())));
    let by_thread = ask(json!({
        "table": "ops", "group_by": ["tid"], "order_by": "tid",
        "aggregates": [{ "function": "sum", "column": "work_ns" }, { "function": "count" }],
    }))
    .unwrap();
    let mut expected: Vec<Value> =
        analysis.thread.iter().filter(|t| t.spans > 0).map(|t| json!([t.tid, t.work_ns, t.spans])).collect();
    expected.sort_by_key(|row| row[0].as_u64());
    assert_eq!(by_thread["rows"], json!(expected));
    let slow = ask(json!({
        "table": "tokens", "columns": ["id"], "limit": 1,
        "filters": [{ "column": "phase", "is": "equal", "value": "decode" }, { "column": "duration_ns", "is": "above", "value": 1 }],
    }))
    .unwrap();
    assert_eq!(slow["rows"].as_array().unwrap().len(), 1);
    let decode = model.llama_calls.n_tokens.iter().filter(|n| **n == 1).count() as u64;
    assert!(slow["of"].as_u64().unwrap() <= decode);
    for (query, words) in [
        (json!({ "table": "nothing" }), "ops, tokens, experts or threads"),
        (json!({ "table": "ops", "columns": ["tim"] }), "its columns are call, graph_call"),
        (json!({ "table": "ops", "columns": ["tid"], "order_by": "work_ns" }), "sort by one of tid"),
    ] {
        let said = ask(query).unwrap_err();
        assert!(said.contains(words), "{said}");
    }
    client.end();
}

#[test]
fn nothing_outside_of_the_folder_is_read() {
    let dir = folder();
    let mut client = Client::start(&dir.path().join("runs"));
    for outside in ["../outside.pfi", "/etc/passwd", "nothing.pfi", ""] {
        let said = client.call("ladder", &json!({ "recording": outside })).unwrap_err();
        assert!(said.contains("list_recordings") || said.contains("recording"), "{outside}: {said}");
    }
    let said = client.call("compare", &json!({ "a": ["demo.pfi"], "b": ["../outside.pfi"] })).unwrap_err();
    assert!(said.contains("not in the folder"), "{said}");
    let said = client.call("compare", &json!({ "a": ["demo.pfi"], "b": ["demo.pfi"] })).unwrap_err();
    assert!(said.contains("the same recording"), "{said}");
    let compared = client.call("compare", &json!({ "a": ["demo.pfi"], "b": ["sample.pfi"] }));
    // Runs of different work.
    assert_eq!(compared.unwrap()["verdict"]["code"], "different_work");
    client.end();
}
