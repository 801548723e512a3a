//! Where this project's answer may differ from upstream's: one table for each differential test.
//!
//! An entry is a test of a case, so none can be listed without tolerating something, and nothing is
//! tolerated that is not listed. `docs/compatibility.md` has a section for each table, made from it.
#![allow(clippy::panic, reason = "part of a test")]

use std::fmt::Write as _;
use std::path::Path;

/// An intended difference.
pub struct Difference<Case: ?Sized> {
    /// A few words.
    pub name: &'static str,
    /// What upstream does.
    pub upstream: &'static str,
    /// What this project does.
    pub here: &'static str,
    /// The reason.
    pub why: &'static str,
    /// Where upstream speaks of it; empty if nowhere.
    pub link: &'static str,
    /// Whether a case whose answers differ is of this kind.
    pub tolerates: fn(&Case) -> bool,
}

/// The entry that allows what is seen in a case, if one does.
pub fn tolerated<'a, Case: ?Sized>(
    table: &'a [Difference<Case>],
    case: &Case,
) -> Option<&'a Difference<Case>> {
    table.iter().find(|difference| (difference.tolerates)(case))
}

/// Holds the section of `docs/compatibility.md` between the marks of a topic to the table. With
/// `STOWPLAN_BLESS` in the environment it writes the section instead.
pub fn assert_documented<Case: ?Sized>(topic: &str, table: &[Difference<Case>]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (begin, end) = (format!("<!-- {topic}: begin -->\n"), format!("<!-- {topic}: end -->"));
    let parts = text
        .split_once(&begin)
        .and_then(|(before, rest)| rest.split_once(&end).map(|(found, after)| (before, found, after)));
    let Some((before, found, after)) = parts else {
        panic!("{} has no section between {begin:?} and {end:?}", file.display())
    };
    let wanted = section(table);
    if found == wanted {
        return;
    }
    assert!(
        std::env::var_os("STOWPLAN_BLESS").is_some(),
        "the section {topic:?} of {} is stale; `STOWPLAN_BLESS=1 cargo test --test {}` writes it",
        file.display(),
        env!("CARGO_CRATE_NAME")
    );
    let written = std::fs::write(&file, format!("{before}{begin}{wanted}{end}{after}"));
    written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

fn section<Case: ?Sized>(table: &[Difference<Case>]) -> String {
    let mut out = String::from("\n| what | upstream | here | why |\n|---|---|---|---|\n");
    for Difference { name, upstream, here, why, link, .. } in table {
        let name = if link.is_empty() { (*name).to_owned() } else { format!("[{name}]({link})") };
        let _ = writeln!(out, "| {name} | {upstream} | {here} | {why} |");
    }
    out.push('\n');
    out
}
