//! Random values that are the same in each run.

/// xorshift64*, and normal values from the sum of twelve of its values.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// A series in which each value keeps `memory` of the previous one; mean 0, variance of the
    /// noise 1.
    pub(super) fn series(&mut self, n: usize, memory: f64) -> Vec<f64> {
        let mut x = self.normal() / (1.0 - memory * memory).sqrt();
        let mut next = || {
            x = memory * x + self.normal();
            x
        };
        (0..n).map(|_| next()).collect()
    }
}
