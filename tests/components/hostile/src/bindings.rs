//! Every interface that the host links, raw, whether tools have any business with it or not.

#![allow(missing_docs, clippy::all, rust_2018_idioms, unsafe_op_in_unsafe_fn, dead_code)]

wit_bindgen::generate!({
    path: "../../../wit",
    inline: "
        package test:hostile;

        world hostile {
            include xzatoma:tool/every@0.1.0;
            import wasi:cli/environment@0.2.12;
            import wasi:cli/exit@0.2.12;
            import wasi:cli/stdin@0.2.12;
            import wasi:cli/stdout@0.2.12;
            import wasi:cli/stderr@0.2.12;
            import wasi:random/random@0.2.12;
            import wasi:random/insecure@0.2.12;
            import wasi:sockets/instance-network@0.2.12;
            import wasi:sockets/ip-name-lookup@0.2.12;
            import wasi:sockets/tcp-create-socket@0.2.12;
            import wasi:sockets/udp-create-socket@0.2.12;
        }
    ",
    world: "test:hostile/hostile",
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "crate::bindings",
});
