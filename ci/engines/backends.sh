#!/usr/bin/env bash
# backends.sh      graphs that are split among backends: Vulkan on Mesa's software Vulkan, BLAS on OpenBLAS, a server by RPC;
#                  and, by stand-ins (ci/engines/standin.sh), functions of backends whose hardware is missing here: OpenCL, RKNN, CLBlast
#
# Real builds compute a part of each graph on another backend, and the CPU the rest. The trace must
# name the backend of each part and contain the nodes of the engine's own list in its order
# (host-analyzer/analyze/tests/oracle/backends.rs). Every kernel in the log of Vulkan's performance
# logger must have its node (backends_profile.rs). The calls must match the counts of the stand-ins
# (host-analyzer/analyze/tests/oracle/standin.rs). A delay that is planted in a backend, or between
# two `llama_decode` calls, must appear in its class of the budget
# (host-analyzer/analyze/tests/oracle/planted). Calls must last as long as by the engine's own clock, which includes the wait
# for a backend that computes on its own (host-analyzer/analyze/tests/oracle/backends_waits.rs).
set -eu
. "$(dirname "$0")/../../scripts/lib.sh"
. "$REPO/ci/tests.sh"
case ${1:-} in
-h | --help) usage_from_head "$0"; exit ;;
esac
cd "$REPO"
! cannot_trace "other backends" || exit 0
need_pkgs mesa-vulkan-drivers libvulkan1
PROFINFER_VULKAN_ENGINE_DIR=$(scripts/engine.sh npm:v0.5.0+vulkan)
PROFINFER_CLANG_VULKAN_ENGINE_DIR=$(scripts/engine.sh addon:fugood+vulkan)
PROFINFER_BLAS_ENGINE_DIR=$(scripts/engine.sh debian+blas)
PROFINFER_RPC_ENGINE_DIR=$(scripts/engine.sh debian+rpc)
: "${PROFINFER_MODELS_DIR:=$(dirname "$(scripts/model.sh dense-q8 dense-f32 dense-q4 smollm2 | head -n 1)")}"
tests_build
# The only Vulkan device may be a processor, which llama.cpp uses only on request.
PROFINFER_STANDIN_DIR=$(ci/engines/standin.sh)
: "${PROFINFER_ENGINE_DIR:=$(scripts/engine.sh debian)}"
export PROFINFER_STANDIN_DIR PROFINFER_ENGINE_DIR
export PROFINFER_VULKAN_ENGINE_DIR PROFINFER_CLANG_VULKAN_ENGINE_DIR PROFINFER_BLAS_ENGINE_DIR PROFINFER_RPC_ENGINE_DIR PROFINFER_MODELS_DIR GGML_VK_VISIBLE_DEVICES=0
tests_of oracle --ignored --nocapture backends:: backends_profile:: backends_waits:: planted::application planted::backend standin:: weights::layers
