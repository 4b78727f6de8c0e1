//! The program as a person or a script meets it: what it prints, and how it ends.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A workspace of its own, removed at the end.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Workspace {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("xzatoma-cli-{}-{number}", std::process::id()));
        std::fs::create_dir_all(path.join("src")).unwrap();
        std::fs::create_dir_all(path.join(".git/hooks")).unwrap();
        std::fs::write(path.join("src/main.rs"), "fn main() {\n    // TODO: greet\n}\n").unwrap();
        std::fs::write(path.join(".git/config"), "[core]\n").unwrap();
        Workspace(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xzatoma"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command.env("XZATOMA_CACHE_DIR", test_cache());
        command
    }

    fn call(&self, tool: &str, arguments: &str, flags: &[&str]) -> Output {
        let mut all = vec!["tools", "call", tool, arguments];
        all.extend(flags);
        self.run(&all)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // Left over only if a test failed in between.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiled test components are kept between runs.
fn test_cache() -> PathBuf {
    Path::new(env!("XZATOMA_TOOLS_DIR")).join("test-cache")
}

fn component(name: &str) -> String {
    format!("{}/tests/{name}.wasm", env!("XZATOMA_TOOLS_DIR"))
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn expect(output: &Output, code: i32, said: &str) {
    let everything = format!("{}{}", stdout(output), stderr(output));
    assert_eq!(output.status.code(), Some(code), "{everything}");
    assert!(everything.contains(said), "{said:?} is not in: {everything}");
}

#[test]
fn lists_and_shows_the_five_tools() {
    let workspace = Workspace::new();
    let list = workspace.run(&["tools", "list"]);
    for name in ["fetch", "file_ops", "file_ops_readonly", "grep", "terminal"] {
        expect(&list, 0, name);
        expect(&workspace.run(&["tools", "show", name]), 0, "asks for:");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&workspace.run(&["tools", "list", "--json"]).stdout).unwrap();
    assert_eq!(json["tools"].as_array().unwrap().len(), 5);
    assert!(json["tools"][0]["parameters"]["properties"].is_object());
    expect(&workspace.run(&["tools", "show", "nothing"]), 2, "there are: fetch,");
}

#[test]
fn a_read_and_a_search_work() {
    let workspace = Workspace::new();
    let read =
        workspace.call("file_ops_readonly", r#"{"operation":"read","path":"src/main.rs"}"#, &[]);
    expect(&read, 0, "fn main()");
    expect(&workspace.call("grep", r#"{"pattern":"todo"}"#, &[]), 0, "src/main.rs:2:");
    let json = workspace.call("grep", r#"{"pattern":"todo"}"#, &["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json["receipt"]["read_bytes"].as_u64().unwrap() > 0, "{json}");
    assert!(json["receipt"]["peak_memory_bytes"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn what_is_not_granted_is_denied_with_exit_code_10() {
    let workspace = Workspace::new();
    let escape = workspace.call(
        "file_ops_readonly",
        r#"{"operation":"read","path":"../../etc/passwd"}"#,
        &[],
    );
    expect(&escape, 10, "denied");
    let write = r#"{"operation":"write","path":"new.txt","content":"x"}"#;
    expect(&workspace.call("file_ops", write, &["--sandbox", "strict"]), 10, "--allow-write");
    assert!(!workspace.0.join("new.txt").exists());
    let hook = r#"{"operation":"write","path":".git/hooks/pre-commit","content":"x"}"#;
    expect(
        &workspace.call("file_ops", hook, &["--sandbox", "trusted"]),
        10,
        ".git is never written",
    );
    let terminal = workspace.call("terminal", r#"{"command":["ls"]}"#, &["--sandbox", "strict"]);
    expect(&terminal, 10, "--allow-command");
    // Nobody is there to be asked.
    expect(&workspace.call("terminal", r#"{"command":["ls"]}"#, &[]), 10, "--allow-command ls");
    let fetch =
        workspace.call("fetch", r#"{"url":"http://example.com/"}"#, &["--sandbox", "strict"]);
    expect(&fetch, 10, "--allow-host");
}

#[test]
fn what_is_granted_by_a_flag_works_under_strict() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.0.join("out")).unwrap();
    let write = r#"{"operation":"write","path":"out/new.txt","content":"x"}"#;
    let flags = ["--sandbox", "strict", "--allow-write", "out"];
    expect(&workspace.call("file_ops", write, &flags), 0, "");
    assert_eq!(std::fs::read_to_string(workspace.0.join("out/new.txt")).unwrap(), "x");
    let elsewhere = r#"{"operation":"write","path":"src/new.txt","content":"x"}"#;
    expect(&workspace.call("file_ops", elsewhere, &flags), 10, "denied");
}

/// The metadata service in every spelling, and a listener that must hear nothing.
#[test]
fn metadata_and_private_addresses_are_never_dialled() {
    let workspace = Workspace::new();
    let (port, heard) = listener("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    let spellings = [
        "http://169.254.169.254/".to_owned(),
        "http://2852039166/".to_owned(),
        "http://0251.0376.0251.0376/".to_owned(),
        "http://0xA9FEA9FE/".to_owned(),
        "http://[::ffff:169.254.169.254]/".to_owned(),
        "http://[64:ff9b::169.254.169.254]/".to_owned(),
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://localhost:{port}/"),
    ];
    for url in &spellings {
        let arguments = serde_json::json!({ "url": url }).to_string();
        for level in ["strict", "standard", "trusted"] {
            let output =
                workspace.call("fetch", &arguments, &["--sandbox", level, "--timeout", "10"]);
            assert_eq!(output.status.code(), Some(10), "{url} under {level}: {}", stderr(&output));
        }
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0, "something was dialled");
}

#[test]
fn a_redirect_is_authorised_again() {
    let workspace = Workspace::new();
    let (private, private_heard) = listener("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    for target in
        [format!("http://127.0.0.1:{private}/"), "http://169.254.169.254/latest".to_owned()]
    {
        let (port, heard) = listener(&format!(
            "HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"
        ));
        let arguments =
            serde_json::json!({ "url": format!("http://127.0.0.1:{port}/") }).to_string();
        let host = format!("127.0.0.1:{port}");
        let output =
            workspace.call("fetch", &arguments, &["--sandbox", "strict", "--allow-host", &host]);
        assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    }
    assert_eq!(private_heard.load(Ordering::SeqCst), 0);
}

#[test]
fn a_granted_address_is_fetched() {
    let workspace = Workspace::new();
    let (port, heard) = listener(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 22\r\n\r\n<h1>Hi</h1><p>you</p>\n",
    );
    let arguments = serde_json::json!({ "url": format!("http://127.0.0.1:{port}/") }).to_string();
    let host = format!("127.0.0.1:{port}");
    let output =
        workspace.call("fetch", &arguments, &["--sandbox", "strict", "--allow-host", &host]);
    expect(&output, 0, "# Hi");
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

#[test]
fn a_component_that_loops_is_stopped_on_time() {
    let workspace = Workspace::new();
    let hostile = component("hostile");
    let flags = ["--component", &hostile, "--timeout", "1"];
    // Compiled first, so that the time is the call's.
    workspace.call("hostile", r#"{"case":"nothing"}"#, &flags);
    let mut taken = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let output = workspace.call("hostile", r#"{"case":"loop"}"#, &flags);
        taken = taken.min(start.elapsed());
        expect(&output, 1, "timed-out");
    }
    // The whole program, with its start; the call itself is timed in the hostile suite.
    assert!(taken < Duration::from_millis(1500), "{taken:?}");
}

#[test]
fn under_strict_a_component_must_be_pinned() {
    let workspace = Workspace::new();
    let canary = component("canary");
    let unpinned = workspace.call(
        "canary",
        r#"{"a":1,"b":2}"#,
        &["--sandbox", "strict", "--component", &canary],
    );
    expect(&unpinned, 2, "@sha256:");
    let said = stderr(&unpinned);
    let pinned = said.lines().find_map(|line| line.trim().strip_prefix("--component ")).unwrap();
    let output = workspace.call(
        "canary",
        r#"{"a":1,"b":2}"#,
        &["--sandbox", "strict", "--component", pinned],
    );
    expect(&output, 0, "3");
    let wrong = format!("{canary}@sha256:{}", "0".repeat(64));
    let output = workspace.call("canary", "{}", &["--sandbox", "strict", "--component", &wrong]);
    expect(&output, 2, "not the pinned one");
}

#[test]
fn bad_input_is_told_with_exit_code_2() {
    let workspace = Workspace::new();
    expect(&workspace.call("grep", "{not json", &[]), 2, "not JSON");
    expect(&workspace.call("grep", r#"{"pattern":"("}"#, &[]), 2, "invalid-input");
    expect(&workspace.call("grep", r#"{"patern":"x"}"#, &[]), 2, "patern");
    expect(&workspace.call("grep", "{}", &["--sandbox", "lax"]), 2, "strict, standard or trusted");
    expect(&workspace.call("grep", "{}", &["--workspace", "/nowhere"]), 2, "/nowhere");
    expect(&workspace.call("grep", "{}", &["--allow-dir", "/usr"]), 2, "trusted");
    expect(&workspace.call("grep", "{}", &["--timeout", "0"]), 2, "seconds");
    expect(&workspace.call("nothing", "{}", &[]), 2, "there are:");
    expect(&workspace.run(&[]), 2, "Usage");
    expect(&workspace.run(&["--help"]), 0, "Examples:");
}

#[test]
fn arguments_can_come_from_standard_input() {
    let workspace = Workspace::new();
    let mut child = workspace
        .command(&["tools", "call", "grep", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"pattern":"main"}"#).unwrap();
    expect(&child.wait_with_output().unwrap(), 0, "src/main.rs:1:");
}

#[test]
fn control_characters_of_a_tool_do_not_reach_the_terminal() {
    let workspace = Workspace::new();
    std::fs::write(workspace.0.join("evil.txt"), "a\u{1b}]52;c;AAAA\u{7}b\u{202e}c\n").unwrap();
    let output =
        workspace.call("file_ops_readonly", r#"{"operation":"read","path":"evil.txt"}"#, &[]);
    assert_eq!(output.status.code(), Some(0));
    let shown = stdout(&output);
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{7}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
}

#[test]
fn the_grant_is_explained() {
    let workspace = Workspace::new();
    let text = workspace.run(&[
        "sandbox",
        "explain",
        "--sandbox",
        "strict",
        "--allow-host",
        "example.com",
    ]);
    expect(&text, 0, "level strict");
    expect(&text, 0, "example.com: allowed (from --allow-host)");
    assert!(
        stdout(&text).lines().all(|line| line.chars().count() <= 100 || line.contains(" is /")),
        "{}",
        stdout(&text)
    );
    let json = workspace.run(&["sandbox", "explain", "--sandbox", "trusted", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["level"], "trusted");
    assert_eq!(json["grant"]["tools"]["terminal"]["programs"]["confinement"], "none");
}

/// A server that answers everything the same, counts who connects, and ends with the program.
fn listener(answer: &str) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = Arc::new(AtomicUsize::new(0));
    let (count, answer) = (Arc::clone(&heard), answer.to_owned());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            count.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            // What was asked does not matter; the client may have left already.
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heard)
}
