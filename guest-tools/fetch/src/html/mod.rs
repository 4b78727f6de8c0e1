//! Turns a page into Markdown or plain text.
//!
//! A page comes from a stranger. The parser keeps its own stack, but slows down with the depth of
//! its tree, and the Markdown converter calls itself once per level: pages nested beyond all
//! measure are refused while they are parsed, and those nested too deeply for the converter are
//! shown as plain text, which is gathered without recursion.

mod clean;
mod parse;
mod text;

use std::rc::Rc;

use htmd::{HtmlToMarkdown, Node};
use url::Url;
use xzatoma_tool::{Error, Result};

/// How deep the tags of a page may nest at all. People's pages stay below a hundred.
const MAX_NESTING: usize = 2000;

/// How deep a tree the Markdown converter gets. It calls itself several times per level, and the
/// stack of a component is small.
const MAX_MARKDOWN_DEPTH: usize = 100;

/// A page in another form.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    pub title: Option<String>,
    /// What the reader should know about how it was made.
    pub notice: Option<&'static str>,
}

/// The page as Markdown, with absolute links.
pub fn to_markdown(html: &str, url: &Url) -> Result<Page> {
    let converter = HtmlToMarkdown::builder().scripting_enabled(false).build();
    let (tree, title) = read(html, url)?;
    if clean::depth(&tree) > MAX_MARKDOWN_DEPTH {
        let notice = "nested too deeply for Markdown; shown as plain text";
        return Ok(Page { text: text::gather(&tree), title, notice: Some(notice) });
    }
    Ok(Page { text: converter.tree_to_markdown(&tree), title, notice: None })
}

/// The page's text alone.
pub fn to_text(html: &str, url: &Url) -> Result<Page> {
    let (tree, title) = read(html, url)?;
    Ok(Page { text: text::gather(&tree), title, notice: None })
}

/// The tree without noise, and its title.
fn read(html: &str, url: &Url) -> Result<(Rc<Node>, Option<String>)> {
    let tree = parse::parse(html, MAX_NESTING).ok_or_else(|| {
        Error::limit_exceeded(format!(
            "the page nests its tags more than {MAX_NESTING} deep; ask for the format raw"
        ))
    })?;
    let title = clean::clean(&tree, url);
    Ok((tree, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> Url {
        Url::parse("https://h/dir/page").unwrap()
    }

    fn markdown(html: &str) -> String {
        to_markdown(html, &url()).unwrap().text
    }

    #[test]
    fn ordinary_pages() {
        let page = to_markdown(
            "<!doctype html><html><head><title> A\n page </title><style>p{}</style></head><body>\
             <nav><a href=/>Home</a></nav><h1>Hi</h1><p>Some <b>bold</b> <a href='x?y#z'>link</a>\
             <script>alert(1)</script><ul><li>one<li>two</ul>\
             <pre><code class=language-rust>fn x() {}\n</code></pre>\
             <table><tr><th>a<th>b<tr><td>1<td>2</table><img src=i.png alt=pic></body></html>",
            &url(),
        )
        .unwrap();
        assert_eq!(page.title.as_deref(), Some("A page"));
        let text = page.text;
        for part in [
            "# Hi",
            "Some **bold** [link](https://h/dir/x?y#z)",
            "one",
            "```rust\nfn x() {}\n```",
            "| a | b |",
            "![pic](https://h/dir/i.png)",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        for part in ["alert", "Home", "p{}", "<nav", "A page"] {
            assert!(!text.contains(part), "{part:?} in {text}");
        }
    }

    #[test]
    fn base_is_honoured() {
        let text = markdown("<base href='https://cdn/x/'><a href=y>l</a><a href='//z/'>m</a>");
        assert!(text.contains("(https://cdn/x/y)") && text.contains("(https://z/)"), "{text}");
    }

    #[test]
    fn text_alone() {
        let page = to_text(
            "<title>T</title><h1>Hi</h1><p>a  <b>b</b>\n c<br>d</p><pre> x\n  y</pre>\
             <script>no()</script><ul><li>1</li><li>2</li></ul><div><div>z</div></div>",
            &url(),
        )
        .unwrap();
        assert_eq!(page.text, "Hi\n\na b c\nd\n\n x\n  y\n\n1\n2\n\nz");
    }

    /// Runs on a stack as small as a component's.
    fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let thread = std::thread::Builder::new().stack_size(512 * 1024);
        thread.spawn(work).unwrap().join().unwrap()
    }

    #[test]
    fn deep_pages_do_not_overflow() {
        for tag in ["div", "b", "ul><li", "blockquote", "table><tr><td", "span", "a href=x", "pre"]
        {
            for depth in [20, 90, 150, 450] {
                let html = format!("<{tag}>").repeat(depth) + "core";
                let page = on_small_stack(move || to_markdown(&html, &url()).unwrap());
                assert!(page.text.contains("core"), "{tag} {depth}");
            }
            let html = format!("<{tag}>").repeat(100_000) + "core";
            let bomb = on_small_stack(move || to_markdown(&html, &url()));
            match bomb {
                Err(error) => assert_eq!(error.case(), "limit-exceeded", "{tag}"),
                Ok(page) => assert!(page.text.contains("core"), "{tag}"),
            }
        }
    }

    #[test]
    fn old_pages_without_end_tags_are_fine() {
        let html = "<p>x<li>y<tr><td>z<br><img>".repeat(20_000);
        let page = on_small_stack(move || to_text(&html, &url()).unwrap());
        assert!(page.text.contains('x'));
    }

    #[test]
    fn nonsense_does_not_panic() {
        for html in [
            "",
            "<",
            "<!",
            "<a",
            "</",
            "&",
            "&#x110000;",
            "<a href='http://['>x",
            "<?x?>",
            "\0<b\0>",
        ] {
            to_markdown(html, &url()).unwrap();
            to_text(html, &url()).unwrap();
        }
    }
}
