//! The Rust source that puts the tools into the program.

/// A list that the host's `main.rs` includes. The files are named relative to it.
pub fn source(names: &[&str]) -> String {
    let mut source = String::from(
        "// Written by `cargo xtask guests`; do not edit.\n\
         pub static TOOLS: &[xzatoma::sandbox::BuiltIn] = &[\n",
    );
    for name in names {
        source.push_str(&format!(
            "    xzatoma::sandbox::BuiltIn {{\n        \
                 name: {name:?},\n        \
                 definition: include_str!({:?}),\n        \
                 component: include_bytes!({:?}),\n        \
                 precompiled: include_bytes!({:?}),\n    \
             }},\n",
            format!("{name}.json"),
            format!("{name}.wasm"),
            format!("{name}.cwasm"),
        ));
    }
    source.push_str("];\n");
    source
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_lists_every_tool_with_its_files() {
        let expected = r#"// Written by `cargo xtask guests`; do not edit.
pub static TOOLS: &[xzatoma::sandbox::BuiltIn] = &[
    xzatoma::sandbox::BuiltIn {
        name: "fetch",
        definition: include_str!("fetch.json"),
        component: include_bytes!("fetch.wasm"),
        precompiled: include_bytes!("fetch.cwasm"),
    },
    xzatoma::sandbox::BuiltIn {
        name: "grep",
        definition: include_str!("grep.json"),
        component: include_bytes!("grep.wasm"),
        precompiled: include_bytes!("grep.cwasm"),
    },
];
"#;
        assert_eq!(source(&["fetch", "grep"]), expected);
    }
}
