# shellcheck shell=bash
# Checks that the setting which `analyze tune --run` recommends is within 3 % of the best of a full
# sweep. Sourced, after scripts/lib.sh, by ci/tune.sh and ci/board/tune.sh. They set: dir, analyze,
# rounds, and `there COMMAND`, which runs a shell command on the machine of the engine.

# mask_of LIST: a list of CPUs like 0-3 or 2 as a mask in hex
mask_of() {
	local part cpu mask=0
	for part in ${1//,/ }; do
		for cpu in $(seq "${part%-*}" "${part#*-}"); do mask=$((mask | 1 << cpu)); done
	done
	printf '%x' "$mask"
}

# sweep FOLDER SERIES COMMAND: every setting of the series again without the agent, in rounds that go to and fro; the engine's own list of each
sweep() {
	local folder=$1 series=$2 command=$3 round setting threads cpus order
	mkdir -p "$folder"
	# shellcheck disable=SC2154  # who sources this sets it
	for round in $(seq "$rounds"); do
		order=$(cd "$series" && printf '%s\n' */)
		[ $((round % 2)) = 1 ] || order=$(tac <<<"$order")
		for setting in $order; do
			setting=${setting%/}
			threads=${setting#t} cpus=''
			case $setting in *@*) threads=${threads%@*} cpus="taskset $(mask_of "${setting#*@}") " ;; esac
			there "$cpus${command//'{threads}'/$threads}" >"$folder/$setting.$round.log" 2>"$folder/said" ||
				die "this run failed: $cpus$command" "$(tail -n 3 "$folder/said")"
		done
	done
}
