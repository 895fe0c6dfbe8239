//! The text form of capture options.

use profinfer_wire::options::{duty, filter, parts, range, slowdown, speed};
use profinfer_wire::record::filter::FilterOn;

#[test]
fn shares_and_speeds() {
    let duties = [("10%", 100), ("100%", 1000), ("0.1%", 1), ("2.5%", 25), ("007%", 70)];
    duties.into_iter().for_each(|(text, permille)| assert_eq!(duty(text), Ok(permille), "{text}"));
    for text in
        ["", "%", "10", "0%", "0.05%", "100.1%", "-1%", "1e1%", "10 %", ".5%", "99999999999999999999%"]
    {
        assert!(duty(text).is_err(), "{text}");
    }
    let speeds = [("5t/s", 5_000), ("5", 5_000), ("12.345tok/s", 12_345), ("0.01", 10), ("7.5 t/s", 7_500)];
    speeds.into_iter().for_each(|(text, milli)| assert_eq!(speed(text), Ok(milli), "{text}"));
    for text in ["", "tok/s", "t/s", "0", "0.009", "1.2345", "100001", "fast", "5tok"] {
        assert!(speed(text).is_err(), "{text}");
    }
    let slowdowns = [("1%", 10_000), ("0.01%", 100), ("100%", 1_000_000), ("0.5%", 5_000)];
    slowdowns.into_iter().for_each(|(text, ppm)| assert_eq!(slowdown(text), Ok(ppm), "{text}"));
    for text in ["1", "0.001%", "101%", "x%"] {
        assert!(slowdown(text).is_err(), "{text}");
    }
}

#[test]
fn filters() {
    let good = [
        (FilterOn::Op, "MUL_MAT,ROPE"),
        (FilterOn::Name, "blk.*.ffn_*"),
        (FilterOn::Layer, "0-3, 10"),
        (FilterOn::Thread, "first"),
        (FilterOn::Thread, "2"),
        (FilterOn::Thread, "tid:17,18"),
        (FilterOn::Token, "100-200,300"),
        (FilterOn::Request, "3-5"),
    ];
    good.into_iter().for_each(|(on, text)| assert_eq!(filter(on, text), Ok(()), "{on:?} {text}"));
    let (long, many) = ("x".repeat(65), ["1"; 17].join(","));
    let bad = [
        (FilterOn::Op, ""),
        (FilterOn::Op, "MUL_MAT,,ROPE"),
        (FilterOn::Name, &*long),
        (FilterOn::Layer, &*many),
        (FilterOn::Layer, "3-1"),
        (FilterOn::Layer, "a"),
        (FilterOn::Thread, "0"),
        (FilterOn::Thread, "1,2"),
        (FilterOn::Thread, "tid:"),
        (FilterOn::Token, "0-5"),
        (FilterOn::Token, "4294967296"),
        (FilterOn::Request, "-"),
    ];
    bad.into_iter().for_each(|(on, text)| assert!(filter(on, text).is_err(), "{on:?} {text}"));
    assert_eq!((range("3-5"), range("7"), range("5-3")), (Some((3, 5)), Some((7, 7)), None));
    assert!(parts("tid:1, 2").eq(["1", "2"]));
}
