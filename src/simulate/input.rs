//! Finds and reads the manifests: files, folders, globs and standard input, in a stated order.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::config::Source;

/// The text of one manifest file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The file's name as the user would write it; `-` for standard input.
    pub file: String,
    /// What it holds.
    pub text: String,
}

/// Why the input cannot be read. Each says what, where, and what to do next.
#[derive(Debug)]
pub enum InputError {
    /// A file or folder cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is not UTF-8.
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is not text.
        at: usize,
    },
    /// A glob is malformed.
    Glob {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        error: glob::PatternError,
    },
    /// A folder or glob names no manifest.
    NothingFound {
        /// The folder or pattern.
        path: PathBuf,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{}: no such file or folder; nothing was done", path.display())
            }
            Self::Unreadable { path, error } => {
                write!(f, "{}: cannot be read: {error}; nothing was done", path.display())
            }
            Self::NotText { path, at } => write!(
                f,
                "{}: byte {at} is not UTF-8 text; name a YAML or JSON file. Nothing was done",
                path.display()
            ),
            Self::Glob { pattern, error } => {
                write!(f, "{pattern}: not a valid pattern: {error}; quote or correct it. Nothing was done")
            }
            Self::NothingFound { path } => {
                write!(f, "{}: no *.yaml, *.yml or *.json file found there; nothing was done", path.display())
            }
        }
    }
}

impl std::error::Error for InputError {}

/// Reads every manifest of the sources and hands them to `take` one by one, in the order given; the
/// files of a folder (and of the folders in it) and of a glob in the order of their names. A file
/// that is named twice is read once.
///
/// # Errors
/// The first source that cannot be read, or what `take` says. Standard input is read where `-` is
/// named.
pub fn gather<E: From<InputError>>(
    sources: &[Source],
    standard_input: &mut dyn Read,
    mut take: impl FnMut(Manifest) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = BTreeSet::new();
    for source in sources {
        match source {
            Source::StandardInput => take(read(Path::new("-"), standard_input)?)?,
            Source::Path(path) => {
                for file in files(path)? {
                    if !seen.insert(file.clone()) {
                        continue;
                    }
                    let unreadable = |error| InputError::Unreadable { path: file.clone(), error };
                    let mut reader = std::fs::File::open(&file).map_err(unreadable)?;
                    take(read(&file, &mut reader)?)?;
                }
            }
        }
    }
    Ok(())
}

fn read(path: &Path, reader: &mut dyn Read) -> Result<Manifest, InputError> {
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| InputError::Unreadable { path: path.to_owned(), error })?;
    let text = String::from_utf8(bytes).map_err(|error| InputError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })?;
    Ok(Manifest { file: path.display().to_string(), text })
}

/// The files that a path names: itself, the manifests below it, or the matches of a glob.
fn files(path: &Path) -> Result<Vec<PathBuf>, InputError> {
    if path.is_dir() {
        let mut found = Vec::new();
        walk(path, &mut found)?;
        return if found.is_empty() {
            Err(InputError::NothingFound { path: path.to_owned() })
        } else {
            Ok(found)
        };
    }
    let pattern = path.to_string_lossy();
    if path.exists() || !pattern.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    // As a shell expands it: `*` leaves hidden files out.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::default() };
    let matches = glob::glob_with(&pattern, options)
        .map_err(|error| InputError::Glob { pattern: pattern.clone().into_owned(), error })?;
    let mut found = Vec::new();
    for entry in matches {
        let entry = entry
            .map_err(|error| InputError::Unreadable { path: error.path().to_owned(), error: error.into() })?;
        if entry.is_dir() {
            walk(&entry, &mut found)?;
        } else {
            found.push(entry);
        }
    }
    if found.is_empty() { Err(InputError::NothingFound { path: path.to_owned() }) } else { Ok(found) }
}

/// Adds the manifests of a folder and of its sub-folders, sorted by name. What is hidden is left
/// out, and links to folders are not followed, so that the walk ends.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let unreadable = |error| InputError::Unreadable { path: folder.to_owned(), error };
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).map_err(unreadable)?.collect::<Result<_, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            walk(&path, found)?;
        } else if path.is_file() && is_manifest(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}
