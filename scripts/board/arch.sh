# shellcheck shell=bash disable=SC2034  # for those who source this
# What differs between the emulated machines: the Cortex-A76 board, and a PC of x86-64 for kernels whose behaviour differs there.
# Sourced by scripts/board.sh.

# set_arch ARCH: sets the names that the architecture has in Debian, GNU, QEMU, Rust and npm, and PARTS, the folder of its parts.
set_arch() {
	case $1 in
	arm64)
		PARTS=$BOARD DEB=arm64 GNU=aarch64-linux-gnu CROSS=aarch64-linux-gnu- QEMU=qemu-system-aarch64 RUST=aarch64
		QEMU_PACKAGES=(qemu-system-arm device-tree-compiler)
		COMPILER_PACKAGES=(g++-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu)
		LOADER=ld-linux-aarch64.so.1 MACHINE=virt,gic-version=3 ACCEL=tcg CPU=cortex-a76 TTY=ttyAMA0
		KERNELS=(5.10 6.1 6.12 7.2)
		;;
	x86-64)
		PARTS=$BOARD/x86-64 DEB=amd64 GNU=x86_64-linux-gnu CROSS='' QEMU=qemu-system-x86_64 RUST=x86_64
		QEMU_PACKAGES=(qemu-system-x86)
		COMPILER_PACKAGES=(g++ libc6-dev binutils)
		# The CPUs take turns in one thread of QEMU. With a thread each, one of them executes an int3 that the kernel has patched away
		# already, while it switches a static key: "Oops: int3" in one of some ten boots and sessions of Linux 7.2.
		LOADER=ld-linux-x86-64.so.2 MACHINE=q35 ACCEL=tcg,thread=single CPU=max TTY=ttyS0
		KERNELS=(6.12 7.2 7.2-rt) ENGINE=debian
		;;
	*) die "no emulated machine '$1'" "Known: arm64, x86-64" ;;
	esac
	# Recipes run in processes of their own: see `part`.
	export BOARD_ARCH=$1
}
