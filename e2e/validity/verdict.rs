//! What a judge says about an object, in a form that both judges share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A verdict about one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It would be stored.
    Accepted,
    /// A value has another type than its field. Go's decoder stops at the first one, and names it
    /// without indices, or not at all.
    WrongType(Vec<String>),
    /// It has fields that its kind does not have.
    Unknown(BTreeSet<String>),
    /// Rules of its kind are broken: what is said about which field.
    Invalid(BTreeMap<String, BTreeSet<String>>),
    /// Something that is not about the object, such as a name that is taken.
    Unanswered(String),
}

impl Verdict {
    /// A verdict of broken rules from pairs of field and message.
    pub fn invalid(said: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut fields: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (field, message) in said {
            fields.entry(field).or_default().insert(message);
        }
        if fields.is_empty() { Self::Accepted } else { Self::Invalid(fields) }
    }

    fn class(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::WrongType(_) => "wrong type",
            Self::Unknown(_) => "unknown field",
            Self::Invalid(_) => "invalid",
            Self::Unanswered(_) => "unanswered",
        }
    }

    fn fields(&self) -> BTreeSet<String> {
        match self {
            Self::Unknown(fields) => fields.clone(),
            Self::Invalid(fields) => fields.keys().cloned().collect(),
            _ => BTreeSet::new(),
        }
    }
}

/// A path without its indices and keys.
pub fn stripped(path: &str) -> String {
    let mut depth = 0;
    let outside = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => return depth == 0,
        }
        false
    };
    path.chars().filter(outside).collect()
}

/// Strict decoding stops after that many unknown fields.
const STRICT_MAX: usize = 100;

/// Whether Go's decoder means this field. Its path has no indices and no keys of maps, and is empty
/// where a type has a decoder of its own.
fn is_same_place(ours: &str, theirs: &str) -> bool {
    let ours = stripped(ours);
    let mut steps = ours.split('.');
    theirs.is_empty() || theirs.split('.').all(|step| steps.any(|ours| ours == step))
}

/// How two verdicts differ: what only one of them says, without indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disagreement {
    pub ours: (&'static str, BTreeSet<String>),
    pub theirs: (&'static str, BTreeSet<String>),
}

/// Compares our verdict with the API server's.
pub fn compare(ours: &Verdict, theirs: &Verdict) -> Option<Disagreement> {
    let agree = match (ours, theirs) {
        (_, Verdict::Unanswered(_)) => true,
        (Verdict::WrongType(ours), Verdict::WrongType(theirs)) => {
            theirs.iter().all(|theirs| ours.iter().any(|ours| is_same_place(ours, theirs)))
        }
        (Verdict::Unknown(ours), Verdict::Unknown(theirs)) if theirs.len() >= STRICT_MAX => {
            ours.is_superset(theirs)
        }
        _ => ours == theirs || ours.class() == theirs.class() && ours.fields() == theirs.fields(),
    };
    let only = |this: &Verdict, other: &Verdict| {
        let others = other.fields();
        let fields = this.fields().into_iter().filter(|field| !others.contains(field));
        (this.class(), fields.map(|field| stripped(&field)).collect())
    };
    (!agree).then(|| Disagreement { ours: only(ours, theirs), theirs: only(theirs, ours) })
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class())?;
        match self {
            Self::WrongType(paths) => write!(f, " {paths:?}"),
            Self::Unknown(fields) => write!(f, " {fields:?}"),
            Self::Unanswered(why) => write!(f, ": {why}"),
            Self::Accepted => Ok(()),
            Self::Invalid(fields) => {
                let mut said =
                    fields.iter().flat_map(|(field, said)| said.iter().map(move |text| (field, text)));
                said.try_for_each(|(field, text)| {
                    let short: String = text.chars().take(160).collect();
                    write!(f, "\n    {field} | {short}")
                })
            }
        }
    }
}
