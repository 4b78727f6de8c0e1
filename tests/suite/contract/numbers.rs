//! Numbers as the code has them and as a document tells them, both as bytes, milliseconds or a
//! plain count.

/// The value of `const NAME: T = ...;` or of a field `NAME: ...,` in a source file.
pub fn constant(source: &str, name: &str) -> Option<u64> {
    let is_constant = name.starts_with(|c: char| c.is_ascii_uppercase());
    source.lines().map(str::trim).find_map(|line| {
        if is_constant {
            let line = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("const ")?;
            let (_, value) = line.strip_prefix(name)?.strip_prefix(':')?.split_once('=')?;
            evaluate(source, value.trim().strip_suffix(';')?)
        } else {
            let value = line.strip_prefix(name)?.strip_prefix(':')?;
            evaluate(source, value.trim().strip_suffix(',')?)
        }
    })
}

/// A number, a product or a shift of two, a `Duration` in milliseconds, or another constant.
fn evaluate(source: &str, expression: &str) -> Option<u64> {
    let expression = expression.trim();
    for (duration, milliseconds) in [("Duration::from_secs(", 1000), ("Duration::from_millis(", 1)]
    {
        if let Some(inner) = expression.strip_prefix(duration) {
            return Some(evaluate(source, inner.strip_suffix(')')?)? * milliseconds);
        }
    }
    if let Some((left, right)) = expression.split_once(" << ") {
        return Some(evaluate(source, left)? << evaluate(source, right)?);
    }
    if let Some((left, right)) = expression.split_once(" * ") {
        return Some(evaluate(source, left)? * evaluate(source, right)?);
    }
    if expression.starts_with(|c: char| c.is_ascii_uppercase()) {
        return constant(source, expression);
    }
    expression.replace('_', "").parse().ok()
}

/// What `30 s`, `64 KiB` or `10,000` stands for.
pub fn told(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number: u64 = number.replace(',', "").parse().ok()?;
    let factor = match unit {
        "" | "ms" => 1,
        "s" => 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    Some(number * factor)
}

#[test]
fn numbers_are_read_as_they_are_meant() {
    let source = "const MIB: u64 = 1024 * 1024;\npub const A: usize = 16 << 10;\n\
                  const B: Duration = Duration::from_secs(10);\nfield: 256 * MIB,\nother: 30_000,\n\
                  pub field: u64,\nconst AB: u32 = 7;\n";
    let value = |name| constant(source, name);
    assert_eq!(value("A"), Some(16 << 10));
    assert_eq!(value("B"), Some(10_000));
    assert_eq!(value("AB"), Some(7));
    assert_eq!(value("field"), Some(256 << 20));
    assert_eq!(value("other"), Some(30_000));
    assert_eq!(value("C"), None);
    assert_eq!(told("10,000"), Some(10_000));
    assert_eq!(told("30 s"), Some(30_000));
    assert_eq!(told("4 KiB"), Some(4096));
    assert_eq!(told("some"), None);
}
