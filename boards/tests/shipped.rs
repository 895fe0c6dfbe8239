//! The profiles that come with the release: all present, all complete, and consistent where facts
//! can be computed.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use profinfer_boards::{BoardError, Catalog, Contradiction, Seen, Unit};

fn crate_folder() -> PathBuf {
    // At run time: another clone may share the build cache.
    std::env::var_os("CARGO_MANIFEST_DIR").unwrap().into()
}

fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    entries.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect()
}

/// The files of the folder, read as a user's, replace every shipped one: the crate lacks none, has
/// no other, and each can be read.
#[test]
fn every_file_is_shipped_and_whole() {
    let root = crate_folder();
    let mut paths = toml_files(&root);
    paths.retain(|p| !p.ends_with("Cargo.toml"));
    paths.extend(toml_files(&root.join("cores")));
    paths.extend(toml_files(&root.join("backends")));
    let files = paths.iter().map(|p| (p.display().to_string(), std::fs::read_to_string(p).unwrap()));
    let mut catalog = Catalog::shipped().unwrap();
    let replaced = catalog.with_folder(files).unwrap();
    assert_eq!(replaced.len(), paths.len(), "one of {paths:?} is not in shipped.rs");
    let list = std::fs::read_to_string(root.join("src/shipped.rs")).unwrap();
    assert_eq!(list.matches(".toml\"").count(), paths.len(), "shipped.rs names a file that is not there");
}

#[test]
fn the_boards_of_this_release() {
    let catalog = Catalog::shipped().unwrap();
    let names: Vec<&str> = catalog.boards().map(|b| b.name.as_str()).collect();
    let expected =
        ["bcm2712", "generic-aarch64", "host", "qcs6490", "qemu-a76", "qemu-biglittle", "rk3568", "rk3588"];
    assert_eq!(names, expected);
}

#[test]
fn clusters_number_all_cpus_once() {
    for board in Catalog::shipped().unwrap().boards() {
        let cpus: Vec<u32> = board.clusters().iter().flat_map(|c| c.cpus.numbers()).copied().collect();
        let distinct: BTreeSet<u32> = cpus.iter().copied().collect();
        assert_eq!(distinct.len(), cpus.len(), "{}", board.name);
        assert!(distinct.iter().copied().eq(0..cpus.len() as u32), "{}: a gap in {cpus:?}", board.name);
    }
}

#[test]
fn sets_fit_the_counters() {
    let mut sets = 0;
    for board in Catalog::shipped().unwrap().boards() {
        assert!(board.counter_set.is_some() || board.cores().iter().all(|c| c.counters == 0));
        for core in board.cores() {
            for set in &core.sets {
                assert!((1..=6).contains(&set.events().count()), "{} {}", core.name, set.name());
                assert!(set.events().all(|e| core.event(e).is_some() && e != "CPU_CYCLES"));
                sets += 1;
            }
            // The first set of a core is the one that boards begin with.
            assert!(core.sets.first().is_none_or(|s| Some(s.name()) == board.counter_set.as_deref()));
        }
    }
    assert!(sets > 20);
}

/// The table that the agent's kernel looks at knows these; what Arm calls implementation defined it
/// does not.
#[test]
fn the_default_set_is_what_kernels_advertise() {
    let catalog = Catalog::shipped().unwrap();
    for core in catalog.find("generic-aarch64").unwrap().cores() {
        for name in core.sets[0].events() {
            let number = core.event(name).unwrap().number;
            let advertised = number < 0x40 || (0x4000..0x4040).contains(&number);
            assert!(advertised, "{}: {name} is {number:#x}", core.name);
        }
    }
}

/// Numbers of the architecture, the same on every core that has the event; from the Arm
/// architecture's list of common events (PMUv3), not from these files.
#[test]
fn common_events_have_the_architectures_numbers() {
    const COMMON: [(&str, u32); 9] = [
        ("INST_RETIRED", 0x08),
        ("CPU_CYCLES", 0x11),
        ("MEM_ACCESS", 0x13),
        ("L2D_CACHE_REFILL", 0x17),
        ("L2D_CACHE_WB", 0x18),
        ("STALL_BACKEND", 0x24),
        ("L3D_CACHE_REFILL", 0x2a),
        ("LL_CACHE_MISS_RD", 0x37),
        ("ASE_SPEC", 0x74),
    ];
    let catalog = Catalog::shipped().unwrap();
    let board = catalog.find("generic-aarch64").unwrap();
    let midrs: Vec<u32> = board.cores().iter().filter_map(|c| c.midr).collect();
    assert_eq!(midrs, [0x4100_d050, 0x4100_d0b0, 0x4100_d410]);
    for midr in midrs {
        for (name, number) in COMMON {
            assert_eq!(board.event(midr, name).unwrap().number, number, "{name} on {midr:#x}");
        }
    }
    // A shared name means the same thing on all cores.
    for core in board.cores() {
        for event in core.events() {
            for other in board.cores().iter().filter_map(|c| c.event(&event.name)) {
                assert_eq!(event, other);
            }
        }
    }
    let stall = board.event(0x4100_d410, "STALL_BACKEND_MEM").unwrap();
    assert_eq!((stall.number, stall.unit), (0x4005, Unit::Cycles));
    assert_eq!(board.event(0x4100_d0b0, "STALL_BACKEND_MEM"), None);
    let refill = board.event(0x4100_d0b0, "L3D_CACHE_REFILL").unwrap();
    assert_eq!((refill.unit, refill.bytes_per_count), (Unit::Bytes, Some(64)));
}

/// `LPDDR4X-4267` with a bus width gives the theoretical rate, and no measured rate is above it.
#[test]
fn ceilings_follow_from_the_memory() {
    let mut computed = 0;
    for board in Catalog::shipped().unwrap().boards() {
        let Some(memory) = &board.memory else { continue };
        if let Some(ceiling) = memory.theoretical_bytes_per_second {
            let transfers: u64 = memory.kind.rsplit('-').next().unwrap().parse().unwrap();
            let bits = u64::from(memory.channels.unwrap() * memory.bits_per_channel.unwrap());
            assert_eq!(ceiling, transfers * 1_000_000 * bits / 8, "{}", board.name);
            assert!(memory.measured.iter().all(|m| m.bytes_per_second < ceiling), "{}", board.name);
            computed += 1;
        }
    }
    assert_eq!(computed, 2);
}

#[test]
fn backends_and_sensors_of_rk3588() {
    let catalog = Catalog::shipped().unwrap();
    let board = catalog.find("rk3588").unwrap();
    let rknn = board.backends.iter().find(|b| b.name == "rknn").unwrap();
    assert_eq!(rknn.guid.unwrap().0[..4], [0xc9, 0xbd, 0xb7, 0x02]);
    assert_eq!(rknn.guid.unwrap().to_string(), "c9bdb702-4936-4212-af35-a287d8c92920");
    let product = rknn.probes().find(|p| p.symbol == "compute_submat_mul").unwrap();
    assert_eq!(product.arguments[product.tensor.unwrap()], "struct ggml_tensor * dst");
    assert!(board.uncore.iter().any(|n| n.pmu.as_deref() == Some("rockchip_ddr")));
    assert!(board.uncore.iter().any(|n| n.path.as_deref() == Some("/sys/kernel/debug/rknpu/load")));
}

#[test]
fn boards_are_known_by_what_they_say() {
    let catalog = Catalog::shipped().unwrap();
    let guess = |model: &str, midrs: &[u32]| catalog.by_machine(model, midrs).map(|b| b.name.as_str());
    let (a55, a76, a78) = (0x4100_d050, 0x4100_d0b0, 0x4100_d410);
    assert_eq!(guess("Xunlong Orange Pi 5 Plus", &[]), Some("rk3588"));
    assert_eq!(guess("Raspberry Pi 5 Model B Rev 1.0", &[a76; 4]), Some("bcm2712"));
    assert_eq!(guess("Raspberry Pi 4 Model B Rev 1.4", &[]), None);
    assert_eq!(guess("Intel(R) Xeon(R) Processor", &[]), None);
    assert_eq!(guess("", &[a55, a55, a55, a55, a76, a76, a76, a76]), Some("rk3588"));
    assert_eq!(guess("", &[a55, a55, a55, a55, a78, a78, a78, a78]), Some("qcs6490"));
    assert_eq!(guess("", &[a55; 4]), Some("rk3568"));
    assert_eq!(guess("Emulated board with two core types (QEMU virt)", &[a76; 4]), Some("qemu-biglittle"));
    // Three boards have four A76, none has two.
    assert_eq!(guess("", &[a76; 4]), None);
    assert_eq!(guess("", &[a76; 2]), None);
    assert_eq!(guess("", &[]), None);
}

#[test]
fn boards_have_the_names_that_people_use() {
    let catalog = Catalog::shipped().unwrap();
    for (name, board) in [
        ("rpi5", "bcm2712"),
        ("pi5", "bcm2712"),
        ("Pi 5", "bcm2712"),
        ("Raspberry Pi 5", "bcm2712"),
        ("raspberry-pi-5", "bcm2712"),
        ("RK3588", "rk3588"),
        ("orangepi5", "rk3588"),
        ("Orange Pi 5 Plus", "rk3588"),
        ("rock5b", "rk3588"),
        ("DAYU200", "rk3568"),
        ("rubik_pi_3", "qcs6490"),
        ("Generic AArch64", "generic-aarch64"),
    ] {
        assert_eq!(catalog.find(name).unwrap().name, board, "{name}");
    }
    for name in ["", "-", "pi", "raspberry pi 4"] {
        assert!(catalog.find(name).is_err(), "{name}");
    }
    let meant = |name: &str| match catalog.find(name) {
        Err(BoardError::Unknown { meant, .. }) => meant,
        other => panic!("{other:?}"),
    };
    assert_eq!(meant("rk3589").as_deref(), Some("`rk3588` (Orange Pi 5)"));
    assert_eq!(meant("rasberry pi 5").as_deref(), Some("`Raspberry Pi 5` (profile bcm2712)"));
    assert_eq!(meant("genric-arch64").as_deref(), Some("`generic-aarch64`"));
    assert_eq!(meant("rasberry").as_deref(), Some("`Raspberry Pi 5` (profile bcm2712)"));
    assert_eq!(meant("Radxa Rock 5B").as_deref(), Some("`Rock 5B` (profile rk3588)"));
    assert_eq!(meant("jetson orin"), None);
    assert_eq!(meant(""), None);
}

#[test]
fn a_profile_is_for_one_type_of_machine() {
    let catalog = Catalog::shipped().unwrap();
    let contradicts = |name: &str, machine: &str| catalog.find(name).unwrap().contradicts(machine);
    assert!(contradicts("rk3588", "x86_64") && contradicts("generic-aarch64", "x86_64"));
    assert!(
        !contradicts("rk3588", "aarch64") && !contradicts("rk3588", "") && !contradicts("host", "x86_64")
    );
}

#[test]
fn a_profile_is_for_one_board() {
    let catalog = Catalog::shipped().unwrap();
    let of = |name: &str, model: &str, midrs: &[u32]| {
        let seen = Seen { machine: "aarch64", model, midrs };
        catalog.contradiction(catalog.find(name).unwrap(), seen).map(|why| match why {
            Contradiction::Board(other) => other.name.clone(),
            Contradiction::Core(midr) => format!("{midr:#x}"),
            Contradiction::Machine => "machine".to_owned(),
        })
    };
    let (a55, a72, a76) = (0x4100_d050, 0x4100_d080, 0x4100_d0b0);
    let pi5 = "Raspberry Pi 5 Model B Rev 1.0";
    assert_eq!(of("rk3588", pi5, &[]).as_deref(), Some("bcm2712"));
    assert_eq!(of("rk3588", "Orange Pi 5 Plus", &[a55, a76]), None);
    // A board that no profile names may be one of the named kind, unless its cores are others.
    assert_eq!(of("rk3588", "Radxa ROCK 5 ITX", &[a55, a55, a76]), None);
    assert_eq!(of("bcm2712", "Raspberry Pi 4 Model B Rev 1.4", &[]), None);
    assert_eq!(of("bcm2712", "Raspberry Pi 4 Model B Rev 1.4", &[a72; 4]).as_deref(), Some("0x4100d080"));
    // Profiles for boards of many kinds, and one that names none.
    assert_eq!(of("generic-aarch64", pi5, &[a72]), None);
    assert_eq!(of("qemu-a76", pi5, &[a76]), None);
    assert_eq!(of("rk3588", "", &[]), None);
}

/// The agent knows a split's backend by these four bytes.
#[test]
fn first_bytes_of_guids_tell_backends_apart() {
    let catalog = Catalog::shipped().unwrap();
    let with: Vec<_> =
        catalog.backends().filter_map(|b| Some((b.first_guid_bytes::<4>()?, b.title()))).collect();
    for (i, (bytes, title)) in with.iter().enumerate() {
        assert!(with[..i].iter().all(|(other, name)| other != bytes && name != title), "{title}");
    }
    let cpu = with.iter().find(|(_, title)| *title == "CPU").unwrap();
    assert_eq!(cpu.0, [0xaa, 0x67, 0xc7, 0x43]);
    assert_eq!(with.len(), 11);
}
