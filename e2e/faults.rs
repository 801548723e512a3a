//! Does the differential test find faults? Three faults are put into a copy of the sources, one at a
//! time, and `e2e/differential.rs` must find each within 10,000 worlds. `STOWPLAN_FAULTS_TARGET` names a
//! target folder to build in, such as a warm one.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "builds a copy of the sources")]
#![allow(clippy::panic, clippy::print_stderr, reason = "its helpers are part of the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Worlds within which a fault must be found.
const WORLDS: &str = "10000";
/// Any seed will do; this one makes a failure repeatable.
const SEED: &str = "1";

/// A fault: in a file, one text that occurs once, and what stands there instead.
struct Fault {
    name: &'static str,
    file: &'static str,
    right: &'static str,
    wrong: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "counters are one short",
        file: "src/allocator/ledger.rs",
        right: "let is_overdrawn = rest.is_negative();",
        wrong: "let is_overdrawn = rest.is_negative() || rest.is_zero();",
    },
    Fault {
        name: "a constraint is not rolled back",
        file: "src/allocator/ledger.rs",
        right: "Some(Undo::Constraint { claim, constraint }) => self.constraints[claim][constraint].remove(),",
        wrong: "Some(Undo::Constraint { .. }) => {}",
    },
    Fault {
        name: "names without a domain belong to no driver",
        file: "src/cel/device.rs",
        right: "key.split_once('/').unwrap_or((self.driver, key.as_str()))",
        wrong: "key.split_once('/').unwrap_or((\"example.com\", key.as_str()))",
    },
];

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        // The oracle is built anew.
        if from.file_name().is_some_and(|name| name == "bin") {
            return;
        }
        fs::create_dir_all(to).expect("target is writable");
        for entry in fs::read_dir(from).expect("a folder").filter_map(Result::ok) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        let text = fs::read(from).expect("a file of the sources");
        // An equal file keeps its time, so that a second run builds less.
        if fs::read(to).ok().as_ref() != Some(&text) {
            fs::write(to, text).expect("target is writable");
        }
    }
}

/// What the differential test of the copy prints, and whether it passes.
fn differential(copy: &Path) -> (bool, String) {
    let target =
        std::env::var_os("STOWPLAN_FAULTS_TARGET").map_or_else(|| copy.join("target"), PathBuf::from);
    let out = Command::new(env!("CARGO"))
        .current_dir(copy)
        .args(["test", "--offline", "--no-default-features", "--test", "differential", "--"])
        .args(["--nocapture", "the_allocator_answers_as_upstream_does"])
        .env("CARGO_TARGET_DIR", target)
        .env("STOWPLAN_SEED", SEED)
        .env("STOWPLAN_WORLDS", WORLDS)
        .output()
        .expect("cargo runs");
    let text = [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n");
    (out.status.success(), text)
}

#[test]
fn the_differential_test_finds_faults() {
    if let Err(error) = Command::new("go").arg("version").output() {
        assert!(std::env::var_os("CI").is_none(), "CI needs Go for the differential test: {error}");
        eprintln!("skipped: no Go on the PATH, so upstream's allocator cannot be asked ({error})");
        return;
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let tree = root.join("target/faults");
    for part in ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "e2e", "benches"] {
        fs::create_dir_all(&tree).expect("target is writable");
        copy(&root.join(part), &tree.join(part));
    }
    for Fault { name, file, right, wrong } in FAULTS {
        let text = fs::read_to_string(root.join(file)).expect("a file of the sources");
        assert_eq!(text.matches(right).count(), 1, "{name}: {file} must have once: {right}");
        fs::write(tree.join(file), text.replace(right, wrong)).expect("target is writable");
        let (passed, output) = differential(&tree);
        fs::write(tree.join(file), text).expect("target is writable");
        assert!(!passed, "{name}: not found in {WORLDS} worlds\n{output}");
        let found = output.lines().find(|line| line.contains("a difference"));
        let found = found.unwrap_or_else(|| panic!("{name}: no difference is shown\n{output}"));
        println!("{name}: {found}");
    }
}
