//! The project that the demo works in: a few files, a repository, and a link that leads out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files;

const PROJECT: &str = "project";
const OUTSIDE: &str = "outside/secret.txt";
const SECRET: &str = "A file outside the project. No tool may read it.\n";
const GIT_CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n";

const FILES: [(&str, &str); 4] = [
    (
        "src/harbour.rs",
        "/// Ships find the harbour by it.\npub fn light(lantern: &str) -> String {\n    format!(\"{lantern} is lit\")\n}\n",
    ),
    (
        "src/main.rs",
        "mod harbour;\n\nfn main() {\n    println!(\"{}\", harbour::light(\"lantern\"));\n}\n",
    ),
    ("notes/plan.md", "# Plan\n\n1. Light the lantern.\n2. Wait for the ships.\n"),
    (".git/config", GIT_CONFIG),
];

/// Makes the project, and something outside of it, in an empty directory.
pub fn create(directory: &Path) -> Result<PathBuf, Failure> {
    let project = directory.join(PROJECT);
    for (name, content) in FILES {
        write(&project.join(name), content)?;
    }
    write(&project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    files::create_directory(&project.join(".git/hooks"))?;
    write(&directory.join(OUTSIDE), SECRET)?;
    link(Path::new("../outside"), &project.join("way-out"))?;
    Ok(project)
}

/// Prints the names of what is in it.
pub fn show(project: &Path) -> Result<(), Failure> {
    for (name, _) in FILES {
        println!("  {name}");
    }
    let way_out = project.join("way-out");
    let to = fs::read_link(&way_out).map_err(|error| Failure::io("read", &way_out, &error))?;
    println!("  way-out -> {}", to.display());
    Ok(())
}

/// Fails if anything changed that no tool was allowed to change.
pub fn check_untouched(directory: &Path) -> Result<(), Failure> {
    let project = directory.join(PROJECT);
    let same = |path: &Path, content: &str| -> Result<bool, Failure> {
        Ok(files::read_if_there(path)?.is_some_and(|now| now == content.as_bytes()))
    };
    let untouched = same(&directory.join(OUTSIDE), SECRET)?
        && same(&project.join(".git/config"), GIT_CONFIG)?
        && files::files_in(&project.join(".git/hooks"))?.is_empty()
        && !project.join("new.txt").exists();
    if untouched {
        return Ok(());
    }
    Err(Failure::failed("a command that was refused changed a file all the same"))
}

fn write(path: &Path, content: &str) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        files::create_directory(parent)?;
    }
    files::write(path, content.as_bytes())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> Result<(), Failure> {
    std::os::unix::fs::symlink(to, at).map_err(|error| Failure::io("create", at, &error))
}

#[cfg(windows)]
fn link(to: &Path, at: &Path) -> Result<(), Failure> {
    std::os::windows::fs::symlink_dir(to, at).map_err(|error| Failure::io("create", at, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unwanted_change_is_noticed() {
        let temporary = files::TemporaryDirectory::new("project").unwrap();
        let changes: [fn(&Path); 4] = [
            |at| fs::write(at.join(OUTSIDE), "changed").unwrap(),
            |at| fs::write(at.join("project/.git/config"), "changed").unwrap(),
            |at| fs::write(at.join("project/.git/hooks/pre-commit"), "x").unwrap(),
            |at| fs::write(at.join("project/new.txt"), "x").unwrap(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let at = temporary.path().join(number.to_string());
            fs::create_dir(&at).unwrap();
            create(&at).unwrap();
            check_untouched(&at).unwrap();
            change(&at);
            assert!(check_untouched(&at).is_err(), "change {number}");
        }
    }
}
