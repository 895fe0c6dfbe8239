# shellcheck shell=bash
# Parts of scripts/release.sh. Sourced by it, after scripts/lib.sh. `pages` and `agents` are folders that it fills.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$work/pages agents=$work/agents

# changes_of VERSION DRAFT: that version's section of CHANGELOG.md; "unreleased" passes for a draft only
changes_of() {
	local title
	title=$(grep -m 1 "^## $1\(,\|$\)" CHANGELOG.md) ||
		die "CHANGELOG.md has no section of version $1" "Cargo.toml has this version. A section begins with '## $1, DATE'."
	case $title in
	*unreleased*)
		[ -n "$2" ] || die "CHANGELOG.md says that $1 is unreleased" "Write the day into '$title', and commit it; or try with --draft." ;;
	*[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]) ;;
	*) die "CHANGELOG.md has no day for version $1: '$title'" "A section begins with '## $1, YYYY-MM-DD'." ;;
	esac
	awk -v title="$title" '$0 == title { on = 1; print; next } on && /^## / { exit } on' CHANGELOG.md
}

# notices LIST...: $work/THIRD-PARTY.md, the licence notices of the parts of these lists
notices() { python3 -B ci/release/notices.py "$@" >"$work/THIRD-PARTY.md"; }

# documents DIR: docs/ in DIR, which the help of the programs names
documents() { git ls-files -z docs | xargs -0 cp --parents -t "$1"; }

# stage PROFILE TARGET SBOM PROGRAM: pages, documents, agents, the list of parts and the notices where cargo-deb looks for them, next to the built program;
# TARGET may be empty
stage() {
	local dir=$CARGO_TARGET_DIR/${2:+$2/}$1
	rm -rf "$dir/pages" "$dir/agents" "$dir/docs"
	documents "$dir"
	cp -r "$pages" "$dir/pages"
	cp "$3" "$dir/pages/$4.cdx.json"
	cp "$work/THIRD-PARTY.md" "$dir/pages/"
	cp -r "$agents" "$dir/agents"
}

# system_of TARGET: as it stands in names of files
system_of() {
	case $1 in
	*-linux-*) echo "${1%%-*}-linux" ;;
	*-windows-*) echo "${1%%-*}-windows" ;;
	*-apple-*) echo "${1%%-*}-macos-untested" ;;
	esac
}

# wheel_platform TARGET: tags of a Python wheel. A static program runs on every Linux; pip installs it if one tag is its own.
wheel_platform() {
	local arch=${1%%-*}
	case $1 in
	*-linux-*) echo "manylinux_2_17_$arch.manylinux2014_$arch.musllinux_1_1_$arch" ;;
	x86_64-*-windows-*) echo win_amd64 ;;
	esac
}

# tar_of DIR FOLDER FILE: an archive of DIR/FOLDER, the same for the same content
tar_of() { tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -czf "$3" "$2"; }

# archive DIR NAME ANALYZE: analyze, both agents, pages, documents, licence and notices as DIR/NAME.tar.gz, for Windows as .zip
archive() {
	local folder=$work/$2
	mkdir "$folder"
	cp "$3" LICENSE "$work/THIRD-PARTY.md" "$folder/"
	cp -r "$agents" "$pages/man" "$pages/completions" "$folder/"
	documents "$folder"
	case $3 in
	*.exe)
		find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
		(cd "$work" && find "$2" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -@ "$1/$2.zip")
		;;
	*) tar_of "$work" "$2" "$1/$2.tar.gz" ;;
	esac
	rm -rf "$folder"
}

# deb DIR PACKAGE OPTIONS...: make the Debian package of the built files in DIR
deb() {
	local dir=$1 package=$2
	shift 2
	cargo deb -q --locked --no-build --no-strip -p "$package" "$@" -o "$dir/" >&2 || die "cargo-deb could not make the package of $package"
}

# sign KEY FILE: FILE.sig, by the signatures of OpenSSH, which is on every machine; and how to check it
sign() {
	have ssh-keygen || need_pkgs openssh-client
	rm -f "$2.sig"
	ssh-keygen -q -Y sign -f "$1" -n profinfer-release "$2" >&2 || die "ssh-keygen could not sign ${2##*/} by '$1'"
	note "signed; who has your public key in a file ALLOWED ('NAME ssh-ed25519 AAAA…') checks it by"
	note "ssh-keygen -Y verify -f ALLOWED -I NAME -n profinfer-release -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c SHA256SUMS"
}
