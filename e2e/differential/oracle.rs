//! Upstream's own code, built with Go and asked over its standard input.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A running oracle; it ends with its standard input.
pub struct Oracle {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    /// Builds the oracle and starts it. `None` where there is no Go, which CI does not accept.
    pub fn start() -> Option<Self> {
        Self::build("bin/oracle", &[])
    }

    /// The same from the modules of Kubernetes 1.34.
    #[allow(dead_code, reason = "not every test that shares this file asks it")]
    pub fn start_1_34() -> Option<Self> {
        Self::build("bin/oracle-1.34", &["-modfile=go-1.34.mod", "-tags=v1_34"])
    }

    fn build(binary: &str, options: &[&str]) -> Option<Self> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("e2e/oracle");
        let binary = folder.join(binary);
        let mut build = Command::new("go");
        build.arg("build").args(options).arg("-o").arg(&binary).arg(".").current_dir(&folder);
        let build = build.status();
        match build {
            Ok(status) => assert!(status.success(), "`go build` fails in {}", folder.display()),
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "CI needs Go for the differential test: {error}");
                eprintln!("skipped: no Go on the PATH, so upstream's allocator cannot be asked ({error})");
                return None;
            }
        }
        let mut child = Command::new(&binary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the oracle that was just built starts");
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("its standard output is a pipe"));
        Some(Self { child, questions, answers })
    }

    /// Asks one question.
    pub fn ask(&mut self, question: &Value) -> Value {
        self.send(question);
        self.receive()
    }

    /// Begins a question. The answer must be received before the next one.
    pub fn send(&mut self, question: &Value) {
        let questions = self.questions.as_mut().expect("the oracle runs");
        writeln!(questions, "{question}").and_then(|()| questions.flush()).expect("the oracle listens");
    }

    /// The answer to the question that was sent.
    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the oracle answers");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("the oracle answers JSON: {error}: {line}"))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        drop(self.questions.take());
        let _ = self.child.wait();
    }
}
