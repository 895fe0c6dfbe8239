# shellcheck shell=bash
# The results as a table for the terminal and as a page. Sourced by matrix.sh.
# rows: MACHINE BUILD DATE LIBC SYMBOLS TOKEN GRAPH OPERATOR DIRECT WRONG SPECIAL
# builds/BUILD/MODEL.row, written by the oracle: NODES NAMES EXPERTS TOKENS THREADS SPANS LOST VERDICT
# builds/BUILD/direct/MODEL/row: what became of direct probes

# The folder of all of it.
: "${dir:=}"

# direct_row ROW: what became of direct probes in the run with this row, nothing if they were not tried
direct_row() {
	local file=${1%/*}/direct/${1##*/}
	cat "${file%.row}/row" 2>/dev/null || true
}

# each FORMAT: a line for every build and model; of a build that was not run one with empty fields
each() {
	local machine build date libc symbols token graph operator direct wrong special row model
	while IFS=$'\x1f' read -r machine build date libc symbols token graph operator direct wrong special; do
		set -- "$1" "$dir/builds/${build/:/-}"/*.row
		[[ $special != *fuses* ]] || operator="$operator; what it fuses shows as the first of its nodes"
		if [ "$machine" != x86-64 ] || [ ! -f "$2" ]; then set -- "$1" ''; fi
		for row in "${@:2}"; do
			model=${row##*/} model=${model%.row}
			local fields=('' '' '' '' '' '' '' examined)
			[ -z "$row" ] || mapfile -t fields < <(tr '\t' '\n' <"$row")
			[ -z "$wrong" ] || fields[7]="$wrong"
			# shellcheck disable=SC2059  # the format is ours
			printf "$1" "$build" "$machine" "$date" "$libc" "$symbols" "$token" "$graph" "$operator" "$direct" "$model" \
				"${fields[@]:0:7}" "$(direct_row "$row")" "${fields[7]}"
		done
	done < <(tr '\t' '\037' <"$dir/rows")
}

table() {
	each '%-16s %-6s %-7s %-5s %-8s %-28.28s %-18.18s %-52.52s %-40.40s %-10s %9s %9s %7s %8s %1s %5s %2s %-6s  %s\n' | sed 's/  *$//'
}

page() {
	cat <<'X'
# Builds of the engine

Written by `ci/engines/matrix.sh --full`; do not edit. Every build of llama.cpp below is as its
packager made it. Those for x86-64 ran under the agent, with a dense model (`dense-q8`) and, if the
release supports it, an MoE model (`moe-qwen60`), a prompt of five tokens and three more tokens, on
two threads. Those for arm64 ran in the same way on the [emulated board](emulated-board.md)
(`ci/board/engines.sh --full`). Builds without figures were examined by `profinfer-agent engine`.

* *nodes* and *names* compare the trace with the engine's own list of that run: operator, type,
  dimensions and those of the sources, and names with those of the sources.
* *experts* compares the selected experts with the ids that the engine's callback reads in another
  run of the same tokens.
* *places* shows where direct probes can record operators: at the calls that start them and at one
  moved instruction of that many bytes, or at the entire calls of the function that is an operator;
  otherwise the reason why not. The files alone prove that no jump leads into the changed bytes, in
  every file of the build that has operators (one for each kind of processor).
* *direct*: one process of the build, which repeats the calls, was recorded with direct probes and
  then with uprobes. `equal` means that in both the nodes of its graphs are those of the engine's
  list, and the same ones ran on the same number of threads. Otherwise it has the reason why direct
  probes were refused.

The agent finds operators in these ways, the cheapest first:

* **calls**: the call of `ggml_cpu_extra_compute_forward`, which every dispatched node makes, starts
  an operator. Calls of fused kernels start operators that bypass it. The branch where all cases of
  the dispatcher meet ends it.
* **function**: `ggml_compute_forward`, or the part of it that a compiler made a function
  (`.part.0`, `.constprop.0`), is one operator. Stripped programs with llama.cpp linked in
  (`static:`) have no names. There the texts of assertions and messages identify the functions, if
  exactly one function of the file refers to them, and the position in the loop over the nodes
  identifies the calls. `llama_process` (since 0.6.0) has no text: in a stripped program that calls it
  instead of `llama_decode`, as llama.cpp's own tools do, each outermost graph counts as a call.
* **structure**: without names, `ggml_compute_forward` is found by what it does. It reads the
  operator of its second argument, compares it with the number of operators, jumps through a table
  and calls the kernels. Builds called `stripped:` are the ones above without their symbols, made by
  `strip`.

If none of these works, the agent traces the build at graph level, and the recording has the reason.
While it traces, the agent compares its probes with the hits, and the recording names a probe that
is never hit.

The same operators, types and struct offsets are read from each file;
`profinfer-agent engine --tables all PATH` prints them.

X
	cat <<'X'
Stand-ins replace backends whose hardware is not available and of which no build in the registries
runs without it: llama.cpp's OpenCL backend accepts only Adreno and Intel GPUs, RKNN needs
Rockchip's NPU, and no CLBlast build of b3065 or before is available. `ci/engines/standin.sh`
compiles plug-ins with their GUIDs and function names (`ci/drivers/standin.cpp`), which the
unmodified Debian build loads and gives its matrix products to, and a program whose graphs call
CLBlast's functions from within the engine's CPU operators (`ci/drivers/clblast.cpp`). They compute
on the CPU: the calls and their times are real, the speed of a GPU or an NPU is not. The traces are
compared with the engine's list of nodes, the stand-ins' own counts of calls, and a time planted in
one node.

X
	echo '| build | machine | date | libc | symbols | token | graph | operator | places | model | nodes | names | experts | tokens | threads | spans | lost | direct | verdict |'
	echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|'
	each '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' | sed 's/  *|/ |/g'
	cat <<'X'

## Other programs on GGML

Run by `ci/engines/others.sh`; both at graph and operator level. There is no token level, and the
recording reports that once. Instead, each outermost graph counts as a call, so that these programs have a
headline, ladders and findings, too: graphs that take no tokens are an encoder's (phase `encode`), and the
others read a prompt or generate. Their time between calls includes what `llama_decode` would do around its
graph. The same applies to stripped llama.cpp without a token level.

* **whisper.cpp** 1.9.5 of Debian and 1.8.5 of the Python package pywhispercpp, with whisper tiny
  (Q8_0), started by the agent and attached by number. Compared: every node of every graph as GGML's
  own accessors list it, whisper's own numbers and times of its encodings and decodings, and the
  dimensions that follow from the header of the model's file.
* **stable-diffusion.cpp** of the npm package @qvac/diffusion-cpp 0.25.0 (one file, clang), with an
  ESRGAN of two blocks and random weights. Compared: the operators and dimensions that follow from
  the tensors of the model's file. Its graphs pass no scheduler.

Builds of these programs that hide GGML's functions, as the Python package cyllama does (0.2.18:
llama.cpp, whisper.cpp and stable-diffusion.cpp in one library each, stripped), are examined by
their messages like `stripped:static:`. Its llama.cpp was traced under Python by hand, without a
list to compare with; the other two were examined.
X
}

# board_rows: a line `BUILD MODEL NODES NAMES EXPERTS TOKENS THREADS SPANS LOST DIRECT VERDICT` for every run of ci/board/engines.sh
board_rows() {
	local machine build models model row
	while IFS=$'\x1f' read -r machine build _ models _; do
		[ "$machine" = arm64 ] || continue
		for model in ${models//,/ }; do
			row=$dir/builds/${build//[:\/]/-}/$model.row
			[ ! -f "$row" ] || printf '%s\t%s\t%s\t%s\t%s\n' "$build" "$model" "$(cut -f 1-7 "$row")" "$(direct_row "$row")" "$(cut -f 8 "$row")"
		done
	done < <(tr '\t' '\037' <"$REPO/ci/engines/builds.tsv")
}

# fill_page PAGE: the rows of the builds that ran on the board, with what was found there
fill_page() {
	board_rows >"$dir/board-rows"
	awk -F'|' -v rows="$dir/board-rows" '
		BEGIN {
			while ((getline line < rows) > 0) {
				split(line, f, "\t")
				runs[f[1]] = runs[f[1]] sprintf("%s| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", "HEAD", f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11])
			}
		}
		{ build = $2; gsub(/ /, "", build) }
		$3 == " arm64 " && build in runs {
			if (!done[build]++) {
				head = ""
				for (i = 2; i <= 10; i++) head = head "|" $i
				gsub(/HEAD/, head, runs[build])
				printf "%s", runs[build]
			}
			next
		}
		{ print }' "$1" >"$dir/page"
	cat "$dir/page" >"$1"
}
