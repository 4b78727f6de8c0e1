//! The contract as Rust: generated from `wit/`, the world with every interface.
//!
//! Tools need this only for what the other modules do not wrap, such as raw `wasi:filesystem`.

#![allow(missing_docs, clippy::all, rust_2018_idioms, unsafe_op_in_unsafe_fn)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "every",
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "xzatoma_tool::bindings",
});
