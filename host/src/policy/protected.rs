//! The name that no tool may write: `.git`, whose hooks and configuration run as the user.
//!
//! Filesystems differ in which other spellings open the same entry. A name that any of the common
//! ones would take for `.git` counts as `.git` on all of them; no honest file is called so.

pub const PROTECTED_NAME: &str = ".git";

/// Whether `name`, one component of a path, is `.git` to some filesystem.
pub fn is_protected_name(name: &str) -> bool {
    let visible: String = name.chars().filter(|c| !is_ignored(*c)).collect();
    // NTFS: what follows a colon names a stream of the same file (`.git::$INDEX_ALLOCATION`).
    let file = visible.split(':').next().unwrap_or_default();
    // Windows drops dots and spaces at the end.
    let stem = file.trim_end_matches(['.', ' ']);
    stem.eq_ignore_ascii_case(PROTECTED_NAME) || is_short_name(stem)
}

/// The 8.3 name that Windows makes for `.git`: `GIT~1`, or a later number where that was taken.
fn is_short_name(name: &str) -> bool {
    let Some((stem, number)) = name.split_once('~') else { return false };
    stem.eq_ignore_ascii_case("git")
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// Characters that HFS+, or a filesystem that folds case by Unicode, passes over when it compares
/// names: the code points that Unicode calls default-ignorable.
fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}
