# shellcheck shell=bash
# Android's debugging daemon for the board: Debian's build of it for arm64, a real adbd that listens on TCP,
# with libraries of its own, newer than the board's. Sourced by scripts/board.sh.

part_adbd() {
	local new=$1 all=$1/all lib=usr/lib/aarch64-linux-gnu keep
	say "adbd for arm64, from Debian's trixie"
	unpack "$all" arm64 trixie adbd libgcc-s1 libc6 libstdc++6 android-liblog android-libbase android-libboringssl \
		android-libcutils libbrotli1 liblz4-1 zlib1g libxxhash0 libprotobuf32t64 libcap2 libsystemd0 libzstd1 libmd0 libbsd0
	mkdir -p "$new/adbd"
	cp "$all/usr/lib/android-sdk/platform-tools/adbd" "$new/adbd/adbd"
	for keep in "$all/$lib"/*.so.* "$all/$lib"/android/*.so.*; do
		[ ! -f "$keep" ] || cp -L "$keep" "$new/adbd/"
	done
	rm -rf "$all"
	# Only what the daemon needs: the file system of the board lies in its memory.
	needed "$new/adbd" adbd | sort -u >"$new/keep"
	for keep in "$new/adbd"/*; do
		grep -qxF "$(basename "$keep")" "$new/keep" || rm "$keep"
	done
	[ -x "$new/adbd/ld-linux-aarch64.so.1" ]
}

# needed DIR FILE: the file and all libraries of DIR that it needs, at any remove
needed() {
	local dir=$1 todo=("$2") seen=' ' file
	while [ ${#todo[@]} -gt 0 ]; do
		file=${todo[0]}
		todo=("${todo[@]:1}")
		case $seen in *" $file "*) continue ;; esac
		[ -f "$dir/$file" ] || { note "adbd needs $file, which is in none of the packages"; return 1; }
		seen+="$file "
		echo "$file"
		mapfile -t -O "${#todo[@]}" todo < <(aarch64-linux-gnu-readelf -d "$dir/$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	done
}

need_adbd() {
	need_pkgs binutils-aarch64-linux-gnu
	part adbd scripts/board/adbd.sh part_adbd || die "adbd for arm64 cannot be fetched" "It comes from Debian's trixie."
}
