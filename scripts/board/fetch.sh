# shellcheck shell=bash
# What an emulated board is made of, each part unpacked once into a folder of its own in
# $PARTS: emulator, kernels, busybox, C library. Sourced by scripts/board.sh.
# All of it is Debian's; nothing is installed, and apt keeps lists of our own for it.

# The suite that each kernel comes from. The archive drops old suites in time and moves
# unstable on; each is fetched by itself, so that the others go on working.
kernel_suite() {
	case " ${KERNELS[*]} " in *" $1 "*) ;; *) die "no kernel '$1' for the emulated $BOARD_ARCH" "Known: ${KERNELS[*]}" ;; esac
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	7.2 | 7.2-rt) echo sid ;;
	esac
}

# part NAME RECIPE_FILES FUNCTION ARGS...: makes $PARTS/NAME with FUNCTION NEW_DIR ARGS, unless it
# was made by the same files before. An interrupted run leaves no half part behind.
part() {
	local name=$1 recipe=$2 hash
	shift 2
	# shellcheck disable=SC2086  # one or more files
	hash=$( (cd "$REPO" && cat $recipe && echo "$*") | sha256sum | cut -c1-16)
	part_ready "$name" "$hash" || with_lock "board-$BOARD_ARCH-${name//\//-}" part_make "$name" "$hash" "$@"
}
part_ready() { [ "$(cat "$PARTS/$1/.recipe" 2>/dev/null)" = "$2" ]; }
part_make() {
	local name=$1 hash=$2 function=$3 new=$PARTS/$1.new
	shift 3
	! part_ready "$name" "$hash" || return 0 # another run was faster
	rm -rf "$new"
	mkdir -p "$new"
	# In a process of its own, where the first error ends it; in a function whose caller asks
	# for success, `set -e` means nothing.
	"$BASH" "$REPO/scripts/board.sh" _make "$function" "$new" "$@" || { rm -rf "$new"; return 1; }
	echo "$hash" >"$new/.recipe"
	rm -rf "${PARTS:?}/$name"
	mv "$new" "$PARTS/$name"
}

# apt_of ARCH SUITE: sets APT to an apt-get that knows that suite for that architecture only
apt_of() {
	local dir=$BOARD/apt/$1-$2
	apt_private "$dir" "$2"
	APT+=("-oAPT::Architectures=$1" -oAcquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false)
	[ -n "$(find "$dir/lists" -maxdepth 1 -name '*_Packages*' -mmin -600 2>/dev/null)" ] && return
	with_lock "board-apt-$1-$2" apt-get "${APT[@]}" update >&2 ||
		{ note "Debian's suite $2 cannot be read from the mirror that this machine uses, so its packages cannot be fetched"; return 1; }
}

# unpack DIR ARCH SUITE PACKAGE...: downloads the packages and unpacks them into DIR
unpack() {
	local dir=$1 arch=$2 suite=$3 debs=$1/.debs p
	shift 3
	apt_of "$arch" "$suite" || return 1
	mkdir -p "$debs"
	(cd "$debs" && apt-get "${APT[@]}" download "${@/%/:$arch}" >&2) || { note "$suite does not have all of: $*"; return 1; }
	for p in "$debs"/*.deb; do dpkg-deb -x "$p" "$dir" || return 1; done
	rm -rf "$debs"
}

# QEMU (and for arm64 the device tree compiler) with every library they need, the C library included: they run
# through their own loader (see `emulator`), whatever this machine's libraries are.
# 7.2 rather than a newer one: it boots in half the time.
part_qemu() {
	local new=$1 p
	say "QEMU for $BOARD_ARCH (45 MB from Debian)"
	apt_of amd64 bookworm
	mkdir -p "$new/debs/partial"
	apt-get "${APT[@]}" -y --no-install-recommends --download-only "-oDir::Cache::archives=$new/debs" \
		install "${QEMU_PACKAGES[@]}" >"$new/apt.log" 2>&1 ||
		{ note "$(tail -n 1 "$new/apt.log")"; return 1; }
	for p in "$new"/debs/*.deb; do dpkg-deb -x "$p" "$new"; done
	rm -rf "$new/debs" "$new/usr/share/doc" "$new/usr/share/locale" "$new/usr/share/man" "$new/apt.log"
	[ -x "$new/usr/bin/$QEMU" ]
}

# emulator PROGRAM ARGS...: runs a program of part_qemu
emulator() {
	local root=$PARTS/qemu program=$1
	shift
	QEMU_MODULE_DIR=$root/usr/lib/x86_64-linux-gnu/qemu \
		"$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" \
		"$root/usr/bin/$program" "$@"
}

# The image and modules of a kernel of Debian's cloud flavour, or its PREEMPT_RT one: boot/vmlinuz-*, [usr/]lib/modules/*.
part_kernel() {
	local new=$1 kernel=$2 suite flavour=cloud meta package packages=() have
	suite=$(kernel_suite "$kernel")
	case $kernel in *-rt) flavour=rt ;; esac
	say "kernel $kernel for $BOARD_ARCH, from Debian's $suite"
	apt_of "$DEB" "$suite"
	# The meta package names the suite's present kernel, which unstable splits into several packages.
	meta=linux-image-$flavour-$DEB
	package=$(apt-cache "${APT[@]}" depends "$meta:$DEB" | sed -n 's/^ *Depends: \(linux-image-[^:]*\).*/\1/p')
	[ -n "$package" ] || { note "$suite has no $meta"; return 1; }
	have=${package#linux-image-}
	case $have in "${kernel%-rt}"[.-]*) ;; *) note "Debian's $suite has $have now, instead of $kernel" ;; esac
	mapfile -t packages < <(apt-cache "${APT[@]}" depends "$package:$DEB" |
		sed -n 's/^ *Depends: \(linux-\(binary\|modules\)-[^:]*\).*/\1/p' | grep -v -- -base)
	unpack "$new" "$DEB" "$suite" "$package" ${packages[@]+"${packages[@]}"}
	rm -rf "${new:?}/usr/share"
	find "$new" -name 'vmlinuz*' -type f | grep -q . || { note "there is no kernel image in $package ${packages[*]-}"; return 1; }
	echo "$have" >"$new/VERSION"
}

# The userland, a static busybox, and its ordinary C library (for engines that are not musl's).
part_userland() {
	say "userland for $BOARD_ARCH"
	unpack "$1" "$DEB" bookworm busybox-static
}
GLIBC=(libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6 libgomp.so.1)
part_glibc() {
	local keep
	say "C library for arm64"
	unpack "$1/all" arm64 bookworm libc6 libgcc-s1 libstdc++6 libgomp1
	mkdir -p "$1/lib"
	for keep in "$LOADER" "${GLIBC[@]}"; do
		cp -L "$1/all/lib/$GNU/$keep" "$1/lib/" 2>/dev/null || cp -L "$1/all/usr/lib/$GNU/$keep" "$1/lib/"
	done
	rm -rf "$1/all"
}

# need_kernel KERNEL
need_kernel() {
	local suite
	suite=$(kernel_suite "$1")
	part "kernel/$1" scripts/board/fetch.sh part_kernel "$1" ||
		die "kernel $1 cannot be fetched" "Debian may have dropped $suite from its mirrors; the other kernels (${KERNELS[*]}) do not depend on it."
}
