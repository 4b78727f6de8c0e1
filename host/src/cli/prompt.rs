//! Asks the person at the terminal.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::text::harmless;
use crate::policy::Level;
use crate::tool::{Answer, Approver, Headless, Question};

/// Someone to ask, if the level asks and somebody is there.
pub fn approver(level: Level) -> Arc<dyn Approver> {
    match level.asks() && io::stdin().is_terminal() && io::stderr().is_terminal() {
        true => Arc::new(Terminal::default()),
        false => Arc::new(Headless),
    }
}

#[derive(Default)]
struct Terminal {
    /// What was answered with "always".
    always: Mutex<BTreeSet<String>>,
    /// One question at a time.
    asking: tokio::sync::Mutex<()>,
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, question: Question) -> Answer {
        let _one_at_a_time = self.asking.lock().await;
        if self.remembered().contains(&question.subject) {
            return Answer::Session;
        }
        let subject = question.subject.clone();
        // Reading a line blocks; the runtime goes on meanwhile.
        let answer = tokio::task::spawn_blocking(move || read_answer(&question))
            .await
            .unwrap_or(Answer::Refuse);
        if answer == Answer::Session {
            self.remembered().insert(subject);
        }
        answer
    }
}

impl Terminal {
    fn remembered(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.always.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_answer(question: &Question) -> Answer {
    let mut line = String::new();
    let asked = write!(
        io::stderr().lock(),
        "{} wants: {}\n  {}\nAllow? [y] once, [a] always in this session, anything else refuses: ",
        harmless(&question.tool),
        harmless(&question.subject),
        harmless(&question.act),
    );
    if asked.is_err() || io::stdin().lock().read_line(&mut line).is_err() {
        return Answer::Refuse;
    }
    match line.trim() {
        "y" | "Y" | "yes" => Answer::Once,
        "a" | "A" | "always" => Answer::Session,
        _ => Answer::Refuse,
    }
}
