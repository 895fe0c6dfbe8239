//! Output of the drivers `nodes` and `whisper` about their engines.

/// One node as the engine lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// As `ggml_op_desc` names it.
    pub(crate) op: String,
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) ne: [u64; 4],
    /// Name and dimensions of each source.
    pub(crate) src: Vec<(String, [u64; 4])>,
}

/// One call of `llama_decode`, or of the scheduler in a program that has no such call, as the driver saw it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    pub(crate) nodes: Vec<Listed>,
    /// The step of the call (`whisper`), or the model (`nodes`).
    pub(crate) of: usize,
    pub(crate) n_tokens: u32,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Reads the driver's output.
pub(crate) fn parse(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut call = Call::default();
    for line in text.lines() {
        let f: Vec<&str> = line.split('\t').collect();
        match f[0] {
            "node" => call.nodes.push(Listed {
                op: f[3].to_owned(),
                name: f[4].to_owned(),
                dtype: f[5].to_owned(),
                ne: ne(f[6]),
                src: f[7..]
                    .iter()
                    .filter_map(|s| s.rsplit_once(':'))
                    .map(|(n, d)| (n.to_owned(), ne(d)))
                    .collect(),
            }),
            "decode" | "graph" => {
                call.of = f[2].parse().unwrap();
                call.n_tokens = f[3].parse().unwrap();
                call.start_ns = f[4].parse().unwrap();
                call.end_ns = f[5].parse().unwrap();
                calls.push(std::mem::take(&mut call));
            }
            _ => {}
        }
    }
    calls
}

fn ne(text: &str) -> [u64; 4] {
    let mut d = text.split(',').map(|n| n.parse().unwrap());
    [(); 4].map(|()| d.next().unwrap())
}
