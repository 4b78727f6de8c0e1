//! Text for a person's terminal.
//!
//! What tools and models say may hold control characters that move the cursor, set the clipboard
//! or reorder what is shown. None of them reaches the terminal.

use std::io::{self, Write};

/// Writes lines to standard output. A reader that went away (`| head`) is no error of ours.
#[allow(clippy::print_stdout)]
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer,
    }
}

/// Writes one message to standard error.
pub fn error(message: &str) {
    // If standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "xzatoma: {}", harmless(message));
}

/// The text with control characters and invisible direction marks replaced.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            '\r' => '\u{240d}',
            '\u{1b}' => '\u{241b}',
            '\u{7f}' => '\u{2421}',
            // Bidirectional overrides, isolates and marks; invisible tags.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
            control if control.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// Ends in exactly one line break.
pub fn with_newline(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let attack = "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{202e}c\rd\u{9b}31me\nf\tg";
        let shown = harmless(attack);
        assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{shown:?}");
        assert!(!shown.contains('\u{202e}'));
        assert!(shown.starts_with('a') && shown.ends_with("e\nf\tg"));
    }

    #[test]
    fn ordinary_text_stays() {
        let text = "naïve 日本語 – 🦀\n\tx";
        assert_eq!(harmless(text), text);
    }
}
