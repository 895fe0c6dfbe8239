#!/usr/bin/env bash
# macos.sh ARCH      prepare ARCH-apple-darwin (aarch64 or x86_64), and print the folder: in it cc and sysroot/
#
# zig, from the Python package index, compiles and links: it has the headers and the library of macOS's system, but no frameworks. Those
# that Rust programs name are listed here, with the functions that are called. Nothing here can run the result. Used by
# scripts/build-analyze.sh.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
case ${1:-} in -h | --help | '') usage_from_head "$0"; exit ;; esac
arch=$1 target=$1-apple-darwin
case $arch in aarch64) zig=aarch64-macos ;; x86_64) zig=x86_64-macos ;; *) die "no macOS target for '$arch'" "Known: aarch64, x86_64" ;; esac
recipe=$({ rustc -V; cat "$REPO"/ci/static/{macos,std}.sh; echo "${PROFINFER_NO_RUSTUP:-}"; } | sha256sum | cut -c1-12)
dir=$CACHE/macos/$arch-$recipe

# library FILE INSTALL_NAME SYMBOLS...: a list of what a library of the system exports
library() {
	local file=$1 name=$2
	shift 2
	mkdir -p "${file%/*}"
	cat >"$file" <<X
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '$name'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ $(printf '_%s, ' "$@" | sed 's/, $//') ]
...
X
}
# framework NAME VERSION SYMBOLS...
framework() { library "$dir/frameworks/$1.framework/$1.tbd" "/System/Library/Frameworks/$1.framework/Versions/$2/$1" "${@:3}"; }

prepare() {
	[ ! -e "$dir/ready" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"
	ensure_venv zig
	framework Foundation C NSLog
	framework CoreFoundation A CFRelease CFRetain CFGetTypeID CFEqual CFHash CFCopyDescription CFShow CFRunLoopGetCurrent kCFAllocatorDefault kCFAllocatorNull \
		kCFTypeDictionaryKeyCallBacks kCFTypeDictionaryValueCallBacks kCFBooleanTrue kCFBooleanFalse \
		CFStringCreateWithBytes CFStringCreateWithCString CFStringCreateWithBytesNoCopy CFStringGetCStringPtr CFStringGetCString CFStringGetLength CFStringGetBytes CFStringGetTypeID \
		CFNumberGetValue CFNumberGetTypeID CFNumberCreate CFDictionaryGetValue CFDictionarySetValue CFDictionaryCreateMutable CFDictionaryGetValueIfPresent CFDictionaryAddValue
	framework IOKit A kIOMasterPortDefault kIOMainPortDefault IOMasterPort IOMainPort IOServiceMatching IOServiceGetMatchingServices IOIteratorNext IOObjectRelease IOObjectConformsTo \
		IORegistryEntryCreateCFProperty IORegistryEntryCreateCFProperties IORegistryEntryGetParentEntry IORegistryEntrySearchCFProperty IORegistryEntryGetPath IOObjectGetClass
	library "$dir/lib/libobjc.tbd" /usr/lib/libobjc.A.dylib objc_msgSend objc_retain objc_release objc_autorelease objc_autoreleasePoolPush objc_autoreleasePoolPop \
		sel_registerName objc_getClass class_getName object_getClass objc_exception_throw
	library "$dir/lib/libiconv.tbd" /usr/lib/libiconv.2.dylib iconv iconv_open iconv_close
	# Options for Apple's linker that zig does not know are left out.
	cat >"$dir/cc" <<X
#!/bin/sh
for a; do
	shift
	case \$a in
	--target=* | -mmacosx-version-min=* | -mmacos-version-min=*) continue ;;
	-Wl,-exported_symbols_list | -Wl,-exported_symbols_list,*) continue ;;
	esac
	set -- "\$@" "\$a"
done
exec '$VENV/bin/python' -m ziglang cc -target $zig -fno-sanitize=undefined -F'$dir/frameworks' -L'$dir/lib' "\$@"
X
	chmod +x "$dir/cc"
	if rust_target "$target"; then
		mkdir -p "$dir/sysroot/lib/rustlib"
		cp -r "$(rustc --print sysroot)/lib/rustlib/$target" "$dir/sysroot/lib/rustlib/"
	else
		"$REPO/ci/static/std.sh" "$target" "$dir" --like-rustup
	fi
	touch "$dir/ready"
}
with_lock "macos-$arch" prepare
echo "$dir"
