//! The coding of a topology's tensors: decoding returns what was encoded, and no bytes do harm.
#![expect(clippy::indexing_slicing, reason = "a test fails where it cannot go on")]

use profinfer_wire::record::graph::{MAX_SRC, Role, Tensor};
use profinfer_wire::tensors::{MAX_TENSOR_LEN, NO_TENSOR, decode, encode, most};
use proptest::prelude::*;

fn back(bytes: &[u8], period: u16, count: u16) -> Vec<Tensor> {
    let mut tensors = vec![NO_TENSOR; most(bytes.len()).min(count.into())];
    let n = decode(bytes, period, count, &mut tensors);
    tensors.truncate(n);
    tensors
}

fn any_tensor() -> impl Strategy<Value = Tensor> {
    let texts = any::<[u32; 4]>();
    let role = prop_oneof![Just(Role::Node), Just(Role::Weight), Just(Role::Input), Just(Role::Other)];
    let numbers = (any::<[u64; 4]>(), any::<u64>(), any::<u64>(), any::<u64>());
    (texts, role, numbers, any::<u32>(), any::<[u32; MAX_SRC]>()).prop_map(
        |([name, op, desc, dtype], role, (ne, bytes, address, data), view_of, src)| Tensor {
            name,
            op,
            desc,
            dtype,
            role,
            ne,
            bytes,
            address,
            data,
            view_of,
            src,
        },
    )
}

/// Layers of equal tensors whose names, addresses and sources continue.
fn layers(layer: &[Tensor], n: u32) -> Vec<Tensor> {
    let of = |i: u32| {
        layer.iter().map(move |t| Tensor {
            name: t.name.wrapping_add(i * 7),
            address: t.address.wrapping_add(u64::from(i) * 0x5000),
            data: t.data.wrapping_sub(u64::from(i) * 0x111),
            src: t.src.map(|s| if s == 0 { 0 } else { s.wrapping_add(i * 31) }),
            ..*t
        })
    };
    (0..n).flat_map(of).collect()
}

proptest! {
    #[test]
    fn tensors_come_back(
        first in prop::collection::vec(any_tensor(), 0..20), layer in prop::collection::vec(any_tensor(), 1..20),
        n in 0..8u32, period in 0..60u16, room in 0..20_000usize,
    ) {
        let all: Vec<Tensor> = first.into_iter().chain(layers(&layer, n)).collect();
        let mut bytes = vec![0xaa; room];
        let (count, len) = encode(&all, period, &mut bytes);
        prop_assert!(usize::from(count) == all.len() || len + MAX_TENSOR_LEN > room);
        prop_assert_eq!(&back(&bytes[..len], period, count)[..], &all[..count.into()]);
        for cut in [0, len / 2, len.saturating_sub(1)] {
            let some = back(&bytes[..cut.min(len)], period, count);
            prop_assert!(some.len() < usize::from(count) || count == 0);
            prop_assert_eq!(&some[..], &all[..some.len()]);
        }
    }

    #[test]
    fn any_bytes_are_tensors_or_not(bytes in prop::collection::vec(any::<u8>(), 0..500), period: u16, count: u16) {
        prop_assert!(back(&bytes, period, count).len() <= usize::from(count).min(most(bytes.len())));
    }
}

/// A tensor that continues the two layers before it costs little more than one bit per number.
#[test]
fn a_layer_like_the_others_costs_little() {
    let kinds = |i: u32| Tensor {
        name: i,
        op: i % 5,
        ne: [64, 1 + u64::from(i % 3), 1, 1],
        address: 0x7f00_0000_0000 + u64::from(i) * 0x170,
        data: 0x7f11_0000_0000 + u64::from(i * i) * 64,
        src: [i, if i.is_multiple_of(2) { i + 900 } else { 0 }, 0, 0, 0, 0, 0, 0, 0, 0],
        ..NO_TENSOR
    };
    let layer: Vec<Tensor> = (1..32).map(kinds).collect();
    let mut bytes = [0; 4000];
    let of = |n: u32, bytes: &mut [u8]| {
        let (count, len) = encode(&layers(&layer, n), 31, bytes);
        assert_eq!(u32::from(count), n * 31, "all have room");
        len
    };
    let (ten, twenty) = (of(10, &mut bytes), of(20, &mut bytes));
    let each = (twenty - ten) as f64 / 310.0;
    println!("{each:.2} bytes a tensor");
    assert!(each < 3.5, "{each}");
}
