#!/usr/bin/env bash
# clangs.sh [VERSION...]      the BPF programs by each clang of this Debian: stack of every function, and the verifier's verdict
#
# Compilers lay out stack frames differently, and a function of more than 48 bytes can crash a
# kernel (ARCHITECTURE.md). Builds the agent with each version (default: all that can be installed,
# from 11 on); the build fails above that limit. The tests of agent-static/src/bpf/verified.rs load
# the programs.
set -eu
. "$(dirname "$0")/../scripts/lib.sh"
. "$REPO/ci/tests.sh"
case ${1:-} in -h | --help) usage_from_head "$0"; exit ;; esac
if cannot_trace clangs; then exit; fi
versions=("$@")
[ ${#versions[@]} -gt 0 ] || mapfile -t versions < <(apt-cache --names-only search '^clang-[0-9]+$' | sed 's/^clang-\([0-9]*\) .*/\1/' | sort -n | awk '$1 >= 11')
[ ${#versions[@]} -gt 0 ] || die "no clang can be installed" "apt-cache names none: is this a Debian or Ubuntu machine whose package lists were fetched?"
cd "$REPO"
# Other tests do not use these builds. Nothing here depends on optimised Rust.
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/clangs CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false
failed=()
for v in "${versions[@]}"; do
	need_pkgs "clang-$v"
	say "clang $v"
	BPF_CLANG=clang-$v cargo test -q --locked -p profinfer-agent --lib -- --exact bpf::verified::no_function_uses_more_stack_than_may_be --nocapture || failed+=("$v")
done
[ ${#failed[@]} = 0 ] || die "refused with clang ${failed[*]}" "The limit and its reason: bpf/include/maps.h, STACK_MAX."
echo "clangs: the programs of each of ${versions[*]} are accepted, with at most 48 bytes of stack a function"
