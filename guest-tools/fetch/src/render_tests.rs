//! Answers made of scripted bodies.

use super::*;
use crate::arguments::Arguments;

struct Scripted(Vec<Result<Option<Vec<u8>>>>);

impl Chunks for Scripted {
    fn chunk(&mut self) -> Result<Option<Vec<u8>>> {
        if self.0.is_empty() { Ok(None) } else { self.0.remove(0) }
    }
}

fn wanted(json: &str) -> Wanted {
    let arguments: Arguments = serde_json::from_str(json).unwrap();
    Wanted::try_from(arguments).unwrap()
}

fn arrived(status: u16, headers: &[(&str, &str)], body: Scripted) -> Arrived<Scripted> {
    let headers =
        headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    let answer = Answer { status, headers: headers.collect(), body };
    Arrived { url: Url::parse("http://h/p").unwrap(), redirects: 1, answer }
}

fn run(json: &str, status: u16, content_type: &str, body: &[u8]) -> Result {
    let body = Scripted(vec![Ok(Some(body.to_vec()))]);
    render(&wanted(json), arrived(status, &[("Content-Type", content_type)], body))
}

const GET: &str = r#"{"url":"http://h/p"}"#;

#[test]
fn kinds_are_shown_as_they_read_best() {
    let page = run(GET, 200, "text/html", b"<title>T</title><p>a <b>b</b>").unwrap();
    assert_eq!(page.as_text(), "Title: T\n\na **b**");
    assert_eq!(page.fact("title"), Some("T"));
    let json = run(GET, 200, "application/json", b"{\"a\":[1]}").unwrap();
    assert_eq!(json.as_text(), "{\n  \"a\": [\n    1\n  ]\n}");
    let broken = run(GET, 200, "application/json", b"{\"a\":").unwrap();
    assert_eq!(broken.as_text(), "{\"a\":");
    assert_eq!(run(GET, 200, "text/plain", b"a\n b").unwrap().as_text(), "a\n b");
    let image = run(GET, 200, "image/png", b"\x89PNG").unwrap();
    assert_eq!(image.as_text(), "[binary content, image/png, 4 bytes read; not shown]");
    assert_eq!(run(GET, 204, "", b"").unwrap().as_text(), "[empty body, status 204]");
}

#[test]
fn formats() {
    let raw = r#"{"url":"http://h/p","format":"raw"}"#;
    assert_eq!(run(raw, 200, "text/html", b"<p>a</p>").unwrap().as_text(), "<p>a</p>");
    assert_eq!(run(raw, 200, "application/json", b"{\"a\":1}").unwrap().as_text(), "{\"a\":1}");
    let text = r#"{"url":"http://h/p","format":"text"}"#;
    assert_eq!(run(text, 200, "text/html", b"<p>a <b>b</b>").unwrap().as_text(), "a b");
}

#[test]
fn facts() {
    let output = run(GET, 200, "Text/HTML; charset=utf-8", b"<p>a").unwrap();
    let facts = ["status", "final_url", "content_type", "bytes", "truncated", "redirects"];
    let values: Vec<_> = facts.iter().filter_map(|key| output.fact(key)).collect();
    assert_eq!(values, ["200", "http://h/p", "text/html", "4", "false", "1"]);
}

#[test]
fn sizes_are_kept_and_said() {
    let small = r#"{"url":"http://h/p","max_bytes":10}"#;
    let output = run(small, 200, "text/plain", &[b'a'; 100]).unwrap();
    assert!(output.as_text().starts_with("aaaaaaaaaa\n\n[cut: only the first 10 bytes"));
    assert_eq!((output.fact("truncated"), output.fact("bytes")), (Some("true"), Some("10")));
    // Indenting makes more out of it; the limit holds for the text too.
    let output = run(small, 200, "application/json", b"[1,[[2]]]").unwrap();
    assert_eq!(output.as_text().split("\n\n[cut").next().unwrap().len(), 10);
    assert_eq!(output.fact("truncated"), Some("true"));
    let most = r#"{"url":"http://h/p","max_bytes":10485760}"#;
    let output = run(most, 200, "text/plain", "é".repeat(1 << 20).as_bytes()).unwrap();
    assert!(output.as_text().len() < 1 << 20);
    assert!(output.as_text().contains("of the text are shown]"));
}

#[test]
fn statuses_are_failures_with_the_servers_words() {
    let error = run(GET, 404, "text/html", b"<h1>Gone</h1><script>x</script>").unwrap_err();
    assert_eq!(error.case(), "failed");
    assert!(error.message().starts_with("HTTP status 404 for http://h/p: "), "{error}");
    assert!(error.message().ends_with("\nGone"), "{error}");
    let body = Scripted(vec![Ok(Some(vec![b'x'; 1 << 20])), Err(Error::failed("gone"))]);
    let headers = [("Content-Type", "text/plain"), ("Retry-After", "7")];
    let error = render(&wanted(GET), arrived(503, &headers, body)).unwrap_err();
    assert!(error.message().contains("Retry-After: 7"), "{error}");
    assert!(error.message().len() < 3000 && error.message().ends_with("[cut]"));
    let body = Scripted(vec![Err(Error::failed("gone"))]);
    assert_eq!(render(&wanted(GET), arrived(500, &[], body)).unwrap_err().case(), "failed");
}

#[test]
fn broken_transfers_say_what_arrived() {
    let body = Scripted(vec![Ok(Some(b"half".to_vec())), Err(Error::timed_out("too slow"))]);
    let error = render(&wanted(GET), arrived(200, &[("Content-Type", "text/plain")], body));
    let error = error.unwrap_err();
    assert_eq!(error.case(), "timed-out");
    for part in ["http://h/p", "too slow", "4 bytes had arrived", "half"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn head_shows_headers() {
    let head = r#"{"url":"http://h/p","method":"HEAD"}"#;
    let headers = [("Content-Type", "text/html"), ("X-Long", &*"y".repeat(5000))];
    let output = render(&wanted(head), arrived(200, &headers, Scripted(Vec::new()))).unwrap();
    assert!(output.as_text().contains("Content-Type: text/html\n"));
    assert!(output.as_text().len() < 1300);
    assert_eq!(output.fact("status"), Some("200"));
}
