//! `sandbox explain`: the effective grant, and where each part of it comes from.

use super::options::{Granted, SandboxOptions};
use super::text::{harmless, print, with_newline};
use super::{Exit, Failure, session};
use crate::policy::{Authority, Confinement, Grant, Level, Permission};
use crate::sandbox::BuiltIn;

pub async fn explain(
    built_ins: &'static [BuiltIn],
    options: &SandboxOptions,
    only: Option<&str>,
    json: bool,
) -> Result<Exit, Failure> {
    let granted = options.granted()?;
    let level = options.sandbox;
    let sandbox = session::open(built_ins, &granted, &options.components, level).await?;
    let tools = sandbox.tools().map(|tool| {
        let definition = tool.definition();
        (definition.name.clone(), definition.capabilities.clone())
    });
    let mut grant = level.grant(&granted.options, tools);
    if let Some(name) = only {
        if !grant.tools.contains_key(name) {
            return Err(Failure::usage(format!(
                "there is no tool {name:?}; there are: {}",
                session::names(&sandbox)
            )));
        }
        grant.tools.retain(|tool, _| tool == name);
    }
    let confinement = sandbox.process_confinement().await;
    let text = if json {
        let mounts: Vec<_> = granted
            .mounts
            .iter()
            .map(|(guest, host)| serde_json::json!({ "guest": guest, "host": host }))
            .collect();
        serde_json::json!({
            "level": level,
            "mounts": mounts,
            "dropped": level.ignored(&granted.options),
            "os_sandbox": { "available": confinement.is_ok(), "missing": confinement.err() },
            "grant": grant,
        })
        .to_string()
    } else {
        harmless(&describe(options, &grant, &granted, confinement))
    };
    print(&with_newline(text))
        .map_err(|error| Failure::failed(format!("cannot write the answer: {error}")))?;
    Ok(Exit::Done)
}

fn describe(
    options: &SandboxOptions,
    grant: &Grant,
    granted: &Granted,
    confinement: Result<(), String>,
) -> String {
    let level = options.sandbox;
    let mut lines = vec![format!("level {level}: {}", purpose(level)), String::new()];
    for (guest, host) in &granted.mounts {
        lines.push(format!("  {guest} is {}", host.display()));
    }
    lines.push(match &confinement {
        Ok(()) => "  the operating-system sandbox for programs is available".to_owned(),
        Err(missing) => {
            format!("  the operating-system sandbox for programs is NOT available: {missing}")
        }
    });
    if level == Level::Trusted {
        lines.push(
            "  at this level programs run WITHOUT an operating-system sandbox: they can do what you can"
                .to_owned(),
        );
    }
    lines.push(
        "  always: .git is never written; xzatoma's own files are closed to tools".to_owned(),
    );
    lines.extend(
        level.ignored(&granted.options).into_iter().map(|what| format!("  dropped: {what}")),
    );
    for (name, authority) in &grant.tools {
        lines.push(String::new());
        lines.push(name.clone());
        lines.extend(
            authority_lines(authority, options).into_iter().map(|line| format!("  {line}")),
        );
    }
    lines.join("\n")
}

fn purpose(level: Level) -> &'static str {
    match level {
        Level::Strict => "for untrusted tasks; nobody is asked, what is not granted is denied",
        Level::Standard => {
            "for your own project; some things are asked for, headless they are denied"
        }
        Level::Trusted => "for a throw-away machine",
    }
}

/// One line per part, with its source.
fn authority_lines(authority: &Authority, options: &SandboxOptions) -> Vec<String> {
    let level = options.sandbox;
    let from_level = format!("from level {level}");
    let mut lines = Vec::new();
    for grant in authority.dirs.iter() {
        let access = match grant.access {
            crate::policy::Access::Read => "read",
            crate::policy::Access::Write => "read and write",
        };
        let source = match grant.path.as_str() == crate::policy::WORKSPACE {
            true => from_level.clone(),
            false => "from --allow-write or --allow-dir".to_owned(),
        };
        lines.push(format!("files    {}: {access} ({source})", grant.path));
    }
    if authority.network.public != Permission::Deny {
        lines.push(format!(
            "network  public addresses, ports 80 and 443: {} ({from_level})",
            permission(authority.network.public)
        ));
    }
    for rule in &authority.network.rules {
        lines.push(format!("network  {rule}: {} (from --allow-host)", permission(rule.permission)));
    }
    if authority.programs.any != Permission::Deny {
        lines.push(format!("programs any: {} ({from_level})", permission(authority.programs.any)));
    }
    for (name, allowed) in &authority.programs.named {
        lines.push(format!("programs {name}: {} (from --allow-command)", permission(*allowed)));
    }
    if !authority.programs.is_empty() {
        lines.push(match authority.programs.confinement {
            Confinement::Os => "programs run inside the operating-system sandbox".to_owned(),
            Confinement::None => "programs run without an operating-system sandbox".to_owned(),
        });
        let names: Vec<&str> = authority.environment.iter().map(String::as_str).collect();
        lines.push(match names.is_empty() {
            true => format!("environment empty ({from_level})"),
            false => format!("environment {}", names.join(", ")),
        });
    }
    if lines.is_empty() {
        lines.push(format!("nothing beyond computing ({from_level})"));
    }
    let limits = &authority.limits;
    lines.push(format!(
        "limits   {} s, {} MiB memory, {} KiB answer a call",
        limits.deadline().as_secs_f64(),
        limits.memory_bytes >> 20,
        limits.output_bytes >> 10
    ));
    lines
}

fn permission(permission: Permission) -> &'static str {
    match permission {
        Permission::Deny => "denied",
        Permission::Ask => "asked for",
        Permission::Allow => "allowed",
    }
}
