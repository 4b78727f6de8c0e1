//! Checks that what the documents link to is there: files of the project, and headings in them.
//!
//! Addresses on the network are not looked at: whether they answer does not depend on a change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::failure::Failure;
use crate::files;
use crate::step::note;

/// Where documents are, besides the root itself.
const DIRECTORIES: [&str; 3] = ["docs", "guest-tools", "tests"];

pub fn check(root: &Path) -> Result<(), Failure> {
    let mut documents = markdown_in(root, false)?;
    for directory in DIRECTORIES {
        let directory = root.join(directory);
        if directory.is_dir() {
            documents.extend(markdown_in(&directory, true)?);
        }
    }
    let mut problems = Vec::new();
    let mut count = 0;
    for document in &documents {
        let text = read_text(document)?;
        for (line, link) in links(&text) {
            count += 1;
            if let Some(problem) = problem_with(root, document, &link)? {
                let shown = document.strip_prefix(root).unwrap_or(document);
                problems.push(format!("{}:{line}: {link}: {problem}", shown.display()));
            }
        }
    }
    if problems.is_empty() {
        note(&format!("{count} links in {} documents", documents.len()));
        return Ok(());
    }
    Err(Failure::failed(format!("links that lead nowhere:\n  {}", problems.join("\n  "))))
}

fn markdown_in(directory: &Path, below: bool) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error| Failure::io("list", directory, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() && below {
            found.extend(markdown_in(&path, true)?);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(files::read(path)?)
        .map_err(|_| Failure::failed(format!("{} is not UTF-8", path.display())))
}

/// What is wrong with a link of a document, if anything.
fn problem_with(root: &Path, document: &Path, link: &str) -> Result<Option<String>, Failure> {
    if link.contains("://") || link.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => document.to_owned(),
        _ => lexically_normal(&document.with_file_name("").join(file)),
    };
    if !target.starts_with(root) {
        return Ok(Some("is outside the project".into()));
    }
    if !target.exists() {
        return Ok(Some("there is no such file".into()));
    }
    let is_markdown = target.extension().is_some_and(|extension| extension == "md");
    if !anchor.is_empty() && is_markdown && !anchors(&read_text(&target)?).contains(anchor) {
        return Ok(Some("there is no such heading".into()));
    }
    Ok(None)
}

fn lexically_normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Lines that are not inside fenced code, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then_some((index + 1, line))
    })
}

/// The targets of `[text](target)` and `[label]: target`, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for (at, _) in line.match_indices("](") {
            let target = &line[at + 2..];
            if let Some(end) = target.find(')') {
                links.push((number, destination(&target[..end])));
            }
        }
        if let Some((label, target)) = line.split_once("]: ")
            && label.starts_with('[')
            && !label.starts_with("[^")
        {
            links.push((number, destination(target)));
        }
    }
    links
}

/// Without a title and without angle brackets.
fn destination(target: &str) -> String {
    let first = target.split_whitespace().next().unwrap_or_default();
    first.trim_start_matches('<').trim_end_matches('>').to_owned()
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// What headings can be linked by: their words in lower case with hyphens between, a number
/// behind those that occur again.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let anchor: String = title.trim().to_lowercase().chars().filter(kept).collect();
        let anchor = anchor.replace(' ', "-");
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let candidates = std::iter::once(anchor.clone()).chain(again);
        let free = candidates.into_iter().find(|candidate| !anchors.contains(candidate));
        anchors.extend(free);
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code_only() {
        let text = "See [a](x.md) and [b](<y.md#z> \"title\").\n\
                    `[no](code.md)` but [yes](z.md)\n\
                    ```\n[no](fenced.md)\n```\n[label]: w.md\n[^1]: a note\n";
        let found: Vec<_> = links(text);
        let expected = [(1, "x.md"), (1, "y.md#z"), (2, "z.md"), (6, "w.md")];
        assert_eq!(found, expected.map(|(line, link)| (line, link.to_owned())));
    }

    #[test]
    fn headings_become_anchors() {
        let found = anchors("# The *tools*, and `grep`\n## Again\n## Again\n```\n# no\n```\n#no\n");
        let expected = ["again", "again-1", "the-tools-and-grep"].map(str::to_owned);
        assert_eq!(found, BTreeSet::from(expected));
    }

    #[test]
    fn only_links_that_lead_somewhere_pass() {
        let temporary = files::TemporaryDirectory::new("links").unwrap();
        let root = temporary.path();
        fs::create_dir(root.join("docs")).unwrap();
        fs::write(root.join("docs/b.md"), "# Two words\n[up](../README.md#top)\n").unwrap();
        let readme = |text: &str| fs::write(root.join("README.md"), text).unwrap();

        readme("# Top\n[b](docs/b.md#two-words) [d](docs) [x](https://no.such.host/) [t](#top)\n");
        check(root).unwrap();

        readme("# Top\n[a](docs/c.md)\n[b](docs/b.md#three)\n[c](../../etc/passwd)\n[d](#no)\n");
        let failure = check(root).unwrap_err().to_string();
        for problem in [
            "README.md:2: docs/c.md: there is no such file",
            "README.md:3: docs/b.md#three: there is no such heading",
            "README.md:4: ../../etc/passwd: is outside the project",
            "README.md:5: #no: there is no such heading",
        ] {
            assert!(failure.contains(problem), "{problem} is missing in {failure}");
        }
    }
}
