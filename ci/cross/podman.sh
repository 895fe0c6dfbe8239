# shellcheck shell=bash
# podman for `cross`. Sourced, after scripts/lib.sh.

# need_podman: installs it where it is missing, and tries a container's settings of our own where the machine's do not do
need_podman() {
	need_pkgs podman runc
	[ "$(id -u)" = 0 ] || die "containers are run as root here" "Run this as root."
	export CONTAINERS_CONF="${CONTAINERS_CONF:-$REPO/ci/cross/containers.conf}" BUILDAH_ISOLATION=chroot CROSS_CONTAINER_ENGINE=podman
	podman info >/dev/null 2>"$CACHE/podman.log" || die "podman does not work here: $(tail -n 1 "$CACHE/podman.log")"
}
