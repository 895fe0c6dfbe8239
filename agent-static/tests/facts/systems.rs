use profinfer_trace::model::FactScope;

use crate::tree::{Tree, all, of_system};

const CPUS: &str = "sys/devices/system/cpu";

/// Like the vendor's kernel for the RK3588: two core types with separate clocks, and a memory
/// clock.
fn board(tree: &Tree) {
    tree.put(&format!("{CPUS}/present"), "0,4-5\n");
    tree.put(&format!("{CPUS}/online"), "0,4-5\n");
    for (cpu, policy, midr, capacity) in [
        (0, 0, "0x00000000412fd050", "530"),
        (4, 4, "0x00000000414fd0b1", "1024"),
        (5, 4, "0x00000000414fd0b1", "1024"),
    ] {
        tree.put(&format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1"), format!("{midr}\n"));
        tree.put(&format!("{CPUS}/cpu{cpu}/cpu_capacity"), format!("{capacity}\n"));
        std::os::unix::fs::symlink(
            format!("../cpufreq/policy{policy}"),
            tree.root().join(format!("{CPUS}/cpu{cpu}/cpufreq")),
        )
        .unwrap();
    }
    for (policy, governor, limit) in [(0, "ondemand", "1800000"), (4, "performance", "2256000")] {
        let file = |name: &str| format!("{CPUS}/cpufreq/policy{policy}/{name}");
        tree.put(&file("scaling_governor"), format!("{governor}\n"));
        tree.put(&file("cpuinfo_max_freq"), "2256000\n");
        tree.put(&file("scaling_min_freq"), "408000\n");
        tree.put(&file("scaling_max_freq"), format!("{limit}\n"));
    }
    tree.put("sys/class/devfreq/fdab0000.npu/cur_freq", "1\n");
    tree.put("sys/class/devfreq/dmc/cur_freq", "528000000\n");
    tree.put("sys/class/devfreq/dmc/max_freq", "2112000000\n");
    tree.put("sys/class/devfreq/dmc/governor", "dmc_ondemand\n");
    tree.put("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd asimddp\nCPU implementer\t: 0x41\n\n");
    tree.put(
        "proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 500 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    );
    tree.put(
        "proc/stat",
        "cpu  1 1 1 1 1 1 1 9 0 0\ncpu0 1 1 1 1 1 1 1 3 0 0\ncpu4 1 1 1 1 1 1 1 0 0 0\nintr 5 5\n",
    );
    tree.put("proc/cmdline", "console=ttyFIQ0 isolcpus=5 rootpw=x\n");
    tree.put("sys/devices/system/node/node0/cpulist", "0-7");
    tree.put("sys/devices/system/node/possible", "0");
    tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
}

#[test]
fn a_board_and_what_changes() {
    let tree = Tree::new();
    board(&tree);
    let (model, _) = tree.read(&mut |_, round| {
        if round == 1 {
            tree.put(&format!("{CPUS}/cpufreq/policy4/scaling_max_freq"), "1200000\n");
            tree.put(&format!("{CPUS}/online"), "0,4\n");
            tree.put("sys/class/devfreq/dmc/cur_freq", "2112000000\n");
            tree.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapFree: 0 kB\n");
            tree.put("proc/stat", "cpu0 1 1 1 1 1 1 1 5 0 0\ncpu4 1 1 1 1 1 1 1 0 0 0\n");
        }
        round < 3
    });
    for (name, values) in [
        ("kernel.cmdline", "isolcpus=5"),
        ("numa.nodes", "1"),
        ("hugepages.policy", "madvise"),
        ("hypervisor", "!the kernel reports none"),
        ("memory.total", "1024000"),
        ("memory.available", "512000 409600"),
        ("swap.total", "0"),
        ("swap.free", "0"),
        ("ddr.frequency", "528000000 2112000000"),
        ("ddr.frequency.max", "2112000000"),
        ("ddr.governor", "dmc_ondemand"),
        ("cpu.features", "fp asimd asimddp"),
    ] {
        assert_eq!(of_system(&model, name), values, "{name}");
    }
    assert!(of_system(&model, "page.size").parse::<u64>().unwrap().is_power_of_two());
    for (name, [zero, four, five]) in [
        ("cpu.core", ["0x412fd050", "0x414fd0b1", "0x414fd0b1"]),
        ("cpu.capacity", ["530", "1024", "1024"]),
        ("cpu.governor", ["ondemand", "performance", "performance"]),
        ("cpu.frequency.max", ["2256000000"; 3]),
        ("cpu.frequency.min", ["408000000"; 3]),
        ("cpu.frequency.limit", ["1800000000", "2256000000 1200000000", "2256000000 1200000000"]),
        ("cpu.online", ["1", "1", "1 0"]),
        ("cpu.steal_ns", ["30000000 50000000", "0", ""]),
    ] {
        let of = |cpu| all(&model, FactScope::Cpu(cpu), name).join(" ");
        assert_eq!([of(0), of(4), of(5)], [zero, four, five], "{name}");
    }
}

/// If the kernel does not show the register, /proc/cpuinfo has its fields; a PC has a name.
#[test]
fn cores_by_their_description() {
    let tree = Tree::new();
    tree.put(&format!("{CPUS}/present"), "0-1\n");
    let arm = |cpu: u8, part: &str| {
        format!(
            "processor\t: {cpu}\nFeatures\t: fp\nCPU implementer\t: 0x41\nCPU variant\t: 0x4\nCPU part\t: {part}\nCPU revision\t: 1\n\n"
        )
    };
    tree.put("proc/cpuinfo", arm(0, "0xd0b") + &arm(1, "0xd05"));
    let cores = |tree: &Tree| {
        let model = tree.read_once();
        [0, 1].map(|cpu| all(&model, FactScope::Cpu(cpu), "cpu.core").join(" "))
    };
    assert_eq!(cores(&tree), ["0x414fd0b1", "0x414fd051"]);
    let pc =
        |cpu: u8| format!("processor\t: {cpu}\nmodel name\t: A CPU\nflags\t\t: sse4_2 avx2 hypervisor\n\n");
    tree.put("proc/cpuinfo", pc(0) + &pc(1));
    tree.put("sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_eq!(cores(&tree), ["A CPU", "A CPU"]);
    assert_eq!(of_system(&tree.read_once(), "hypervisor"), "QEMU");
    tree.put("proc/cpuinfo", "nothing\n");
    assert!(cores(&tree)[0].starts_with('!'));
}

#[test]
fn missing_files_give_absent_facts_with_the_reason() {
    let tree = Tree::new();
    let model = tree.read_once();
    for (name, why) in [
        ("kernel.cmdline", "!there is no /proc/cmdline"),
        ("numa.nodes", "!there is no /sys/devices/system/node"),
        ("memory.available", "!there is no /proc/meminfo"),
        ("ddr.frequency", "!there is no /sys/class/devfreq"),
        ("cpu.features", "!there is no /proc/cpuinfo"),
    ] {
        assert_eq!(of_system(&model, name), why);
    }
    tree.put("sys/class/devfreq/gpu/cur_freq", "1");
    let only = of_system(&tree.read_once(), "ddr.frequency");
    assert_eq!(only, "!/sys/class/devfreq has no memory controller, only gpu");
}
