# shellcheck shell=bash
# Shared by the scripts of this folder. Sourced, after scripts/lib.sh.

FLEET_VENV=$CACHE/fleet-venv

# Python with Spark and a server of S3, and a Java for Spark. Sets PYTHON.
fleet_python() {
	have java || need_pkgs 'default-jre-headless|openjdk-17-jre-headless|openjdk-21-jre-headless'
	have python3 || need_pkgs python3
	python3 -c 'import venv, ensurepip' 2>/dev/null || need_pkgs python3-venv
	with_lock fleet-venv fleet_venv
	export PYTHON=$FLEET_VENV/bin/python
}
fleet_venv() {
	local wanted stamp=$FLEET_VENV/.stamp
	wanted=$(sha256sum <"$REPO/ci/fleet/requirements.txt")
	[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
	say "Spark and a server of S3, from the Python package index"
	[ -x "$FLEET_VENV/bin/python" ] || python3 -m venv "$FLEET_VENV"
	"$FLEET_VENV/bin/python" -m pip install -q --disable-pip-version-check -r "$REPO/ci/fleet/requirements.txt" >&2 ||
		die "pip could not install ci/fleet/requirements.txt" "Is the Python package index reachable from here?"
	echo "$wanted" >"$stamp"
}

# The programs, built as the tests have them: sets FLEET and ANALYZE.
fleet_programs() {
	tests_build && linting_cargo build -q --locked --manifest-path "$REPO/fleet/Cargo.toml" || return 1
	FLEET=$CARGO_TARGET_DIR/debug/analyze-fleet
	# shellcheck disable=SC2034  # for the caller
	ANALYZE=$CARGO_TARGET_DIR/debug/analyze
}

# fleet_of DIR N: a fleet in DIR/fleet of the recordings in the tests, and of N captures made from them.
fleet_of() {
	local dir=$1 n=$2 recording folder
	local summaries=()
	for recording in "$REPO"/host-analyzer/tests/data/demo.pfi "$REPO"/host-analyzer/tests/data/published/*/*.pfi; do
		folder=$dir/real/${#summaries[@]}
		"$ANALYZE" --only summary.json --out "$folder" "$recording" >/dev/null || return 1
		summaries+=("$folder/summary.json")
	done
	"$FLEET" add "$dir"/real/* --to "$dir/fleet" >/dev/null || return 1
	# One recording of each model: those of the same model were made on machines of very different speed.
	python3 "$REPO/ci/fleet/make.py" "$dir/made" "$n" "${summaries[0]}" "${summaries[1]}" "${summaries[2]}" || return 1
	for folder in "$dir"/made/*; do
		[ -d "$folder" ] || continue
		"$FLEET" add "$folder"/* --device "${folder##*/}" --to "$dir/fleet" >/dev/null || return 1
	done
}
