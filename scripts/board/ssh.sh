# shellcheck shell=bash
# The board's way in: dropbear's ssh server and scp, linked statically, so that a board
# without any C library has them too. Built from Debian's source. Sourced by scripts/board.sh.

part_ssh() {
	local new=$1 src
	say "ssh server for the board (dropbear)"
	need_pkgs "${COMPILER_PACKAGES[@]}" make bzip2
	apt_private "$BOARD/apt/source" bookworm
	sed -i 's/^deb /deb-src /' "$BOARD/apt/source/sources.list"
	apt-get "${APT[@]}" update
	(cd "$new" && apt-get "${APT[@]}" --download-only source dropbear >&2)
	tar -C "$new" -xf "$(find "$new" -name "dropbear_*.orig.tar.*" ! -name "*.asc")"
	src=$(echo "$new"/dropbear-*)
	# A board is entered by its key alone; commands find the engine without a profile.
	cat >"$src/localoptions.h" <<-'X'
		#define DROPBEAR_SVR_PASSWORD_AUTH 0
		#define DEFAULT_PATH "/bin:/engine:/tmp"
		#define DEFAULT_ROOT_PATH "/bin:/engine:/tmp"
		#define DO_MOTD 0
	X
	(
		cd "$src"
		./configure --host="$GNU" --enable-static --disable-zlib --disable-pam --disable-lastlog --disable-utmp \
			--disable-utmpx --disable-wtmp --disable-wtmpx --disable-pututline --disable-pututxline --enable-bundled-libtom
		make -j"$(nproc)" PROGRAMS="dropbear scp" MULTI=1 STATIC=1
	) >"$BOARD/dropbear.log" 2>&1 || { note "dropbear does not build: $BOARD/dropbear.log"; return 1; }
	"${CROSS}strip" -o "$new/dropbearmulti" "$src/dropbearmulti"
	rm -rf "$src" "$new"/dropbear_*
	ssh-keygen -q -t ed25519 -N '' -C board -f "$new/key"
}
