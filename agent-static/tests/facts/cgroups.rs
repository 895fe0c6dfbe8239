use crate::tree::{PID, Tree, of_process};

const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                  32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                  33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
                  34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
const V2: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const NAMES: [&str; 5] =
    ["cgroup.version", "cgroup.path", "cgroup.quota_us", "cgroup.period_us", "cgroup.quota.level"];

fn v1(tree: &Tree, group: &str, quota: &str, stat: &str) {
    tree.put(&format!("sys/fs/cgroup/cpu/{group}/cpu.cfs_quota_us"), format!("{quota}\n"));
    tree.put(&format!("sys/fs/cgroup/cpu/{group}/cpu.cfs_period_us"), "100000\n");
    tree.put(&format!("sys/fs/cgroup/cpu/{group}/cpu.stat"), stat);
}

fn group_facts(tree: &Tree) -> [String; 5] {
    let model = tree.read_once();
    NAMES.map(|name| of_process(&model, name))
}

#[test]
fn version_1_and_the_tightest_quota_of_a_parent() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V1);
    tree.put("proc/42/cgroup", "4:memory:/box\n3:cpuset:/\n1:cpu,cpuacct:/box/engine\n0::/\n");
    v1(&tree, "", "-1", "");
    // Three CPUs at the top, 1.5 in the middle, two for the group itself.
    v1(&tree, "box", "150000", "nr_periods 10\nnr_throttled 4\nthrottled_time 5000\n");
    v1(&tree, "box/engine", "200000", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
    tree.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    tree.put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
    let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
    tree.put("sys/fs/cgroup/memory/box/memory.oom_control", control);
    tree.put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-3\n");
    assert_eq!(group_facts(&tree), ["1", "/box/engine", "150000", "100000", "1"]);
    let (model, _) = tree.read(&mut |_, round| {
        let counts = "nr_periods 12\nnr_throttled 6\nthrottled_time 7000\n";
        tree.put("sys/fs/cgroup/cpu/box/cpu.stat", counts);
        round < 2
    });
    assert_eq!(of_process(&model, "cgroup.periods"), "10 12");
    assert_eq!(of_process(&model, "cgroup.throttled_periods"), "4 6");
    assert_eq!(of_process(&model, "cgroup.throttled_ns"), "5000 7000");
    assert_eq!(of_process(&model, "cgroup.memory.limit"), "1073741824");
    assert_eq!(of_process(&model, "cgroup.memory.oom_kills"), "2");
    assert_eq!(of_process(&model, "cgroup.cpuset"), "0-3");
}

#[test]
fn version_2_and_the_quota_of_a_container() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/box/engine\n");
    let group = "sys/fs/cgroup/box";
    tree.put(&format!("{group}/cpu.max"), "50000 100000\n");
    tree.put(
        &format!("{group}/cpu.stat"),
        "usage_usec 9\nnr_periods 7\nnr_throttled 3\nthrottled_usec 2500\n",
    );
    tree.put(&format!("{group}/memory.max"), "max\n");
    tree.put(&format!("{group}/engine/cpu.max"), "max 100000\n");
    tree.put(&format!("{group}/cpuset.cpus.effective"), "2-3\n");
    tree.put(&format!("{group}/engine/memory.max"), "4096\n");
    assert_eq!(group_facts(&tree), ["2", "/box/engine", "50000", "100000", "1"]);
    let model = tree.read_once();
    assert_eq!(of_process(&model, "cgroup.throttled_ns"), "2500000");
    assert_eq!(of_process(&model, "cgroup.memory.limit"), "4096");
    assert_eq!(of_process(&model, "cgroup.cpuset"), "2-3");
}

/// Android moves an application that goes to the background to another group.
#[test]
fn another_group_and_other_limits() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/top\n");
    let group = |name: &str, quota: &str, clamp: &str, throttled: u64| {
        let folder = format!("sys/fs/cgroup/{name}");
        tree.put(&format!("{folder}/cpu.max"), format!("{quota}\n"));
        tree.put(&format!("{folder}/cpu.uclamp.max"), format!("{clamp}\n"));
        tree.put(&format!("{folder}/cpuset.cpus.effective"), if name == "top" { "0-3\n" } else { "0\n" });
        tree.put(&format!("{folder}/memory.high"), "max\n");
        let stat = format!("nr_periods 9\nnr_throttled {throttled}\nthrottled_usec 0\n");
        tree.put(&format!("{folder}/cpu.stat"), stat);
    };
    group("top", "max 100000", "max", 1);
    group("back", "50000 100000", "30.50", 1000);
    let (model, _) = tree.read(&mut |_, round| {
        match round {
            1 => group("top", "max 100000", "max", 2),
            2 => tree.put("proc/42/cgroup", "0::/back\n"),
            3 => group("back", "20000 100000", "7", 1005),
            4 => tree.put("sys/fs/cgroup/back/memory.high", "7\n"),
            // It exits, and the kernel takes it out of its group.
            5 => {
                tree.stat_with(PID, "42", (5, 1), 0x40_0004);
                tree.put("proc/42/cgroup", "0::/\n");
            }
            _ => {}
        }
        round < 7
    });
    let of = |name: &str| of_process(&model, &format!("cgroup.{name}"));
    assert_eq!(of("path"), "/top /back /back /back");
    assert_eq!(of("memory.high"), "none none none 7");
    assert_eq!(of("quota_us"), "none 50000 20000 20000");
    assert_eq!(of("uclamp_max"), "none 3050 700 700");
    assert_eq!(of("cpuset"), "0-3 0 0 0");
    let changed = "!the process came to another control group, or a limit of its group changed";
    assert_eq!(of("throttled_periods"), format!("1 2 {changed} 1000 1005 {changed} 1005 {changed} 1005"));
}

#[test]
fn a_group_that_is_frozen() {
    let tree = Tree::new();
    let freezer = "35 31 0:32 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n";
    let unified = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let put = |one: &str, two: u64| {
        tree.put("sys/fs/cgroup/freezer/a/freezer.state", format!("{one}\n"));
        tree.put("sys/fs/cgroup/unified/b/cgroup.events", format!("populated 1\nfrozen {two}\n"));
    };
    let frozen = || {
        put("THAWED", 0);
        let (model, _) = tree.read(&mut |_, round| {
            let (one, two) = [("THAWED", 0), ("FROZEN", 0), ("THAWED", 0), ("THAWED", 1)][round as usize];
            put(one, two);
            round < 3
        });
        of_process(&model, "cgroup.frozen")
    };
    tree.put("proc/42/cgroup", "1:freezer:/a\n0::/b\n");
    tree.put("proc/self/mountinfo", format!("{freezer}{unified}"));
    assert_eq!(frozen(), "0 1 0 1");
    tree.put("proc/42/cgroup", "0::/b\n");
    assert_eq!(frozen(), "0 1");
    tree.put("proc/42/cgroup", "0::/\n");
    assert_eq!(frozen(), "!no control group of the process can be frozen");
}

#[test]
fn clamps_of_parents_and_what_is_no_percentage() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/a/b\n");
    tree.put("sys/fs/cgroup/a/cpu.uclamp.max", "25.00\n");
    tree.put("sys/fs/cgroup/a/b/cpu.uclamp.max", "60.5\n");
    let clamp = || of_process(&tree.read_once(), "cgroup.uclamp_max");
    assert_eq!(clamp(), "2500");
    for text in ["", "x", "5.001", "-1", "99999999999999999999", "1.x"] {
        tree.put("sys/fs/cgroup/a/b/cpu.uclamp.max", text);
        assert!(clamp().starts_with('!'), "{text}: {}", clamp());
    }
}

#[test]
fn memory_high_and_the_time_stalled_by_it() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/box/engine\n");
    // The parent group has the tightest limit, so its counts are sent.
    let group = "sys/fs/cgroup/box";
    tree.put(&format!("{group}/memory.high"), "300000000\n");
    tree.put(&format!("{group}/engine/memory.high"), "max\n");
    tree.put(&format!("{group}/engine/memory.current"), "7\n");
    let put = |used: u64, high: u64, full_us: u64, kills: u64| {
        tree.put(&format!("{group}/memory.current"), format!("{used}\n"));
        tree.put(
            &format!("{group}/memory.events"),
            format!("low 0\nhigh {high}\nmax 0\noom 9\noom_kill {kills}\n"),
        );
        let line = |name: &str, us: u64| format!("{name} avg10=0.00 avg60=0.00 avg300=0.00 total={us}\n");
        tree.put(&format!("{group}/memory.pressure"), line("some", 99) + &line("full", full_us));
    };
    put(299_000_000, 4, 10, 0);
    let (model, _) = tree.read(&mut |_, round| {
        put(300_100_000, 9, 2_000_010, 1);
        round < 1
    });
    let of = |name: &str| of_process(&model, &format!("cgroup.memory.{name}"));
    assert_eq!([of("high"), of("used")], ["300000000", "299000000 300100000"]);
    assert_eq!([of("high_events"), of("stalled_ns")], ["4 9", "10000 2000010000"]);
    assert_eq!(of("oom_kills"), "0 1");
}

#[test]
fn no_limit_is_not_an_absent_fact() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/\n");
    tree.put("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
    assert_eq!(group_facts(&tree), ["2", "/", "none", "", ""]);
    let model = tree.read_once();
    assert_eq!(of_process(&model, "cgroup.memory.limit"), "none");
    assert_eq!(of_process(&model, "cgroup.memory.high"), "none");
    // Its controller is off.
    assert!(of_process(&model, "cgroup.periods").starts_with("!the control group does not count it"));
}

/// Controllers of version 1 next to a version 2 hierarchy without controllers.
#[test]
fn both_versions() {
    let tree = Tree::new();
    tree.put(
        "proc/self/mountinfo",
        format!("{V1}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"),
    );
    tree.put("proc/42/cgroup", "1:cpu:/a\n0::/b\n");
    v1(&tree, "a", "30000", "nr_periods 1\nnr_throttled 1\nthrottled_time 2\n");
    tree.put("sys/fs/cgroup/unified/b/cpu.max", "10000 100000\n");
    tree.put("sys/fs/cgroup/unified/b/memory.max", "8192\n");
    assert_eq!(group_facts(&tree), ["1", "/a", "30000", "100000", "0"]);
    // No version 1 hierarchy has the process in a memory group.
    assert_eq!(of_process(&tree.read_once(), "cgroup.memory.limit"), "8192");
}

/// In a container only the group's own folder is mounted; the path starts at the root of the
/// hierarchy.
#[test]
fn a_mount_of_a_part() {
    let tree = Tree::new();
    let part = "32 31 0:29 /docker/ab\\040c /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
    tree.put("proc/self/mountinfo", part);
    tree.put("proc/42/cgroup", "1:cpu:/docker/ab c/engine\n");
    v1(&tree, "", "80000", "nr_periods 1\n");
    v1(&tree, "engine", "-1", "nr_periods 1\n");
    assert_eq!(group_facts(&tree), ["1", "/docker/ab c/engine", "80000", "100000", "1"]);
    for outside in ["/docker/ab cd", "/other", "/../x"] {
        tree.put("proc/42/cgroup", format!("1:cpu:{outside}\n"));
        assert!(group_facts(&tree)[2].starts_with("!the control group"), "{outside}");
    }
}

#[test]
fn no_control_groups() {
    let tree = Tree::new();
    let why = ["!there is no /proc/42/cgroup", "!there is no /proc/self/mountinfo"];
    assert_eq!(group_facts(&tree)[2], why[0]);
    tree.put("proc/42/cgroup", "");
    assert_eq!(group_facts(&tree)[2], why[1]);
    tree.put("proc/self/mountinfo", "23 1 0:2 / / rw - ext4 /dev/vda rw\n");
    let why = "!no control group of version 2 has the process";
    assert_eq!(group_facts(&tree)[2], why);
    tree.put("proc/42/cgroup", "0::/a\n");
    assert!(group_facts(&tree)[2].contains("of version 2 are not mounted"));
    for text in ["nonsense", ":::::", "\u{0}\u{ff}", "1:cpu"] {
        tree.put("proc/42/cgroup", text);
        tree.put("proc/self/mountinfo", format!("{text}\n - \n{V1}"));
        assert!(group_facts(&tree)[2].starts_with('!'), "{text}");
    }
}

#[test]
fn quotas_that_are_no_numbers() {
    let tree = Tree::new();
    tree.put("proc/self/mountinfo", V2);
    tree.put("proc/42/cgroup", "0::/a\n");
    for text in ["x 100000", "5000", "5000 0", "5000 x", ""] {
        tree.put("sys/fs/cgroup/a/cpu.max", text);
        assert!(group_facts(&tree)[2].starts_with('!'), "{text}: {:?}", group_facts(&tree));
    }
}
