#!/usr/bin/env python3
"""biglittle.py < VIRT.dts > BOARD.dts

Makes a board of two core types, like the RK3588, out of the device tree of QEMU's `virt,gic-version=3`: the first
half of its CPUs become "arm,cortex-a55", the others "arm,cortex-a76", each kind with a PMU of its own, and with the capacity
that the RK3588's device tree gives it. All still run the same code, at the same speed unless --speeds is used; it is the kernel
that keeps them apart from then on.

Two PMUs share the one interrupt of `virt` by partitions of it (ppi-partitions), which takes a fourth cell in every
interrupt specifier of the tree.
"""

import re
import sys

A55, A76 = 0x9001, 0x9002  # phandles of the partitions; QEMU numbers its own from 0x8000


def with_fourth_cell(tree):
    def cells(text, group, what):
        values = text.split()
        if len(values) % group:
            sys.exit(f"biglittle.py: {what} of {len(values)} cells, not a multiple of {group}: not QEMU's virt with gic-version=3")
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
        sys.exit("biglittle.py: the interrupt controller does not take 3 cells: not QEMU's virt with gic-version=3")
    return tree[:start] + before + "#interrupt-cells = <0x04>;\n\t\tppi-partitions {\n" + partitions + "\t\t};\n" + after


def main():
    tree = sys.stdin.read()
    phandles = {int(n): p for n, p in re.findall(r"cpu@(\d+) \{.*?phandle = <(0x[0-9a-f]+)>", tree, re.S)}
    if len(phandles) < 2:
        sys.exit(f"biglittle.py: {len(phandles)} CPU in the device tree, two core types need at least 2")
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
    tree = re.sub(r'\n\tmodel = "linux,dummy-virt";', "", tree)
    named = 'compatible = "profinfer,qemu-a76";\n\tmodel = "Emulated board with two core types (QEMU virt)";'
    sys.stdout.write(tree.replace('compatible = "linux,dummy-virt";', named, 1))


if __name__ == "__main__":
    main()
