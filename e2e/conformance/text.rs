//! The form in which the cases are written.
//!
//! A case is a tree of lines, each indented by two spaces more than the line it belongs to. A line
//! is a list of clauses separated by ` | `, and a clause a list of words. `#` starts a comment.
//!
//! ```text
//! case NAME
//!   gates GATE…                       all others are off; without the prefix DRA
//!   node NAME KEY=VALUE… | declares FEATURE…           absent: node-1 in region-1 on planet earth
//!   class NAME | of DRIVER | cel EXPRESSION | config DRIVER JSON
//!   slice NAME DRIVER/POOL [generation=1] [slices=1] | PLACE | skips CALL…
//!     counters SET COUNTER=QUANTITY…
//!     DEVICE | has ATTRIBUTE=VALUE… | cap NAME=QUANTITY [default= min= max= step= values=]
//!            | uses SET COUNTER=QUANTITY… [groups=…] | taint KEY=VALUE:EFFECT | PLACE | multi
//!            | binds-to-node | waits-for CONDITION… | fails-on CONDITION…
//!   claim NAME
//!     REQUEST CLASS x1|all|mode=… | cel … | admin=… | tolerate KEY[=VALUE]:EFFECT
//!                                 | cap NAME=QUANTITY… | derive ATTRIBUTE EXPRESSION
//!     REQUEST first-available
//!       SUBREQUEST …                                   as a request
//!     match|distinct ATTRIBUTE [REQUESTS]
//!     config [REQUESTS] DRIVER JSON
//!   in-use DRIVER/POOL/DEVICE [share] | cap NAME=QUANTITY…
//!   steps NUMBER                      how many upstream takes
//!   budget NUMBER                     how many steps our search may take
//!   error TEXT                        parts of the text, separated by …
//!   none                              no solution
//!   given CLAIM | where …             the allocation
//!     REQUEST DRIVER/POOL/DEVICE | admin=true | share [ID] | skips CALL… | … as above
//!     config class|claim [REQUESTS] DRIVER JSON
//!   refused TEXT                      what the judge says of it; parts as in error
//! ```
//! PLACE is `on NODE`, `where LABEL=VALUE… .FIELD=VALUE…`, `everywhere` or `per-device`. Values are
//! `1`, `true`, `'text'`, `v1.0.0`, a list of these in brackets, `strings[]` or `versions[]` for an
//! empty one, or `?` for one of no known type.
//! `device-0..9` stands for ten lines.

/// A line with the lines that belong to it.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first clause.
    pub head: &'a str,
    /// The other clauses.
    pub clauses: Vec<&'a str>,
    /// The lines below.
    pub children: Vec<Block<'a>>,
}

impl<'a> Block<'a> {
    /// The first word.
    pub fn keyword(&self) -> &'a str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// What follows the first word.
    pub fn rest(&self) -> &'a str {
        self.head.split_once(' ').map_or("", |(_, rest)| rest)
    }

    /// What follows `keyword` in each clause that starts with it.
    pub fn all<'b>(&'b self, keyword: &'b str) -> impl Iterator<Item = &'a str> + 'b {
        self.clauses.iter().filter_map(move |clause| after(clause, keyword))
    }

    /// What follows `keyword` in the first clause that starts with it.
    pub fn one(&self, keyword: &str) -> Option<&'a str> {
        self.clauses.iter().find_map(|clause| after(clause, keyword))
    }

    /// The children whose first word is `keyword`.
    pub fn each<'b>(&'b self, keyword: &'b str) -> impl Iterator<Item = &'b Block<'a>> + 'b {
        self.children.iter().filter(move |child| child.keyword() == keyword)
    }
}

fn after<'a>(clause: &'a str, keyword: &str) -> Option<&'a str> {
    let rest = clause.strip_prefix(keyword)?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix(' ') }
}

/// Reads lines into trees.
pub fn parse(text: &str) -> Vec<Block<'_>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).peekable();
    let blocks = children(&mut lines, 0);
    assert!(lines.next().is_none(), "a line is indented too deep");
    blocks
}

fn children<'a>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    indent: usize,
) -> Vec<Block<'a>> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next_if(|line| depth(line) == indent) {
        let mut clauses = line.trim_start().split(" | ");
        let head = clauses.next().unwrap_or_default();
        blocks.push(Block { head, clauses: clauses.collect(), children: children(lines, indent + 2) });
    }
    blocks
}

/// `device-0..9` as ten names; any other name as itself.
pub fn expand(name: &str) -> Vec<String> {
    let range = name.split_once("..").and_then(|(from, last)| {
        let stem = from.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((stem, from[stem.len()..].parse::<u32>().ok()?, last.parse::<u32>().ok()?))
    });
    match range {
        Some((stem, first, last)) => (first..=last).map(|number| format!("{stem}{number}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// `KEY=VALUE` words.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().map(|word| word.split_once('=').unwrap_or((word, "")))
}

/// Splits `[a,b] rest`; without brackets there are no names.
pub fn names_and_rest(text: &str) -> (Vec<&str>, &str) {
    match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((names, rest)) => (names.split(',').collect(), rest.trim_start()),
        None => (Vec::new(), text),
    }
}
