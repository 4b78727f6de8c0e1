//! The text of a page as a reader sees it: blocks apart, white space joined, nothing else.

use std::rc::Rc;

use htmd::Node;
use markup5ever_rcdom::NodeData;

use super::clean::tag;

/// Elements with an empty line around them.
const APART: [&str; 16] = [
    "address",
    "article",
    "blockquote",
    "dl",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ol",
    "p",
    "pre",
    "ul",
];

/// Elements on a line of their own.
const ON_ITS_OWN: [&str; 23] = [
    "aside",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dt",
    "fieldset",
    "figcaption",
    "form",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "option",
    "section",
    "summary",
    "table",
    "tbody",
    "thead",
    "tr",
];

enum Step {
    Enter(Rc<Node>),
    Leave { breaks: usize, preformatted: bool },
}

/// Gathers the text, without recursion.
pub fn gather(document: &Rc<Node>) -> String {
    let mut writer = Writer::default();
    let mut preformatted = 0_usize;
    let mut steps = vec![Step::Enter(Rc::clone(document))];
    while let Some(step) = steps.pop() {
        match step {
            Step::Leave { breaks, preformatted: leaves } => {
                writer.break_lines(breaks);
                preformatted -= usize::from(leaves);
            }
            Step::Enter(node) => {
                if let NodeData::Text { contents } = &node.data {
                    let contents = contents.borrow();
                    if preformatted > 0 {
                        writer.verbatim(&contents)
                    } else {
                        writer.words(&contents)
                    }
                    continue;
                }
                let name = tag(&node).unwrap_or_default();
                let breaks = breaks(name);
                writer.break_lines(breaks);
                match name {
                    "br" => writer.verbatim("\n"),
                    "td" | "th" => writer.words(" "),
                    _ => {}
                }
                let is_pre = name == "pre";
                preformatted += usize::from(is_pre);
                steps.push(Step::Leave { breaks, preformatted: is_pre });
                steps.extend(
                    node.children.borrow().iter().rev().map(|child| Step::Enter(Rc::clone(child))),
                );
            }
        }
    }
    writer.text
}

fn breaks(name: &str) -> usize {
    if APART.contains(&name) {
        2
    } else if ON_ITS_OWN.contains(&name) {
        1
    } else {
        0
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    /// Line breaks that the next text has before it.
    pending_breaks: usize,
    pending_space: bool,
}

impl Writer {
    fn break_lines(&mut self, count: usize) {
        self.pending_breaks = self.pending_breaks.max(count);
        if count > 0 {
            self.pending_space = false;
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            let there = self.text.len() - self.text.trim_end_matches('\n').len();
            for _ in there..self.pending_breaks {
                self.text.push('\n');
            }
            if self.pending_space && self.pending_breaks == 0 && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
        }
        self.pending_breaks = 0;
        self.pending_space = false;
    }

    fn words(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let word_end = rest.find(|character: char| character.is_ascii_whitespace());
            let (word, after) = rest.split_at(word_end.unwrap_or(rest.len()));
            if !word.is_empty() {
                self.flush();
                self.text.push_str(word);
            }
            let next = after.trim_start_matches(|character: char| character.is_ascii_whitespace());
            self.pending_space |= next.len() < after.len();
            rest = next;
        }
    }

    fn verbatim(&mut self, text: &str) {
        self.flush();
        self.text.push_str(text);
    }
}
