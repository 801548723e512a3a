//! Keeps docs/architecture.md true: who may import whom, what the pure rooms never touch, that
//! every source file is part of the build, and that no file outgrows its reader.
#![allow(clippy::disallowed_methods, reason = "this test reads the sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Room → rooms that it may import.
const IMPORTS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("cel", &["model"]),
    ("allocator", &["model", "cel"]),
    ("scheduling", &["model", "cel", "allocator"]),
    ("explain", &["model", "allocator", "scheduling"]),
    ("lint", &["model", "cel", "allocator"]),
    ("k8s", &["model", "cel", "scheduling"]),
    ("config", &["model", "scheduling", "cli"]),
    ("cli", &[]),
    ("simulate", &["model", "cel", "allocator", "scheduling", "explain", "lint", "k8s", "config"]),
    ("cluster", &["model", "cel", "allocator", "scheduling", "explain", "lint", "k8s", "config"]),
];

/// Rooms without IO, clock, randomness, threads or environment.
const PURE: &[&str] = &["model", "cel", "allocator", "scheduling", "explain", "lint"];

/// What pure rooms never name.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::io",
    "std::time::Instant",
    "std::time::SystemTime",
    "Instant::now",
    "SystemTime",
    "rand::",
    "println!",
    "eprintln!",
    "tracing::",
];

/// Outside crate → rooms that may use it.
const CRATES: &[(&str, &[&str])] = &[
    ("k8s_openapi", &["k8s", "cluster", "simulate"]),
    ("schemars", &["k8s"]),
    ("kube", &["cluster", "main"]),
    ("tokio", &["cluster", "main"]),
    ("futures", &["cluster"]),
    ("serde_saphyr", &["k8s", "simulate"]),
    ("clap", &["cli", "config", "main"]),
    ("comfy_table", &["simulate"]),
    ("indicatif", &["simulate"]),
    ("glob", &["simulate"]),
    ("serde", &["explain", "lint", "k8s", "simulate", "config", "cluster"]),
    ("serde_json", &["explain", "lint", "k8s", "simulate", "config", "cluster", "cel"]),
];

/// The longest file that a reader can be asked to proofread, in lines.
const LONGEST_FILE: usize = 450;

struct Source {
    path: PathBuf,
    room: String,
    /// Code without comments, string contents and the tests at the foot of the file.
    code: String,
    lines: usize,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Blanks comments and the contents of strings, so that words in them are not taken for code.
fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |at| &rest[at + 2..]);
        } else if let Some(raw) = raw_string_length(rest) {
            code.push_str("\"\"");
            rest = &rest[raw..];
        } else if c == '"' {
            code.push_str("\"\"");
            rest = &rest[string_length(rest)..];
        } else if c == '\'' && rest.chars().nth(2) == Some('\'') {
            let length: usize = rest.chars().take(3).map(char::len_utf8).sum();
            rest = &rest[length..];
        } else if rest.starts_with("'\\") {
            rest = rest[2..]
                .char_indices()
                .skip(1)
                .find(|(_, c)| *c == '\'')
                .map_or("", |(at, _)| &rest[at + 3..]);
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    code
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string_length(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(1 + hashes + 1 + body.find(&end)? + end.len())
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut paths = Vec::new();
    rust_files(&src, &mut paths);
    assert!(paths.len() > 10, "no sources found below {}", src.display());
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a listed file can be read");
            let inside = path.strip_prefix(&src).expect("below src").to_path_buf();
            let first = inside.components().next().expect("a file").as_os_str().to_string_lossy();
            let room = first.trim_end_matches(".rs").to_owned();
            let code = code_only(&text);
            let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned();
            Source { path: inside, room, code, lines: text.lines().count() }
        })
        .collect()
}

fn is_test_file(source: &Source) -> bool {
    source.path.components().any(|c| c.as_os_str() == "tests" || c.as_os_str() == "tests.rs")
}

/// Every `prefix::word` in the code, as words.
fn words_after<'a>(code: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let mut words = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end > 0 {
            words.insert(&rest[..end]);
        } else if let Some(group) = rest.strip_prefix('{') {
            let group = group.split('}').next().unwrap_or_default();
            words.extend(group.split(',').map(|w| w.trim().split("::").next().unwrap_or_default()));
        }
    }
    words
}

fn names_path(code: &str, path: &str) -> bool {
    code.match_indices(path).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + path.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
            && (path.ends_with([':', '!']) || !after.is_some_and(|c| c.is_alphanumeric() || c == '_'))
    })
}

#[test]
fn rooms_import_only_whom_they_may() {
    let allowed: BTreeMap<_, _> = IMPORTS.iter().copied().collect();
    let mut wrong = Vec::new();
    for source in sources() {
        if source.room == "lib" || source.room == "main" {
            continue;
        }
        let Some(allowed) = allowed.get(source.room.as_str()) else {
            wrong.push(format!(
                "src/{}: room {} is not declared in e2e/architecture.rs",
                source.path.display(),
                source.room
            ));
            continue;
        };
        for room in words_after(&source.code, "crate::") {
            let is_room = IMPORTS.iter().any(|(name, _)| *name == room);
            if is_room && room != source.room && !allowed.contains(&room) {
                wrong.push(format!("src/{}: {} must not import {room}", source.path.display(), source.room));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_know_no_clock_no_io_and_no_chance() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|s| PURE.contains(&s.room.as_str()) && !is_test_file(s)) {
        for path in IMPURE.iter().filter(|path| names_path(&source.code, path)) {
            wrong.push(format!("src/{}: names {path}", source.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn outside_crates_stay_in_their_rooms() {
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|s| !is_test_file(s)) {
        for (name, rooms) in CRATES {
            let used = names_path(&source.code, &format!("{name}::"));
            if used && !rooms.contains(&source.room.as_str()) {
                wrong.push(format!(
                    "src/{}: {} must not use the crate {name}",
                    source.path.display(),
                    source.room
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_source_file_is_part_of_the_build() {
    let sources = sources();
    let mut wrong = Vec::new();
    for source in &sources {
        let name = source.path.to_string_lossy().into_owned();
        if name == "lib.rs" || name == "main.rs" {
            continue;
        }
        let is_mod = source.path.file_name().is_some_and(|file| file == "mod.rs");
        let module = if is_mod { source.path.parent().expect("a folder") } else { &source.path };
        let stem = module.file_stem().expect("a name").to_string_lossy().into_owned();
        let folder = module.parent().expect("below src");
        let parents = if folder.as_os_str().is_empty() {
            vec![PathBuf::from("lib.rs"), PathBuf::from("main.rs")]
        } else {
            vec![folder.join("mod.rs"), folder.with_extension("rs")]
        };
        let declared = parents.iter().any(|parent| {
            let text = fs::read_to_string(root().join("src").join(parent)).unwrap_or_default();
            words_after(&code_only(&text), "mod ").contains(stem.as_str())
        });
        if !declared {
            wrong.push(format!("src/{name}: no `mod {stem};` in {parents:?}"));
        }
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml can be read");
    for folder in ["e2e", "benches"] {
        for entry in fs::read_dir(root().join(folder)).expect("the folder is there").filter_map(Result::ok) {
            let file = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if Path::new(&file).extension().is_some_and(|e| e == "rs")
                && !manifest.contains(&format!("\"{file}\""))
            {
                wrong.push(format!("{file}: no target of Cargo.toml"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_outgrows_its_reader() {
    let mut files: Vec<_> =
        sources().into_iter().map(|s| (PathBuf::from("src").join(s.path), s.lines)).collect();
    for folder in ["e2e", "benches"] {
        let mut paths = Vec::new();
        rust_files(&root().join(folder), &mut paths);
        files.extend(paths.into_iter().map(|path| {
            let lines = fs::read_to_string(&path).expect("a listed file can be read").lines().count();
            (path.strip_prefix(root()).expect("below the root").to_path_buf(), lines)
        }));
    }
    let long: Vec<_> = files
        .iter()
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(path, lines)| format!("{}: {lines} lines, more than {LONGEST_FILE}", path.display()))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn the_scanner_sees_code_and_nothing_but_code() {
    let text = "use crate::model::Name; // crate::cluster\nlet x = \"crate::simulate\"; let c = '\"'; let r = r#\"crate::k8s\"#;\nuse crate::{cel, allocator::Outcome};\nlet t = '\\''; std::fs::read(x)";
    let code = code_only(text);
    let expected: BTreeSet<_> = ["model", "cel", "allocator"].into_iter().collect();
    assert_eq!(words_after(&code, "crate::"), expected);
    assert!(names_path(&code, "std::fs"));
    assert!(!names_path(&code, "std::f"));
    assert!(!names_path("my_std::fs", "std::fs"));
}
