# shellcheck shell=bash
# An engine with only one CPU backend. Sourced, after scripts/lib.sh.

# variant_folder VARIANT ENGINE: make a folder of the engine with only that CPU backend, and print
# the folder of its launchers
variant_folder() {
	local engine=$2 to=$CACHE/engine-variants/${2##*/}-$1 file name
	rm -rf "$to"
	mkdir -p "$to/exe" "$to/bin"
	for file in "$engine"/exe/*; do
		name=${file##*/}
		case $name in
		"libggml-cpu-$1.so") ln -s "$(realpath "$file")" "$to/exe/" ;;
		libggml-cpu-*.so) ;;
		*.so*) ln -s "$(realpath "$file")" "$to/exe/" ;;
		# The engine searches backends next to the running program, which must be this one.
		*) ln "$file" "$to/exe/" 2>/dev/null || cp "$file" "$to/exe/" ;;
		esac
	done
	for file in "$engine"/bin/*; do
		if [ -L "$file" ]; then cp -P "$file" "$to/bin/"
		else
			sed "s|^exec '[^']*/exe/|exec '$to/exe/|" "$file" >"$to/bin/${file##*/}"
			chmod +x "$to/bin/${file##*/}"
		fi
	done
	[ ! -d "$engine/root" ] || ln -s "$engine/root" "$to/root"
	echo "$to/bin"
}
