use std::fs;

use profinfer_trace::model::FactScope;

use crate::tree::{PID, Tree, all, of_process};

#[test]
fn memory_and_faults_when_they_change() {
    let tree = Tree::new();
    tree.put("proc/42/io", "rchar: 9\nread_bytes: 4096\n");
    tree.put("proc/42/smaps_rollup", "Rss: 9 kB\nAnonHugePages:  2048 kB\nFilePmdMapped: 0 kB\n");
    let (model, _) = tree.read(&mut |computing, round| {
        match round {
            1 => tree.stat(PID, "42", 9, 1),
            2 => {
                tree.put("proc/42/smaps_rollup", "Rss: 9 kB\nAnonHugePages:  4096 kB\nFilePmdMapped: 0 kB\n");
                tree.put("proc/42/task/42/status", "Cpus_allowed_list:\t0-1\n");
                computing.push((PID, PID));
            }
            3 => {
                tree.put("proc/42/smaps_rollup", "Rss: 9 kB\nAnonHugePages:  8192 kB\nFilePmdMapped: 0 kB\n");
            }
            _ => {}
        }
        round < 4
    });
    for (name, values) in [
        ("rss.anonymous", "10240"),
        ("rss.file", "20480"),
        ("rss.shared", "3072"),
        ("faults.minor", "5 9"),
        ("faults.major", "1"),
        ("kernel_ns", "10000000"),
        ("threads", "2"),
        ("nice", "-5"),
        ("affinity", "0-1"),
        ("io.read_bytes", "4096"),
        ("read.inode 1234", "0 4096 8192 12288 16384"),
        ("swapped", "!/proc/42/status does not have it"),
        // Read again when a thread of it computes, and at the end.
        ("huge.anonymous", "2097152 4194304 8388608"),
        ("huge.file", "0"),
        ("program", "!there is no /proc/42/exe"),
        ("environment.read", "!there is no /proc/42/environ"),
        ("ended", ""),
    ] {
        assert_eq!(of_process(&model, name), values, "{name}");
    }
}

/// Sends no other variables, no values that may be secrets, and no long values.
#[test]
fn nothing_else_of_the_environment_is_sent() {
    let tree = Tree::new();
    let long = "x".repeat(201);
    let variables = [
        "HOME=/root/geheim",
        "OMP_WAIT_POLICY=passive",
        "AWS_SECRET_ACCESS_KEY=geheim",
        "LLAMA_API_KEY=geheim",
        "GGML_TOKENS=geheim",
        "PASSWORD=OMP_NUM_THREADS=geheim",
        "OMP_NUM_THREADS=4",
        &format!("OMP_PLACES={long}"),
        "KMP_BLOCKTIME=geheim\u{0}ZZZ=geheim",
    ];
    tree.put("proc/42/environ", variables.join("\u{0}").replace("KMP_BLOCKTIME=geheim", "KMP_BLOCKTIME=0"));
    tree.put("proc/cmdline", "root=geheim numa=fake=8 token=geheim");
    let (model, bytes) = tree.read(&mut |_, _| false);
    assert_eq!(of_process(&model, "environment.read"), "6");
    assert_eq!(of_process(&model, "env.OMP_WAIT_POLICY"), "passive");
    assert_eq!(of_process(&model, "env.OMP_NUM_THREADS"), "4");
    assert_eq!(of_process(&model, "env.KMP_BLOCKTIME"), "0");
    assert!(of_process(&model, "env.LLAMA_API_KEY").starts_with("!withheld"));
    assert!(of_process(&model, "env.OMP_PLACES").contains("longer than the 200 bytes"));
    assert!(!bytes.windows(6).any(|w| w == b"geheim"), "a secret is in the stream");
    assert!(!bytes.windows(4).any(|w| w == b"HOME"), "another variable is in the stream");
}

#[test]
fn the_number_of_variables_is_limited() {
    let tree = Tree::new();
    let many: Vec<String> = (0..100).map(|i| format!("GGML_V{i}=1")).collect();
    tree.put("proc/42/environ", many.join("\u{0}"));
    let model = tree.read_once();
    let sent = (0..100).filter(|i| !of_process(&model, &format!("env.GGML_V{i}")).is_empty()).count();
    assert_eq!((sent, of_process(&model, "environment.read").as_str()), (64, "100"));
}

#[test]
fn hostile_texts() {
    let tree = Tree::new();
    tree.put("proc/42/environ", b"OMP_A=\xff\x1b[31m\nx\0GGML_\xff\xfe=1\0OMP_=\0OMP_B\0=\0\0");
    std::os::unix::fs::symlink("/x".repeat(600), tree.root().join("proc/42/exe")).unwrap();
    tree.put(
        "proc/42/status",
        [&b"Name:\t\xff\nRssAnon: -1 kB\nCpus_allowed_list:\t\xff\n"[..], &[b'x'; 60_000]].concat(),
    );
    tree.put("proc/42/stat", b"42 (\xff) R");
    let model = tree.read_once();
    assert_eq!(of_process(&model, "env.OMP_A"), "\u{fffd}\u{1b}[31m\nx");
    assert_eq!(of_process(&model, "program"), "!the text is longer than 1000 bytes");
    for name in ["rss.anonymous", "affinity", "nice", "faults.major"] {
        assert_eq!(of_process(&model, name).chars().next(), Some('!'), "{name}");
    }
}

#[test]
fn threads_that_compute() {
    let tree = Tree::new();
    for (tid, cpus, schedstat) in [(42, "0-1", "100 7 3\n"), (43, "1", "0 0 0\n"), (44, "0-1", "5 6 7\n")] {
        tree.put(&format!("proc/42/task/{tid}/status"), format!("Cpus_allowed_list:\t{cpus}\n"));
        tree.stat(tid, &format!("42/task/{tid}"), 0, 0);
        tree.put(&format!("proc/42/task/{tid}/schedstat"), schedstat);
    }
    tree.put("proc/42/task/44/stat", "44 (x) R 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 2 0 0 0 0");
    let (model, _) = tree.read(&mut |computing, round| {
        match round {
            0 => computing.extend([(PID, 42), (PID, 43), (PID, 44), (PID, 45), (7, 46)]),
            1 => {
                tree.put("proc/42/task/42/schedstat", "150 9 3\n");
                computing.push((PID, 42));
            }
            _ => {}
        }
        round < 3
    });
    let of = |tid, name| all(&model, FactScope::Thread(tid), name).join(" ");
    assert_eq!([of(42, "run_ns"), of(42, "run_delay_ns")], ["100 150", "7 9"]);
    assert_eq!(of(42, "affinity"), "", "same as the process's");
    assert_eq!([of(43, "affinity"), of(43, "sched.policy")], ["1", "SCHED_FIFO 50"]);
    assert!(of(43, "run_ns").starts_with("!the kernel does not count it"));
    assert_eq!([of(44, "sched.policy"), of(44, "run_ns")], ["", "5"]);
    assert_eq!([of(45, "run_ns"), of(46, "run_ns")], ["", ""], "they have ended already");
}

#[test]
fn the_number_of_threads_is_limited() {
    let tree = Tree::new();
    for tid in 100..200 {
        tree.put(&format!("proc/42/task/{tid}/status"), "Cpus_allowed_list:\t0-1\n");
        tree.stat(tid, &format!("42/task/{tid}"), 0, 0);
        tree.put(&format!("proc/42/task/{tid}/schedstat"), "1 2 3\n");
    }
    let (model, _) = tree.read(&mut |computing, round| {
        computing.extend((100..200).map(|tid| (PID, tid)));
        round < 2
    });
    let sent = (100..200).filter(|tid| !all(&model, FactScope::Thread(*tid), "run_ns").is_empty());
    assert_eq!(sent.count(), profinfer_agent::observe::fact::MAX_THREADS);
}

/// No number follows the end of a process. A missing folder stands for an ended process.
#[test]
fn a_process_that_was_never_there_has_no_facts() {
    let tree = Tree::new();
    fs::remove_dir_all(tree.root().join("proc/42")).unwrap();
    let model = tree.read_once();
    assert!(model.facts.rows.iter().all(|fact| fact.scope == FactScope::System), "{:?}", model.facts);
}
