//! Parses a page piece by piece, and gives up where it nests beyond all measure.
//!
//! For many a tag the parser looks through all the elements that are open, so that a page that
//! opens a hundred thousand of them keeps it busy for minutes. Which tags nest only the parser can
//! say: `li` after `li` does not, `li` in `dd` in `li` does, and inside of a drawing everything
//! does. So the tree is looked at while it grows.

use std::rc::Rc;

use htmd::Node;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{NodeData, RcDom};

use super::clean::tag;

/// Bytes between two looks at the tree: few enough that it does not grow by more than a few
/// thousand levels meanwhile.
const PIECE: usize = 16 * 1024;

/// The tree of a page; none where more than `most` elements are open at once.
pub fn parse(html: &str, most: usize) -> Option<Rc<Node>> {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..Default::default() };
    let options = ParseOpts { tree_builder, ..Default::default() };
    let mut parser = parse_document(RcDom::default(), options);
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        if open(&parser.tokenizer.sink.sink.document) > most {
            return None;
        }
        rest = after;
    }
    Some(parser.finish().document)
}

/// Levels down to where the tree grows: at the last element of each level, or before it where
/// that is a table, which puts what it cannot hold there.
fn open(document: &Rc<Node>) -> usize {
    let mut deepest = 0;
    let mut pending = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = pending.pop() {
        deepest = deepest.max(depth);
        for child in node.children.borrow().iter().rev() {
            let Some(name) = tag(child) else { continue };
            pending.push((Rc::clone(child), depth + 1));
            if name != "table" {
                break;
            }
        }
        if let NodeData::Element { template_contents, .. } = &node.data
            && let Some(contents) = &*template_contents.borrow()
        {
            pending.push((Rc::clone(contents), depth + 1));
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 2000;

    #[test]
    fn what_nests_is_noticed() {
        for tags in [
            "<div>",
            "<b>",
            "<x>",
            "<table><tr><td>",
            "<template>",
            "<optgroup>",
            "<rt>",
            "<dd><li>",
            "<ul><li>",
            "<object><p>",
        ] {
            assert!(parse(&tags.repeat(20_000), MOST).is_none(), "{tags}");
            assert!(parse(&tags.repeat(100), MOST).is_some(), "{tags}");
        }
        for start in ["<svg>", "<math>", "<table>"] {
            for tags in ["<optgroup>", "<x>"] {
                let html = format!("{start}{}", tags.repeat(20_000));
                assert!(parse(&html, MOST).is_none(), "{start}{tags}");
            }
        }
        assert!(parse(&format!("<svg>{}", "<tr>".repeat(20_000)), MOST).is_none());
    }

    #[test]
    fn what_stands_side_by_side_is_not() {
        for tags in [
            "<p>",
            "<li>",
            "<table>",
            "<table><div>",
            "<dt><dd>",
            "<tr><td>",
            "<br><img>",
            "<option>",
            "<b>x</b>",
            "</div>",
            "<p>x<li>y<tr><td>z<br><img>",
        ] {
            assert!(parse(&tags.repeat(5_000), MOST).is_some(), "{tags}");
        }
        assert!(parse(&"é".repeat(3 * PIECE), MOST).is_some());
    }
}
