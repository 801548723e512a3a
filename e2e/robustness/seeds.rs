//! What random inputs are made of: the inputs that the project has, taken from its files at run time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the project.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().find(|folder| folder.join("e2e/scenarios").is_dir()).unwrap_or(here).to_owned()
}

/// Every manifest: the scenarios' and the examples'.
pub fn manifests() -> Vec<Vec<u8>> {
    let mut files = files(&root().join("e2e/scenarios"), "input.yaml");
    files.extend(self::files(&root().join("docs/examples"), ".yaml"));
    files.iter().map(|file| fs::read(file).expect("a file that is there")).collect()
}

/// Every device selector that upstream was asked about.
pub fn expressions() -> Vec<Vec<u8>> {
    let mut expressions = Vec::new();
    for file in files(&root().join("src/cel/tests"), ".jsonl") {
        let text = fs::read_to_string(file).expect("a file that is there");
        let answers = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        expressions
            .extend(answers.filter_map(|answer| Some(answer.get("expr")?.as_str()?.as_bytes().to_vec())));
    }
    expressions
}

/// Pairs of quantities of every form.
pub fn quantities() -> Vec<Vec<u8>> {
    let numbers = ["0", "1", "-1.5", "+007", ".5", "999", "1024", "9223372036854775807", "1.0000000001"];
    let suffixes = ["", "n", "u", "m", "k", "M", "E", "Ki", "Gi", "Ei", "e3", "E-7", "e40", "e2147483647"];
    let texts: Vec<_> =
        numbers.iter().flat_map(|number| suffixes.map(|suffix| format!("{number}{suffix}"))).collect();
    let pairs = texts.iter().zip(texts.iter().cycle().skip(17));
    pairs.map(|(one, other)| format!("{one}\n{other}").into_bytes()).collect()
}

/// Bytes that make worlds.
pub fn worlds() -> Vec<Vec<u8>> {
    // Any bytes will do.
    let bytes = |seed: usize| {
        (0..200).map(move |at| ((seed * 7919 + at * at * 31 + at * seed) >> 3).to_le_bytes()[0])
    };
    (1..200).map(|seed| bytes(seed).collect()).collect()
}

/// The words that occur in several of these texts, the most frequent ones first: what a mutation inserts.
pub fn words(texts: &[Vec<u8>]) -> Vec<String> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts.iter().filter_map(|text| std::str::from_utf8(text).ok()) {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric() && !"_.-/".contains(c)) {
            *found.entry(word.trim_matches(['.', '-', '/'])).or_default() += 1;
        }
    }
    let mut words: Vec<_> = found.into_iter().filter(|(word, count)| word.len() > 1 && *count > 1).collect();
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    words.into_iter().take(500).map(|(word, _)| word.to_owned()).collect()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("a folder that is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}
