//! What Cargo knows of this workspace: where things are, and which crates there are.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::{self, Program};
use crate::failure::Failure;
use crate::json::Json;

/// Variables by which the system finds libraries, and in which `cargo run` leaves its own.
const LIBRARY_PATHS: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"];

pub struct Workspace {
    pub root: PathBuf,
    /// Cargo's target directory, absolute.
    pub target: PathBuf,
    pub packages: Vec<Package>,
    cargo: OsString,
    library_paths: Vec<(&'static str, Option<OsString>)>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    /// Its directory.
    pub directory: PathBuf,
    /// What the host knows it by, if it is a tool or a test component.
    pub tool: String,
    /// Whether it is compiled to a component.
    pub is_component: bool,
    /// Whether it has tests that run on this machine.
    pub has_tests: bool,
}

impl Workspace {
    pub fn find() -> Result<Workspace, Failure> {
        let own_directory =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let manifest = Path::new(&own_directory).with_file_name("Cargo.toml");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // Asked in the directory where the user is, from which a relative target directory counts.
        let answer = Program::new(&cargo)
            .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"])
            .arg(&manifest)
            .read()?;
        let mut workspace = Workspace::from_metadata(&answer)
            .map_err(|problem| Failure::failed(format!("cargo metadata: {problem}")))?;
        workspace.cargo = cargo;
        workspace.library_paths = workspace.cleaned_library_paths();
        Ok(workspace)
    }

    fn from_metadata(text: &str) -> Result<Workspace, String> {
        let metadata = Json::parse(text)?;
        let path = |name: &str| {
            metadata.get(name).text().map(PathBuf::from).ok_or_else(|| format!("no `{name}`"))
        };
        let packages = metadata.get("packages").list().iter();
        Ok(Workspace {
            root: path("workspace_root")?,
            target: path("target_directory")?,
            packages: packages.map(Package::from_metadata).collect::<Result<_, _>>()?,
            cargo: "cargo".into(),
            library_paths: Vec::new(),
        })
    }

    /// Only if one of these variables is set is there anything to undo.
    fn cleaned_library_paths(&self) -> Vec<(&'static str, Option<OsString>)> {
        let set = LIBRARY_PATHS.into_iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let set: Vec<_> = set.collect();
        if set.is_empty() {
            return Vec::new();
        }
        let sysroot = crate::toolchain::sysroot();
        let mut roots = vec![self.target.as_path()];
        roots.extend(sysroot.as_deref().ok());
        set.into_iter().map(|(name, paths)| (name, command::without(&paths, &roots))).collect()
    }

    /// Cargo, in the root of the workspace.
    pub fn cargo(&self) -> Program {
        let program = Program::new(&self.cargo)
            .directory(&self.root)
            .quiet_env("CARGO_TARGET_DIR", Some(self.target.as_os_str()));
        self.library_paths
            .iter()
            .fold(program, |program, (name, value)| program.quiet_env(name, value.as_deref()))
    }

    /// Cargo for what embeds the tools or looks for them.
    pub fn cargo_with_tools(&self) -> Program {
        self.cargo().env("XZATOMA_TOOLS_DIR", self.tools())
    }

    /// Where the built tools go.
    pub fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The packages below a directory of the workspace, by name.
    pub fn packages_below(&self, directory: &str) -> Vec<&Package> {
        let directory = self.root.join(directory);
        let below = |package: &&Package| package.directory.starts_with(&directory);
        let mut packages: Vec<_> = self.packages.iter().filter(below).collect();
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        packages
    }

    /// The components below a directory of the workspace; no two may have the same name.
    pub fn components_below(&self, directory: &str) -> Result<Vec<&Package>, Failure> {
        let mut components = self.packages_below(directory);
        components.retain(|package| package.is_component);
        for (index, package) in components.iter().enumerate() {
            check_tool_name(package)?;
            if let Some(other) = components[..index].iter().find(|other| other.tool == package.tool)
            {
                return Err(Failure::failed(format!(
                    "the packages `{}` and `{}` are both called `{}`; set `tool` in \
                     [package.metadata.xzatoma] of one of them",
                    other.name, package.name, package.tool
                )));
            }
        }
        Ok(components)
    }
}

impl Package {
    fn from_metadata(package: &Json) -> Result<Package, String> {
        let name = package.get("name").text().ok_or("a package without a name")?;
        let manifest = package.get("manifest_path").text().ok_or("a package without a manifest")?;
        let directory = Path::new(manifest).parent().ok_or("a manifest without a directory")?;
        let targets = package.get("targets").list();
        let is_cdylib = |target: &Json| {
            target.get("crate_types").list().iter().any(|kind| kind.text() == Some("cdylib"))
        };
        let tool = package.get("metadata").get("xzatoma").get("tool").text();
        Ok(Package {
            name: name.to_owned(),
            directory: directory.to_owned(),
            tool: tool.map_or_else(|| name.replace('-', "_"), str::to_owned),
            is_component: targets.iter().any(is_cdylib),
            has_tests: targets.iter().any(|target| target.get("test") == &Json::Bool(true)),
        })
    }
}

/// The name becomes a file name and a string in generated code.
fn check_tool_name(package: &Package) -> Result<(), Failure> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if !package.tool.is_empty() && package.tool.chars().all(allowed) {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "`{}` in {} is no name for a tool: use lower-case letters, digits, `_` and `-`",
        package.tool,
        package.directory.join("Cargo.toml").display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(packages: &str) -> Workspace {
        let text = format!(
            r#"{{"packages":[{packages}],"workspace_root":"/w","target_directory":"/t","version":1}}"#
        );
        Workspace::from_metadata(&text).unwrap()
    }

    fn package(name: &str, directory: &str, kind: &str, extra: &str) -> String {
        format!(
            r#"{{"name":"{name}","manifest_path":"{directory}/Cargo.toml",{extra}
               "targets":[{{"name":"x","crate_types":["{kind}"],"test":{}}}]}}"#,
            kind != "rlib"
        )
    }

    #[test]
    fn components_are_found_by_crate_type_and_place() {
        let workspace = metadata(
            &[
                package(
                    "grep-tool",
                    "/w/guest-tools/grep",
                    "cdylib",
                    r#""metadata":{"xzatoma":{"tool":"grep"}},"#,
                ),
                package("file-ops", "/w/guest-tools/file-ops", "cdylib", r#""metadata":null,"#),
                package("xzatoma-tool", "/w/guest-tools/sdk", "lib", ""),
                package("hostile", "/w/tests/components/hostile", "cdylib", ""),
                package("elsewhere", "/w/guest-tools-old/x", "cdylib", ""),
            ]
            .join(","),
        );
        let tools = workspace.components_below("guest-tools").unwrap();
        let named: Vec<_> = tools.iter().map(|p| (p.name.as_str(), p.tool.as_str())).collect();
        assert_eq!(named, [("file-ops", "file_ops"), ("grep-tool", "grep")]);
        let tests = workspace.components_below("tests/components").unwrap();
        assert_eq!(tests[0].tool, "hostile");
        assert_eq!(workspace.tools(), Path::new("/t/tools"));
    }

    #[test]
    fn packages_without_tests_are_known() {
        let workspace = metadata(
            &[
                package("a", "/w/guest-tools/a", "lib", ""),
                package("b", "/w/guest-tools/b", "rlib", ""),
            ]
            .join(","),
        );
        let with: Vec<_> = workspace.packages.iter().map(|p| p.has_tests).collect();
        assert_eq!(with, [true, false]);
    }

    #[test]
    fn bad_and_double_names_are_refused() {
        let tool = |name: &str| format!(r#""metadata":{{"xzatoma":{{"tool":"{name}"}}}},"#);
        let bad = metadata(&package("a", "/w/guest-tools/a", "cdylib", &tool("../up")));
        let failure = bad.components_below("guest-tools").err().unwrap().to_string();
        assert!(failure.contains("../up") && failure.contains("/w/guest-tools/a/Cargo.toml"));

        let double = metadata(
            &[
                package("a", "/w/guest-tools/a", "cdylib", &tool("same")),
                package("b", "/w/guest-tools/b", "cdylib", &tool("same")),
            ]
            .join(","),
        );
        let failure = double.components_below("guest-tools").err().unwrap().to_string();
        assert!(failure.contains("`a` and `b`"), "{failure}");
    }

    #[test]
    fn metadata_that_lacks_something_is_an_error() {
        assert!(Workspace::from_metadata("{}").is_err());
        assert!(Workspace::from_metadata("no json").is_err());
    }
}
