# shellcheck shell=bash
# Bare Debian systems for tests of packages. Sourced after scripts/lib.sh.

work=$(mktemp -d)
trap leave_bare EXIT

# bare_debian SUITE ARCH PACKAGES...: a copy of a minimal system with these packages and nothing else; sets `root`. One of another
# architecture runs by qemu-user.
bare_debian() {
	local name
	name=$1-$2-$(sha256sum <<<"${*:3}" | cut -c1-8)
	with_lock "bare-$name" make_bare "$CACHE/bare/$name" "$@"
	root=$work/$name
	cp -a "$CACHE/bare/$name/root" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
}
make_bare() {
	local dir=$1 suite=$2 arch=$3 mirror foreign=() packages
	shift 3
	packages=$(IFS=,; echo "$*")
	[ ! -e "$dir/ready" ] || return 0
	mirror=$(debian_mirror) || die "apt names no Debian mirror on this machine"
	[ "$arch" = "$(dpkg --print-architecture)" ] || { emulate; foreign=("--arch=$arch"); }
	rm -rf "$dir"
	mkdir -p "$dir"
	say "a bare Debian $suite for $arch"
	debootstrap --variant=minbase --include="$packages" "${foreign[@]}" "$suite" "$dir/root" "$mirror" >"$dir/log" 2>&1 ||
		die "debootstrap could not make a Debian: $(tail -n 1 "$dir/log")" "All of its output: $dir/log"
	# minimal systems leave pages out
	rm -f "$dir/root/etc/dpkg/dpkg.cfg.d/"*
	touch "$dir/ready"
}

# emulate: the kernel starts programs of other machines by qemu-user
emulate() {
	need_pkgs qemu-user-static
	[ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || {
		need_pkgs binfmt-support
		update-binfmts --enable qemu-aarch64 || die "binfmt_misc does not take qemu-aarch64"
	}
}

# leave_bare: what bare_debian mounted and its user started, and $work
leave_bare() {
	local one
	jobs -p | xargs -r kill 2>/dev/null || true
	for one in "$work"/*/; do umount "$one/dev/pts" "$one/dev" "$one/proc" "$one/sys" 2>/dev/null || true; done
	rm -rf --one-file-system "$work"
}

# Words before a command in `root`: `unshare --net` takes the network from it.
apart=()
inside() { "${apart[@]}" chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C "$@"; }

failed=0
# try WHAT PATTERN COMMAND...: its output in `root` has the pattern
try() { try_here "$1" "$2" inside "${@:3}"; }
# try_here WHAT PATTERN COMMAND...: its output has the pattern
try_here() {
	local what=$1 pattern=$2 out
	shift 2
	# Through a file: what the command leaves running would keep a pipe open.
	"$@" >"$work/tried" 2>&1 || true
	out=$(cat "$work/tried")
	if grep -q -- "$pattern" <<<"$out"; then printf '%-28s ok: %s\n' "$what" "$(grep -m 1 -- "$pattern" <<<"$out")"; return; fi
	printf '%-28s FAILED: no "%s" in\n%s\n' "$what" "$pattern" "$(head -n 20 <<<"$out")"
	failed=$((failed + 1))
}
