#!/usr/bin/env bash
# musl-cc.sh ARCH DIR      make DIR/cc, a C compiler for ARCH-unknown-linux-musl (aarch64 or x86_64)
#
# On Debian: the installed clang, with musl's and the kernel's headers from Debian packages,
# unpacked into DIR/root. Elsewhere: zig from the Python package index, which carries both.
# One executable, because libbpf-sys takes the first word of CC only.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 dir=$2
case $arch in aarch64) deb=arm64 ;; x86_64) deb=amd64 ;; *) die "no musl target for '$arch'" "Known: aarch64, x86_64" ;; esac
mkdir -p "$dir"

if debian_mirror >/dev/null; then
	say "C headers of $arch musl, from Debian"
	apt_private "$dir/apt" bookworm
	APT+=("-oAPT::Architectures::=amd64" "-oAPT::Architectures::=arm64")
	apt-get "${APT[@]}" update || die "apt-get could not read Debian's package lists"
	rm -rf "$dir/debs"
	mkdir -p "$dir/debs"
	# libunwind, for those who build Rust's std themselves (musl-std.sh)
	(cd "$dir/debs" && apt-get "${APT[@]}" download "musl-dev:$deb" "linux-libc-dev:$deb" "libunwind-14-dev:$deb" >&2) ||
		die "apt-get could not download musl-dev:$deb"
	for f in "$dir"/debs/*.deb; do dpkg-deb -x "$f" "$dir/root"; done
	rm -rf "$dir/debs" "$dir/apt"
	include=$dir/root/usr/include
	cat >"$dir/cc" <<X
#!/bin/sh
exec clang --target=$arch-linux-musl -nostdlibinc -isystem $include/$arch-linux-musl -isystem $include/$arch-linux-gnu -isystem $include "\$@"
X
else
	say "zig as C compiler for $arch musl, from the Python package index"
	ensure_venv zig
	# zig spells the target its own way: drop the one that the cc crate adds
	cat >"$dir/cc" <<X
#!/bin/sh
for a; do shift; case \$a in --target=*) ;; *) set -- "\$@" "\$a" ;; esac; done
exec '$VENV/bin/python' -m ziglang cc -target $arch-linux-musl -fno-sanitize=undefined "\$@"
X
fi
chmod +x "$dir/cc"
echo 'int main(void) { return 0; }' | "$dir/cc" -x c -c -o /dev/null - ||
	die "the C compiler $dir/cc does not work"
