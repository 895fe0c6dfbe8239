# shellcheck shell=bash
# Parts of scripts/release.sh. Sourced by it, after scripts/lib.sh.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
