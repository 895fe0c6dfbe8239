#!/usr/bin/env python3
"""device_tree.py [--big-little] [--device NAME] < VIRT.dts > BOARD.dts

Changes the device tree of QEMU's `virt,gic-version=3`.

--big-little makes a board of two core types, like the RK3588: the first half of its CPUs become "arm,cortex-a55", the others
"arm,cortex-a76", each kind with a PMU of its own, and with the capacity that the RK3588's device tree gives it. All still run
the same code, at the same speed unless --speeds is used; it is the kernel that keeps them apart from then on. Two PMUs share the
one interrupt of `virt` by partitions of it (ppi-partitions), which takes a fourth cell in every interrupt specifier of the tree.

--device gives it the names by which the kernel of that device, and so `analyze`, knows it. Nothing else of the device is there.
"""

import argparse
import re
import sys

#: Device: `model` and `compatible` of its device tree in Linux.
DEVICES = {
    "pi5": ("Raspberry Pi 5 Model B Rev 1.0", ["raspberrypi,5-model-b", "brcm,bcm2712"]),
    "orangepi5": ("Xunlong Orange Pi 5", ["xunlong,orangepi-5", "rockchip,rk3588s"]),
    "emulated": ("Emulated board with two core types (QEMU virt)", ["profinfer,qemu-a76"]),
}

A55, A76 = 0x9001, 0x9002  # phandles of the partitions; QEMU numbers its own from 0x8000


def with_fourth_cell(tree):
    def cells(text, group, what):
        values = text.split()
        if len(values) % group:
            sys.exit(f"device_tree.py: {what} of {len(values)} cells, not a multiple of {group}: not QEMU's virt with gic-version=3")
        parts = (values[i : i + group] for i in range(0, len(values), group))
        return "<" + " ".join(" ".join([*p, "0x00"]) for p in parts) + ">"

    tree = re.sub(r"(\binterrupts = )<([^>]*)>", lambda m: m[1] + cells(m[2], 3, "interrupts"), tree)
    # PCI: 3 address and 1 interrupt cell, the parent, 2 address and 3 interrupt cells of the parent
    return re.sub(r"(\binterrupt-map = )<([^>]*)>", lambda m: m[1] + cells(m[2], 10, "interrupt-map"), tree)


def with_partitions(tree, little, big):
    partitions = "".join(
        f"\t\t\tinterrupt-partition-{i} {{ affinity = <{' '.join(cpus)}>; phandle = <{phandle:#x}>; }};\n"
        for i, (cpus, phandle) in enumerate([(little, A55), (big, A76)])
    )
    start = tree.index("intc@8000000 {")
    before, found, after = tree[start:].partition("#interrupt-cells = <0x03>;\n")
    if not found:
        sys.exit("device_tree.py: the interrupt controller does not take 3 cells: not QEMU's virt with gic-version=3")
    return tree[:start] + before + "#interrupt-cells = <0x04>;\n\t\tppi-partitions {\n" + partitions + "\t\t};\n" + after


def with_two_core_types(tree):
    phandles = {int(n): p for n, p in re.findall(r"cpu@(\d+) \{.*?phandle = <(0x[0-9a-f]+)>", tree, re.S)}
    if len(phandles) < 2:
        sys.exit(f"device_tree.py: {len(phandles)} CPU in the device tree, two core types need at least 2")
    n_little = len(phandles) // 2
    tree = with_fourth_cell(tree)
    tree = with_partitions(tree, [phandles[i] for i in range(n_little)], [phandles[i] for i in range(n_little, len(phandles))])
    pmus = "".join(
        f'\tpmu-{core} {{ compatible = "arm,cortex-{core}-pmu"; interrupts = <0x01 0x07 0x04 {phandle:#x}>; }};\n'
        for core, phandle in (("a55", A55), ("a76", A76))
    )
    tree = re.sub(r"\tpmu \{.*?\};\n", pmus, tree, count=1, flags=re.S)
    for cpu in range(len(phandles)):
        core, capacity = ("a55", 530) if cpu < n_little else ("a76", 1024)
        named = rf'\1"arm,cortex-{core}"; capacity-dmips-mhz = <{capacity}>;'
        tree = re.sub(rf'(cpu@{cpu} \{{.*?compatible = )"[^"]*";', named, tree, count=1, flags=re.S)
    return tree


def with_names(tree, device):
    model, compatible = DEVICES[device]
    tree = re.sub(r'\n\tmodel = "linux,dummy-virt";', "", tree)
    listed = ", ".join(f'"{name}"' for name in compatible)
    return tree.replace('compatible = "linux,dummy-virt";', f'compatible = {listed};\n\tmodel = "{model}";', 1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", 1)[0])
    parser.add_argument("--big-little", action="store_true")
    parser.add_argument("--device", choices=DEVICES, default="emulated")
    options = parser.parse_args()
    tree = sys.stdin.read()
    if options.big_little:
        tree = with_two_core_types(tree)
    sys.stdout.write(with_names(tree, options.device))


if __name__ == "__main__":
    main()
