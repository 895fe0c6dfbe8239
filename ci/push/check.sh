# shellcheck shell=bash disable=SC2034,SC2154  # for and from ci/push/test.sh
# Checks and their table. Sourced by ci/push/test.sh.
rows=() failed=0

# check NAME COMMAND...: a row; what the command printed is shown when it fails
check() {
	local name=$1 start=$SECONDS result=ok
	shift
	"$@" >"$dir/check.out" 2>&1 </dev/null || result=FAILED
	if [ $result = FAILED ]; then
		failed=$((failed + 1))
		printf 'FAILED: %s\n' "$name" >&2
		sed 's/^/    /' "$dir/check.out" >&2
	fi
	rows+=("$(printf '%-58s %6s %4d s' "$name" "$result" $((SECONDS - start)))")
	note "${rows[-1]}"
}

# says FILE TEXT...: the file contains all texts
says() {
	local file=$1 text missing=''
	shift
	for text; do grep -qF -- "$text" "$file" || missing+=" '$text'"; done
	[ -z "$missing" ] || { echo "it does not say:$missing"; cat "$file"; return 1; }
}

# refused TEXT... -- COMMAND...: does the command end with an error that contains all texts?
refused() {
	local texts=()
	while [ "$1" != -- ]; do texts+=("$1"); shift; done
	shift
	if "$@" >"$dir/refused.out" 2>&1; then echo "it did not refuse:"; cat "$dir/refused.out"; return 1; fi
	says "$dir/refused.out" "error: " "${texts[@]}"
}

port_closed() { ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "port $port still takes connections"; return 1; }; }
