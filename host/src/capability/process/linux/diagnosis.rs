//! Why this system does not confine processes, in words that help.

use std::fs;
use std::path::Path;

/// Says which step did not work and, where a setting is known to cause that, which one.
pub(super) fn explain(step: &str, error: &str) -> String {
    let mut message = format!("the operating system's sandbox is not available: {step}: {error}");
    for cause in causes(Path::new("/")) {
        message.push_str("; ");
        message.push_str(&cause);
    }
    message
}

/// Settings of this system that stand in the way. `root` is where its files are.
fn causes(root: &Path) -> Vec<String> {
    let setting = |name: &str| -> Option<String> {
        let text = fs::read_to_string(root.join("proc/sys").join(name.replace('.', "/"))).ok()?;
        Some(text.trim().to_owned())
    };
    let mut causes = Vec::new();
    for (name, off, on) in [
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("user.max_user_namespaces", "0", "10000"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ] {
        if setting(name).as_deref() == Some(off) {
            causes.push(format!(
                "user namespaces are switched off or restricted by {name}={off} \
                 (an administrator can set it with: sysctl {name}={on})"
            ));
        }
    }
    let modules = fs::read_to_string(root.join("sys/kernel/security/lsm")).unwrap_or_default();
    if !modules.is_empty() && !modules.split(',').any(|module| module.trim() == "landlock") {
        causes.push(format!(
            "Landlock is not among the active security modules ({}); it needs Linux 5.13 or \
             later and landlock in the kernel's lsm= parameter",
            modules.trim()
        ));
    }
    let is_container =
        ["run/.containerenv", ".dockerenv"].iter().any(|file| root.join(file).exists());
    if is_container {
        causes.push(
            "this is a container, whose own restrictions usually forbid namespaces and mounts; \
             run xzatoma outside, or give the container what it needs to nest"
                .to_owned(),
        );
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("diagnosis-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn names_the_setting() {
        let root = system("off", &[("proc/sys/user/max_user_namespaces", "0\n")]);
        let causes = causes(&root);
        fs::remove_dir_all(root).unwrap();
        assert_eq!(causes.len(), 1);
        assert!(causes[0].contains("sysctl user.max_user_namespaces=10000"), "{causes:?}");
    }

    #[test]
    fn names_missing_landlock() {
        let root = system("lsm", &[("sys/kernel/security/lsm", "capability,yama")]);
        let causes = causes(&root);
        fs::remove_dir_all(root).unwrap();
        assert!(causes[0].contains("Landlock"), "{causes:?}");
    }

    #[test]
    fn says_nothing_about_settings_that_are_fine() {
        let root = system(
            "fine",
            &[
                ("proc/sys/user/max_user_namespaces", "96343"),
                ("proc/sys/kernel/unprivileged_userns_clone", "1"),
                ("sys/kernel/security/lsm", "capability,landlock,yama"),
            ],
        );
        let causes = causes(&root);
        fs::remove_dir_all(root).unwrap();
        assert_eq!(causes, Vec::<String>::new());
    }
}
