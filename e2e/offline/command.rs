//! Runs the built binary.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the binary gave.
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        let json = serde_json::from_str(&self.stdout);
        assert!(json.is_ok(), "no JSON: {}\n{}", self.stdout, self.stderr);
        json.unwrap_or_default()
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `stowplan` with these arguments in the root of the repository.
pub fn stowplan(arguments: &[&str]) -> Run {
    run(command().args(arguments), "")
}

/// The same with a standard input.
pub fn stowplan_reading(arguments: &[&str], input: &str) -> Run {
    run(command().args(arguments), input)
}

/// The binary, not yet started, away from the caller's terminal settings.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stowplan"));
    command.current_dir(root()).env_remove("NO_COLOR").env_remove("RUST_LOG");
    command
}

/// Runs a prepared command.
pub fn run(command: &mut Command, input: &str) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A run that ends early does not read its input: the broken pipe is no fault.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the binary ends");
    Run {
        code: output.status.code().expect("an exit code, not a signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}
