//! The files that come with the release, path and text. A test checks that none is missing.

macro_rules! files {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../", $path)))),*] };
}

pub(crate) const FILES: [(&str, &str); 26] = files![
    "backends/blas.toml",
    "backends/cann.toml",
    "backends/clblast.toml",
    "backends/cpu.toml",
    "backends/cuda.toml",
    "backends/hexagon.toml",
    "backends/librknnrt.toml",
    "backends/metal.toml",
    "backends/opencl.toml",
    "backends/rknn.toml",
    "backends/rknpu2.toml",
    "backends/rpc.toml",
    "backends/sycl.toml",
    "backends/vulkan.toml",
    "bcm2712.toml",
    "cores/cortex-a55.toml",
    "cores/cortex-a76.toml",
    "cores/cortex-a78.toml",
    "cores/x86-64.toml",
    "generic-aarch64.toml",
    "host.toml",
    "qcs6490.toml",
    "qemu-a76.toml",
    "qemu-biglittle.toml",
    "rk3568.toml",
    "rk3588.toml",
];
