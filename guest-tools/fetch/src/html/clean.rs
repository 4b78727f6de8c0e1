//! Takes out of a parsed page what nobody reads, and makes its links absolute.

use std::rc::Rc;

use htmd::Node;
use markup5ever_rcdom::NodeData;
use url::Url;

/// Elements whose content is not text for a reader, and the ways to other pages around it.
const NOISE: [&str; 21] = [
    "script", "style", "noscript", "template", "head", "nav", "svg", "math", "iframe", "frame",
    "object", "embed", "canvas", "audio", "video", "button", "input", "select", "textarea",
    "dialog", "link",
];

/// The element's name, in lower case; none for what is no element.
pub fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// Removes noise, resolves links and answers the title.
pub fn clean(document: &Rc<Node>, url: &Url) -> Option<String> {
    let title = find(document, "title").map(|node| words(&text_of(&node)));
    let base = find(document, "base")
        .and_then(|node| attribute(&node, "href"))
        .and_then(|href| url.join(&href).ok())
        .filter(|base| matches!(base.scheme(), "http" | "https"));
    let base = base.as_ref().unwrap_or(url);
    let mut stack = vec![Rc::clone(document)];
    while let Some(node) = stack.pop() {
        match tag(&node) {
            Some("a") => make_absolute(&node, "href", base),
            Some("img") => make_absolute(&node, "src", base),
            _ => {}
        }
        let mut children = node.children.borrow_mut();
        children.retain(|child| !tag(child).is_some_and(|tag| NOISE.contains(&tag)));
        stack.extend(children.iter().map(Rc::clone));
    }
    title.filter(|title| !title.is_empty())
}

/// Levels of the tree below the document.
pub fn depth(document: &Rc<Node>) -> usize {
    let mut deepest = 0;
    let mut stack = vec![(Rc::clone(document), 0)];
    while let Some((node, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        stack.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    deepest
}

/// The first element of a name, in the order of the page.
fn find(document: &Rc<Node>, name: &str) -> Option<Rc<Node>> {
    let mut stack = vec![Rc::clone(document)];
    while let Some(node) = stack.pop() {
        match tag(&node) {
            Some(tag) if tag == name => return Some(node),
            // It has a title of its own.
            Some("svg") => {}
            _ => stack.extend(node.children.borrow().iter().rev().map(Rc::clone)),
        }
    }
    None
}

fn attribute(node: &Node, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    let attributes = attrs.borrow();
    let found = attributes.iter().find(|attribute| &*attribute.name.local == name)?;
    Some(found.value.to_string())
}

/// Resolves a link; what is no address stays as it is.
fn make_absolute(node: &Node, name: &str, base: &Url) {
    let NodeData::Element { attrs, .. } = &node.data else { return };
    for attribute in attrs.borrow_mut().iter_mut() {
        if &*attribute.name.local == name
            && let Ok(resolved) = base.join(attribute.value.trim())
        {
            attribute.value = resolved.as_str().into();
        }
    }
}

/// The text of the node's own children; enough for a title.
fn text_of(node: &Node) -> String {
    let children = node.children.borrow();
    let texts = children.iter().filter_map(|child| match &child.data {
        NodeData::Text { contents } => Some(contents.borrow().to_string()),
        _ => None,
    });
    texts.collect()
}

/// With single spaces between the words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
