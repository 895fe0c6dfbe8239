//! `backends`: operators by shape, on each backend.

use super::Publish;
use profinfer_analysis::accelerator;

fields! {
    accelerator::Accelerators => Accelerators { profiles, rows }
    accelerator::Row => ShapeRow { shapes, backends }
    accelerator::OnBackend => OnBackend { backend, executions, host, device }
    accelerator::Host => OnHost { host_side, executions, wall_ns, work }
    accelerator::Device => OnDevice { kernels, device_ns, work, at_once, fused }
    accelerator::Fused => FusedKernels { what, kernels, device_ns }
    accelerator::Shape => Shape { op, desc, types, dtype, src, ne, product }
    accelerator::Product => Product { m, n, k, batch }
}
