#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| profinfer_fuzz::gguf::gguf(bytes));
