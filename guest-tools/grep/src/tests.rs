//! Batches to pages, and the promise that the prefilter changes nothing but the time.

use grep_searcher::sinks::Bytes;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use proptest::prelude::*;
use xzatoma_tool::scan::File;

use super::*;
use crate::arguments::Output;
use crate::search::{FileSearch, Want};

fn batch(files: &[(&str, &[u8])]) -> Batch {
    let mut batch = Batch { files: Vec::new(), data: Vec::new() };
    for (path, bytes) in files {
        batch.data.extend_from_slice(bytes);
        batch.files.push(File { path: (*path).to_owned(), end: batch.data.len() as u32 });
    }
    batch
}

fn run(arguments: Arguments, batches: &[Batch]) -> xzatoma_tool::Output {
    let request = Request::try_from(arguments).unwrap();
    let pattern = Pattern::new(&request.pattern, request.case_sensitive).unwrap();
    let mut page = Page::new(&request, &pattern);
    let mut coverage = Coverage::default();
    for batch in batches {
        if page.is_full() {
            break;
        }
        search_batch(batch, &Names::Workspace, &pattern, &mut page, &mut coverage).unwrap();
    }
    page.finish(coverage)
}

fn arguments(pattern: &str) -> Arguments {
    Arguments { pattern: pattern.into(), ..Default::default() }
}

#[test]
fn lines_of_several_files() {
    let batches = [batch(&[("a", b"one\ntwo\n"), ("b", b"none"), ("c", b"TWO")]), batch(&[])];
    let answer = run(arguments("two"), &batches);
    assert_eq!(
        answer.as_text(),
        "a:2:two\nc:1:TWO\n\n2 matching lines in 2 files. Searched 3 files (15 bytes)."
    );
    assert_eq!(answer.fact("truncated"), Some("false"));
    assert_eq!(answer.fact("next_offset"), None);
}

#[test]
fn literals_across_files_are_no_match() {
    let batches = [batch(&[("a", b"xx nee"), ("b", b"dle yy"), ("c", b"needle")])];
    let answer = run(arguments("needle"), &batches);
    assert!(answer.as_text().starts_with("c:1:needle\n\n1 matching line in 1 file."), "{answer:?}");
}

#[test]
fn no_match_says_where_was_looked() {
    let answer = run(arguments("zzz"), &[batch(&[("a", b"one"), ("b", b"two")])]);
    let text = answer.as_text();
    assert!(text.starts_with("No match for \"zzz\" in the workspace. Searched 2 files (6 bytes)."));
    assert_eq!(answer.fact("results"), Some("0"));
}

#[test]
fn pages_join_to_the_whole() {
    let batches = [
        batch(&[("a", b"x1\nx2\nx3\n"), ("b", b"x4\n"), ("c", b"")]),
        batch(&[("d", b"x5\ny\nx6"), ("e", b"x7")]),
    ];
    for output in [Output::Lines, Output::Files, Output::Count] {
        let page = |offset, max_results| {
            let arguments = Arguments {
                offset: Some(offset),
                max_results: Some(max_results),
                output: Some(output),
                ..arguments("x")
            };
            run(arguments, &batches)
        };
        let results = |answer: &xzatoma_tool::Output| -> Vec<String> {
            let (results, _) = answer.as_text().split_once("\n\n").unwrap();
            results.lines().map(str::to_owned).collect()
        };
        let whole = results(&page(0, 100));
        assert_eq!(whole.len(), if output == Output::Lines { 7 } else { 4 });
        for size in 1..=8 {
            let mut joined = Vec::new();
            let mut offset = 0;
            loop {
                let answer = page(offset, size);
                joined.extend(results(&answer));
                match answer.fact("next_offset") {
                    Some(next) => offset = next.parse().unwrap(),
                    None => break,
                }
            }
            assert_eq!(joined, whole, "{output:?} by {size}");
        }
        assert!(page(50, 10).as_text().starts_with("Nothing at offset 50: there are"));
    }
}

#[test]
fn counts_go_on_after_the_page_is_full() {
    let batches = [batch(&[("a", b"x\nx\n"), ("b", b"x")]), batch(&[("c", b"x")])];
    let arguments =
        Arguments { max_results: Some(1), output: Some(Output::Count), ..arguments("x") };
    let answer = run(arguments, &batches);
    assert!(
        answer.as_text().starts_with("a:2\n\n4 matching lines in 3 files. 2 more files: offset=1."),
        "{answer:?}"
    );
}

#[test]
fn binary_files_are_skipped_whole() {
    let late = [&b"needle\n"[..], &vec![b' '; 200_000], b"\0"].concat();
    let answer = run(arguments("needle"), &[batch(&[("a", &late), ("b", b"\0needle")])]);
    assert_eq!(answer.fact("skipped_binary"), Some("2"));
    assert_eq!(answer.fact("results"), Some("0"));
}

#[test]
fn wide_text_is_found() {
    let wide: Vec<u8> = "\u{FEFF}grüße\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let answer = run(arguments("GRÜSSE|grüße"), &[batch(&[("a", b"x"), ("wide", &wide)])]);
    assert!(answer.as_text().starts_with("wide:1:grüße\n"), "{answer:?}");
}

#[test]
fn answers_are_bounded_and_pages_go_on() {
    let line = "x".repeat(400) + "\n";
    let file = line.repeat(5000);
    let batches = [batch(&[("a", file.as_bytes())])];
    let first = run(Arguments { max_results: Some(10_000), ..arguments("x") }, &batches);
    assert!(first.as_text().len() < 300 * 1024);
    let next: u64 = first.fact("next_offset").unwrap().parse().unwrap();
    assert!(first.as_text().contains(&format!("a:{next}:")));
    let arguments = Arguments { max_results: Some(1), offset: Some(next), ..arguments("x") };
    assert!(run(arguments, &batches).as_text().starts_with(&format!("a:{}:", next + 1)));
}

#[test]
fn the_longest_match_with_context_fits() {
    let path = "p/".repeat(2048);
    let line = "é".repeat(600) + "\n";
    let text = [line.repeat(20), "needle\n".into(), line.repeat(20)].concat();
    let arguments = Arguments { context: Some(20), ..arguments("needle") };
    let answer = run(arguments, &[batch(&[(&path, text.as_bytes())])]);
    assert_eq!(answer.fact("results"), Some("1"), "{}", answer.as_text().len());
}

#[test]
fn bad_patterns_are_told_apart() {
    let case = |pattern: &str| {
        let error = Pattern::new(pattern, true).unwrap_err();
        (error.case(), error.message().to_owned())
    };
    for pattern in ["", "(", "a{2,1}", r"(?=x)", r"\1", "[z-a]", "(?P<n", &"(".repeat(100_000)] {
        assert_eq!(case(pattern).0, "invalid-input", "{pattern:.20}");
    }
    assert_eq!(case(&"(".repeat(5000)).0, "invalid-input");
    assert!(case("foo\\nbar").1.contains("line break"));
    for bomb in [r"(?:\pL{1000}){1000}", r"((((a{100}){100}){100}){100})", r"\w{5000}"] {
        assert_eq!(case(bomb).0, "limit-exceeded", "{bomb}");
    }
}

#[test]
fn files_are_named_from_the_workspace() {
    assert_eq!(Names::new(Path::new("/workspace")).shown("a/b"), "a/b");
    assert_eq!(Names::new(Path::new("/workspace/no/such")).shown("b"), "no/such/b");
    assert_eq!(Names::Alone("src/b".into()).shown("b"), "src/b");
}

/// The numbers and texts of the lines that a matcher finds.
fn lines_by<M: grep_matcher::Matcher>(
    matcher: M,
    pattern: &Pattern,
    text: &[u8],
) -> Vec<(u64, Vec<u8>)> {
    let mut searcher = SearcherBuilder::new()
        .line_terminator(pattern.line_ending())
        .line_number(true)
        .binary_detection(BinaryDetection::none())
        .bom_sniffing(false)
        .build();
    let mut lines = Vec::new();
    let sink = Bytes(|number, line| {
        lines.push((number, search::without_line_break(line).to_vec()));
        Ok(true)
    });
    searcher.search_slice(matcher, text, sink).unwrap();
    lines
}

/// Each line on its own by the plain regex crate, which shares no search code with ours.
fn lines_one_by_one(pattern: &str, case_sensitive: bool, crlf: bool, text: &[u8]) -> Vec<u64> {
    let regex = regex::bytes::RegexBuilder::new(pattern)
        .case_insensitive(!case_sensitive)
        .multi_line(true)
        .crlf(crlf)
        .build()
        .unwrap();
    let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
    let end: &[u8] = if crlf { b"\r" } else { b"" };
    let lines = lines.map(|line| line.strip_suffix(end).unwrap_or(line)).zip(1..);
    match text.is_empty() {
        true => Vec::new(),
        false => lines.filter(|(line, _)| regex.is_match(line)).map(|(_, number)| number).collect(),
    }
}

fn pattern_text() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec![
        "a", "b", "k", "K", "s", "S", "\u{212A}", "\u{17F}", "é", "ß", "_", "1",
    ]);
    let word = prop::collection::vec(letter, 1..5).prop_map(|letters| letters.concat());
    let leaf = prop_oneof![
        6 => word,
        1 => prop::sample::select(vec![
            r"\w", ".", "[ak]", r"\b", "^", "$", r"\d", "(?i:k)", "(?-u:s)", "[^a]", r"\s", "", r"\A", r"\z", r"[ak\r]",
        ]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            3 => prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (inner, prop::sample::select(vec!["*", "+", "?", "{2}", "{0,2}", "+?"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

fn haystack() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => prop::sample::select(vec!["a", "b", "k", "K", "s", "S", "A", "B", "_", "1", " "]),
        2 => prop::sample::select(vec!["\u{212A}", "\u{17F}", "é", "É", "ß", "ẞ"]),
        3 => prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r"]),
    ]
    .prop_map(|piece| piece.as_bytes().to_vec());
    let broken =
        prop::sample::select(vec![b"\xFF".to_vec(), b"\xE2\x84".to_vec(), b"\xC5".to_vec()]);
    let piece = prop_oneof![30 => piece, 1 => broken];
    prop::collection::vec(piece, 0..150).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2500))]

    #[test]
    fn the_prefilter_changes_nothing(
        text in pattern_text(),
        case_sensitive in any::<bool>(),
        haystack in haystack(),
    ) {
        let Ok(pattern) = Pattern::new(&text, case_sensitive) else { return Ok(()) };
        let found = lines_by(&pattern, &pattern, &haystack);
        let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
        // Our matcher takes `\r` out of classes, so that it is never matched inside a line.
        let lone = haystack.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n')
            || haystack.ends_with(b"\r");
        if !lone {
            let crlf = pattern.line_ending().is_crlf();
            let expected = lines_one_by_one(&text, case_sensitive, crlf, &haystack);
            prop_assert_eq!(&expected, &numbers, "{}", text);
        }
        // The plain matcher sees a line's end before the end of the text.
        if !text.contains(r"\A") && !text.contains(r"\z") {
            let plain = lines_by(pattern.plain(), &pattern, &haystack);
            prop_assert_eq!(&plain, &found, "{}", text);
        }
        if !found.is_empty() {
            prop_assert!(pattern.possible_from(&haystack).is_some(), "{}", text);
        }
        let count = FileSearch::new(&pattern, false).search(&haystack, Want::Count).unwrap().count;
        prop_assert_eq!(count, found.len() as u64);
    }
}

#[test]
fn ordinary_patterns_have_a_prefilter() {
    for pattern in ["needle", "alpha|beta|gamma", r"fn \w+_resume", r"\bword\b", "(?i)kiss"] {
        for case_sensitive in [true, false] {
            assert!(Pattern::new(pattern, case_sensitive).unwrap().has_prefilter(), "{pattern}");
        }
    }
}
