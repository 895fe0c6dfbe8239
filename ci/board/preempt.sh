#!/usr/bin/env bash
# preempt.sh [OPTIONS] [CASE...]      tracing while the kernel preempts, in emulated guests with 2 CPUs and current kernels
#
#   --arch ARCH      x86-64 (default) or arm64
#   --kernel K       one of scripts/board.sh; may be given again (default: 7.2, and on x86-64 7.2-rt and 6.12 as well)
#   --preempt MODE   lazy, full, rt or default (of a kernel that cannot choose at boot: arm64); may be given again (default: all
#                    that the kernel has)
#   --minutes N      time of tracing in each guest (default: 2)
#   --tokens N       tokens that each engine generates (default: 16)
#   --model NAME     of scripts/model.sh (default: dense-q8)
#   --put FILE       copy this file to /tmp of each guest; may be given again
#   --extra COMMAND  run this in each guest first; its exit status is that of the case `extra` (default: profinfer-agent doctor,
#                    which fails where the machine code of a loaded program has a stack per CPU)
#   --keep DIR       leave what was brought back there, and results.jsonl with a line for each case
#
# CASE is KIND-N: N engines of 8 threads at once, traced at all levels with counters of page faults and the scheduler level.
# KIND is multi (uprobe_multi), perf (a perf event for each probe) or direct (--probes direct).
# Default: multi-1 multi-2 multi-3 perf-1 perf-3 direct-1 direct-3
#
# From 6.13 on (arm64: from 6.17 on), the kernel gives functions of a uprobe program that use more
# than 48 bytes of stack a private stack per CPU. These programs can be preempted, and two of them
# then share a frame. A case fails if the kernel reports damage, if a span is missing or damaged, or
# if tokens differ from those of the untraced run; see preempt.py. After a kernel report, the guest
# boots again for the next case. The kernel of the host is not affected: QEMU emulates the
# processor. PROFINFER_STATIC_AGENT names another agent than that of scripts/build-agent.sh,
# PROFINFER_ANALYZE another `analyze`.
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
. "$REPO/ci/board/common.sh"
arch=x86-64 kernels=() modes=() minutes=2 tokens=16 model=dense-q8 put=() extra='profinfer-agent doctor' cases=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage_from_head "$0"; exit ;;
	--arch | --minutes | --tokens | --model | --extra | --keep)
		printf -v "${1#--}" %s "${2:?$1 needs a value}"
		shift 2
		;;
	--kernel) kernels+=("${2:?--kernel needs a version}"); shift 2 ;;
	--preempt) modes+=("${2:?--preempt needs a mode}"); shift 2 ;;
	--put) put+=("${2:?--put needs a file}"); shift 2 ;;
	multi-[1-9] | perf-[1-9] | direct-[1-9]) cases+=("$1"); shift ;;
	*) die "unknown argument '$1'" "$(usage_from_head "$0" | head -n 1)" ;;
	esac
done
case $arch in
x86-64) [ ${#kernels[@]} -gt 0 ] || kernels=(7.2 7.2-rt 6.12) ;;
arm64) [ ${#kernels[@]} -gt 0 ] || kernels=(7.2) ;;
*) die "no emulated machine '$arch'" "Known: x86-64, arm64" ;;
esac
[ ${#cases[@]} -gt 0 ] || cases=(multi-1 multi-2 multi-3 perf-1 perf-3 direct-1 direct-3)
seconds=$((minutes * 60 / ${#cases[@]}))
export BOARD_ENGINE=debian # its threads sleep at barriers: 8 of them on 2 CPUs go on

# modes_of KERNEL: the preemption models that can be chosen at boot
modes_of() {
	case $arch-$1 in
	arm64-*) echo default ;; # Debian's arm64 kernels cannot choose at boot
	*-rt) echo rt ;;
	*-5.* | *-6.[0-9] | *-6.1[0-2]) echo full ;;
	*) echo lazy full ;;
	esac
}
wanted() { [ ${#modes[@]} = 0 ] || [[ " ${modes[*]} " == *" $1 "* ]]; }

begin
results=$dir/results.jsonl
: >"$results"
ANALYZE=${PROFINFER_ANALYZE:-}
[ -n "$ANALYZE" ] || tests_build
verdict() { python3 "$REPO/ci/board/preempt.py" verdict "$1" >>"$results" || die "there is no verdict on $1"; }

# on_guest LIMIT COMMAND: runs a command of the guest's shell for at most LIMIT seconds
# shellcheck disable=SC2086  # `board` is a command with its arguments
on_guest() { timeout "$1" $board run "$2" </dev/null; }

# up KERNEL MODE: boots that guest and reads which preemption it really has
up() {
	local append="loglevel=7 nowatchdog" file
	case $2 in lazy | full) append+=" preempt=$2" ;; esac
	[ "$arch" != x86-64 ] || append+=" tsc=reliable"
	board="$REPO/scripts/board.sh --board ${PROFINFER_BOARDS:-step-$$}-$1-$2"
	$board up --arch "$arch" --kernel "$1" --cpus 2 --memory 1536 --model "$model" --append "$append" 2>"$dir/up.log" || {
		cat "$dir/up.log" >&2
		cp "$CACHE/board/run/${board##* }/console.log" "$dir/up-$1-$2-$SECONDS.console.log" 2>/dev/null || true
		return 1
	}
	release=$(on_guest 60 'uname -r')
	# shellcheck disable=SC2016  # the guest's shell expands it
	preempt=$(on_guest 60 'case $(uname -v) in
		*PREEMPT_RT*) echo rt ;;
		*PREEMPT_DYNAMIC*) sed "s/.*(\(.*\)).*/\1/" /sys/kernel/debug/sched/preempt ;;
		*PREEMPT_LAZY*) echo lazy ;;
		*PREEMPT*) echo full ;;
		*) echo none ;;
		esac')
	[ "$2" = default ] || [ "$preempt" = "$2" ] || { note "the kernel preempts by '$preempt' instead of '$2'"; return 1; }
	for file in "$REPO/ci/board/preempt-case.sh" ${put[@]+"${put[@]}"}; do $board put "$file"; done
	on_guest 300 "nodes -m /model.gguf -t 8 -p 8 -n $tokens --list" >"$dir/untraced.txt" 2>/dev/null || return 1
	fresh=1
}

# boots KERNEL MODE: a guest that does not come up is tried once more, as nothing of ours ran in it yet
boots() { up "$@" || { note "booting it once more"; switch_off || true; up "$@"; }; }

# in_guest CASE LIMIT COMMAND: runs it for at most LIMIT seconds, and leaves what the kernel wrote meanwhile in the folder of the case.
# An engine whose thread the kernel has killed waits for that thread at its next barrier, so nothing is waited for after an oops.
in_guest() {
	local log size pid ended=0
	log=$CACHE/board/run/${board##* }/console.log
	out=$dir/$release-$preempt-$1
	rm -rf "$out"
	mkdir -p "$out"
	size=$(stat -c %s "$log")
	on_guest "$2" "$3" >"$out/rounds.txt" 2>"$out/run.log" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		tail -c +$((size + 1)) "$log" | grep -qaE 'Oops|Kernel panic' || continue
		sleep 3
		kill "$pid" 2>/dev/null || true
		break
	done
	wait "$pid" || ended=$?
	cp "$dir/untraced.txt" "$out/"
	printf '{"arch": "%s", "kernel": "%s", "preempt": "%s", "case": "%s", "ended": %d}\n' "$arch" "$release" "$preempt" "$1" "$ended" >"$out/case.json"
	# What the kernel still has to write when the command has ended.
	sleep 1
	tail -c +$((size + 1)) "$log" | tr -d '\r' >"$out/console.log"
}

# traced CASE
traced() {
	local kind=${1%-*} prefix='' options='' pfi
	case $kind in
	perf) prefix='PROFINFER_NO_UPROBE_MULTI=1 ' ;;
	direct) options=' --probes direct' ;;
	esac
	in_guest "$1" $((seconds + 300)) "${prefix}preempt-case.sh $seconds ${1#*-} $tokens$options"
	# What the guest still has; one that crashed has nothing.
	on_guest 120 'cd /tmp/case && tar cf - .' 2>/dev/null | tar xf - -C "$out" 2>/dev/null || true
	for pfi in "$out"/*.pfi; do
		[ -s "$pfi" ] || continue
		"$ANALYZE" "$pfi" -o "$out/profile" >"${pfi%.pfi}.analyze" 2>&1 || true
		mv "$out/profile/summary.json" "${pfi%.pfi}.json" 2>/dev/null || true
		rm -rf "$out/profile"
	done
	verdict "$out"
}

# guest KERNEL MODE: all cases in it
guest() {
	local c
	fresh='' board=''
	for c in ${extra:+extra} "${cases[@]}"; do
		[ -n "$fresh" ] || { [ -z "$board" ] || switch_off || true; boots "$1" "$2" || die "the guest with Linux $1, preempt=$2 cannot be used"; }
		if [ "$c" = extra ]; then
			in_guest extra 600 "$extra"
			verdict "$out"
		else
			traced "$c"
		fi
		note "$(python3 "$REPO/ci/board/preempt.py" table <(tail -n 1 "$results") | tail -n 1)"
		# A kernel that has reported damage is not to be trusted any more.
		! tail -n 1 "$results" | grep -qE '"code": "(kernel|case_not_ended)"' || fresh=''
	done
	switch_off || true
}

for k in "${kernels[@]}"; do
	for m in $(modes_of "$k"); do
		! wanted "$m" || { say "guest: Linux $k for $arch, preempt=$m"; guest "$k" "$m"; }
	done
done
[ -s "$results" ] || die "none of these kernels has a preemption model of: ${modes[*]}"
echo
failed=0
python3 "$REPO/ci/board/preempt.py" table "$results" || failed=1
echo "preemption: $(wc -l <"$results") cases in $SECONDS s"
[ "$failed" = 0 ]
