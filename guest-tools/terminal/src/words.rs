//! Splits a command given as one string into its words, by the quoting rules of POSIX shells.
//!
//! There is no shell behind it. What only a shell understands (pipes, redirections, variables,
//! globs) would reach the program as plain text and do something else than it says; so, outside
//! quotes, it is refused with what to write instead. The policy of the host sees the same words
//! that the program gets.

use std::fmt;

/// Why a string is not a plain command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Something that only a shell would act on.
    NeedsShell(String),
    /// A quote that is opened and never closed.
    OpenQuote(char),
    /// A backslash with nothing after it.
    TrailingBackslash,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NeedsShell(what) => write!(
                f,
                "{what:?} needs a shell, and none is used: quote it ('...') if it is meant as it \
                 stands, run the programs one call after the other, or, if sh is allowed, give \
                 [\"sh\", \"-c\", \"...\"]"
            ),
            Refusal::OpenQuote(quote) => {
                write!(f, "a quote {quote} is not closed; close it, or give the command as a list")
            }
            Refusal::TrailingBackslash => {
                write!(f, "the command ends in a backslash; remove it, or write it twice")
            }
        }
    }
}

/// The words of a command.
pub fn split(command: &str) -> Result<Vec<String>, Refusal> {
    let mut splitter = Splitter { rest: command, words: Vec::new(), word: None };
    while let Some(character) = splitter.next() {
        splitter.take(character)?;
    }
    splitter.end_word();
    Ok(splitter.words)
}

struct Splitter<'c> {
    rest: &'c str,
    words: Vec<String>,
    /// The word so far; some even where it is empty, as in `''`.
    word: Option<String>,
}

impl Splitter<'_> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        self.rest = characters.as_str();
        Some(character)
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    /// One character outside of quotes.
    fn take(&mut self, character: char) -> Result<(), Refusal> {
        match character {
            ' ' | '\t' => self.end_word(),
            '\'' => self.single_quoted()?,
            '"' => self.double_quoted()?,
            '\\' => match self.next() {
                // An escaped line break joins two lines.
                Some('\n') => {}
                Some(escaped) => self.push(escaped),
                None => return Err(Refusal::TrailingBackslash),
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '\n' | '\r' | '*' | '?' => {
                return Err(self.operator(character));
            }
            '~' if self.word.is_none() => return Err(self.operator(character)),
            '$' => self.dollar()?,
            other => self.push(other),
        }
        Ok(())
    }

    /// An operator as the model wrote it, `&&` rather than `&`.
    fn operator(&self, character: char) -> Refusal {
        let doubled =
            matches!(character, '|' | '&' | '>' | '<' | ';') && self.rest.starts_with(character);
        Refusal::NeedsShell(character.to_string().repeat(if doubled { 2 } else { 1 }))
    }

    /// A dollar sign stands for itself unless a shell would put something in its place.
    fn dollar(&mut self) -> Result<(), Refusal> {
        let special = |next: char| next.is_ascii_alphanumeric() || "_{(@*#?-$!'\"".contains(next);
        match self.rest.chars().next() {
            Some(next) if special(next) => Err(Refusal::NeedsShell(format!("${next}"))),
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self) -> Result<(), Refusal> {
        let (quoted, rest) = self.rest.split_once('\'').ok_or(Refusal::OpenQuote('\''))?;
        self.word.get_or_insert_default().push_str(quoted);
        self.rest = rest;
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), Refusal> {
        self.word.get_or_insert_default();
        loop {
            match self.next().ok_or(Refusal::OpenQuote('"'))? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or(Refusal::OpenQuote('"'))? {
                    '\n' => {}
                    escaped @ ('$' | '`' | '"' | '\\') => self.push(escaped),
                    other => {
                        self.push('\\');
                        self.push(other);
                    }
                },
                '`' => return Err(Refusal::NeedsShell("`".to_owned())),
                // The closing quote right after it is no part of a variable.
                '$' if self.rest.starts_with(['"', '\'']) => self.push('$'),
                '$' => self.dollar()?,
                other => self.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(command: &str) -> Vec<String> {
        split(command).unwrap()
    }

    #[test]
    fn quoting() {
        assert_eq!(words("cargo  test\t-p x"), ["cargo", "test", "-p", "x"]);
        assert_eq!(
            words(r#"git commit -m "it's \"done\"""#),
            ["git", "commit", "-m", "it's \"done\""]
        );
        assert_eq!(words(r"a 'b c'd\ e ''"), ["a", "b cd e", ""]);
        assert_eq!(words(r#"echo "a\nb" '\n' \n"#), ["echo", r"a\nb", r"\n", "n"]);
        assert_eq!(words("a \\\n b"), ["a", "b"]);
        assert_eq!(words("'a\nb'"), ["a\nb"]);
        assert_eq!(words(" "), Vec::<String>::new());
        assert_eq!(words("héllo wörld"), ["héllo", "wörld"]);
    }

    #[test]
    fn what_a_shell_would_do_is_refused() {
        for (command, what) in [
            ("ls | wc", "|"),
            ("a || b", "||"),
            ("a && b", "&&"),
            ("a & b", "&"),
            ("a; b", ";"),
            ("a > f", ">"),
            ("a >> f", ">>"),
            ("a < f", "<"),
            ("a << f", "<<"),
            ("a 2>&1", ">"),
            ("echo $(id)", "$("),
            ("echo \"$(id)\"", "$("),
            ("echo $HOME", "$H"),
            ("echo \"${HOME}\"", "${"),
            ("echo `id`", "`"),
            ("echo \"`id`\"", "`"),
            ("(a)", "("),
            ("a\nb", "\n"),
            ("ls *.rs", "*"),
            ("ls a?", "?"),
            ("ls ~/x", "~"),
        ] {
            assert_eq!(split(command), Err(Refusal::NeedsShell(what.to_owned())), "{command}");
        }
    }

    #[test]
    fn quoted_operators_are_text() {
        for operator in ["|", "&&", ";", ">", "$(id)", "`id`", "*", "$HOME", "~", "\n"] {
            assert_eq!(words(&format!("echo '{operator}'")), ["echo", operator]);
        }
        assert_eq!(words(r#"grep "a|b" "x*" "^a$""#), ["grep", "a|b", "x*", "^a$"]);
        assert_eq!(
            words(r"echo \| \$HOME \* a~b HEAD~2 $"),
            ["echo", "|", "$HOME", "*", "a~b", "HEAD~2", "$"]
        );
        assert_eq!(words(r#"echo "\$HOME \`id\`""#), ["echo", "$HOME `id`"]);
    }

    #[test]
    fn what_is_open_is_refused() {
        assert_eq!(split("a 'b"), Err(Refusal::OpenQuote('\'')));
        assert_eq!(split("a \"b"), Err(Refusal::OpenQuote('"')));
        assert_eq!(split("a \"b\\"), Err(Refusal::OpenQuote('"')));
        assert_eq!(split("a b\\"), Err(Refusal::TrailingBackslash));
    }

    #[test]
    fn refusals_say_what_to_write() {
        let message = split("a | b").unwrap_err().to_string();
        assert!(message.contains(r#"["sh", "-c", "..."]"#), "{message}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        /// Where no shell is needed, the words are those of a splitter that others wrote.
        #[test]
        fn the_same_words_as_another_splitter(command in "[ab'\"\\\\ \té-]{0,24}") {
            prop_assert_eq!(split(&command).ok(), shlex::split(&command), "{}", command);
        }

        #[test]
        fn quoted_words_come_back(given in prop::collection::vec("[^\0]{0,12}", 1..6)) {
            let quote = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
            let command = given.iter().map(quote).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split(&command), Ok(given));
        }
    }
}
